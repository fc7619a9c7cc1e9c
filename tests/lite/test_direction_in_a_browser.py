"""Text that runs from right to left, drawn by a real browser: where each character stands."""

from itertools import pairwise

import pytest

from tests.browser import open_browser
from tests.lite.made_sentence import make_sentence

pytestmark = pytest.mark.process

# The places of the characters of an element's text that are in `wanted`.
PLACES = """
(selector, wanted) => {
  const walker = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
  const places = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    [...node.data].forEach((character, index) => {
      if (!wanted.includes(character)) return;
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + 1);
      places.push([character, range.getBoundingClientRect().left]);
    });
  }
  return places.sort((a, b) => a[1] - b[1]).map(([character]) => character).join("");
}
"""


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


def show(browser, path, sentence):
    path.write_text(f"<!doctype html><meta charset=utf-8>{sentence._repr_html_()}", "utf-8")
    browser.open(path.as_uri())


def drawn(browser, selector, wanted):
    """Characters of ``wanted`` within an element, from left to right."""
    return browser.run(f"({PLACES})({selector!r}, {wanted!r})")


@pytest.mark.parametrize(
    "tokens",
    [
        ["נסעתי", "לעיר", "אילת"],
        ["the", "\u202eevil", "Lyon"],
        ["\u2067the", "Paris", "\u202dLyon"],
        ["3.08", "שלום", "IBM"],
    ],
)
@pytest.mark.parametrize("kind", ["LOC", "עיר"])
def test_numbers_and_words_of_the_latin_script_keep_their_order(browser, tmp_path, tokens, kind):
    labels = ["O", f"B-{kind}", f"I-{kind}"]
    show(browser, tmp_path / "page.html", make_sentence(tokens=tokens, labels=labels))
    chip, small = "span[style*=bold], span[style*='font-weight:600']", "span[title] span"
    name = kind if kind.isascii() else kind[::-1]
    assert drawn(browser, chip, f"{kind}50%") == f"{name}50%"
    assert drawn(browser, small, "1.23") == "1.23"
    # An entity is one piece: its chip stands beside its own tokens.
    boxes = browser.run(
        "[...document.querySelector('div > span[style*=border-bottom]').children]"
        ".map(e => e.getBoundingClientRect()).map(b => [b.left, b.right])"
    )
    assert all(-1 < after[0] - before[1] < 12 for before, after in pairwise(sorted(boxes)))


def test_the_line_runs_as_its_text_does(browser, tmp_path):
    show(browser, tmp_path / "page.html", make_sentence(tokens=["נסעתי", "לעיר", "אילת"]))
    places = browser.run(
        "[...document.querySelectorAll('span[title]')].map(e => e.getBoundingClientRect().left)"
    )
    assert places == sorted(places, reverse=True)
