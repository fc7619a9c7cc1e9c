"""Exit codes and messages of the shared entry."""

import os
import signal
import subprocess
import sys

import pytest
from absl import flags

from uanet_tf.commands import runner
from uanet_tf.errors import InputError, StoppedBySignal


def run(values, *arguments, main=lambda: None):
    return runner.exit_code(main, values, ["program", *arguments])


def test_the_garbage_collector_is_left_alone():
    """A cycle of objects that live to the end is not looked for."""
    code = """
import gc, sys
from uanet_tf.commands import runner

class InACycle:
    def __init__(self):
        self.itself = self
        self.write = sys.stdout.write

    def __del__(self):
        self.write("collected")

def main():
    InACycle.kept = InACycle()
    print("threshold", gc.get_threshold()[0] >= 10_000)

runner.run(main, argv=["program"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "threshold True\n"


def test_done(values):
    seen = []
    assert run(values, "--count=3", main=lambda: seen.append(values.count)) == 0
    assert seen == [3]


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
        ("--flagfile=/no/such", "Unable to open flagfile"),
        (f"--{'x' * 3000}=1", "Unknown command line flag, on the command line or in a flagfile"),
    ],
)
def test_bad_flags_give_one_line_and_exit_2(values, capsys, argument, message):
    assert run(values, argument, main=lambda: pytest.fail("must not start")) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(message)
    assert err.count("\n") == 1


@pytest.mark.parametrize("digits", [500, 5_000])  # Python reads no more than 4,300
def test_an_endless_value_is_not_repeated_to_its_end(values, capsys, digits):
    assert run(values, f"--count=-{'9' * digits}") == 2
    err = capsys.readouterr().err
    assert err.startswith("--count")
    assert len(err) < 600
    assert err.count("\n") == 1


def test_an_unknown_flag_suggests_those_with_its_words():
    values = flags.FlagValues()
    for name in ("drafter_learning_rate", "refiner_learning_rate", "refiner_width", "input"):
        flags.DEFINE_string(name, None, "Some.", flag_values=values)
    for given, said in (
        ("--learning_rate=1", "drafter_learning_rate, refiner_learning_rate ?"),
        ("--inputs_file=1", "input ?"),
        ("--zzz=1", "(see --help)"),
    ):
        with pytest.raises(InputError) as caught:
            runner._parse(lambda: None, values, ["program", given])
        assert str(caught.value).endswith(said)


def test_arguments_beside_flags(values):
    seen = []
    argv = ["program", "one", "--count=3", "two", "--", "--more"]
    assert runner.exit_code(seen.append, values, argv, arguments=True) == 0
    assert seen == [["one", "two", "--more"]]
    assert values.count == 3


def test_arguments_are_prepared(values, capsys):
    def prepare(arguments):
        if "bad" in arguments:
            raise InputError("bad is bad.")
        return ["--count=7", *arguments]

    argv = ["program", "--rate=0.1"]
    assert runner.exit_code(lambda: None, values, argv, prepare=prepare) == 0
    assert (values.count, values.rate) == (7, 0.1)
    assert runner.exit_code(lambda: None, values, ["program", "bad"], prepare=prepare) == 2
    assert capsys.readouterr().err == "bad is bad.\n"


def test_failed_validators_give_one_line_and_exit_2(values, capsys):
    flags.mark_flag_as_required("name", values)
    assert run(values) == 2
    assert capsys.readouterr().err == "--name is required.\n"

    flags.register_validator(
        "rate", lambda rate: rate < 1, "--rate must\nbe below 1", flag_values=values
    )
    assert run(values, "--name=a", "--rate=3") == 2
    assert capsys.readouterr().err == "--rate must be below 1\n"


def raiser(error):
    def main():
        raise error

    return main


def test_input_error(values, capsys):
    assert run(values, main=raiser(InputError("a.conll:3: too\nfew columns."))) == 2
    assert capsys.readouterr() == ("", "a.conll:3: too few columns.\n")


def test_messages_cannot_act_on_the_terminal(values, capsys):
    assert run(values, main=raiser(InputError("label \x1b[31mX"))) == 2
    assert capsys.readouterr().err == "label \\x1b[31mX\n"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(28, "No space left on device", "a/b"), "a/b: No space left on device.\n"),
        (OSError(28, "No space left on device"), "Writing failed: No space left on device.\n"),
        (OSError("file write failed"), "Writing failed: file write failed.\n"),
    ],
)
def test_a_full_disk_is_one_sentence(values, capsys, error, message):
    assert run(values, main=raiser(error)) == 2
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
        "from absl import flags; from uanet_tf.commands import runner\n"
        "def main(): print('line ' * 10)\n"
        "runner.run(main, flag_values=flags.FlagValues())"
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


def test_interrupt(values, capsys):
    assert run(values, main=raiser(KeyboardInterrupt())) == 130
    assert capsys.readouterr() == ("", "")


def test_stopped_by_another_signal(values, capsys):
    assert run(values, main=raiser(StoppedBySignal(signal.SIGTERM))) == 143
    assert run(values, main=raiser(StoppedBySignal(signal.SIGHUP))) == 129
    assert capsys.readouterr() == ("", "")


def test_faults_of_the_program_are_not_hidden(values):
    with pytest.raises(ValueError, match="a bug"):
        run(values, main=raiser(ValueError("a bug")))


@pytest.mark.parametrize("argument", ["--help", "-h", "--helpfull"])
def test_help(values, capsys, argument):
    assert run(values, argument, main=lambda: pytest.fail("must not start")) == 0
    out, err = capsys.readouterr()
    assert out.startswith(__doc__)
    assert "--count: How many." in out
    assert err == ""


def test_run_exits(values):
    with pytest.raises(SystemExit) as exit_info:
        runner.run(lambda: None, flag_values=values, argv=["program"])
    assert exit_info.value.code == 0


def test_broken_pipe_is_silent():
    program = (
        "import sys; from absl import flags; from uanet_tf.commands import runner\n"
        "def main():\n"
        "    while True: print('line ' * 100)\n"
        "runner.run(main, flag_values=flags.FlagValues())"
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

runner.run(main, argv=["program"])
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
