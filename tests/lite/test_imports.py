"""What uanet_lite imports: little, and NumPy only where arrays are."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_what_uanet_tf_starts_with_is_plain_python():
    modules = ["atomic_file", "input_error", "strict_json", "tag_schemes", "tokenizer", "windows"]
    code = "import sys\n" + "".join(f"import uanet_lite.{name}\n" for name in modules)
    code += "print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "False\n", done.stderr
