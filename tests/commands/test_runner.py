"""Exit codes and messages of the shared entry."""

import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Annotated

import pytest
from absl import flags

from uanet_tf.commands import runner
from uanet_tf.commands.command_flags import FlagGroup, flag, parse
from uanet_tf.errors import InputError, StoppedBySignal


def run(*arguments, main=lambda **flags: None):
    """Calls a small command; ``main`` gets its flags."""

    def command(
        count: int = flag(1, "How many.", at_least=1),
        rate: float = flag(0.5, "How much."),
        name: str | None = flag(None, "Who."),
        deep: bool = flag(False, "Whether deep."),
    ):
        """Exit codes and messages."""
        return main(count=count, rate=rate, name=name, deep=deep)

    return runner.exit_code(command, ["program", *arguments])


def test_done():
    seen = []
    assert run("--count=3", "--deep", main=lambda **flags: seen.append(flags)) == 0
    assert seen == [{"count": 3, "rate": 0.5, "name": None, "deep": True}]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--count=0", "--count=0: 0 is not a positive integer"),
        ("--count=x", "--count must be a whole number. Received: x"),
        ("--rate=x", "--rate must be a number. Received: x"),
        ("--cuont=1", "Unknown command line flag 'cuont'. Did you mean: count ?"),
        ("--deep=maybe", "--deep must be true or false. Received: maybe"),
        ("--name", "Missing value for flag --name"),
        ("--nodeep=3", "--nodeep=3 does not take an argument"),
        ("file.txt", "Arguments must be flags (--name=value). Received: file.txt"),
        ("--flagfile=/no/such", "--flagfile=/no/such is no file"),
        (f"--{'x' * 3000}=1", "Unknown command line flag: its name has hundreds"),
    ],
)
def test_bad_flags_give_one_line_and_exit_2(capsys, argument, message):
    assert run(argument, main=lambda **_: pytest.fail("must not start")) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(message)
    assert err.count("\n") == 1


@pytest.mark.parametrize("digits", [500, 5_000])  # Python reads no more than 4,300
def test_an_endless_value_is_not_repeated_to_its_end(capsys, digits):
    assert run(f"--count=-{'9' * digits}") == 2
    err = capsys.readouterr().err
    assert err.startswith("--count")
    assert len(err) < 600
    assert err.count("\n") == 1


def test_an_unknown_flag_suggests_those_with_its_words():
    def command(
        drafter_learning_rate: str | None = flag(None, "Some."),
        refiner_learning_rate: str | None = flag(None, "Some."),
        refiner_width: str | None = flag(None, "Some."),
        input: str | None = flag(None, "Some."),
    ):
        pytest.fail("must not start")

    for given, said in (
        ("--learning_rate=1", "drafter_learning_rate, refiner_learning_rate ?"),
        ("--inputs_file=1", "input ?"),
        ("--zzz=1", "(see --help)"),
    ):
        with pytest.raises(InputError) as caught:
            parse(command, ["program", given])
        assert str(caught.value).endswith(said)


def test_arguments_beside_flags():
    def command(words: list[str], count: int = flag(1, "How many.")):
        return words, count

    call = parse(command, ["program", "one", "--count=3", "two", "--", "--more"])
    assert call() == (["one", "two", "--more"], 3)


@dataclasses.dataclass
class Options:
    from_: str | None = flag(None, "Where from.")
    kinds: Sequence[str] = flag(("a", "b"), "Which.")


class Doubled(FlagGroup):
    """A number that a word among the arguments doubles."""

    first = ("--number=7",)

    def define(self, values):
        flags.DEFINE_integer("number", 1, "How many.", flag_values=values)

    def read(self, values, given):
        return values.number * (1 + ("twice" in [each.text for each in given]))


def test_groups_of_flags():
    def command(words: list[str], options: Options, number: Annotated[int, Doubled()]):
        return words, options, number

    assert parse(command, ["program"])() == ([], Options(None, ["a", "b"]), 7)
    call = parse(command, ["program", "--from", "x", "--kinds=c", "--number=2", "twice"])
    assert call() == (["twice"], Options("x", ["c"]), 4)


def test_flags_that_are_required(capsys):
    def command(
        name: str = flag(None, "Who.", required="whom to greet"),
        title: str = flag(None, "How.", required=""),
    ):
        return 0

    for given, said in (
        ([], "--name is required: whom to greet.\n"),
        (["--name="], "--name is required: whom to greet.\n"),
        (["--name=a"], "--title is required.\n"),
        (["--name=a", "--title=b"], ""),
    ):
        assert runner.exit_code(command, ["program", *given]) == (2 if said else 0)
        assert capsys.readouterr().err == said


def raiser(error):
    def main(**flags):
        raise error

    return main


def test_input_error(capsys):
    assert run(main=raiser(InputError("a.conll:3: too\nfew columns."))) == 2
    assert capsys.readouterr() == ("", "a.conll:3: too few columns.\n")


def test_messages_cannot_act_on_the_terminal(capsys):
    assert run(main=raiser(InputError("label \x1b[31mX"))) == 2
    assert capsys.readouterr().err == "label \\x1b[31mX\n"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(28, "No space left on device", "a/b"), "a/b: No space left on device.\n"),
        (OSError(28, "No space left on device"), "Writing failed: No space left on device.\n"),
        (OSError("file write failed"), "Writing failed: file write failed.\n"),
    ],
)
def test_a_full_disk_is_one_sentence(capsys, error, message):
    assert run(main=raiser(error)) == 2
    assert capsys.readouterr() == ("", message)


@pytest.mark.parametrize(
    ("unbuffered", "message"),
    [
        ("", b"<stdout>: cannot be written (No space left on device).\n"),
        ("1", b"Writing failed: No space left on device.\n"),
    ],
)
def test_a_full_disk_behind_standard_output(unbuffered, message):
    program = (
        "from uanet_tf.commands import runner\ndef main(): print('line ' * 10)\nrunner.run(main)"
    )
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", program],
            stdout=full,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert done.stderr == message
    assert done.returncode == 2


def test_interrupt(capsys):
    assert run(main=raiser(KeyboardInterrupt())) == 130
    assert capsys.readouterr() == ("", "")


def test_interrupt_while_a_thread_waits_for_input():
    """It holds the lock of standard input, over which Python's end would abort."""
    program = (
        "import sys, threading\n"
        "from uanet_tf.commands import row_source, runner\n"
        "def command() -> None:\n"
        "    next(row_source.bursts(iter(sys.stdin.buffer.readline, b''), 1))\n"
        "    print('answer')\n"
        "    raise KeyboardInterrupt\n"
        "runner.run(command, argv=['x'])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdin.write(b"line\n")
        process.stdin.flush()
        assert (process.wait(60), process.stderr.read()) == (130, b"")
        assert process.stdout.read() == b"answer\n"


def test_stopped_by_another_signal(capsys):
    assert run(main=raiser(StoppedBySignal(signal.SIGTERM))) == 143
    assert run(main=raiser(StoppedBySignal(signal.SIGHUP))) == 129
    assert capsys.readouterr() == ("", "")


def test_faults_of_the_program_are_not_hidden():
    with pytest.raises(ValueError, match="a bug"):
        run(main=raiser(ValueError("a bug")))


@pytest.mark.parametrize("argument", ["--help", "-h", "--helpfull"])
def test_help(capsys, argument):
    assert run(argument, main=lambda **_: pytest.fail("must not start")) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Exit codes and messages.\n")
    assert "--count: How many." in out
    assert err == ""


def test_broken_pipe_is_silent():
    program = (
        "import sys; from uanet_tf.commands import runner\n"
        "def main():\n"
        "    while True: print('line ' * 100)\n"
        "runner.run(main)"
    )
    reader, writer = os.pipe()
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE) as process:
        os.close(writer)
        os.read(reader, 5)
        os.close(reader)
        _, err = process.communicate(timeout=60)
    assert err == b""
    assert process.returncode == 141


@pytest.mark.parametrize("name", ["tag", "evaluate"])
def test_help_and_bad_flags_do_not_wait_for_tensorflow(name):
    program = (
        "import sys\n"
        "from uanet_tf.commands.uanet import run\n"
        f"sys.argv = ['uanet', '{name}', '--help']\n"
        f"try: run()\n"
        "except SystemExit as exit: code = exit.code\n"
        "sys.exit(code or 10 * ('tensorflow' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"--run_dir" in done.stdout
    assert b"--batch_tokens" in done.stdout


def test_notes_of_libraries_are_left_out():
    program = """
import sys
from absl import flags, logging
from uanet_tf.commands import runner

def main():
    for name, path in (("own", runner.__file__), ("other", "/lib/tensorflow/checkpoint.py")):
        for call in (f"logging.info('{name} note')", f"logging.warning('{name} warning')"):
            exec(compile(call, path, "exec"))

runner.run(main, argv=["program"], verbosity=logging.INFO)
"""
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr.splitlines() == [
        "own note",
        "warning: own warning",
        "warning: other warning",
    ]


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize(("arguments", "code"), [("check --help", 0), ("check /nope", 2)])
def test_streams_that_are_closed(closed, arguments, code):
    command = f"{sys.executable} -m uanet_tf.commands.uanet {arguments} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "/nope" not in done.stdout


def test_a_flagfile_that_is_not_utf8_is_named(capsys, tmp_path):
    inner, outer = tmp_path / "inner.flags", tmp_path / "outer.flags"
    inner.write_bytes("--count=2\n# café\n".encode("latin-1"))
    outer.write_text(f"# Recipe.\n--count=3\n--flagfile={inner}\n", encoding="utf-8")
    for arguments in ([f"--flagfile={inner}"], ["--flagfile", str(outer)]):
        assert run(*arguments, main=lambda **_: pytest.fail("must not start")) == 2
        assert capsys.readouterr().err.startswith(f"{inner}:2: not UTF-8 (byte 0xe9")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--cuont=1", "Unknown command line flag 'cuont'. Did you mean: count ?"),
        ("--count 2", "Unknown command line flag 'count 2'"),
        ("-count=two", "--count must be a whole number. Received: two"),
        ("--count=2 # two", "--count must be a whole number. Received: 2 # two"),
        ("--nodeep=3", "--nodeep=3 does not take an argument"),
        ("--deep=maybe", "--deep must be true or false. Received: maybe"),
        ("count=2", "Arguments must be flags (--name=value). Received: count=2"),
        ("--flagfile=leaf.flags", "--flagfile=leaf.flags is no file; a relative name"),
    ],
)
@pytest.mark.parametrize("named", ["inner", "outer"])
def test_a_wrong_line_of_a_flagfile_is_named(capsys, tmp_path, named, line, said):
    inner, outer = tmp_path / "inner.flags", tmp_path / "outer.flags"
    inner.write_text(f"# Mine: {line}\n--count=3\n\n{line}  \n")
    outer.write_text(f"--flagfile={inner}\n")
    assert run("--count=1", f"--flagfile={tmp_path / named}.flags") == 2
    assert capsys.readouterr().err.startswith(f"--flagfile={inner}:4: {said}")


def test_a_flagfile_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "windows.flags"
    path.write_text("--count=3\n", encoding="utf-8-sig")
    seen = []
    assert run(f"--flagfile={path}", main=lambda **flags: seen.append(flags["count"])) == 0
    assert seen == [3]
