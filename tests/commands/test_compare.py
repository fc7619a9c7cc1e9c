"""The comparison's command: which runs it makes, with which flags, and what the tables say."""

import csv
import json
import shutil
import zipfile
from io import BytesIO

import h5py
import numpy as np
import pytest

from uanet_tf.commands import compare_command, runner, training_runs
from uanet_tf.commands.setting_flags import settings_of
from uanet_tf.errors import InputError
from uanet_tf.evaluation import comparison
from uanet_tf.evaluation.comparison import write_tables
from uanet_tf.metrics.run_metrics import metrics_text

SCORES = {
    "draft_f1": 70.0,
    "refined_f1": 71.0,
    "refined_fraction": 0.1,
    "uncertainty_correct": 0.02,
    "uncertainty_wrong": 0.5,
    "sentences_per_second": 300.0,
}


def write_run(folder, f1, *, complete=True, test=True):
    """What the tables read of a run directory."""
    folder.mkdir(parents=True)
    scores = {**SCORES, "f1": f1}
    metrics = {"task": "ner", "epochs": [{"sentences_per_second": 100.0}], "best_epoch": 3}
    if complete:
        metrics |= {"dev": {**scores, "f1": f1 - 10}} | ({"test": scores} if test else {})
        weights = BytesIO()
        with h5py.File(weights, "w") as file:
            file["layer/vars/0"] = np.zeros([3, 4])
            file["bert/deep/vars/1"] = np.zeros([5])
        with zipfile.ZipFile(folder / "model.keras", "w") as archive:
            archive.writestr("config.json", "{}")
            archive.writestr("model.weights.h5", weights.getvalue())
    (folder / "metrics.json").write_text(metrics_text(metrics))


def write_settings(folder, command):
    (folder / "config.json").write_text(json.dumps(settings_of(command[4:]).config.to_dict()))


def table(out):
    with (out / "results.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def trained(monkeypatch, tmp_path):
    """Commands that would train; each leaves a complete run, unless it is told to fail."""
    commands = []

    class Done:
        returncode = 0

    def exit_code_of(command):
        commands.append(command)
        (folder,) = [a.removeprefix("--run_dir=") for a in command if a.startswith("--run_dir=")]
        if Done.returncode == 0:
            write_run(tmp_path.__class__(folder), 70.0 + len(commands))
            write_settings(tmp_path.__class__(folder), command)
        return Done.returncode

    monkeypatch.setattr(training_runs, "exit_code_of", exit_code_of)
    return commands, Done


def run(arguments):
    return runner.exit_code(compare_command.compare, ["compare", *arguments])


def call(tmp_path, *names, seeds=2, extra=(), options=()):
    for name in names:
        (tmp_path / f"{name}.flags").write_text("--decoder=softmax\n--epochs=50\n")
    configs = ",".join(str(tmp_path / f"{name}.flags") for name in names)
    return run(
        [
            f"--recipes={configs}",
            "--train_path=A",
            "--dev_path=B",
            f"--seeds={seeds}",
            f"--output={tmp_path / 'out'}",
            *options,
            *(["--", *extra] if extra else []),
        ]
    )


def test_every_system_and_seed_is_trained_once(tmp_path, trained, capsys):
    commands, _ = trained
    assert call(tmp_path, "one", "two") == 0
    folders = [command[-1].removeprefix(f"--run_dir={tmp_path}/out/") for command in commands]
    assert folders == ["one/seed1", "one/seed2", "two/seed1", "two/seed2"]
    assert [command[-2] for command in commands] == ["--seed=1", "--seed=2"] * 2
    rows = table(tmp_path / "out")
    assert [(row["system"], row["seeds"], row["f1"]) for row in rows] == [
        ("one", "2", "0.715"),
        ("two", "2", "0.735"),
    ]
    assert [float(row["f1_sd"]) for row in rows] == pytest.approx([0.5**0.5 / 100] * 2)
    assert capsys.readouterr().out == (
        "system  seeds            F1           dev         draft  sentences/s\n"
        "one         2  71.50 ± 0.71  61.50 ± 0.71  70.00 ± 0.00          300\n"
        "two         2  73.50 ± 0.71  63.50 ± 0.71  70.00 ± 0.00          300\n"
    )
    assert call(tmp_path, "one", "two", seeds=1) == 0
    assert len(commands) == 4


def test_a_complete_run_of_something_else_is_refused(tmp_path, trained, capsys):
    commands, _ = trained
    assert call(tmp_path, "one") == 0
    capsys.readouterr()
    for changed, said in (
        ({"extra": ["--epochs=3"]}, "--epochs was 50, now 3"),
        ({"options": ["--train_path=other"]}, "--train_path was 'A', now 'other'"),
        ({"options": ["--test_path=C"]}, "--test_path was '', now 'C'"),
        ({"extra": ["--epochz=3"]}, "The flags of one: Unknown command line flag 'epochz'."),
        ({"extra": ["--epochs=x"]}, "The flags of one: "),
    ):
        assert call(tmp_path, "one", **changed) == 2
        out, err = capsys.readouterr()
        assert said in err
        assert out == ""
    assert call(tmp_path, "one", extra=["--verbosity=0"]) == 0
    assert len(commands) == 2


def test_what_training_would_refuse_of_a_later_system_is_told_before_any_is_trained(
    tmp_path, trained, capsys
):
    commands, _ = trained
    for extra, said in (
        (["--refiner_heads=2"], "--refiner_heads is not read by --representation=char_cnn"),
        (["--decoder=crf", "--threshold=0.1"], "--threshold is not read by"),
    ):
        assert call(tmp_path, "one", "two", extra=extra) == 2
        assert f"The flags of one: {said}" in capsys.readouterr().err
    names = [f"--recipes={tmp_path / 'one.flags'},vectors", "--train_path=A", "--dev_path=B"]
    assert run([*names, f"--output={tmp_path / 'out'}"]) == 2
    assert "The flags of uanet_vectors: " in capsys.readouterr().err
    assert commands == []


def test_a_table_of_somebody_else_stays(tmp_path, trained, capsys):
    commands, _ = trained
    for name in ("results.md", "results.csv"):
        path = tmp_path / "out" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("my own")
        assert call(tmp_path, "one") == 2
        assert f"{path} is no table of uanet compare" in capsys.readouterr().err
        assert path.read_text() == "my own"
        path.unlink()
    assert commands == []


def test_what_a_row_says(tmp_path):
    write_run(tmp_path / "one" / "seed1", 71.0)
    write_run(tmp_path / "two" / "seed1", 60.0, test=False)
    write_tables(tmp_path, ["two"])
    two, one = table(tmp_path)
    assert one == {
        "system": "one",
        "seeds": "1",
        "f1": "0.71",
        "dev": "0.61",
        "draft": "0.7",
        "refined": "0.71",
        "refined_fraction": "0.1",
        "nats_right": "0.02",
        "nats_wrong": "0.5",
        "wrong_over_right": "25.0",
        "parameters": "17",
        "training_sentences_per_second": "100.0",
        "tagging_sentences_per_second": "300.0",
        "best_epoch": "3",
    }
    assert two["f1"] == two["dev"] == "0.5"
    text = (tmp_path / "results.md").read_text().splitlines()
    text = [line for line in text if line.startswith("|")]
    assert [line.count("|") for line in text] == [len(one) + 1] * 4


def test_a_column_that_no_system_has_is_left_out(tmp_path):
    for name in ("crf", "uanet"):
        write_run(tmp_path / name / "seed1", 71.0)
    metrics = tmp_path / "crf" / "seed1" / "metrics.json"
    found = json.loads(metrics.read_text())
    for part in ("dev", "test"):
        for name in ("draft_f1", "refined_f1", "refined_fraction"):
            del found[part][name]
    metrics.write_text(json.dumps(found))
    assert write_tables(tmp_path, ["crf", "uanet"]).splitlines()[1:] == [
        "crf         1  71.00  61.00      -          300",
        "uanet       1  71.00  61.00  70.00          300",
    ]
    crf, _ = table(tmp_path)
    assert crf["draft"] == crf["refined"] == ""
    shutil.rmtree(tmp_path / "uanet")
    assert "draft" not in write_tables(tmp_path, ["crf"])
    assert "refined" not in table(tmp_path)[0]


def test_significance(tmp_path, trained, monkeypatch, capsys):
    asked = []

    def differences(*arguments):
        asked.append(arguments)
        return {"two": 0.0123}

    monkeypatch.setattr(compare_command, "differences_from_first", differences)
    assert call(tmp_path, "one", "two", options=["--significance", "--test_path=C"]) == 0
    assert asked == [(tmp_path / "out", ["one", "two"], 2, "C")]
    one, two = table(tmp_path / "out")
    assert (one["p"], two["p"]) == ("", "0.0123")
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.split()[-2:] == ["p", "sentences/s"]
    assert [line.split()[-2] for line in (first, second)] == ["-", "0.0123"]
    assert call(tmp_path, "one", "two", options=["--significance"]) == 2
    assert capsys.readouterr().err == "--significance needs --test_path.\n"


def test_tables_hold_all_complete_runs_below(tmp_path, trained):
    """The given systems first; what is not complete is left out and goes on."""
    write_run(tmp_path / "out" / "earlier" / "seed1", 66.0)
    write_run(tmp_path / "out" / "stopped" / "seed1", 66.0, complete=False)
    write_run(tmp_path / "out" / "one" / "seed2", 65.0, complete=False)
    for path in (tmp_path / "out" / "one" / "seed2").iterdir():
        path.unlink()
    (tmp_path / "out" / "one" / "seed2").rmdir()
    assert call(tmp_path, "one") == 0
    assert [row["system"] for row in table(tmp_path / "out")] == ["one", "earlier"]


def test_bad_input(tmp_path, trained, capsys):
    commands, done = trained
    for seeds, names, message in (
        (0, ["one"], "--seeds must be at least 1. Received: 0"),
        (1, [], "--recipes must name at least one recipe or flagfile."),
        (1, ["one", "one"], "--recipes: two flagfiles are called one."),
    ):
        assert call(tmp_path, *names, seeds=seeds) == 2
        assert capsys.readouterr().err.strip() == message
    arguments = ["--recipes=x.flags", "--train_path=A", "--dev_path=B", f"--output={tmp_path}"]
    assert run(arguments) == 2
    assert "there is no file x.flags" in capsys.readouterr().err
    assert not commands
    done.returncode = 2
    assert call(tmp_path, "one") == 2
    assert "with seed 1 failed with exit code 2." in capsys.readouterr().err


def test_runs_of_two_tasks_are_no_system(tmp_path):
    for seed, task in ((1, "ner"), (2, "pos")):
        folder = tmp_path / "fast" / f"seed{seed}"
        write_run(folder, 80.0)
        metrics = json.loads((folder / "metrics.json").read_text())
        for name in ("dev", "test"):
            metrics[name]["accuracy"] = 90.0
        (folder / "metrics.json").write_text(json.dumps({**metrics, "task": task}))
    with pytest.raises(InputError, match="fast holds runs of different tasks"):
        write_tables(tmp_path, [])


def table_of(out):
    return (out / "results.md").read_text(encoding="utf-8")


def test_a_system_of_several_recipes(tmp_path, trained, capsys):
    commands, _ = trained
    arguments = ["--train_path=A", "--dev_path=B", "--seeds=1", f"--output={tmp_path / 'out'}"]
    assert run(["--recipes=fast,bilstm+ten_epochs", *arguments]) == 0
    _, second = commands
    assert [each.rpartition("/")[2] for each in second if "--flagfile" in each] == [
        "bilstm.flags",
        "ten_epochs.flags",
    ]
    assert second[-1] == f"--run_dir={tmp_path}/out/bilstm+ten_epochs/seed1"
    assert "NOT TRAINED ALIKE" not in capsys.readouterr().out + table_of(tmp_path / "out")
    for recipes in ("ten_epochs", "fast,ten_epochs+bilstm"):
        assert run([f"--recipes={recipes}", *arguments]) == 2
        assert "ten_epochs is no system: it goes after one" in capsys.readouterr().err
    assert len(commands) == 2


def test_an_unfair_table_says_so_above_it(tmp_path, trained, capsys):
    """As fast (Adam) beside a system that is trained by SGD, cut at ten epochs."""
    arguments = ["--train_path=A", "--dev_path=B", "--seeds=1", f"--output={tmp_path / 'out'}"]
    assert run(["--recipes=fast,bilstm", *arguments, "--", "--epochs=10"]) == 0
    said, head, *_ = capsys.readouterr().out.splitlines()
    assert said.startswith("NOT TRAINED ALIKE, so not a comparison of systems: ")
    assert "drafter_optimizer is adam in uanet_fast, sgd in bilstm" in said
    assert "min_steps is 100 in uanet_fast" in said
    assert "epochs is" not in said
    assert head.startswith("system")
    page = table_of(tmp_path / "out")
    assert page.index(said) < page.index("| system |")
    assert said.replace("_", "_") in (tmp_path / "out" / "results.tex").read_text()


def test_the_page_says_where_it_is_from(tmp_path, trained):
    assert call(tmp_path, "one", extra=["--epochs=3"]) == 0
    page = table_of(tmp_path / "out")
    assert page.startswith(
        "# uanet compare\n\n- corpus: `train A, dev B`\n- command: `uanet compare "
    )
    assert f"--seeds=2 --output={tmp_path / 'out'} -- --epochs=3`" in page
    assert "- versions: `uanet_tf 0." in page
    assert "tensorflow" in page
    assert "- seeds: `1 to 2`" in page
    latex = (tmp_path / "out" / "results.tex").read_text()
    assert r"\toprule" in latex
    assert latex.rstrip().endswith(r"\end{tabular}")
    rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert {line.count(" & ") for line in rows} == {latex.split("{l")[1].split("}")[0].count("r")}
    assert r"$\pm$" in rows[1]


def test_a_sweep_makes_columns(tmp_path, trained, monkeypatch, capsys):
    asked = []

    def counts(folder, path, **options):
        asked.append((folder.parent.name, path, options))
        return np.array([[options["num_samples"] + 1, 10, 10]])

    monkeypatch.setattr(comparison, "_counts", counts)
    assert call(tmp_path, "one", seeds=1, options=["--sweep=num_samples=1,8", "--test_path=C"]) == 0
    assert asked == [("one", "C", {"num_samples": count}) for count in (0, 1, 8)]
    note, head, row = capsys.readouterr().out.splitlines()
    assert note.startswith(
        "num_samples=0 drafts in one pass without dropout, the baseline of samples"
    )
    assert head.split()[-3:] == ["num_samples=0", "num_samples=1", "num_samples=8"]
    assert row.split()[-3:] == ["10.00", "20.00", "90.00"]
    assert table(tmp_path / "out")[0]["num_samples=8"] == "0.9"
    asked.clear()
    sweep = "--sweep=num_samples=0,threshold=0.1,0.5"
    assert call(tmp_path, "one", seeds=1, options=[sweep, "--test_path=C"]) == 0
    assert [options for *_, options in asked] == [
        {"num_samples": 0, "threshold": 0.1},
        {"num_samples": 0, "threshold": 0.5},
    ]
    assert "num_samples=0, threshold=0.5" in table_of(tmp_path / "out")


@pytest.mark.parametrize("sweep", ["8", "epochs=1,2", "num_samples=x", "num_samples=-1", "=3"])
def test_a_wrong_sweep(tmp_path, trained, capsys, sweep):
    commands, _ = trained
    assert call(tmp_path, "one", options=[f"--sweep={sweep}"]) == 2
    assert "sweep" in capsys.readouterr().err or sweep == "num_samples=-1"
    assert not commands
