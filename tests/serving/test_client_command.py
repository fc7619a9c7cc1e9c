import io
import json
import subprocess
import sys

import pytest

from tests.serving.servers import ROOT
from uanet_tf.commands.client_command import client
from uanet_tf.commands.command_flags import parse
from uanet_tf.errors import InputError


@pytest.fixture
def call(url, capsys, monkeypatch):
    def call(*arguments, stdin=""):
        raw = io.BufferedReader(io.BytesIO(stdin.encode()))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(raw))
        parse(client, ["client", f"--url={url}", *arguments])()
        return capsys.readouterr().out

    return call


def test_a_sentence_for_people(call):
    assert call("Café Chelsea won, Wanderers") == (
        "  [ORG Café Chelsea] won , [ORG Wanderers]\n"
        "\n"
        "    token      draft  nats           sure  label\n"
        "  ● Café       B-PER  0.40 ███▎      1.00  B-PER -> B-ORG\n"
        "  ● Chelsea    I-PER  0.70 █████▋    1.00  I-PER -> I-ORG\n"
        "    won        O      0.30 ██▍       1.00  O\n"
        "    ,          O      0.10 ▊         1.00  O\n"
        "  ● Wanderers  B-PER  0.90 ███████▎  1.00  B-PER -> B-ORG\n"
        "    5 tokens\n"
        "\n"
    )


@pytest.mark.parametrize("words", [[], ["--tokens"]])
def test_json_of_lines(call, tmp_path, words):
    text = "Chelsea won\n\nthe Wanderers\r\n"
    out = call("--output_format=jsonl", *words, stdin=text)
    first, empty, second = map(json.loads, out.splitlines())
    assert first["tokens"] == ["Chelsea", "won"]
    assert (empty["text"], empty["tokens"], empty["entities"]) == ("", [], [])
    assert second["text"] == "the Wanderers"
    assert second["entities"][0]["start"] == 4
    path = tmp_path / "in.txt"
    path.write_text(text)
    assert call(f"--input={path}", "--output_format=jsonl", *words) == out


def test_words_and_threshold(call):
    out = call("--tokens", "--threshold=0.8", "--output_format=jsonl", "Chelsea's Wanderers.")
    values = json.loads(out)
    assert values["tokens"] == ["Chelsea's", "Wanderers."]
    assert values["refined"] == [True, True]
    assert json.loads(call("--tokens", "--threshold=5", "--output_format=jsonl", "Chelsea"))[
        "refined"
    ] == [False]


def test_the_model_of_text_may_have_any_name(call):
    assert json.loads(
        call(
            "--model_name=nope", "--text_model_name=uanet_text", "--output_format=jsonl", "Chelsea"
        )
    )
    with pytest.raises(InputError, match=r"\(raw\): .*Servable not found"):
        call("--text_model_name=raw", "Chelsea")


def test_control_characters_do_not_reach_the_terminal(call):
    assert "\x1b" not in call("--tokens", "a\x1b[31mB")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--batch_size=0", "x"], "--batch_size=0: 0 is not a positive integer"),
        (["--retries=x", "x"], "--retries must be a whole number. Received: x"),
        (["--timeout=0", "x"], "`timeout` must be more than 0 seconds"),
        (["--threshold=nan", "--tokens", "x"], "`threshold` must be a finite number"),
        (["--nonsense"], "Unknown command line flag 'nonsense'"),
        (["--url=ftp://x", "x"], "`url` must start with"),
        ([], "<stdin>: no text given"),
        (["--input=in.txt", "x"], "not both"),
        (["--input=in.txt"], "in.txt: no such file"),
    ],
)
def test_wrong_arguments(call, arguments, message):
    with pytest.raises(InputError) as caught:
        call(*arguments)
    assert message in str(caught.value)


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "serving.client", *arguments],
        cwd=ROOT,
        capture_output=True,
        timeout=100,
        **options,
    )


def test_errors_are_one_sentence_and_exit_2(url):
    for arguments, message in (
        (["--url=http://127.0.0.1:1", "--retries=1", "x"], "no connection"),
        ([f"--url={url}", "--model_name=nope", "x"], "Servable not found"),
        (["--url=grpc://127.0.0.1:1", "--retries=0", "x"], "127.0.0.1:1"),
        ([f"--url={url}", "--batch_size=x"], "batch_size"),
    ):
        done = run(*arguments)
        assert done.returncode == 2
        error = done.stderr.decode()
        assert message in error or "tensorflow-serving-api" in error
        assert len(error.splitlines()) == 1
        assert done.stdout == b""


def test_input_that_is_no_text(url):
    done = run(f"--url={url}", input=b"Chelsea\xff\n")
    assert done.returncode == 2
    assert done.stderr == b"<stdin>:1: not UTF-8 (byte 0xff at position 8): save it as UTF-8.\n"


def test_help_and_tensorflow_stays_out(url):
    done = run("--help")
    assert done.returncode == 0
    assert b"MODEL_text" in done.stdout
    program = (
        "import sys, serving.client\n"
        "import uanet_tf.commands.client_command, uanet_tf.serving.rest_transport\n"
    )
    program += "sys.exit('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
    assert done.returncode == 0
    del url


def test_a_line_that_the_server_refuses_is_named(call, tmp_path):
    """Also behind the first request's lines."""
    path = tmp_path / "in.txt"
    path.write_text("Chelsea won\n" * 20 + "a " * 300_000 + "\n")
    with pytest.raises(InputError, match=r"^line 21: .*larger than 1,048,576 bytes"):
        call(f"--input={path}", "--tokens", "--batch_size=2", "--output_format=jsonl")
