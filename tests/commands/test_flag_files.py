"""Files of flags: what they set, and where their faults are."""

import pytest

from tests.commands.test_runner import run


def test_a_flagfile_that_is_not_utf8_is_named(capsys, tmp_path):
    inner, outer = tmp_path / "inner.flags", tmp_path / "outer.flags"
    inner.write_bytes("--count=2\n# café\n".encode("latin-1"))
    outer.write_text(f"# Recipe.\n--count=3\n--flagfile={inner}\n", encoding="utf-8")
    said = f"--flagfile={inner}:2: not UTF-8 (byte 0xe9 at position 6).\n"
    for arguments in ([f"--flagfile={inner}"], ["--flagfile", str(outer)]):
        assert run(*arguments, main=lambda **_: pytest.fail("must not start")) == 2
        assert capsys.readouterr().err == said


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
        ("--flagfile=leaf.flags", "Unable to open flagfile: [Errno 2] No such file or directory"),
    ],
)
@pytest.mark.parametrize("named", ["inner", "outer"])
def test_a_wrong_line_of_a_flagfile_is_named(capsys, tmp_path, named, line, said):
    inner, outer = tmp_path / "inner.flags", tmp_path / "outer.flags"
    inner.write_text(f"# Mine: {line}\n--count=3\n\n{line}  \n")
    outer.write_text(f"--flagfile={inner}\n")
    assert run("--count=1", f"--flagfile={tmp_path / named}.flags") == 2
    err = capsys.readouterr().err
    assert err.startswith(f"--flagfile={inner}:4: {said}")
    assert ("working directory" in err) == ("leaf" in line)


def test_a_flag_that_is_wrong_on_the_command_line_too(capsys, tmp_path):
    path = tmp_path / "my.flags"
    path.write_text("--count=two\n")
    assert run("--count=two", f"--flagfile={path}") == 2
    assert capsys.readouterr().err.startswith("--count must be a whole number")


def test_a_flagfile_with_a_byte_order_mark_is_named(capsys, tmp_path):
    path = tmp_path / "windows.flags"
    path.write_text("--count=3\n", encoding="utf-8-sig")
    assert run(f"--flagfile={path}") == 2
    said = f"--flagfile={path}:1: begins with a byte order mark: save it as UTF-8 without.\n"
    assert capsys.readouterr().err == said
