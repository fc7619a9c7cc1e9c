import pytest

from benchmarks import measure


@pytest.fixture
def clock(monkeypatch):
    """A clock that only the timed functions move."""
    now = [0.0]
    monkeypatch.setattr(measure.time, "perf_counter", lambda: now[0])

    def work(*seconds):
        left = list(seconds)

        def run():
            now[0] += left.pop(0)

        return run

    return work


def test_warm_up_does_not_count(clock):
    timing = measure.timed(clock(100.0, 3.0, 1.0, 2.0), repeats=3)
    assert (timing.median, timing.fastest, timing.slowest) == (2.0, 1.0, 3.0)
    assert timing.rate(12) == "6 (4 to 12)"


def test_interleaved_runs_take_turns(clock):
    order = []
    works = {"a": clock(50.0, 1.0, 3.0, 2.0), "b": clock(50.0, 10.0, 30.0, 20.0)}
    runs = {name: lambda name=name: (order.append(name), works[name]()) for name in works}
    timings = measure.interleaved(runs, repeats=3)
    assert order == ["a", "b"] * 4
    assert timings["a"] == measure.Timing(2.0, 1.0, 3.0)
    assert timings["b"] == measure.Timing(20.0, 10.0, 30.0)
