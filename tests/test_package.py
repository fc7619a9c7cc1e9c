"""What ``pip install`` gives: the wheel in an environment of its own, used from another folder.

There README's commands and its Python are run one after another. The environment has no packages
but the wheel; TensorFlow and the rest are those of this Python, by a .pth file behind its own
site-packages.
"""

import json
import os
import re
import shlex
import shutil
import site
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.serving.servers import ServerProcess
from tests.test_readme import TEXT, blocks, commands
from tests.training.tiny_run import TINY, write_corpus

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (
    *("uanet_tf", "uanet_lite", "tests", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"),
    "requirements.txt",
)
BUILD = "import sys; from setuptools import build_meta as b; b.{}(sys.argv[1])"
MODELS = {f"uanet_tf/resources/pretrained/{name}/model.keras" for name in ("en_ewt_pos", "en_ner")}
# The demo says, among other lines.
SAID = (
    "1/5  English names",
    "2/5  A sample corpus",
    "3/5  Training UANet",
    "gated",
    "5/5  Tagging",
    "Holmfield",
    "train --recipe=fast --train_path=train.conll",
)
SMALL = TINY | {"epochs": 1, "min_epochs": 1, "batch_size": 64, "min_steps": 1}
# The second run is a softmax on words with a refiner: its graphs are soon made.
NOT_READ = ("char_width", "char_filters", "hidden_width")
LIGHT = {name: value for name, value in SMALL.items() if name not in NOT_READ}
LIGHT |= {"encoder": "none", "representation": "words"}
# Added to the commands: sizes.
SIZES = {
    "uanet demo": SMALL | {"distill_samples": 4},
    "uanet train": LIGHT,
    "uanet find_label_errors": LIGHT | {"folds": 2},
}
RECIPES = {f"uanet_tf/recipes/{path.name}" for path in ROOT.glob("uanet_tf/recipes/*.flags")}

pytestmark = pytest.mark.process


def build(folder: Path, kind: str, into: Path) -> Path:
    """Runs setuptools as pip does; returns the file it made."""
    into.mkdir(exist_ok=True)
    before = set(into.iterdir())
    subprocess.run(
        [sys.executable, "-c", BUILD.format(f"build_{kind}"), str(into)],
        cwd=folder,
        check=True,
        capture_output=True,
        timeout=300,
    )
    (made,) = set(into.iterdir()) - before
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder)
    return build(folder, "sdist", tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """Built from the sdist, as an installer does that finds no wheel."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    return build(source, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """bin/ of an environment with the wheel, and a folder to stand in."""
    folder = tmp_path_factory.mktemp("installed") / "env"
    venv.create(folder, with_pip=False, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    others = [path for path in site.getsitepackages() if Path(path).is_dir()]
    (packages / "others.pth").write_text("\n".join(others) + "\n")
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    pip += ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    pip += ["--ignore-installed", str(wheel)]
    subprocess.run(pip, check=True, capture_output=True, timeout=300)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    return folder / "bin", elsewhere


def run(installed, *arguments: str) -> subprocess.CompletedProcess:
    """Runs a command, or a line of a shell, in the folder with the environment's programs."""
    programs, elsewhere = installed
    ours = ("PYTHONPATH", "FORCE_COLOR")
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    path = {"PATH": f"{programs}:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": ""}
    (line, *more) = arguments
    for start, sizes in SIZES.items():
        if line.startswith(start):
            line = shlex.join([*shlex.split(line), *(f"--{k}={v}" for k, v in sizes.items())])
    done = subprocess.run(
        [str(programs / line), *more] if more else ["sh", "-c", line],
        cwd=elsewhere,
        env=environment | path,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done


def test_an_sdist_of_the_package_and_what_builds_it(sdist):
    with tarfile.open(sdist) as archive:
        parts = {name.partition("/")[2].partition("/")[0] for name in archive.getnames()}
    made = {"PKG-INFO", "setup.cfg", "uanet_tf.egg-info", ""}
    assert parts - made == {*SOURCES} - {"tests"}


def test_one_package_with_its_recipes(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names} == {
        "uanet_lite",
        "uanet_tf",
        next(name for name in names if "dist-info" in name).split("/")[0],
    }
    assert names >= {*RECIPES, *MODELS}
    assert len(RECIPES) > 10
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "uanet_tf").rglob("*.py")}
    assert modules <= names


def test_the_package_is_the_installed_one(installed):
    done = run(installed, "python", "-c", "import uanet_tf; print(uanet_tf.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(installed[0].parent)
    assert run(installed, "uanet --version").stdout.startswith("uanet_tf ")
    assert "--refiner_heads=4" in run(installed, "uanet recipes fast").stdout


def test_the_commands_of_readme_one_after_another(installed):
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    folder = installed[1]
    for path in write_corpus(folder):
        os.rename(path, folder / Path(path).name)
    first, demo = commands("Tag")
    assert "PER" in run(installed, first).stdout
    check_demo(installed, run(installed, demo))
    (loaded,), (uncertain,) = blocks("Tag", "python"), blocks("Use the uncertainty", "python")
    # A limit that every answer is above.
    uncertain = uncertain.replace("nats > 0.35", "nats > 0.0")
    printed = run(installed, "python", "-c", loaded + uncertain).stdout.splitlines()
    assert printed[0] == "[PER Ada Lovelace] met [PER Charles Babbage] ."
    assert sorted(line.split()[0] for line in printed if line.endswith(" nats")) == sorted(
        ["Riverton", "beat", "Marlow", "Nobody", "was", "surprised"]
    )
    check, train, evaluate = commands("Train")
    assert "IOB2" in run(installed, check).stdout
    run(installed, train)
    assert "uncertainty" in run(installed, evaluate).stdout
    use(installed)
    serve(installed)


def check_demo(installed, done: subprocess.CompletedProcess) -> None:
    """Train, score, tag; the commands that the demo prints are the installed ones."""
    assert [line.partition(": ")[0] for line in done.stderr.splitlines()] == [
        "training on the processor",
        "tokenizer of raw text",
        "epoch 1",
        "distilled on dev",
        "calibrated tokens",
        "calibrated entities",
        "warning",
    ]
    for text in (*SAID, "sentences 1,500 in train.conll", "test.conll: 300 sentences"):
        assert text in done.stdout
    assert "\x1b" not in done.stdout
    assert str(installed[0] / "uanet") in done.stdout or "uanet tag" in done.stdout
    assert str(ROOT) not in done.stdout
    assert (installed[1] / "runs" / "demo" / "model.keras").exists()


def use(installed) -> None:
    """What follows from the uncertainty: what to annotate, what is wrong, what to accept."""
    folder = installed[1]
    rank, find_label_errors, calibrate = commands("Use the uncertainty")
    text = "Riverton beat Marlow 2-1.\nNobody was surprised.\n"
    (folder / "raw.txt").write_text(text, encoding="utf-8")
    run(installed, rank)
    tasks = json.loads((folder / "todo.json").read_text(encoding="utf-8"))
    assert {task["data"]["text"] for task in tasks} == {*text.splitlines()}
    run(installed, find_label_errors)
    assert "<html" in (folder / "doubts.html").read_text(encoding="utf-8")
    assert run(installed, calibrate).stdout.startswith("tokens: ECE")


def serve(installed) -> None:
    folder = installed[1]
    export, docker, by_row, of_text, client = commands("Serve")
    assert "uanet/1" in run(installed, export).stdout
    assert docker.startswith("EXPORT_DIR=$PWD/exports docker compose -f serving/docker-compose.yml")
    # What README says to do without Docker.
    (local,) = re.findall(r"`uanet serve (.*?)`", TEXT)
    with ServerProcess(local.replace("exports", str(folder / "exports"))) as server:
        url = server.wait_until_ready()
        row = run(installed, by_row.replace("http://127.0.0.1:8501", url)).stdout
        (prediction,) = json.loads(row)["predictions"]
        assert len(prediction["labels"]) == len(prediction["uncertainty"]) == 3
        found = run(installed, of_text.replace("http://127.0.0.1:8501", url)).stdout
        (entities,) = json.loads(found)["predictions"]
        places = zip(entities["start"], entities["end"], strict=True)
        text = "Riverton beat Marlow 2-1."
        assert entities["text"] == [text[start:end] for start, end in places]
        assert len(entities["type"]) == len(entities["confidence"]) == entities["count"]
        answer = run(installed, f"{client} --url={url}").stdout
        assert "Riverton" in answer
        assert answer.splitlines()[2].split() == ["token", "draft", "nats", "sure", "label"]
        assert server.stop() == 0
