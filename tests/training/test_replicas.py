"""Replicas that share each batch learn what one learns, and outlive the loss of a process."""

import contextlib
import json
import socket
import sys

import numpy as np
import pytest
import tensorflow as tf

from tests.training.test_resume import wait_for
from tests.training.tiny_run import LIGHT, metrics, run, start, weights
from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.training.fit import fit
from uanet_tf.training.replicas import (
    Replicas,
    check_possible,
    check_same_state,
    chiefs_metrics,
    make_replicas,
    read_cluster,
)
from uanet_tf.training.run_directory import RunDirectory
from uanet_tf.training.saved_state import Progress

TOLERANCE = {"rtol": 1e-4, "atol": 1e-4}


def losses(found):
    return [entry["loss"] for entry in found["epochs"]]


def assert_alike(left, right, **tolerance):
    """Weights as near as rounding leaves them."""
    mine, other = weights(left), weights(right)
    assert mine.keys() == other.keys()
    for name, values in mine.items():
        np.testing.assert_allclose(values, other[name], err_msg=name, **tolerance)


def test_one_replica_needs_no_strategy():
    replicas = make_replicas("none")
    dataset = tf.data.Dataset.range(3)
    assert (replicas.count, replicas.is_chief) == (1, True)
    assert replicas.share(dataset) is dataset
    assert replicas.agree(2.5) == 2.5
    # A machine with one device.
    assert make_replicas("mirrored").count == 1
    one = tf.distribute.OneDeviceStrategy("/cpu:0")
    assert Replicas(one).share(dataset) is dataset


def test_workers_come_before_all_else(monkeypatch):
    tf.zeros([])
    cluster = {"cluster": {"worker": ["localhost:1", "localhost:2"]}}
    task = {"task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(cluster | task))
    with pytest.raises(InputError, match="before TensorFlow has run anything"):
        make_replicas("multi_worker")


@pytest.mark.process
def test_two_devices_learn_what_one_learns(tmp_path):
    """In float64, so that nothing else is put down to rounding."""
    code, out, err = run([sys.executable, "-m", "tests.training.two_devices", str(tmp_path)])
    assert code == 0, err
    found = json.loads(out.splitlines()[-1])
    assert len(losses(found["one"])) == 3
    for name in ("two", "both"):
        np.testing.assert_allclose(losses(found[name]), losses(found["one"]), rtol=1e-10)
        assert found[name]["test"]["f1"] == found["one"]["test"]["f1"]
        assert_alike(tmp_path / name, tmp_path / "one", rtol=0, atol=1e-8)


# A softmax on word vectors: the graphs of two processes, three times, are what takes the time.
SMALL = LIGHT | {
    "word_width": 8,
    "batch_size": 4,
    "epochs": 12,
    "min_epochs": 12,
    "average_decay": 0.9,
    "save_seconds": 0,
    "calibrated": False,
}


@contextlib.contextmanager
def started(corpus, run_dir):
    """Two processes that train one model."""
    addresses = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("localhost", 0))
            addresses.append(f"localhost:{free.getsockname()[1]}")
    settings = corpus.settings | SMALL | {"strategy": "multi_worker", "run_dir": run_dir}
    command = [sys.executable, "train.py", *(f"--{k}={v}" for k, v in settings.items())]
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(start(command, {"TF_CONFIG": task})) for task in tasks(addresses)
        ]


def tasks(addresses):
    cluster = {"worker": addresses}
    return [
        json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
        for index in range(len(addresses))
    ]


@pytest.mark.process
def test_a_lost_worker_a_lost_chief_and_the_same_commands_again(corpus, tmp_path):
    """kill -9: the process that is left says so, and the run continues to the same weights."""
    run_dir = tmp_path / "broken"
    state = run_dir / "checkpoints"
    last = 0
    for lost in (1, 0):
        with started(corpus, run_dir) as processes:
            wait_for(processes[0], lambda last=last: newest(state) > last)
            processes[lost].kill()
            out, err = processes[1 - lost].communicate(timeout=200)
            assert (processes[1 - lost].returncode, out) == (2, ""), err
            assert err.splitlines()[-1].startswith("Another worker of --strategy=multi_worker has")
        assert not (run_dir / "model.keras").exists()
        last = newest(state)

    with started(corpus, run_dir) as processes:
        said = [process.communicate(timeout=200) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    assert said[0][0] == said[1][0] != ""  # both print the scores
    assert f"resuming {run_dir}" in said[0][1]
    assert all("waiting until all 2 processes of TF_CONFIG" in err for _, err in said)
    fit(Config().replace(**corpus.settings, **SMALL), tmp_path / "one")
    found = [losses(metrics(path)) for path in (run_dir, tmp_path / "one")]
    np.testing.assert_allclose(found[0], found[1], **TOLERANCE)
    assert_alike(run_dir, tmp_path / "one", rtol=1e-2, atol=2e-3)


def newest(state):
    """The number of the last state; 0: there is none."""
    return max((int(path.stem[5:]) for path in state.glob("ckpt-*.index")), default=0)


def test_a_memory_of_drafts_is_of_one_process():
    config = Config().replace(strategy="mirrored", refiner_context="document")
    replicas = Replicas()
    check_possible(replicas, config)
    replicas.count = 2
    with pytest.raises(
        InputError, match="`strategy=mirrored` does not go with `refiner_context=document`"
    ):
        check_possible(replicas, config)


def test_a_worker_that_does_not_see_the_chiefs_directory(monkeypatch, tmp_path):
    """Else it trained to the end, and ended with a traceback."""
    monkeypatch.setattr("uanet_tf.training.replicas._SECONDS", 0)
    replicas = Replicas(is_chief=False)
    replicas.count = 2
    run_dir = RunDirectory(tmp_path)
    with pytest.raises(InputError, match=r"of this worker lacks the config\.json that the"):
        check_same_state(replicas, Progress(), run_dir)
    with pytest.raises(InputError, match=r"lacks the metrics\.json .*: all workers must see the "):
        chiefs_metrics(run_dir)
    run_dir.config.write_text("{}")
    run_dir.metrics.write_text("{}")  # of a run that is not complete
    with pytest.raises(InputError, match="all workers must see the same directory"):
        chiefs_metrics(run_dir)
    replicas.count = 1
    check_same_state(replicas, Progress(), run_dir)


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
    assert read_cluster(json.dumps(value)) == (2, is_chief)


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
        (json.dumps(config(worker=["a"])), "each as host:port"),
        (json.dumps(config(worker=["a:1"], ps=["b:2"])), "a cluster has workers"),
        (json.dumps(config(worker=["a:1"], chief=["b:2", "c:3"])), "one chief at most"),
    ],
)
def test_what_is_wrong_is_one_sentence(text, reason):
    with pytest.raises(InputError, match=reason) as caught:
        read_cluster(text)
    assert "\n" not in str(caught.value)
    assert "TF_CONFIG" in str(caught.value)
