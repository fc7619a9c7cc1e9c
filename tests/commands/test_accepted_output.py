"""What `tag` shows of a run with a target precision."""

import json

from uanet_tf.commands.row_source import TextFlags
from uanet_tf.commands.spark_tag_command import TagLines


def test_columns_and_tables(tag_text, model, monkeypatch):
    plain = model.tag_batch

    def with_acceptance(tokens, lengths):
        answer = plain(tokens, lengths)
        return answer | {"accepted": answer["labels"] == 3}

    monkeypatch.setattr(model, "tag_batch", with_acceptance)
    text = "-DOCSTART- -X- O\n\nX2 NN O\np0 NN O\n\n"
    assert tag_text(text, "--uncertainty_columns").splitlines() == [
        "-DOCSTART- -X- O -X- 0.0000 0 O",
        "",
        "X2 NN O O 1.0000 1 B-LOC",
        "p0 NN O B-PER 0.1000 0 B-PER",
        "",
    ]
    assert "[PER? p0]" in tag_text("p0 NN O\n\n", "--output_format=pretty")


def test_rows_without_words_have_the_fields_of_the_others(tag_text, model, monkeypatch):
    """In `tag` and in Spark, and the first row too."""
    model.acceptance.target_precision = 0.9
    lines = ["", '{"tokens": ["p0", "X2"]}', '{"text": " "}']
    flags = ("--return_mutual_information",)
    monkeypatch.setattr(model, "return_mutual_information", True)
    written = tag_text("\n".join(lines), *flags, name="in.jsonl").splitlines()
    rows = [json.loads(line) for line in written]
    assert rows[1]["accepted"] == [True, False]
    assert rows[1]["mutual_information"] == [0.05, 0.5]
    for row in (rows[0], rows[2]):
        assert set(row) == {*rows[1], "sentences"}
        assert row["accepted"] == row["mutual_information"] == row["sentences"] == []
    sizes = {"batch_size": 8, "batch_tokens": 1000}
    assert TagLines("jsonl", 0, TextFlags(), sizes)(model, lines) == written
