"""docs/extending.md, followed to the letter in a copy of the package."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import uanet_tf
from tests.models.tagger_setup import make_model
from tests.training.tiny_run import ROOT, metrics, write_corpus
from uanet_tf import registry
from uanet_tf.commands import runner, train_command
from uanet_tf.commands import uanet as uanet_command
from uanet_tf.config import Config
from uanet_tf.errors import InputError

TEXT = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
SMALL = (
    "--hidden_width=32",
    "--word_width=24",
    "--char_filters=12",
    "--embedding_dropout=0.1",
    "--num_samples=2",
    "--batch_size=4",
    "--epochs=15",
    "--drafter_learning_rate=0.02",
)


def block(introduction: str) -> str:
    """The code block behind the first line that holds ``introduction``."""
    start = TEXT.index(introduction)
    found = re.compile(r"```\w*\n(.*?)```", re.DOTALL).search(TEXT, start)
    assert found is not None
    return found.group(1)


def run(folder: Path, *arguments: str, text: str | None = None, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, input=text, capture_output=True, text=True
    )
    assert done.returncode == code, done.stderr[-2000:]
    return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The package and its scripts with the document's file, line and flagfile."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("uanet_tf", "uanet_lite"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "train.py", folder)
    for name in ("uanet_tf/decoders/prototype.py", "configs/prototype.flags"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        assert not (ROOT / name).exists()
        path.write_text(block(f"`{name}`:"), encoding="utf-8")
    registry = folder / "uanet_tf" / "registry.py"
    before = registry.read_text(encoding="utf-8")
    line = block("in the table `DECODERS`")
    assert line.count("\n") == 1
    after = before.replace("DECODERS = {\n", "DECODERS = {\n" + line)
    assert after != before
    registry.write_text(after, encoding="utf-8")
    return folder


def test_the_flag_knows_the_new_name(copy):
    """And wrong names are still refused in one sentence, which lists it."""
    message = run(copy, "train.py", "--decoder=prototypes", code=2)
    assert "prototype" in message
    assert message.count("\n") == 1
    assert "Traceback" not in message


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A directory with the document's decoder as a module of one's own; the table as it was."""
    module = block("`uanet_tf/decoders/prototype.py`:") + block("is the file above with two lines")
    (tmp_path / "my_parts.py").write_text(module, encoding="utf-8")
    (tmp_path / "prototype.flags").write_text(block("`configs/prototype.flags`:"))
    monkeypatch.setattr(registry, "IMPORTED", [])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    before = dict(registry.DECODERS)
    yield tmp_path
    registry.DECODERS.clear()
    registry.DECODERS.update(before)
    sys.modules.pop("my_parts", None)


def test_a_module_of_ones_own(outside, capsys):
    """The flag knows it; a model of it is built and answers; other commands get it too."""
    assert uanet_command._with_parts(["--import=my_parts", "--epochs=3", "--", "--import=x"]) == [
        "--epochs=3",
        "--",
        "--import=x",
    ]
    assert registry.IMPORTED == ["my_parts"]
    model = make_model(decoder="prototype")
    assert type(model.drafter.decoder).__name__ == "PrototypeDecoder"
    assert len(uanet_tf.tag(model, [["Anna", "met", "Bo"]])[0].labels) == 3
    corpus = write_corpus(outside)
    flags = ["--flagfile=prototype.flags", "--hidden_width=x"]
    files = [f"--train_path={corpus.train}", f"--dev_path={corpus.dev}", "--run_dir=run"]
    assert runner.exit_code(train_command.train, ["train", *flags, *files]) == 2
    assert "hidden_width" in capsys.readouterr().err  # and not the decoder
    for wrong in ("no_such_module", ""):
        with pytest.raises(InputError, match=f"^`import={wrong}` cannot be imported"):
            uanet_command._with_parts(["--import", wrong])


def test_a_name_that_is_taken(outside):
    with pytest.raises(InputError, match="There is a decoder 'crf' already"):
        uanet_tf.add_part("decoder", "crf", "my_parts:PrototypeDecoder")
    with pytest.raises(InputError, match="kind must be one of representation, encoder, decoder"):
        uanet_tf.add_part("layer", "x", "my_parts:PrototypeDecoder")


def test_a_package_that_is_installed(outside, monkeypatch):
    """Its metadata are read, as pip would write them; nothing of it is imported for that."""
    info = outside / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my_package\nVersion: 1.0\n")
    entries = block("names the part")
    assert entries.splitlines()[0] == '[project.entry-points."uanet_tf.parts"]'
    name, _, value = entries.splitlines()[1].partition(" = ")
    (info / "entry_points.txt").write_text(
        f"[uanet_tf.parts]\n{json.loads(name)} = {json.loads(value)}\nlayer.x = a:B\n"
    )
    monkeypatch.syspath_prepend(str(outside))
    with pytest.warns(UserWarning, match=r"entry point layer\.x of uanet_tf\.parts"):
        registry.add_installed_parts()
    assert registry.DECODERS["prototype"] == "my_package.prototype:PrototypeDecoder"
    assert Config().replace(decoder="prototype").decoder.decoder == "prototype"


@pytest.mark.process
def test_the_installed_command_outside_the_source_tree(outside):
    corpus = write_corpus(outside)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-P", "-m", "uanet_tf.commands.uanet"]
    files = [f"--train_path={corpus.train}", f"--dev_path={corpus.train}", "--run_dir=run"]
    options = {"cwd": outside, "env": environment, "text": True, "check": True}
    training = ["train", "--import=my_parts", "--flagfile=prototype.flags", *files, *SMALL]
    subprocess.run([*command, *training], **options)
    assert metrics(outside / "run")["dev"]["f1"] > 60
    tagged = subprocess.run(
        [*command, "tag", "--import=my_parts", "--run_dir=run"],
        **options, input="Anna met Bo .\n", capture_output=True,
    )  # fmt: skip
    assert "Anna" in tagged.stdout
