"""Every house rule is kept by the package, and is shown to be able to fail."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.house_rules import (
    PACKAGE,
    ROOT,
    Finding,
    Tree,
    docstrings,
    flags_only_in_scripts,
    layers_are_registered,
    no_assert,
    no_bare_exception,
    no_broad_except,
    no_compat_v1,
    no_print,
    one_public_class,
    parse,
    read_tree,
    short_files,
    short_functions,
)

LAYER = "@tf.keras.saving.register_keras_serializable(package='uanet_tf')\nclass {}:\n"
CALL = "    def call(self, x):\n        return x\n"
CONFIG = "    def get_config(self):\n        return {}\n"
INIT = "    def __init__(self, a):\n        self.a = a\n"

# (rule, file, a text that breaks it, a text that keeps it)
CASES = [
    (no_print, "ops/a.py", "def f():\n    print(1)", "def main():\n    print(1)"),
    (no_print, "ops/a.py", "print(1)", "logging.info(1)"),
    (no_print, "data/a.py", "def main_loop():\n    print(1)", "def f():\n    self.print(1)"),
    (no_assert, "ops/a.py", "def f(x):\n    assert x", "def f(x):\n    assert_shape(x)"),
    (no_broad_except, "ops/a.py", "try:\n    f()\nexcept:\n    pass", "raise"),
    (no_broad_except, "ops/a.py", "try:\n    f()\nexcept Exception:\n    pass", "x = Exception"),
    (
        no_broad_except,
        "ops/a.py",
        "try:\n    f()\nexcept BaseException:\n    g()",
        "try:\n    f()\nexcept BaseException:\n    g()\n    raise",
    ),
    (
        no_broad_except,
        "commands/a.py",
        "try:\n    f()\nexcept (OSError, BaseException) as e:\n    pass",
        "try:\n    f()\nexcept (OSError, tf.errors.NotFoundError) as e:\n    pass",
    ),
    (no_bare_exception, "ops/a.py", "raise Exception('no')", "raise ValueError('no')"),
    (no_bare_exception, "ops/a.py", "raise Exception", "try:\n    f()\nexcept OSError:\n    raise"),
    (no_compat_v1, "ops/a.py", "tf.compat.v1.Session()", "tf.function(f)"),
    (no_compat_v1, "ops/a.py", "import tensorflow.compat.v1 as tf", "import tensorflow as tf"),
    (no_compat_v1, "ops/a.py", "from tensorflow.compat import v1", "from tensorflow import io"),
    (flags_only_in_scripts, "ops/a.py", "from absl import flags", "from absl import logging"),
    (flags_only_in_scripts, "ops/a.py", "import absl.flags", "import absl.logging"),
    (
        flags_only_in_scripts,
        "data/a.py",
        "from absl import app, flags",
        "from absl import app, flags\ndef main(_):\n    pass",
    ),
    (short_files, "ops/a.py", "x = 1\n" * 351, "x = 1\n" * 350),
    (short_functions, "ops/a.py", "def f():" + "\n    g()" * 60, "def f():" + "\n    g()" * 59),
    (
        short_functions,
        "ops/a.py",
        "class A:\n  async def f():" + "\n    g()" * 60,
        "def f():\n    '''A" + "\n" * 40 + "    '''" + "\n    g()" * 59,
    ),
    (docstrings, "ops/a.py", "x = 1", "'''Ops.'''\nx = 1"),
    (docstrings, "ops/a.py", "'''Ops.'''\ndef f():\n    g()", "'''Ops.'''\ndef _f():\n    g()"),
    (
        docstrings,
        "ops/a.py",
        "'''Ops.'''\nclass A:\n    x = 1",
        "'''Ops.'''\nclass A:\n    '''A.'''",
    ),
    (
        one_public_class,
        "encoders/a.py",
        "class A:\n    x = 1\nclass B:\n    x = 1",
        "class A:\n    x = 1\nclass _B:\n    x = 1",
    ),
    (
        one_public_class,
        "encoders/gated_unit.py",
        "class Unit2:\n    x = 1",
        "class GatedUnit:\n    x = 1",
    ),
    (
        layers_are_registered,
        "encoders/a.py",
        "class A(tf.keras.layers.Layer):\n" + CALL + CONFIG,
        LAYER.format("A(tf.keras.layers.Layer)") + CALL + CONFIG,
    ),
    (
        layers_are_registered,
        "encoders/a.py",
        LAYER.replace("uanet_tf", "other").format("A(keras.Model)") + CALL + CONFIG,
        "class Base(tf.keras.layers.Layer):\n    x = 1",
    ),
    (
        layers_are_registered,
        "encoders/a.py",
        LAYER.format("A(Layer)") + CALL,
        "class A(dict):\n" + CALL,
    ),
    (
        layers_are_registered,
        "encoders/a.py",
        LAYER.format("A(Layer)") + CALL + CONFIG + LAYER.format("B(A)") + INIT,
        LAYER.format("A(Layer)") + CALL + CONFIG + LAYER.format("B(A)") + INIT + CONFIG,
    ),
    (
        layers_are_registered,
        "encoders/a.py",
        LAYER.format("A(Layer)") + CALL + CONFIG + "class B(A):\n    x = 1",
        LAYER.format("A(Layer)") + CALL + CONFIG + LAYER.format("B(A)") + "    x = 1",
    ),
]
RULES: list[Callable[[Tree], Iterator[Finding]]] = list(dict.fromkeys(case[0] for case in CASES))


@pytest.fixture(scope="module")
def package() -> Tree:
    return read_tree(ROOT)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps(rule, package):
    found = [f"{source.path}:{line}: {message}" for source, line, message in rule(package)]
    assert not found, f"{rule.__doc__}\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("rule", "name", "broken", "kept"),
    [pytest.param(*case, id=f"{case[0].__name__}-{n}") for n, case in enumerate(CASES)],
)
def test_the_rule_can_fail(rule, name, broken, kept):
    path = Path(PACKAGE) / name
    assert len(list(rule([parse(path, broken)]))) == 1
    assert list(rule([parse(path, kept)])) == []


def test_commands_and_scripts_may_print_and_have_flags():
    text = "from absl import flags\nprint(1)"
    tree = [parse(Path(name), text) for name in ("uanet_tf/commands/a.py", "train.py")]
    assert list(no_print(tree)) == []
    assert list(flags_only_in_scripts(tree)) == []


def test_the_package_is_read(package):
    assert Path(PACKAGE, "config.py") in {source.path for source in package}


def test_tests_make_no_graph_by_autograph():
    """It reads all Python that a graph is made of: ``graph_function`` takes half the time."""
    call = "tf." + "function("
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if call in line or line.strip() == f"@{call[:-1]}"
    ]
    assert [place for place in found if not place.startswith("tests/test_house_rules.py")] == []
