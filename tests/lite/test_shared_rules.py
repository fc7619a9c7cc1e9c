"""Rules that uanet_lite states again for itself are those of uanet_tf."""

import ast
import json
import random
import sys
from pathlib import Path

import pytest

from uanet_lite import spans, windows
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.data import tag_schemes
from uanet_tf.tagging import windows as windows_of_uanet_tf
from uanet_tf.text import tokenizer

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "uanet_lite").glob("*.py"))
PIECES = "ab @#ZZ9$_'’.-,:;()\t\u3000東は🙂👍\U0001f3fd\u200d\u0301٣½#\U0001f1e9\U0001f1ea…"


@pytest.mark.parametrize("kind", tokenizer.KINDS)
def test_tokens_of_texts(kind):
    is_ptb = kind == "ptb"
    marks = "@#" if is_ptb else ""
    expected = tokenizer.Tokenizer(kind, ("Corp.", "d.o.o."), is_ptb, marks)
    found = Tokenizer.from_dict(json.loads(json.dumps(expected.to_dict())))
    rng = random.Random(2)
    texts = ["".join(rng.choices(PIECES, k=rng.randint(0, 20))) for _ in range(3000)]
    texts += ["The U.S. don't e-mail", "3.5% (1,000.50) at 10:30", "http://a.b/c", "👨‍👩‍👧 🇩🇪!"]
    texts += ["Apple's can't cannot Corp. 14. marta", "a@b.de, see https://x.y/z?a=1."]
    texts += ["J. F. Bach, X.com", "Plan B.", "US$ 5, R$5 $1", "@a #b_1's @@c"]
    for text in texts:
        assert found.spans(text) == expected.spans(text)


@pytest.mark.parametrize("scheme", tag_schemes.SCHEMES)
@pytest.mark.parametrize("types", [["-X", "-Y-Z"], [""]])
def test_spans_of_any_labels(scheme, types):
    rng = random.Random(3)
    labels = ["O", *(letter + kind for letter in "BIMELSU" for kind in types)]
    for _ in range(300):
        sequence = rng.choices(labels, k=rng.randint(0, 9))
        found = spans.decode_spans(sequence)
        assert found == tag_schemes.decode_spans(sequence, scheme)
        assert spans.encode_spans(found, len(sequence), scheme) == tag_schemes.encode_spans(
            found, len(sequence), scheme
        )
    assert spans.SCHEMES == tag_schemes.SCHEMES


@pytest.mark.parametrize("size", [1, 2, 5, 64, 200, 512])
def test_windows(size):
    for length in range(1, 1300, 37):
        assert windows.split(length, size) == windows_of_uanet_tf.split(length, size)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative import"
            yield node.module.split(".")[0]


def test_imports_little():
    """TensorFlow is taken for a runtime where it is there; nothing else of the project is."""
    names = {name for path in FILES for name in imported(path)} - set(sys.stdlib_module_names)
    assert names == {"uanet_lite", "numpy", "ai_edge_litert", "tensorflow"}
    users = [path.name for path in FILES if "tensorflow" in set(imported(path))]
    assert users == ["interpreter.py"]
