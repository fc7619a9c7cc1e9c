"""What uanet_lite imports: little, and NumPy only where arrays are."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "uanet_lite").glob("*.py"))


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative import"
            yield node.module.split(".")[0]


def test_imports_little():
    """TensorFlow is a runtime where no other is, sentencex is for who splits sentences."""
    names = {name for path in FILES for name in imported(path)} - set(sys.stdlib_module_names)
    assert names == {"uanet_lite", "numpy", "ai_edge_litert", "tensorflow", "sentencex"}
    users = [path.name for path in FILES if "tensorflow" in set(imported(path))]
    assert users == ["interpreter.py"]


def test_what_uanet_tf_starts_with_is_plain_python():
    modules = ["atomic_file", "input_error", "strict_json", "tag_schemes", "tokenizer", "windows"]
    code = "import sys\n" + "".join(f"import uanet_lite.{name}\n" for name in modules)
    code += "print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "False\n", done.stderr
