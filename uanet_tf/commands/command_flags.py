"""A command is a function, and its arguments are its flags.

    def greet(
        names: list[str],
        *,
        times: int = flag(1, "How often.", at_least=1),
    ) -> None:
        '''What --help says.'''

``parse(greet, ["greet", "Ann", "--times=2"])()`` greets Ann twice. An argument without ``flag`` is
a dataclass of such arguments, gets what is no flag (``names``), or is annotated with a
``FlagGroup``. An argument that is a word of Python ends in an underscore, which its flag has not.
"""

import dataclasses
import functools
import inspect
import itertools
import pathlib
import re
import textwrap
import types
import typing
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

from absl import flags

from uanet_lite.text_lines import read_lines
from uanet_tf.config import recipe_path
from uanet_tf.errors import InputError
from uanet_tf.option import near_names

WIDTH = 80  # of --help; absl, which shows the flags, takes it too
T = TypeVar("T")
_FLAGFILE, _RECIPE, _HELP = "flagfile", "recipe", ("help", "h", "helpfull")
# The messages of int() and float() for text that is no number, and words that people understand.
_NOT_A_NUMBER = {
    r"=.*: invalid literal for int\(\) with base 10: '(.*)'": " a whole number",
    r"=.*: could not convert string to float: '(.*)'": " a number",
    r"=.*: \('Non-boolean argument to boolean flag', '(.*)'\)": " true or false",
}
# A very long word of a flag's value: its first characters are enough.
_LONG_VALUE = re.compile(r"(\S{200})\S{200,}")
_DEFINE: dict[Any, Callable[..., Any]] = {
    bool: flags.DEFINE_boolean,
    int: flags.DEFINE_integer,
    float: flags.DEFINE_float,
    str: flags.DEFINE_string,
    Sequence[str]: flags.DEFINE_list,
}


class Flag(NamedTuple):
    """What is said of an argument's flag, and which values it takes; ``choices`` () allows all.

    ``required`` is what it is, for the message where it is missing; "": nothing more to say; None:
    it may be missing.
    """

    default: Any
    help: str
    choices: Sequence[str] = ()
    at_least: float | None = None
    at_most: float | None = None
    required: str | None = None


def flag(default: Any, help: str, choices: Sequence[str] = (), **more: Any) -> Any:
    """A flag, as the default of a function's argument or of a dataclass's field; see ``Flag``."""
    about = Flag(default, help, choices, **more)
    return dataclasses.field(default=default, metadata={"flag": about})


class Given(NamedTuple):
    """An argument of the program ("--name=value", or what is no flag), or a line of a flagfile.

    ``flag`` is the flag's name, "" for what is none; ``file`` is None on the command line.
    """

    text: str
    flag: str
    file: pathlib.Path | None = None
    line: int = 0

    @property
    def place(self) -> str:
        """The start of a message; "" for what stands on the command line."""
        return "" if self.file is None else f"--flagfile={self.file}:{self.line}: "


class FlagGroup:
    """Flags that make one argument together.

    ``first`` are arguments that go before those of the program, which so win.
    """

    first: Sequence[str] = ()

    def define(self, values: flags.FlagValues) -> None:
        """Defines the flags."""
        raise NotImplementedError(f"{type(self).__name__} must define its flags.")

    def read(self, values: flags.FlagValues, given: Sequence[Given]) -> Any:
        """The argument, of parsed flags and of the program's arguments."""
        raise NotImplementedError(f"{type(self).__name__} must read its flags.")


def parse(command: Callable[..., T], argv: Sequence[str]) -> Callable[[], T] | None:
    """The call of a command that the program's name and arguments ask for; None: help was shown.

    Raises:
      InputError: flags that do not exist, or have wrong values; arguments that are no flags, where
        the command has no use for them. The call raises it where a flag is missing.
    """
    abouts = [argument.about for argument in _flat(command)]
    first = [each for about in abouts if isinstance(about, FlagGroup) for each in about.first]
    values = flags_of(command)
    given = []
    for each in expanded([*first, *argv[1:]], values):
        if each.flag in _HELP:
            print(_help_text(command, values, full=each.flag == "helpfull"), end="")
            return None
        if each.flag:
            _parse_flag(values, each)
        elif None not in abouts:
            said = "Arguments must be flags (--name=value). Received: "
            raise InputError(f"{each.place}{said}{each.text:.80}")
        given.append(each)
    return functools.partial(_call, command, values, given)


def flags_of(command: Callable[..., Any]) -> flags.FlagValues:
    """The flags of a command, those of absl (--verbosity) among them, with their defaults."""
    values = flags.FlagValues()
    for argument in _flat(command):
        about = argument.about
        if isinstance(about, Flag):
            default = list(about.default) if isinstance(about.default, tuple) else about.default
            bounds = {"lower_bound": about.at_least, "upper_bound": about.at_most}
            more: dict[str, Any] = bounds if argument.kind in (int, float) else {}
            said = (argument.flag, argument.kind, default, about.help, about.choices)
            define_flag(values, *said, **more)
        elif about is not None:
            about.define(values)
    for module, found in flags.FLAGS.flags_by_module_dict().items():
        for flag in found if module.startswith("absl.") else ():
            if flag.name not in values:
                values[flag.name] = flag
                values.register_flag_by_module(module, flag)
    values.mark_as_parsed()
    return values


def define_flag(
    values: flags.FlagValues,
    name: str,
    kind: Any,
    default: Any,
    help: str,
    choices: Collection[str] | None = None,
    group: str = "flags",
    **bounds: float | None,
) -> None:
    """Defines a flag; ``--help`` shows it under the name of its group, "flags": the command's."""
    said: dict[str, Any] = {"help": help, "flag_values": values, "module_name": group}
    if choices:
        flags.DEFINE_enum(name, default, list(choices), **said)
    else:
        _DEFINE[kind](name, default, **said, **bounds)


def expanded(arguments: Sequence[str], values: flags.FlagValues) -> Iterator[Given]:
    """The arguments in the order in which they count, lines in place of flagfiles and recipes.

    Raises InputError for a flagfile that cannot be read, or a recipe that does not exist.
    """
    rest = iter(arguments)
    for text in rest:
        if text == "--":
            yield from (Given(each, "") for each in rest)
            return
        flag = _flag_in(text)
        named = flag in values and not values[flag].boolean
        if "=" not in text and (named or flag == _FLAGFILE):
            text = "=".join([text, *itertools.islice(rest, 1)])
        yield from _lines_of(Given(text, flag), values, ())


def _flag_in(text: str) -> str:
    """The name of the flag that an argument is; one dash or two; "" for what is none."""
    return text.lstrip("-").partition("=")[0] if text.startswith("-") and text != "-" else ""


def _lines_of(
    given: Given, values: flags.FlagValues, inside: tuple[pathlib.Path, ...]
) -> Iterator[Given]:
    """An argument, or the lines of the files that it names; ``inside`` are those that named it."""
    value = given.text.partition("=")[2]
    if given.flag == _FLAGFILE:
        paths = [pathlib.Path(value.strip()).expanduser()]
    elif given.flag == _RECIPE and _RECIPE in values:
        paths = [recipe_path(name) for name in filter(None, value.split(","))]
        paths = paths or [recipe_path(value)]
    else:
        yield given
        return
    for path in paths:
        if path in inside or not path.exists():
            nowhere = "is no file; a relative name is looked up in the working directory"
            why = "names itself" if path in inside else nowhere
            raise InputError(f"{given.place}--{given.flag}={value} {why}.")
        lines = [(number, line.strip()) for number, line in read_lines(str(path))]
        # A flagfile goes after the recipes that it names.
        for number, line in sorted(lines, key=lambda pair: _flag_in(pair[1]) != _RECIPE):
            if line and not line.startswith(("#", "//")):
                each = Given(line, _flag_in(line), path, number)
                yield from _lines_of(each, values, (*inside, path))


class _Argument(NamedTuple):
    """An argument: its flag's name, its type, and what is said of it."""

    name: str
    flag: str
    kind: Any
    about: Flag | FlagGroup | None


def _arguments(command: Callable[..., Any]) -> Iterator[_Argument]:
    given: Any = inspect.signature(command).parameters.values()
    found = [(each.name, each.annotation, each.default) for each in given]
    if dataclasses.is_dataclass(command):
        found = [(field.name, field.type, field) for field in dataclasses.fields(command)]
    for name, kind, default in found:
        about = default.metadata.get("flag") if isinstance(default, dataclasses.Field) else None
        if typing.get_origin(kind) is Annotated:
            kind, about = typing.get_args(kind)[:2]
        if typing.get_origin(kind) in (typing.Union, types.UnionType):  # X | None
            kind = typing.get_args(kind)[0]
        yield _Argument(name, name.rstrip("_"), kind, about)


def _flat(command: Callable[..., Any]) -> Iterator[_Argument]:
    """The arguments, those of dataclasses in the place of these."""
    for argument in _arguments(command):
        if argument.about is None and dataclasses.is_dataclass(argument.kind):
            yield from _flat(typing.cast(Callable[..., Any], argument.kind))
        else:
            yield argument


def _call(command: Callable[..., Any], values: flags.FlagValues, given: Sequence[Given]) -> Any:
    """Calls a command, or makes one of its dataclasses, with the values of its flags."""
    filled: dict[str, Any] = {}
    for name, shown, kind, about in _arguments(command):
        if isinstance(about, Flag):
            filled[name] = values[shown].value
            if about.required is not None and not filled[name]:
                what = f": {about.required}" if about.required else ""
                raise InputError(f"--{shown} is required{what}.")
        elif about is not None:
            filled[name] = about.read(values, given)
        elif dataclasses.is_dataclass(kind):
            filled[name] = _call(typing.cast(Callable[..., Any], kind), values, given)
        else:
            filled[name] = [each.text for each in given if not each.flag]
    return command(**filled)


def _parse_flag(values: flags.FlagValues, given: Given) -> None:
    try:
        values(["", given.text])
    except RecursionError:  # in absl's search for names that are spelt nearly so
        raise InputError(
            f"{given.place}Unknown command line flag: its name has hundreds of characters."
        ) from None
    except (flags.Error, ValueError) as error:
        raise InputError(given.place + _flag_message(error, values)) from error


def _help_text(command: Callable[..., Any], values: flags.FlagValues, *, full: bool) -> str:
    text = fill_paragraphs(inspect.getdoc(command) or "")
    if full:
        return f"{text}\n\n{values.get_help().strip()}\n"
    modules = [name for name in values.flags_by_module_dict() if not name.startswith("absl.")]
    last = "--flagfile=FILE reads flags from a file; --helpfull shows all flags."
    parts = [text, *(values.module_help(name).strip() for name in modules), last]
    return "\n\n".join(parts) + "\n"


def fill_paragraphs(text: str, width: int = WIDTH) -> str:
    """Paragraphs with lines longer than ``width`` are wrapped anew; the rest stays as it is.

    Indented lines are of no paragraph: they are examples and lists, whose lines mean something.
    """
    lines: list[str] = []
    for is_text, part in itertools.groupby(text.split("\n"), lambda line: line[:1].strip() != ""):
        group = list(part)
        if is_text and max(map(len, group)) > width:
            # A flag or a path is found again, and copied, in one piece.
            group = textwrap.wrap(
                " ".join(group), width, break_long_words=False, break_on_hyphens=False
            )
        lines += group
    return "\n".join(lines)


def _flag_message(error: Exception, values: flags.FlagValues) -> str:
    """The message of absl on wrong flags, as one sentence."""
    message = _LONG_VALUE.sub(r"\1...", " ".join(str(error).split()))
    if isinstance(error, flags.UnrecognizedFlagError) and "Did you mean" not in message:
        # absl itself suggests those that differ in a letter or two.
        modules = values.flags_by_module_dict().items()
        own = [flag for name, found in modules if not name.startswith("absl.") for flag in found]
        near = near_names(error.flagname, [flag.name for flag in own])
        message += f". Did you mean: {', '.join(near)} ?" if near else " (see --help)"
    for pattern, kind in _NOT_A_NUMBER.items():
        message = re.sub(pattern, rf" must be{kind}. Received: \1", message)
    message = re.sub(r"^(flag (?=--)|ERROR:: ?)", "", message)
    # A validator's own message names flag and value already.
    return re.sub(r"^--(\w+)=\S*: (?=--\1 )", "", message)
