"""Rules of the house that ruff and import-linter (pyproject.toml) cannot state."""

import ast
import logging
import re
from collections import Counter
from pathlib import Path

from uanet_lite.input_error import as_flags
from uanet_tf.commands import runner
from uanet_tf.config import in_flags

ROOT = Path(__file__).resolve().parent.parent


def test_a_file_name_occurs_once():
    """Which of two files of one name is meant, an editor's title and a traceback do not say."""
    files = [path for name in ("uanet_tf", "uanet_lite") for path in (ROOT / name).rglob("*.py")]
    names = Counter(path.name for path in files if not path.name.startswith("__"))
    assert names["config.py"] == 1
    assert [name for name, count in names.items() if count > 1] == []


def test_messages_speak_of_arguments():
    """Commands say flags in their place, see ``in_flags``: who calls a function knows none."""
    found = []
    for path in [*ROOT.glob("uanet_tf/**/*.py"), *ROOT.glob("uanet_lite/*.py")]:
        if path.parent.name == "commands" or path.name in ("command.py", "handler.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if not (named.endswith("Error") or named.startswith("logging.")):
                continue
            texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
            said = [text for text in texts if isinstance(text, str)]
            # What names a whole command is no flag of the one that runs.
            found += [
                (path.name, text)
                for text in said
                if re.search(r"--([a-z]|$)", re.sub(r"uanet.*|export\.py --tflite", "", text))
            ]
    assert found == []


def test_commands_say_them_as_flags():
    said = "`epochs=0`, `train`, `calibrated=False`, `refine_all=True`: see `uanet_tf.tag`, `a b`"
    flags = "--epochs=0, --train_path, --nocalibrated, --refine_all: see `uanet_tf.tag`, `a b`"
    assert in_flags(said) == flags
    record = logging.LogRecord("absl", logging.WARNING, "", 1, "leave out `%s`", ("epochs",), None)
    assert runner._PlainFormatter().format(record) == "warning: leave out --epochs"
    assert as_flags("`threads` must be at least 1") == "--threads must be at least 1"
