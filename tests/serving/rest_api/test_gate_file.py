import pytest

from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api.gate_file import FILE, read_gate


def test_gamma(tmp_path):
    assert read_gate(tmp_path) is None
    (tmp_path / FILE).parent.mkdir()
    for text, gamma in (('{"threshold": 0.35}', 0.35), ('{"threshold": 1}', 1.0)):
        (tmp_path / FILE).write_text(text)
        assert read_gate(tmp_path) == gamma
    for text in ("{", "[]", "{}", '{"threshold": "a"}', '{"threshold": -1}', '{"threshold": true}'):
        (tmp_path / FILE).write_text(text)
        with pytest.raises(InputError, match=r"gate\.json: "):
            read_gate(tmp_path)
