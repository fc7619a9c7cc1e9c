"""Files for the readers."""

import pytest


@pytest.fixture
def write(tmp_path):
    """Writes text or bytes to news.conll and returns its path."""

    def write_file(content, name="news.conll"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write_file
