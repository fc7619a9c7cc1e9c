"""Configurations, vocabularies, metrics and flags with damage of all kinds."""

import json
import pathlib
from typing import Annotated

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.inputs import ODD_VALUES, check_said, damaged_bytes, damaged_json, share, to_bytes
from tests.models.contract_setup import make_sentences, make_vocabulary
from uanet_tf.commands import runner
from uanet_tf.commands.setting_flags import SettingFlags, Settings
from uanet_tf.config import Config, from_dict, iter_options
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.evaluation.comparison import summarize
from uanet_tf.metrics.run_metrics import read_run_metrics

SCORES = {
    "f1": 50.0,
    "accuracy": 90.0,
    "draft_f1": 49.0,
    "refined_f1": 51.0,
    "refined_fraction": 0.5,
    "uncertainty_correct": 0.1,
    "uncertainty_wrong": None,
    "sentences_per_second": 10.0,
}
EPOCH = {"epoch": 1, "seconds": 3.0, "sentences_per_second": 9.0, "dev": SCORES}
METRICS = {"task": "ner", "epochs": [EPOCH], "best_epoch": 1, "dev": SCORES, "test": SCORES}


def read(function, *arguments):
    """What a function gives, or the InputError in its place."""
    try:
        return function(*arguments)
    except InputError as error:
        check_said(error)
        return error


@share(0.1)
@given(values=damaged_json(Config().to_dict()))
def test_configurations(values):
    config = read(from_dict, values)
    if isinstance(config, Config):
        assert from_dict(json.loads(json.dumps(config.to_dict()))) == config


@share(0.05)
@given(values=damaged_json(make_vocabulary(make_sentences("IOB2"), "IOB2").to_dict()))
def test_vocabularies(values):
    vocabulary = read(Vocabulary.from_dict, values)
    if isinstance(vocabulary, Vocabulary):
        assert Vocabulary.from_dict(vocabulary.to_dict()) == vocabulary


@share(0.05)
@given(values=damaged_json(METRICS))
def test_metrics(tmp_path_factory, values):
    path = tmp_path_factory.getbasetemp() / "metrics.json"
    path.write_bytes(to_bytes(values))
    metrics = read(read_run_metrics, pathlib.Path(path))
    if isinstance(metrics, dict) and "dev" in metrics:
        summarize([{**metrics, "parameters": 3}] * 2)


def read_settings(settings: Annotated[Settings, SettingFlags()]):
    return bool(settings) - 1


@share(0.1)
@given(data=st.data())
def test_flags_and_flagfiles(tmp_path_factory, capfd, data):
    names = sorted({field.name for _, field, _ in iter_options(Config())})
    lines = data.draw(
        st.lists(
            st.tuples(
                st.sampled_from(names), st.sampled_from(ODD_VALUES) | st.text(max_size=9)
            ).map(lambda pair: f"--{pair[0]}={pair[1]}"),
            max_size=3,
        )
    )
    file = tmp_path_factory.getbasetemp() / "settings.flags"
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    file.write_bytes(data.draw(damaged_bytes(text)) if data.draw(st.booleans()) else text)
    capfd.readouterr()
    arguments = [f"--flagfile={file}"] if data.draw(st.booleans()) else lines
    code = runner.exit_code(read_settings, ["x", *arguments])
    err = capfd.readouterr().err
    assert (code, err.count("\n")) in ((0, 0), (2, 1))
