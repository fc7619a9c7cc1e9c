"""``uanet``: one command for all."""

import importlib
import inspect
import re
import subprocess
import sys

import pytest

import uanet_tf
from uanet_tf.commands import runner, train_command, uanet
from uanet_tf.commands.command_flags import WIDTH, fill_paragraphs
from uanet_tf.config import recipe_names

EVERY = {name: each for name, each in uanet.COMMANDS.items() if each is not uanet.DATA}
EVERY |= {f"data {name}": command for name, command in uanet.DATA.commands.items()}


def function_of(name):
    module = importlib.import_module(f"uanet_tf.commands.{EVERY[name].module}_command")
    return getattr(module, name.split()[-1])


@pytest.fixture
def call(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["uanet", *arguments])
        with pytest.raises(SystemExit) as end:
            uanet.run()
        return end.value.code, *capsys.readouterr()

    return call


@pytest.mark.parametrize("name", EVERY)
def test_help_shows_the_command_as_it_is_called(call, name):
    code, out, err = call(*name.split(), "--help")
    assert (code, err) == (0, "")
    assert f"uanet {name}" in out


def test_a_package_that_is_missing_is_one_sentence(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "requests", None)
    for name in ("uanet_tf.commands.client_command", "uanet_tf.serving.rest_transport"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert call("client", "a") == (
        2,
        "",
        "This needs the package requests, which is not installed.\n",
    )


def test_the_list(call):
    code, out, _ = call()
    assert code == 0
    assert out == call("--help")[1]
    assert out.startswith("uanet: sequence labelling")
    assert [line.split()[0] for line in out.splitlines() if line.startswith("  ")] == list(
        uanet.COMMANDS
    )
    code, out, _ = call("data")
    assert code == 0
    assert "uanet data COMMAND --help" in out


def test_version(call):
    code, out, _ = call("--version")
    assert code == 0
    assert out.startswith(f"uanet_tf {uanet_tf.__version__} (")
    assert re.search(r"\(TensorFlow 2\.\S+, NumPy \S+, Python 3\..*\)$", out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trian"], "uanet: there is no command 'trian'. Did you mean train?"),
        (["zzz"], "uanet: there is no command 'zzz'. There are: demo, data, check"),
        (["data", "smaple"], "uanet data: there is no command 'smaple'. Did you mean sample?"),
        (["train", "--learning_rate=1"], "Did you mean: drafter_learning_rate, refiner_learning"),
        (["train", "--recipe=fsat"], "There is no recipe 'fsat': did you mean fast"),
        (["tag", "--run-dir=x"], "run_dir"),
    ],
)
def test_wrong_words_suggest_near_ones(call, arguments, said):
    code, out, err = call(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_recipes(capsys):
    def show(*names):
        argv = ["uanet recipes", *names]
        code = runner.exit_code(train_command.recipes, argv)
        return code, capsys.readouterr().out

    code, out = show()
    assert code == 0
    assert all(f"  {name} " in out for name in recipe_names())
    assert max(map(len, out.splitlines())) < 140
    assert all(train_command.recipe_path(name) for name, _ in train_command.ADVICE)
    code, out = show("fast")
    assert "--refiner_heads=4" in out
    assert show("fast", "uanet")[0] == show("nothing")[0] == 2


def test_from_the_shell_without_tensorflow():
    program = (
        "import sys; sys.argv = ['uanet', 'recipes']\n"
        "from uanet_tf.commands.uanet import run\n"
        "try: run()\n"
        "except SystemExit as end: assert not end.code\n"
        "sys.exit('tensorflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0
    done = subprocess.run(
        [sys.executable, "-m", "uanet_tf.commands.uanet"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "uanet COMMAND --help" in done.stdout


LONG = "word " * 20 + "end"


@pytest.mark.parametrize("name", EVERY)
def test_the_text_of_each_command_fits(name):
    text = inspect.getdoc(function_of(name))
    lines = fill_paragraphs(text).split("\n")
    assert [line for line in lines if len(line) > WIDTH] == []
    # Nothing but blanks and line ends was changed.
    assert " ".join(lines).split() == text.split()


def test_examples_and_lists_stay():
    text = f"Does it.\n\n    example {LONG}\n\nFormats:\n  a  one\n  b  {LONG}\nAfter.\n{LONG}\n"
    lines = fill_paragraphs(text).split("\n")
    assert lines[:7] == text.split("\n")[:7]
    assert lines[7].startswith("After. word word")
    assert len(lines[7]) <= WIDTH < len(lines[7]) + 5
    assert lines[-1] == ""
