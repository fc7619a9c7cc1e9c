"""``benchmarks.shift`` with a tagger of a few lines."""

import uanet_tf
from benchmarks import shift
from tests.tagging.fake_model import FakeModel


def test_false_alarms_and_alarms(tmp_path, monkeypatch, capsys):
    # Of the fake tagger: "p" is B-PER; upper case has 1.0 nats, lower case 0.1.
    usual = "\n".join(f"{'p' if k % 2 else 'x'}{k} O\n" for k in range(240))
    files = {"dev": usual, "same": usual, "other": "X O\n\n" * 120}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(uanet_tf, "load_model", lambda run_dir: FakeModel(), raising=False)
    monkeypatch.setattr(shift, "_SPLITS", 4)
    monkeypatch.setattr(shift, "_ORDERS", 2)
    shift.main("R", *(str(tmp_path / name) for name in files))
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path / 'dev'}: 0 of 4 random halves raise an alarm",
        f"{tmp_path / 'same'}: 0 of 2 orders raise an alarm",
        f"{tmp_path / 'other'}: 2 of 2 orders raise an alarm, after 100 sentences (median)",
    ]
