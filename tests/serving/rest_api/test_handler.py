import pytest

from uanet_tf.serving.rest_api import handler
from uanet_tf.serving.rest_api.handler import Route
from uanet_tf.serving.rest_api.rest_error import RestError


@pytest.mark.parametrize(
    ("method", "target", "route"),
    [
        ("POST", "/v1/models/a:predict", Route("predict", "a")),
        ("POST", "/v1/models/a/versions/12:classify", Route("classify", "a", 12)),
        ("POST", "/v1/models/a/versions/0012:predict", Route("predict", "a", 12)),
        ("POST", "/v1/models/a/labels/stable:regress", Route("regress", "a", None, "stable")),
        ("POST", "/V1/Models/Big:predict", Route("predict", "Big")),
        ("POST", "/v1/models/caf%C3%A9%2F:predict", Route("predict", "café/")),
        ("POST", "/v1/models/a/labels/x%20y:predict", Route("predict", "a", None, "x y")),
        ("GET", "/v1/models/a", Route("status", "a")),
        ("GET", "/v1/models/a/versions/3", Route("status", "a", 3)),
        ("GET", "/v1/models/a/labels/x", Route("status", "a", None, "x")),
        ("GET", "/v1/models/a/metadata", Route("metadata", "a")),
        ("GET", "/v1/models/a/versions/3/metadata", Route("metadata", "a", 3)),
        ("GET", "/v1/models/a?x=1", Route("status", "a?x=1")),
        ("GET", "/v1/models/a/versions/9223372036854775807", Route("status", "a", 2**63 - 1)),
    ],
)
def test_reads_the_urls_of_the_api(method, target, route):
    assert handler.parse_route(method, target) == route


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/v1/models/a:predict"),
        ("POST", "/v1/models/a/metadata"),
        ("PUT", "/v1/models/a:predict"),
        ("HEAD", "/v1/models/a"),
        ("POST", "/v1/models/a:unknown"),
        ("POST", "/v1/models/a:predict?x=1"),
        ("POST", "/v1/models/a/version/1:predict"),
        ("POST", "/v1/models/a/versions/one:predict"),
        ("POST", "/v1/models/a/versions/1/labels/x:predict"),
        ("GET", "/v1/models/a/"),
        ("POST", "/v1/models/:predict"),
    ],
)
def test_all_else_is_malformed(method, target):
    with pytest.raises(RestError, match=r"^Malformed request: ") as caught:
        handler.parse_route(method, target)
    assert caught.value.status == 400


def test_a_model_must_be_named():
    with pytest.raises(RestError, match="Missing model name") as caught:
        handler.parse_route("GET", "/v1/models")
    assert caught.value.status == 400


@pytest.mark.parametrize("version", ["9223372036854775808", "9" * 5000])
def test_a_version_beyond_int64_has_no_message(version):
    with pytest.raises(RestError) as caught:
        handler.parse_route("POST", f"/v1/models/a/versions/{version}:predict")
    assert (caught.value.status, caught.value.message) == (400, None)


@pytest.mark.parametrize(
    ("target", "api"),
    [("/v1/", True), ("/V1/x", True), ("/v1", False), ("/", False), ("/v2/models/a", False)],
)
def test_what_belongs_to_the_api(target, api):
    assert (handler._API.fullmatch(target) is not None) == api
