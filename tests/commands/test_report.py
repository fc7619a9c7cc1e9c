"""The page of ``uanet report``."""

import re
from html.parser import HTMLParser

import pytest

from uanet_tf.commands.report_command import report

# P3 is given as LOC; the word is not in the vocabulary of the model.
DATA = "p0 B-PER\nq1 I-PER\n\nX<b>2 B-LOC\nx O\nP3 B-PER\n"


class Reader(HTMLParser):
    """Collects the names of elements, and checks that they are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def write(call, tmp_path, run_dir, text=DATA, *flags):
    data, out = tmp_path / "data.conll", tmp_path / "report.html"
    data.write_text(text)
    code = call(report, f"--run_dir={run_dir}", f"--input={data}", f"--output={out}", *flags)
    return code, out.read_text() if out.exists() else None


def headings(page):
    return re.findall("<h2>(.*?)</h2>", page)


def test_a_page_of_its_own(run_dir, tmp_path, model, call):
    code, page = write(call, tmp_path, run_dir)
    assert code == 0
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    charts = [given for tag, given in reader.seen if tag == "svg" and given.get("role") == "img"]
    # Three reliabilities, two risks, candidates, Gamma twice.
    assert len(charts) == 8
    assert all(chart["aria-label"] for chart in charts)
    assert not {"script", "link", "img"} & {tag for tag, _ in reader.seen}
    assert "http" not in page
    assert "X&lt;b&gt;2" in page
    assert "<bdi>P3 (LOC)</bdi>, confidence 0.75, 1.00 nats. The file has: <bdi>P3 (PER)" in page
    assert model.num_samples == 8
    assert model.threshold == 0.35


def test_what_a_target_recall_costs(run_dir, tmp_path, model, call):
    """Of two entities of each sentence one is given, and one a candidate of 0.25."""
    _, page = write(call, tmp_path, run_dir, "p0 B-PER\nc B-PER\nx I-PER\n\n" * 60)
    assert "What it costs to miss little" in headings(page)
    (table,) = re.findall("as uanet calibrate finds.*?</table>", page)
    rows = re.findall('<tr><th scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td><td>(.*?)<', table)
    assert rows[:3] == [(target, "100.0 %", "666.7", "1.00") for target in ("0.8", "0.9", "0.95")]
    assert rows[3][1:] == ("-", "-", "-")


def test_a_file_without_entities(run_dir, tmp_path, model, call):
    code, page = write(call, tmp_path, run_dir, "x O\n\ny O\n")
    assert code == 0
    assert "F1 <strong>-</strong>: the file has no entities, and none was found; 2 sent" in page
    assert '<th scope="row">gated</th><td>-</td><td>-</td><td>-</td><td>100.00</td>' in page
    assert "By type" not in page
    assert "Where it is right" not in headings(page)
    assert "F1 over" not in page
    assert "What Gamma costs" in page


def test_groups_without_entities_have_no_row(run_dir, tmp_path, model, call):
    """The sentence of six words has none but the tagger's, which is wrong."""
    _, page = write(call, tmp_path, run_dir, "p0 B-PER\n\nx O\nx O\nx O\nx O\nx O\nP3 O\n")
    assert '<th scope="row">1-5</th><td>100.0</td><td>100.0 to 100.0</td><td>1</td>' in page
    assert "6-10" not in page
    assert "By type" in page


def test_labels_that_are_no_chunks(run_dir, tmp_path, model, call):
    model.label_scheme = model.internal_scheme = None
    code, page = write(call, tmp_path, run_dir)
    assert code == 0
    assert "The surest wrong labels" in headings(page)
    assert "Reliability of entities" not in page


def test_without_gate_and_samples(run_dir, tmp_path, model, call, monkeypatch):
    monkeypatch.setattr(type(model), "threshold", property(lambda _: None))
    monkeypatch.setattr(model, "tag_batch", ungated(model.tag_batch, model))
    model.num_samples = 0
    code, page = write(call, tmp_path, run_dir)
    assert code == 0
    assert "Gamma" not in headings(page)
    assert "tokens above Gamma" not in page
    assert '<th scope="row">labels</th>' in page


def ungated(tag_batch, model):
    """``tag_batch`` with the gate's own number instead of ``threshold``."""

    def run(tokens, lengths):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(model), "threshold", 0.35)
            return tag_batch(tokens, lengths)

    return run


def test_unknown_labels_and_no_errors(run_dir, tmp_path, model, call):
    code, page = write(call, tmp_path, run_dir, "p0 B-XYZ\n")
    assert code == 0
    assert "scored as errors: B-XYZ (1)." in page
    code, page = write(call, tmp_path, run_dir, "p0 B-PER\n")
    assert code == 0
    assert "There are none." in page


def test_wrong_arguments(run_dir, tmp_path, model, call, capsys):
    assert write(call, tmp_path, run_dir, "p0 nonsense\n") == (2, None)
    assert (
        "data.conll:1: in the sentence that begins here: not a chunk label"
        in capsys.readouterr().err
    )
    assert call(report, f"--run_dir={run_dir}") == 2
    missing = tmp_path / "missing" / "report.html"
    data = tmp_path / "data.conll"
    assert call(report, f"--run_dir={run_dir}", f"--input={data}", f"--output={missing}") == 2
    assert "report.html: cannot be written (No such file" in capsys.readouterr().err
