import pytest
from hypothesis import given
from hypothesis import strategies as st

from uanet_lite.windows import Window, split


def test_short_sentence_is_one_window():
    assert split(512, 512) == [Window(0, 512, 0, 512)]
    assert split(1, 512) == [Window(0, 1, 0, 1)]


def test_windows_by_hand():
    # 8 wide, 2 of context a side: windows advance by 4, the last is moved back to 12..20.
    assert split(20, 8, 2) == [
        Window(0, 8, 0, 6),
        Window(4, 12, 6, 10),
        Window(8, 16, 10, 14),
        Window(12, 20, 14, 20),
    ]
    # Moved back by 2: the overlap with the one before is 4..10, halved at 7.
    assert split(12, 8, 2) == [Window(0, 8, 0, 6), Window(4, 12, 6, 12)]
    assert split(10, 8, 2) == [Window(0, 8, 0, 5), Window(2, 10, 5, 10)]


def _best_windows(windows, length, token):
    """All windows in which the token is farthest from a cut."""

    def distance(window):
        left = token - window.start if window.start > 0 else length
        right = window.end - 1 - token if window.end < length else length
        return min(left, right)

    holding = [window for window in windows if window.start <= token < window.end]
    best = max(map(distance, holding))
    return [window for window in holding if distance(window) == best]


@given(st.integers(1, 300), st.integers(1, 40), st.integers(0, 20))
def test_each_token_is_kept_once_from_its_best_window(length, size, context):
    windows = split(length, size, context)
    keeper = [w for w in windows for _ in range(w.keep_start, w.keep_end)]
    assert len(keeper) == length
    assert [i for w in windows for i in range(w.keep_start, w.keep_end)] == list(range(length))
    for token, window in enumerate(keeper):
        assert window == _best_windows(windows, length, token)[0]
        assert window.end - window.start == min(size, length)


@given(st.integers(1, 2000), st.integers(8, 512), st.integers(0, 64))
def test_context_is_kept_on_both_sides(length, size, context):
    context_used = min(context, size // 4)
    for window in split(length, size, context):
        assert window.start == 0 or window.keep_start - window.start >= context_used
        assert window.end == length or window.end - window.keep_end >= context_used


def test_number_of_windows_is_bounded():
    assert len(split(100_000, 512)) <= 100_000 // (512 - 128) + 2


@pytest.mark.parametrize("arguments", [(0, 5), (5, 0), (5, 5, -1)])
def test_bad_arguments(arguments):
    with pytest.raises(ValueError, match="must be at least"):
        split(*arguments)
