"""Toy models on disk, once for all tests of this folder."""

import pytest

from tests.serving import toy_models
from tests.serving.servers import in_thread
from uanet_tf.serving.rest_api.model_config import ModelSettings


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory):
    """A directory with uanet/1 and uanet_text/1."""
    folder = tmp_path_factory.mktemp("toy")
    toy_models.write_token_model(folder / "uanet" / "1")
    toy_models.write_text_model(folder / "uanet_text" / "1")
    return folder


@pytest.fixture(scope="session")
def types_folder(tmp_path_factory):
    """A directory with types/1, which gives back what it gets."""
    folder = tmp_path_factory.mktemp("types")
    toy_models.write_types_model(folder / "types" / "7")
    return folder


@pytest.fixture(scope="session")
def url(toy_folder, types_folder):
    """A server in this process."""
    models = [
        ModelSettings("uanet", str(toy_folder / "uanet")),
        ModelSettings("uanet_text", str(toy_folder / "uanet_text")),
        ModelSettings("types", str(types_folder / "types")),
    ]
    with in_thread(models) as url:
        yield url
