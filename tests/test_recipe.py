"""Recipes by name: the same settings for Python and for the command line."""

from pathlib import Path

import pytest

import uanet_tf
from uanet_tf.commands import runner
from uanet_tf.commands.command_flags import flags_of
from uanet_tf.commands.setting_flags import settings_of
from uanet_tf.commands.train_command import train
from uanet_tf.config import (
    Config,
    iter_options,
    recipe_names,
    recipe_path,
    recipe_settings,
    recipe_title,
)
from uanet_tf.errors import InputError
from uanet_tf.option import has_flag
from uanet_tf.training.run_directory import flag_text


def parse(arguments):
    return settings_of(arguments).config


@pytest.mark.parametrize("name", recipe_names())
def test_python_reads_a_recipe_as_the_command_line_does(name):
    config = parse([f"--recipe={name}", "--word_vectors=v"])
    assert Config().replace(**recipe_settings(name), word_vectors="v") == config
    assert recipe_settings(name)
    assert 20 < len(recipe_title(name)) < 110
    assert recipe_title(name).endswith(".")  # a line of its own, not the first half of two


def test_short_names():
    assert recipe_path("fast") == recipe_path("uanet_fast")
    assert recipe_path("uanet").name == "uanet.flags"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("fsat", "did you mean fast"), ("bilstm-lan", "bilstm_lan"), ("../uanet", ""), ("zz", "see")],
)
def test_unknown_names(name, hint):
    with pytest.raises(InputError, match=f"There is no recipe '{name}': .*{hint}"):
        recipe_path(name)


def test_recipes_count_where_they_stand():
    fast = recipe_settings("fast")
    assert parse(["--epochs=3", "--recipe=fast"]).training.epochs == fast["epochs"] != 3
    expected = recipe_settings("bilstm") | fast | {"epochs": 3}
    assert parse(["-recipe", "bilstm,fast", "--epochs=3"]) == Config().replace(**expected)
    for arguments in (["--recipe"], ["--recipe="], ["--recipe=,"]):
        with pytest.raises(InputError, match="There is no recipe"):
            parse(arguments)


def test_a_flagfile_may_name_recipes(tmp_path):
    path = tmp_path / "my.flags"
    path.write_text("# Mine.\n--decoder=softmax\n--recipe=bilstm,ten_epochs\n--epochs=3\n")
    settings = recipe_settings("bilstm") | recipe_settings("ten_epochs")
    expected = Config().replace(**(settings | {"decoder": "softmax", "epochs": 3}))
    assert parse(["--flagfile", str(path)]) == expected
    path.write_text("--recipe=fsat\n")
    with pytest.raises(InputError, match="There is no recipe 'fsat': did you mean fast"):
        parse([f"--flagfile={path}"])
    path.write_text(f"--flagfile={path}\n")
    with pytest.raises(InputError, match=r"my\.flags:1: --flagfile=.*my\.flags names itself"):
        parse([f"--flagfile={path}"])


ROOT = Path(__file__).resolve().parent.parent
FIELDS = {
    field.name: (group, field)
    for group, field, _ in iter_options(Config())
    if has_flag(field, "train")
}


def test_every_flag_of_train_is_a_setting():
    groups = {group for group, _ in FIELDS.values()}
    modules = flags_of(train).flags_by_module_dict().items()
    defined = {f.name for module, found in modules if module in {"flags", *groups} for f in found}
    assert defined == {"run_dir", "recipe", *FIELDS}


def test_the_command_line_wins_over_the_flagfile(tmp_path):
    path = tmp_path / "some.flags"
    path.write_text("# comment\n\n--epochs=7\n--seed=3\n--notune_threshold\n--deterministic\n")
    config = parse([f"--flagfile={path}", "--epochs=9"])
    assert (config.training.epochs, config.training.seed) == (9, 3)
    assert config.training.deterministic
    assert not config.training.tune_threshold


def test_flags_txt_gives_the_same_configuration(tmp_path):
    config = Config().replace(
        train_path="a corpus/train#1.conll",
        test_path="",
        label_column=-2,
        mc_seed=-1,
        normalize_digits=False,
        tune_threshold=True,
        refiner_learning_rate=1.5e-7,
        drafter_optimizer="adam",
        threshold=0.0,
    )
    path = tmp_path / "flags.txt"
    path.write_text(flag_text(config), encoding="utf-8")
    assert parse([f"--flagfile={path}"]) == config


@pytest.mark.parametrize("path", sorted(ROOT.glob("configs/*.flags")), ids=lambda path: path.stem)
def test_recipes_are_valid_and_say_what_they_are(path):
    parse([f"--flagfile={path}", "--word_vectors=v"])
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert f"--flagfile=configs/{path.name} " in text  # the command that uses it
    given = [line.split("=")[0] for line in text.splitlines() if line.startswith("--")]
    assert len(set(given)) == len(given)


def test_a_recipe_without_what_it_is_for(tmp_path, capsys):
    run = tmp_path / "run"
    arguments = ["--train_path=a", "--dev_path=b", f"--run_dir={run}"]
    for recipe in ("vectors", "fast,vectors", "uanet_vectors,ten_epochs"):
        assert runner.exit_code(train, ["train", f"--recipe={recipe}", *arguments]) == 2
        said = capsys.readouterr().err
        assert said.startswith("The recipe uanet_vectors is for --word_vectors, and none is given")
    arguments.append("--word_vectors=v")
    assert runner.exit_code(train, ["train", "--recipe=vectors", *arguments]) == 2
    assert "none is given" not in capsys.readouterr().err
    with pytest.raises(InputError, match="is for `word_vectors`, and none is given"):
        uanet_tf.train("a", "b", run_dir=run, recipe="vectors")
