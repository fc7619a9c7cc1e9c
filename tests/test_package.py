"""What ``pip install`` gives: the wheel in an environment of its own, used from another folder.

The environment has no packages but the wheel; TensorFlow and the rest are those of this Python, by
a .pth file behind its own site-packages.
"""

import os
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

from tests.commands.test_demo import SAID
from tests.training.tiny_run import TINY

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (
    *("uanet_tf", "tests", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"),
    "requirements.txt",
)
BUILD = "import sys; from setuptools import build_meta as b; b.{}(sys.argv[1])"
MODEL = "uanet_tf/pretrained/en_ewt_pos/model.keras"
RECIPES = {f"uanet_tf/recipes/{path.name}" for path in ROOT.glob("configs/*.flags")}

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


def run(installed, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess:
    programs, elsewhere = installed
    ours = ("PYTHONPATH", "FORCE_COLOR")
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    return subprocess.run(
        [str(programs / arguments[0]), *arguments[1:]],
        cwd=elsewhere,
        env=environment | {"CUDA_VISIBLE_DEVICES": ""},
        input=text,
        capture_output=True,
        text=True,
        timeout=500,
    )


def test_an_sdist_of_the_package_and_what_builds_it(sdist):
    with tarfile.open(sdist) as archive:
        parts = {name.partition("/")[2].partition("/")[0] for name in archive.getnames()}
    made = {"PKG-INFO", "setup.cfg", "uanet_tf.egg-info", ""}
    assert parts - made == {*SOURCES} - {"tests"}


def test_one_package_with_its_recipes(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names} == {
        "uanet_tf",
        next(name for name in names if "dist-info" in name).split("/")[0],
    }
    assert names >= {*RECIPES, MODEL}
    assert len(RECIPES) > 20
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "uanet_tf").rglob("*.py")}
    assert modules <= names


def test_the_package_is_the_installed_one(installed):
    done = run(installed, "python", "-c", "import uanet_tf; print(uanet_tf.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(installed[0].parent)
    assert run(installed, "uanet", "--version").stdout.startswith("uanet_tf ")
    done = run(installed, "uanet", "recipes", "fast")
    assert "--refiner_heads=4" in done.stdout


def test_the_demo_from_another_folder(installed):
    """Train, score, tag; then a text through the run, by the commands that the demo prints."""
    quick = TINY | {"epochs": 1, "batch_size": 64, "distill_samples": 4}
    settings = [f"--{name}={value}" for name, value in quick.items()]
    done = run(installed, "uanet", "demo", *settings)
    assert done.returncode == 0, done.stderr
    assert [line.partition(": ")[0] for line in done.stderr.splitlines()] == [
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
    tagged = run(
        installed,
        "uanet",
        "tag",
        "--run_dir=runs/demo",
        "--format=text",
        text="Critics of Holmfield were silent .\n",
    )
    assert tagged.returncode == 0, tagged.stderr
    assert tagged.stdout.splitlines()[2].startswith("Holmfield\t")
    checked = run(installed, "uanet", "check", "runs/demo/data/train.conll")
    assert "IOB2" in checked.stdout
