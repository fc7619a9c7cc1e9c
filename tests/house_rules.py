"""House rules that a reader of the code may rely on: functions from parsed files to findings."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "uanet_tf"
SCRIPTS = ("train.py", "export.py")
MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 60  # without its docstring
SESSION_FILE = Path(PACKAGE, "serving", "rest_api", "loaded_model.py")
LAYER_FOLDERS = ("attention", "recurrent", "representation", "encoders", "decoders", "refiner")
KERAS_BASES = ("Layer", "Model")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """A parsed file, with its parents: {node: node that holds it}."""

    path: Path  # relative to the root
    text: str
    tree: ast.Module
    parents: dict[ast.AST, ast.AST]

    @property
    def folder(self) -> str:
        return self.path.parts[1] if len(self.path.parts) > 2 else ""


Tree = list[Source]
Finding = tuple[Source, int, str]


def parse(path: Path, text: str) -> Source:
    tree = ast.parse(text, str(path))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return Source(path, text, tree, parents)


def read_tree(root: Path) -> Tree:
    files = [*sorted((root / PACKAGE).rglob("*.py")), *(root / name for name in SCRIPTS)]
    return [
        parse(path.relative_to(root), path.read_text(encoding="utf-8"))
        for path in files
        if path.exists()
    ]


def dotted(node: ast.AST | None) -> str:
    """``tf.keras.layers.Layer`` as text; "" for anything but names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def last_name(node: ast.AST | None) -> str:
    return dotted(node).rpartition(".")[2]


def top_level(source: Source, kind: type | tuple) -> Iterator:
    return (node for node in source.tree.body if isinstance(node, kind))


def has_main(source: Source) -> bool:
    return any(node.name == "main" for node in top_level(source, ast.FunctionDef))


def is_script(source: Source) -> bool:
    return source.folder == "commands" or str(source.path) in SCRIPTS


def is_within_main(source: Source, node: ast.AST) -> bool:
    while node in source.parents:
        node = source.parents[node]
        if isinstance(node, Function) and node.name == "main":
            return True
    return False


# ------------------------------------------------------------------------------ rules


def no_print(tree: Tree) -> Iterator[Finding]:
    """`print` only in commands and in `main`: the package logs."""
    for source in tree:
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.Call) or dotted(node.func) != "print":
                continue
            if not is_script(source) and not is_within_main(source, node):
                yield source, node.lineno, "print()"


def no_assert(tree: Tree) -> Iterator[Finding]:
    """`assert` disappears under `python -O`: raise an error that explains."""
    for source in tree:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Assert):
                yield source, node.lineno, "assert"


def no_broad_except(tree: Tree) -> Iterator[Finding]:
    """Errors that nobody foresaw are not caught, unless to clean up and raise them again."""
    for source in tree:
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.ExceptHandler):
                continue
            last = node.body[-1]
            if isinstance(last, ast.Raise) and last.exc is None:
                continue
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(dotted(kind) in ("", "Exception", "BaseException") for kind in kinds):
                yield source, node.lineno, "except without a kind of error"


def no_bare_exception(tree: Tree) -> Iterator[Finding]:
    """What is raised has a kind that a caller can catch."""
    for source in tree:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Raise):
                raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                if dotted(raised) in ("Exception", "BaseException"):
                    yield source, node.lineno, f"raise {dotted(raised)}"


def no_compat_v1(tree: Tree) -> Iterator[Finding]:
    """TensorFlow 2 only, but for the server's session: TF Serving runs models on one too."""
    for source in tree:
        if source.path == SESSION_FILE:
            continue
        for node in ast.walk(source.tree):
            if dotted(node).endswith("compat.v1") or (
                isinstance(node, ast.Import | ast.ImportFrom)
                and "compat.v1" in ast.unparse(node).replace(" import ", ".")
            ):
                yield source, node.lineno, "compat.v1"


def flags_only_in_scripts(tree: Tree) -> Iterator[Finding]:
    """Flags belong to scripts: the package takes arguments."""
    for source in tree:
        if is_script(source) or has_main(source):
            continue
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                text = ast.unparse(node)
                if "absl" in text and "flags" in text:
                    yield source, node.lineno, "absl.flags"


def short_files(tree: Tree) -> Iterator[Finding]:
    """A file can be read in one go."""
    for source in tree:
        lines = len(source.text.splitlines())
        if lines > MAX_FILE_LINES:
            yield source, lines, f"{lines} lines (at most {MAX_FILE_LINES})"


def short_functions(tree: Tree) -> Iterator[Finding]:
    """A function fits on a screen."""
    for source in tree:
        for node in ast.walk(source.tree):
            if not isinstance(node, Function):
                continue
            lines = node.end_lineno - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= node.body[0].end_lineno - node.body[0].lineno + 1
            if lines > MAX_FUNCTION_LINES:
                message = f"{node.name}: {lines} lines (at most {MAX_FUNCTION_LINES})"
                yield source, node.lineno, message


def docstrings(tree: Tree) -> Iterator[Finding]:
    """Every module and every public class and function says what it is."""
    for source in tree:
        if ast.get_docstring(source.tree) is None:
            yield source, 1, "no docstring"
        for node in top_level(source, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if not node.name.startswith("_") and ast.get_docstring(node) is None:
                yield source, node.lineno, f"{node.name} has no docstring"


def one_public_class(tree: Tree) -> Iterator[Finding]:
    """A file of a layer folder holds one public class, which bears the file's name."""
    for source in tree:
        if source.folder not in LAYER_FOLDERS:
            continue
        public = [n for n in top_level(source, ast.ClassDef) if not n.name.startswith("_")]
        for node in public[1:]:
            yield source, node.lineno, f"{node.name} is a second public class"
        for node in public[:1]:
            if node.name.lower() not in source.path.stem.replace("_", "") + "decoder":
                yield source, node.lineno, f"{node.name} does not bear the file's name"


def layers_are_registered(tree: Tree) -> Iterator[Finding]:
    """A layer comes back from a saved model by itself: registered, with its own config."""
    classes = {node.name: node for source in tree for node in top_level(source, ast.ClassDef)}

    def lineage(node: ast.ClassDef) -> list[ast.ClassDef]:
        """The class and those of its ancestors that are ours."""
        bases = [classes[name] for name in map(last_name, node.bases) if name in classes]
        bases = [base for base in bases if base is not node]  # of the same name, from elsewhere
        return [node, *(ancestor for base in bases for ancestor in lineage(base))]

    def defines(node: ast.ClassDef, name: str) -> bool:
        return any(isinstance(item, Function) and item.name == name for item in node.body)

    for source in tree:
        for node in top_level(source, ast.ClassDef):
            family = lineage(node)
            if not any(last_name(base) in KERAS_BASES for each in family for base in each.bases):
                continue
            if not any(defines(each, "call") for each in family):
                continue  # an abstract base
            if not any(is_registration(decorator) for decorator in node.decorator_list):
                yield source, node.lineno, f"{node.name} is not registered under {PACKAGE}"
            # Arguments of its own want a config of its own.
            responsible = [node] if defines(node, "__init__") else family
            if not any(defines(each, "get_config") for each in responsible):
                yield source, node.lineno, f"{node.name} has no get_config"


def is_registration(decorator: ast.AST) -> bool:
    """``@...register_keras_serializable(package="uanet_tf")``."""
    if not isinstance(decorator, ast.Call):
        return False
    values = [*decorator.args[:1], *(k.value for k in decorator.keywords if k.arg == "package")]
    return last_name(decorator.func) == "register_keras_serializable" and any(
        isinstance(value, ast.Constant) and value.value == PACKAGE for value in values
    )
