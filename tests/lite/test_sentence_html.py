import re
from html.parser import HTMLParser

import pytest

from tests.lite.made_sentence import make_sentence
from uanet_lite.sentence_html import STEPS, legend_html
from uanet_lite.tagged_sentence import TaggedSentence, TaggedSentences


class Reader(HTMLParser):
    """Checks that tags are closed in order; keeps the text, and each token's style."""

    def __init__(self, html):
        super().__init__()
        self.open, self.text, self.styles = [], "", {}
        self._titled = None
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        attributes = dict(attrs)
        if "title" in attributes:
            self._titled = attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self._titled:
            self.styles[data] = (self._titled["style"], self._titled["title"])
            self._titled = None


def test_tokens_are_shaded_by_their_uncertainty():
    styles = Reader(make_sentence()._repr_html_()).styles
    assert "background" not in styles["<b>"][0]  # sure: nothing to see
    assert STEPS[3][1] in styles["Paris"][0]
    assert STEPS[0][1] in styles["Lyon"][0]
    assert styles["Paris"][1] == "B-LOC | draft B-PER | 1.23 nats | confidence 0.50"


def test_what_colour_says_is_also_said_without():
    reader = Reader(make_sentence()._repr_html_())
    assert "Paris1.23, draft B-PER Lyon" in reader.text
    assert "box-shadow" in reader.styles["Paris"][0]
    assert "box-shadow" not in reader.styles["Lyon"][0]
    unchanged = make_sentence(draft_labels=["O", "B-LOC", "I-LOC"])
    assert "Paris1.23 Lyon" in Reader(unchanged._repr_html_()).text


def test_everything_is_escaped():
    evil = '"><script>x</script>&'
    sentence = make_sentence(
        tokens=[evil] * 3, labels=[f"B-{evil}"] * 3, draft_labels=[f"I-{evil}"] * 3
    )
    html = sentence._repr_html_()
    assert "<script" not in html
    assert Reader(html).styles.keys() == {evil}


def test_labels_of_single_tokens_stand_behind_them():
    sentence = make_sentence(labels=["SYM", "NNP", "NNP"], scheme=None)
    assert re.search(r">NNP</bdi></span>", sentence._repr_html_())


def test_lists_have_a_legend_and_an_end():
    sentences = TaggedSentences([make_sentence()] * 60)
    html = sentences._repr_html_()
    assert html.startswith(legend_html())
    assert html.count("Paris") == 50
    assert "and 10 more" in html
    Reader(html)
    assert "more</div>" not in sentences[:3]._repr_html_()
    assert isinstance(sentences[0], TaggedSentence)
    assert sentences[:3] == [make_sentence()] * 3


def luminance(red, green, blue):
    """Relative luminance of an sRGB colour (WCAG 2.1)."""
    parts = [value / 255 for value in (red, green, blue)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def colours(style, page, ink):
    """Background and text colour of a step on a page."""
    if found := re.search(r"rgba\((\d+),(\d+),(\d+),([\d.]+)\)", style):
        *colour, alpha = map(float, found.groups())
        return [alpha * c + (1 - alpha) * p for c, p in zip(colour, page, strict=True)], ink
    background, text = re.findall(r"#(\w{6})", style)
    return [[int(value[i : i + 2], 16) for i in (0, 2, 4)] for value in (background, text)]


# Jupyter's and GitHub's pages: light and dark.
PAGES = [((255,) * 3, (33,) * 3), ((17,) * 3, (221,) * 3), ((13, 17, 23), (201, 209, 217))]


@pytest.mark.parametrize(("page", "ink"), PAGES)
def test_text_can_be_read_on_every_step(page, ink):
    for _, style in STEPS:
        background, text = (luminance(*colour) for colour in colours(style, page, ink))
        contrast = (max(background, text) + 0.05) / (min(background, text) + 0.05)
        assert contrast >= 4.5, style


def test_what_is_not_accepted_is_marked():
    refused = make_sentence(accepted=[False, True, False])
    assert ">LOC</bdi>? 50 %</span>" in refused._repr_html_()
    assert "2px dotted" in refused._repr_html_()
    accepted = make_sentence(accepted=[False, True, True])
    for sentence in (accepted, make_sentence()):
        assert ">LOC</bdi> 50 %</span>" in sentence._repr_html_()
    assert "not accepted" in TaggedSentences([accepted])._repr_html_()
    assert "not accepted" not in TaggedSentences([make_sentence()])._repr_html_()
    tokens = make_sentence(scheme=None, accepted=[True, False, True])._repr_html_()
    assert (tokens.count("?</span>"), ">B-LOC</bdi>?</span>" in tokens) == (1, True)
