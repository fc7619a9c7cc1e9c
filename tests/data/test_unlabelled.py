import gzip

import pytest

from uanet_tf.data.unlabelled import read_unlabelled
from uanet_tf.errors import InputError


@pytest.mark.parametrize(
    ("name", "text", "column"),
    [
        ("a.txt", "Ann saw\tBo .\n\n Bo left .\n", 0),
        ("a", "Ann saw Bo .\nBo left .\n", 0),
        ("a", "Ann B-PER\nsaw O\nBo B-PER\n. O\n\nBo B-PER\nleft O\n. O\n", 0),
        ("a.conll", "Ann\nsaw\nBo\n.\n\nBo\nleft\n.\n", 0),
        ("a.conll", "O\tAnn\nO\tsaw\nO\tBo\nO\t.\n\nO\tBo\nO\tleft\nO\t.\n", 1),
    ],
)
def test_text_and_columns(tmp_path, name, text, column):
    (tmp_path / name).write_text(text)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    for path in (tmp_path / name, tmp_path / f"{name}.gz"):
        first, second = read_unlabelled(str(path), token_column=column)
        assert (first.tokens, second.tokens) == (("Ann", "saw", "Bo", "."), ("Bo", "left", "."))
        assert first.labels == second.labels == ()
        assert first.line == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.txt", " \n\n", "a.txt: no sentence found, the file is empty."),
        ("a", "", "a: no sentence found, the file is empty."),
        ("a.txt", f"x\n{'y' * 1_001} z\n", "a.txt:2: token 0 has 1,001 characters"),
        ("a.txt", "-DOCSTART- O\n\nAnn B-PER\n", "a.txt:1: looks like columns with a token a"),
        ("a.txt", "Ann B-PER\nsaw O\n", "a.txt:1: looks like columns with a token a line, not"),
        ("a.jsonl", '{"text": "x"}\n', "a.jsonl: JSON, where columns or"),
        ("a", '{"text": "x"}\n', "a: JSON, where columns or"),
    ],
)
def test_what_is_refused(tmp_path, name, text, said):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as told:
        read_unlabelled(str(path), token_column=0)
    assert str(told.value).startswith(str(tmp_path / said))
    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there():
    with pytest.raises(InputError, match="/no/such: no such file"):
        read_unlabelled("/no/such", token_column=0)
    with pytest.raises(InputError, match=r"^'': no such file"):
        read_unlabelled("", token_column=0)
