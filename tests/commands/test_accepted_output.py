"""What `tag` shows of a run with a target precision."""


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
