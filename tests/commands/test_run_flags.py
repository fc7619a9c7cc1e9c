import pytest

from uanet_tf.commands.run_flags import RunFlags
from uanet_tf.errors import InputError


def test_what_is_read_is_not_replaced_by_something_of_another_kind(tmp_path):
    data, run = tmp_path / "data.conll", tmp_path / "run"
    run.mkdir()
    for path in (data, run / "model.keras", run / "notes.json"):
        path.write_text("x")
    link = tmp_path / "link"
    link.symlink_to(data)
    for path, said in (
        (data, "is the file that is read"),
        (link, "is the file that is read"),
        (run / "model.keras", "is a file of the run"),
    ):
        with pytest.raises(InputError, match=f"--output={path} {said}: name another one."):
            RunFlags(str(run), None).check_output(str(path), str(data), "-")
    for path in ("-", run / "notes.json", tmp_path / "model.keras", run / "metrics.json"):
        RunFlags(str(run), None).check_output(str(path), str(data))
