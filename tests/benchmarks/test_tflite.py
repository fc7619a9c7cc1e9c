import pytest

from benchmarks import tflite


def test_times_as_fast_are_compared_round_by_round():
    seconds = {
        "exact, Keras": ([9.0] * 3, [9.0, 9.0, 9.0]),
        "exact, float32": ([9.0] * 3, [4.0, 6.0, 30.0]),
        "distilled, Keras": ([9.0] * 3, [3.0, 3.0, 3.0]),
        "distilled, float32": ([9.0] * 3, [1.0, 2.0, 6.0]),
    }
    assert tflite._gains(seconds) == [
        "Keras: 3.00 (3.00 to 3.00) times as fast in one pass.",
        "float32: 4.00 (3.00 to 5.00) times as fast in one pass.",
    ]


def test_no_sentence_is_long_enough(tmp_path):
    data = tmp_path / "short.conll"
    data.write_text("Ann\tB-PER\nwon\tO\n\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"short\.conll has no sentence of at least 20 tokens\."):
        tflite.table("runs/none", str(data), tokens=20)
