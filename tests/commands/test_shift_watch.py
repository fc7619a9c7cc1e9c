"""``uanet tag --monitor``."""

import json

import pytest

from uanet_tf.commands.tag_command import tag
from uanet_tf.tagging.monitor import SentenceFacts, make_reference


@pytest.fixture
def metrics(run_dir):
    """A reference of certain sentences with known words, half of which name a person."""
    persons = (frozenset({"PER"}), frozenset())
    facts = [SentenceFacts(0.11, 0.0, persons[k % 2]) for k in range(200)]
    values = {"task": "ner", "epochs": [], "best_epoch": 1}
    path = run_dir / "metrics.json"
    path.write_text(json.dumps({**values, "monitoring": make_reference(facts).to_dict()}))
    return path


def call_tag(call, run_dir, tmp_path, lines):
    text = tmp_path / "text.conll"
    text.write_text("\n\n".join(lines) + "\n")
    out = tmp_path / "out.conll"
    return call(tag, f"--run_dir={run_dir}", f"--input={text}", f"--output={out}", "--monitor")


def test_text_of_the_same_kind(run_dir, tmp_path, model, metrics, call, capsys):
    assert call_tag(call, run_dir, tmp_path, ["p0", "x"] * 150) == 0
    assert capsys.readouterr().err == "no shift seen in 300 sentences\n"


def test_too_little_text_for_a_look(run_dir, tmp_path, model, metrics, call, capsys):
    assert call_tag(call, run_dir, tmp_path, ["Zagreb Zadar"] * 99) == 0
    said = "no look for a shift: the first is after 100 sentences, and there are 99\n"
    assert capsys.readouterr().err == said


def test_text_of_another_kind_is_told_once(run_dir, tmp_path, model, metrics, call, capsys):
    assert call_tag(call, run_dir, tmp_path, ["Zagreb Zadar"] * 300) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("shift after 100 sentences: 100.0 % of sentences with")
    assert "mean uncertainty above" in line


def test_a_run_without_reference(run_dir, tmp_path, model, metrics, call, capsys):
    values = json.loads(metrics.read_text())
    del values["monitoring"]
    metrics.write_text(json.dumps(values))
    assert call_tag(call, run_dir, tmp_path, ["x"]) == 2
    assert "`uanet calibrate" in capsys.readouterr().err
    metrics.write_text(json.dumps({**values, "monitoring": [1]}))
    assert call_tag(call, run_dir, tmp_path, ["x"]) == 2
    assert "what it has for 'monitoring' is no reference" in capsys.readouterr().err
