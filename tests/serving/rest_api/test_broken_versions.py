"""A version that cannot be served disturbs no other."""

import pytest

from tests.serving.rest_api.managed import FakeModel, Fault, add, make, served, states, wait_for
from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api.model_config import ModelSettings
from uanet_tf.serving.rest_api.model_manager import ModelManager
from uanet_tf.serving.rest_api.rest_error import RestError


def test_a_broken_version_is_tried_again_when_it_changes(base, loader):
    add(base, 1, 2)
    (base / "2" / "broken").touch()
    manager = make(base, loader)
    manager.start()
    assert manager.first_error()
    add(base, 0)  # lower than the broken one: not wanted either
    manager.poll()
    with pytest.raises(RestError):
        served(manager)
    ((version, state),) = manager.states("m")
    assert (version, state.state) == (2, "END")
    assert "is broken" in state.error
    assert len(loader.loaded) == 1  # not tried again as long as it stays the same
    (base / "2" / "broken").unlink()
    manager.poll()
    assert served(manager)[0] == 2
    assert manager.first_error() == ""


@pytest.mark.parametrize("at_start", [True, False])
@pytest.mark.parametrize(
    ("error", "told", "code"),
    [
        (InputError("2: is broken."), "2: is broken.", "INVALID_ARGUMENT"),
        (Fault("of the\nprogram"), "/2: Fault: of the program", "INTERNAL"),
        (MemoryError(), "/2: MemoryError: ", "INTERNAL"),
        (SystemExit(3), "/2: SystemExit: 3", "INTERNAL"),
    ],
)
def test_no_error_of_a_version_ends_the_looking(base, at_start, error, told, code):
    def load(path, name):
        del name
        if path.endswith("/2"):
            raise error
        return FakeModel(path)

    manager = ModelManager([ModelSettings("m", str(base))], load, poll_seconds=0.01)
    add(base, 2 if at_start else 1)
    manager.start()
    if not at_start:
        add(base, 2)
    wait_for(lambda: states(manager).get(2) == "END")
    state = dict(manager.states("m"))[2]
    assert state.error.endswith(told)
    assert state.code == code
    assert states(manager) == ({2: "END"} if at_start else {2: "END", 1: "AVAILABLE"})
    add(base, 3)
    wait_for(lambda: states(manager).get(3) == "AVAILABLE")
    assert served(manager)[0] == 3
    manager.stop()
