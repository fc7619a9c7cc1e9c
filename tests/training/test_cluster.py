"""TF_CONFIG: who this process is, and what is wrong with it."""

import json

import pytest

from uanet_tf.errors import InputError
from uanet_tf.training.replicas import read_cluster


def config(kind="worker", index=0, **cluster):
    cluster = cluster or {"worker": ["a:1", "b:2"]}
    return {"cluster": cluster, "task": {"type": kind, "index": index}}


@pytest.mark.parametrize(
    ("value", "is_chief"),
    [
        (config(), True),
        (config(index=1), False),
        (config(index="1"), False),  # some schedulers write a string
        (config(chief=["a:1"], worker=["b:2"]), False),
        (config("chief", chief=["a:1"], worker=["b:2"]), True),
    ],
)
def test_the_chief_is_the_chief_or_the_first_worker(value, is_chief):
    assert read_cluster(json.dumps(value)).is_chief is is_chief


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "needs the environment variable TF_CONFIG"),
        ("worker", "it is not JSON"),
        ("[]", "is not of the form"),
        ("{}", "'cluster' is missing"),
        (json.dumps({"cluster": {"worker": ["a:1"]}}), "'task' is missing"),
        (json.dumps(config(index=2)), "its task is not in its cluster"),
        (json.dumps(config("chief")), "its task is not in its cluster"),
        (json.dumps(config(index="first")), "invalid literal"),
        (json.dumps(config(worker=["a"])), "'a' is not host:port"),
        (json.dumps(config(worker=["a:1"], ps=["b:2"])), "a cluster has chief and worker"),
        (json.dumps(config(worker=["a:1"], chief=["b:2", "c:3"])), "one chief at most"),
    ],
)
def test_what_is_wrong_is_one_sentence(text, reason):
    with pytest.raises(InputError, match=reason) as caught:
        read_cluster(text)
    assert "\n" not in str(caught.value)
    assert "TF_CONFIG" in str(caught.value)
