from benchmarks import sentence_ends


def test_ends_that_are_found(tmp_path):
    train, data = tmp_path / "train.conll", tmp_path / "data.conll"
    train.write_text("in\tO\ntzv.\tO\nAlfa\tO\n.\tO\n\n" * 3, encoding="utf-8")
    data.write_text(
        "Headline\tO\n\nHe\tO\nleft\tO\n.\tO\n\nThe\tO\ntzv.\tO\nEnd\tO\n.\tO\n\nHm\tO\nJr.\tO\n.\tO\n",
        encoding="utf-8",
    )
    text = sentence_ends.table(str(train), str(data), "en")
    assert text.splitlines()[-1] == "| 4 | 75.0 % | 3 | 100.0 % | 0 |"
