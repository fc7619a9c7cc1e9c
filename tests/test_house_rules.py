"""Rules of the house that ruff and import-linter (pyproject.toml) cannot state."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_a_file_name_occurs_once():
    """Which of two files of one name is meant, an editor's title and a traceback do not say."""
    files = [path for name in ("uanet_tf", "uanet_lite") for path in (ROOT / name).rglob("*.py")]
    names = Counter(path.name for path in files if not path.name.startswith("__"))
    assert names["config.py"] == 1
    assert [name for name, count in names.items() if count > 1] == []
