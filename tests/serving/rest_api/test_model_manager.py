import threading
import time
import weakref

import pytest

from tests.serving.rest_api.managed import add, make, served, states, wait_for
from uanet_tf.serving.rest_api.model_config import ModelSettings
from uanet_tf.serving.rest_api.model_manager import ModelManager
from uanet_tf.serving.rest_api.rest_error import RestError


def test_serves_the_highest_number_alone(base, loader):
    add(base, 2, 10, "0009", "abc", "3.5", "-4", "11.tmp", "tmp_12", "²")
    (base / "99").write_text("a file")
    manager = make(base, loader)
    manager.start()
    assert served(manager)[0] == 10
    assert states(manager) == {10: "AVAILABLE"}
    with pytest.raises(RestError) as caught:
        served(manager, version=2)
    assert (caught.value.status, caught.value.message) == (
        404,
        "Servable not found for request: Specific(m, 2)",
    )


def test_there_are_no_labels(base, loader):
    add(base, 1)
    manager = make(base, loader)
    manager.start()
    for name in ("m", "unknown"):
        with pytest.raises(RestError, match=r"Unrecognized servable version label") as caught:
            manager.find(name, label="stable")
        assert caught.value.status == 400


def test_unknown_models(base, loader):
    manager = make(base, loader)
    manager.start()
    with pytest.raises(RestError, match=r"Latest\(other\)"):
        manager.find("other")
    for name in ("other", "m"):  # m has no versions yet
        with pytest.raises(RestError) as caught:
            manager.states(name)
        assert caught.value.status == 404


def test_a_new_version_takes_over(base, loader):
    add(base, 1)
    manager = make(base, loader)
    manager.start()
    _, old = served(manager)
    add(base, 2)
    manager.poll()
    assert served(manager)[0] == 2
    assert states(manager) == {2: "AVAILABLE", 1: "END"}
    manager.poll()
    assert len(loader.loaded) == 2
    freed = weakref.ref(old)
    assert freed() is not None  # a request ends with the version that it began with
    del old
    assert freed() is None


def test_the_old_version_serves_while_the_new_one_loads(base, loader):
    add(base, 1)
    started, go_on = threading.Event(), threading.Event()

    def slow(path, name):
        if path.endswith("/2"):
            started.set()
            assert go_on.wait(30)
        return loader(path, name)

    manager = make(base, slow)
    manager.start()
    add(base, 2)
    thread = threading.Thread(target=manager.poll)
    thread.start()
    assert started.wait(30)
    assert served(manager)[0] == 1
    assert states(manager) == {2: "LOADING", 1: "AVAILABLE"}
    go_on.set()
    thread.join()
    assert served(manager)[0] == 2


def test_removed_versions_are_unloaded(base, loader):
    add(base, 1, 2)
    manager = make(base, loader)
    manager.start()
    (base / "2").rmdir()
    manager.poll()
    assert served(manager)[0] == 1  # the next lower takes over
    (base / "1").rmdir()
    manager.poll()
    with pytest.raises(RestError):
        served(manager)
    assert states(manager) == {2: "END", 1: "END"}


def test_a_base_path_that_is_away_changes_nothing(base, loader):
    add(base, 1)
    manager = make(base, loader)
    manager.start()
    base.rename(base.with_name("away"))
    manager.poll()
    assert served(manager)[0] == 1
    base.with_name("away").rename(base)
    add(base, 2)
    manager.poll()
    assert served(manager)[0] == 2


def test_looks_again_by_itself_until_it_is_stopped(base, loader):
    manager = ModelManager([ModelSettings("m", str(base))], loader, poll_seconds=0.01)
    manager.start()
    add(base, 1)
    wait_for(lambda: "AVAILABLE" in states(manager).values())
    manager.stop()
    add(base, 2)
    time.sleep(0.1)
    assert len(loader.loaded) == 1
