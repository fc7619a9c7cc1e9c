"""Writes docs/api.md from the docstrings of what ``import uanet_tf`` offers.

python -m tools.make_api_page
"""

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import uanet_tf

PAGE = Path(__file__).resolve().parent.parent / "docs" / "api.md"
ORDER = (
    "train",
    "TrainedRun",
    "evaluate",
    "report",
    "export",
    "read",
    "load_model",
    "tag",
    "TaggedSentence",
    "TaggedSentences",
    "TaggedTexts",
    "Entity",
    "Candidate",
)
_SHOWN = ("Attributes:", "Returns:", "Yields:", "Example:")  # the rest is left to help()
_MODULE = re.compile(r"\b(?:collections\.abc|typing|uanet_\w+(?:\.\w+)*)\.(?=[A-Z])")


def page() -> str:
    """The whole page."""
    names = [name for name in uanet_tf.__all__ if not name.startswith("__")]
    names = [*ORDER, *(name for name in names if name not in ORDER)]
    parts = [
        "# The Python API",
        "What `import uanet_tf` offers; the [guide](guide.md) shows it in use, Python's\n"
        "`help(uanet_tf.tag)` says all. `python -m tools.make_api_page` writes this page.",
    ]
    shown: set[Any] = set()
    for name in names:
        parts += _part(name, getattr(uanet_tf, name), shown)
    return "\n\n".join(parts) + "\n"


def _part(name: str, value: Any, shown: set[Any]) -> list[str]:
    """A name with its members, but those of a base that is shown already."""
    parts = [f"## `uanet_tf.{name}`", _code(name, value)]
    if inspect.isclass(value):
        new = [(member, function) for member, function in _members(value) if function not in shown]
        shown |= {function for _, function in new}
        for member, function in new:
            parts += [f"### `{name}.{member}`", _code(member, function)]
    return parts


def _members(value: type) -> list[tuple[str, Any]]:
    """Public methods and properties that the class defines, or a private base, with a docstring."""
    kinds = [kind for kind in value.__mro__ if kind is value or kind.__name__.startswith("_")]
    found = []
    for name, member in [pair for kind in kinds for pair in vars(kind).items()]:
        function = member.fget if isinstance(member, property) else member
        if not name.startswith("_") and inspect.isfunction(function) and function.__doc__:
            found.append((name, member))
    return found


def _code(name: str, value: Any) -> str:
    if isinstance(value, property) and value.fget is not None:
        head = f"{name} -> {_short(_result(value.fget))}"
    elif inspect.isclass(value) and not _has_init(value):
        head = name
    else:
        head = f"{name}{_signature(value)}"
    first, *more = (inspect.getdoc(value) or "").split("\n\n")
    text = "\n\n".join([first, *(part for part in more if part.startswith(_SHOWN))])
    return f"```text\n{head}\n\n{text}\n```"


def _has_init(value: type) -> bool:
    """Whether users make one; what has attributes to read is given to them."""
    return not issubclass(value, BaseException | list) and "\nAttributes:" not in str(
        inspect.getdoc(value)
    )


def _signature(value: Any) -> str:
    """The signature, one argument per line if it is long."""
    signature = inspect.signature(value)
    text = _short(str(signature))
    if len(text) < 80:
        return text
    parts = [str(parameter) for parameter in signature.parameters.values()]
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        parts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    result = _result(value)
    return _short("(\n    " + ",\n    ".join(parts) + f"\n){result and f' -> {result}'}")


def _result(function: Any) -> str:
    """The type of what a function returns; "" where it is not said."""
    result = inspect.signature(function).return_annotation
    return "" if result is inspect.Signature.empty else inspect.formatannotation(result)


def _short(text: str) -> str:
    """Names of classes without their modules."""
    return _MODULE.sub("", text)


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")


if __name__ == "__main__":
    main()
