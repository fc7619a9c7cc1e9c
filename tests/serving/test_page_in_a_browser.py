"""The page at "/" in a real browser, on the toy models."""

import pytest

from tests.browser import open_browser

pytestmark = pytest.mark.process

TEXT = "the <b>Chelsea</b> Wanderers"


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


@pytest.fixture
def page(browser, url):
    browser.errors.clear()
    browser.open(f"{url}/")
    browser.wait_for("!document.getElementById('tag').disabled && models.length > 0")
    yield browser
    assert browser.errors == []


def ask(page, text):
    page.run(f"document.getElementById('text').value = {text!r}")
    page.run("document.getElementById('form').requestSubmit()")
    page.wait_for("!document.getElementById('tag').disabled")


def move(page, slider, value):
    page.run(f"document.getElementById('{slider}').value = {value}")
    page.run(f"document.getElementById('{slider}').dispatchEvent(new Event('input'))")


def chips(page):
    return page.run("[...document.querySelectorAll('#sentences .chip')].map(e => e.textContent)")


def refined(page):
    script = "[...document.querySelectorAll('#sentences .refined')].map(e => e.textContent)"
    return page.run(script)


def test_text_stays_text_and_entities_are_shown(page):
    ask(page, TEXT)
    page.wait_for("document.querySelectorAll('#sentences .token').length > 0")
    assert page.run("document.querySelector('#sentences').innerText").count("<b>") == 1
    assert not page.run("document.querySelector('#sentences b')")
    # Of 7 and 9 letters: 0.7 and 0.9 nats, above Gamma = 0.35.
    assert refined(page) == ["Chelsea", "Wanderers"]
    assert page.run("document.getElementById('gamma').value") == "0.35"
    assert page.run("document.getElementById('gamma-value').textContent") == "0.35 nats, its own"
    assert chips(page) == ["ORG 100 %", "ORG 100 %"]
    assert page.run("document.getElementById('rows').children.length") == 2


def test_gamma_acts_without_the_server_and_then_as_the_server_says(page):
    ask(page, "the Chelsea Wanderers")
    page.wait_for("document.querySelectorAll('#sentences .token').length > 0")
    page.run(
        "window.asks = 0; const old = fetch; fetch = (...all) => { asks++; return old(...all); }"
    )
    move(page, "gamma", 0.8)
    assert refined(page) == ["Wanderers"]
    assert chips(page) == ["PER 100 %", "ORG 100 %"]
    assert page.run("asks") == 0
    page.wait_for("asks === 1")
    page.wait_for("document.getElementById('gamma-value').textContent === '0.80 nats'")
    assert refined(page) == ["Wanderers"]
    page.run("document.getElementById('own-gamma').click()")
    assert refined(page) == ["Chelsea", "Wanderers"]


def test_the_acceptance_slider_and_the_keyboard(page):
    ask(page, "Chelsea won")
    page.wait_for("document.querySelectorAll('#sentences .token').length > 0")
    page.run("answer.sentences[0].shown.confidence[0] = 0.7")
    move(page, "accept", 0.8)
    assert chips(page) == ["ORG? 70 %"]
    move(page, "accept", 0.6)
    assert chips(page) == ["ORG 70 %"]
    assert "1 of 1 entities are accepted" in page.run(
        "document.getElementById('summary').textContent"
    )
    page.run("document.querySelector('#sentences .token').focus()")
    right = "new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true})"
    page.run(f"document.activeElement.dispatchEvent({right})")
    assert page.run("document.activeElement.textContent") == "won"
    detail = page.run("document.getElementById('detail').textContent")
    assert detail.startswith("\u2068won\u2069: O, confidence")


def test_many_lines_and_long_ones_go_in_several_requests(page):
    """The server takes 4,096 tokens a request, padding included."""
    lines = ["the Chelsea Wanderers " + "won " * (600 if k == 7 else k) for k in range(90)]
    ask(page, "\n".join(lines))
    page.wait_for("document.querySelectorAll('#sentences .token').length > 0")
    assert len(chips(page)) == 90
    tokens = page.run("[...document.querySelectorAll('#sentences .token')].length")
    assert tokens == sum(len(line.split()) for line in lines)


def test_marks_that_turn_a_line_are_shown_and_not_obeyed(page):
    ask(page, "the \u202eChelsea won")
    page.wait_for("document.querySelectorAll('#sentences .token').length > 0")
    assert "\\u202eChelsea" in page.run("document.getElementById('sentences').textContent")
    assert "\u202e" not in page.run("document.getElementById('result').textContent")


def test_an_answer_does_not_stand_below_another_model(page):
    hidden = "document.getElementById('result').hidden"
    for chosen in ("model", "version"):
        ask(page, "the Chelsea Wanderers")
        page.wait_for(f"!{hidden}")
        page.run(f"document.getElementById('{chosen}').dispatchEvent(new Event('change'))")
        assert page.run(hidden)


def test_errors_are_one_sentence(page):
    ask(page, "a " * 5000)
    page.wait_for("!document.getElementById('message').hidden")
    said = page.run("document.getElementById('message').textContent")
    assert said.startswith("The server refused (400): ")
    assert "tokens" in said
    page.errors.clear()  # the browser notes the 400 itself


def test_fits_a_phone(page, url):
    page.open(f"{url}/", width=390)
    page.wait_for("!document.getElementById('tag').disabled && models.length > 0")
    ask(page, "the Chelsea Wanderers flew from Oslo to Rio")
    page.wait_for("document.querySelectorAll('#sentences .token').length > 0")
    assert page.run("document.documentElement.scrollWidth") <= 390
    # The widest that the table can be: with what the run itself accepts.
    page.run(
        "for (const s of answer.sentences) s.shown.accepted = s.shown.confidence.map(() => true)"
    )
    move(page, "accept", 0.6)
    table = "document.querySelector('table')"
    assert "the run: yes" in page.run(f"{table}.textContent")
    assert page.run(f"{table}.getBoundingClientRect().right") <= 390
