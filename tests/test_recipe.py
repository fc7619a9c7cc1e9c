"""Recipes by name: the same settings for Python and for the command line."""

import pytest
from absl import flags

from uanet_tf.commands.setting_flags import config_from_flags, define_config_flags, with_recipes
from uanet_tf.config import Config, recipe_names, recipe_path, recipe_settings, recipe_title
from uanet_tf.errors import InputError


@pytest.mark.parametrize("name", recipe_names())
def test_python_reads_a_recipe_as_the_command_line_does(name):
    values = flags.FlagValues()
    define_config_flags(values)
    values(["train", f"--flagfile={recipe_path(name)}"])
    assert Config().replace(**recipe_settings(name)) == config_from_flags(values)
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


def test_recipes_become_flagfiles_where_they_stand():
    fast, bilstm = recipe_path("fast"), recipe_path("bilstm")
    given = [
        "--seed=2",
        "--recipe=fast",
        "--epochs=3",
        "--recipe",
        "bilstm,fast",
        "-recipe=uanet",
    ]
    assert with_recipes(given) == [
        "--seed=2",
        f"--flagfile={fast}",
        "--epochs=3",
        f"--flagfile={bilstm}",
        f"--flagfile={fast}",
        f"--flagfile={recipe_path('uanet')}",
    ]
    assert with_recipes(["--recipes=fast", "recipe"]) == ["--recipes=fast", "recipe"]
    with pytest.raises(InputError, match="There is no recipe ''"):
        with_recipes(["--recipe"])


def test_later_flags_win():
    values = flags.FlagValues()
    define_config_flags(values)
    values(["train", *with_recipes(["--recipe=fast", "--epochs=2"])])
    config = config_from_flags(values)
    assert config.training.epochs == 2
    assert config.training.drafter_optimizer == "adam"


def test_a_flagfile_may_name_recipes(tmp_path):
    path = tmp_path / "my.flags"
    path.write_text("# Mine.\n--decoder=softmax\n--recipe=bilstm,ten_epochs\n--epochs=3\n")
    given = ["--seed=2", "--flagfile", str(path)]
    expected = [f"--flagfile={recipe_path(name)}" for name in ("bilstm", "ten_epochs")]
    assert with_recipes(given) == ["--seed=2", *expected, f"--flagfile={path}"]
    path.write_text("--recipe=fsat\n")
    with pytest.raises(InputError, match="There is no recipe 'fsat': did you mean fast"):
        with_recipes([f"--flagfile={path}"])
    assert with_recipes(["--flagfile=no.flags"]) == ["--flagfile=no.flags"]
