import numpy as np
import pytest
import tensorflow as tf

from tests.encoders.sampling import INPUTS, MASK, call, check_sampling
from tests.layer_contract import check_layer
from tests.quick_params import quick_params
from uanet_tf.encoders.bigru_transformer import BiGRUTransformer
from uanet_tf.encoders.encoder import Encoder, NoEncoder, apply_mask, zero_padding
from uanet_tf.encoders.iterated_dilated_cnn import IteratedDilatedCNN
from uanet_tf.encoders.recurrent_encoders import BiGRU, BiLSTM, VariationalBiLSTM
from uanet_tf.encoders.relative_transformer import RelativeTransformer
from uanet_tf.ops.dropout import make_seed


def maker(kind, *arguments, **defaults):
    return lambda **options: kind(*arguments, **{**defaults, **options})


# Every rate is above 0.
RATES = {"input_dropout": 0.3, "output_dropout": 0.4}
TIED = {"num_layers": 2, "recurrent_dropout": 0.2, **RATES}
ENCODERS = {
    "none": maker(NoEncoder, output_dropout=0.5),
    "bilstm": maker(BiLSTM, 8, num_layers=2, **RATES),
    "variational_bilstm": maker(VariationalBiLSTM, 6, projection_width=4, **TIED),
    "bigru": maker(BiGRU, 8, **TIED),
    "bigru_transformer": maker(BiGRUTransformer, 8, **TIED),
    "relative_transformer": maker(
        RelativeTransformer, 12, num_heads=2, attention_dropout=0.3, layer_dropout=0.2, **RATES
    ),
    "iterated_dilated_cnn": maker(
        IteratedDilatedCNN, 4, num_iterations=3, hidden_dropout=0.2, **RATES
    ),
}


class Masked(Encoder):
    def mask_widths(self, input_width):
        return {"wide": (input_width, 0.5), "never": (9, 0.0), "narrow": (3, 0.2)}


def test_draws_a_row_for_each_sample():
    masks = Masked().draw_masks(make_seed(1), 400, 50)
    assert {name: mask.shape.as_list() for name, mask in masks.items()} == {
        "wide": [400, 50],
        "narrow": [400, 3],
    }
    assert np.mean(masks["wide"].numpy() == 0) == pytest.approx(0.5, abs=0.02)
    assert np.mean(masks["narrow"].numpy() == 0) == pytest.approx(0.2, abs=0.04)
    assert len({row.tobytes() for row in masks["wide"].numpy()}) == 400


def test_the_seed_alone_decides():
    draw = [Masked().draw_masks(make_seed(seed), 4, 50)["wide"].numpy() for seed in (1, 1, 2)]
    np.testing.assert_array_equal(draw[0], draw[1])
    assert (draw[0] != draw[2]).any()


def test_a_row_does_not_depend_on_how_many_there_are():
    few, many = (Masked().draw_masks(make_seed(1), count, 50)["wide"] for count in (2, 8))
    np.testing.assert_array_equal(few, many[:2])


@pytest.mark.parametrize("draw", ["draw_masks", "sampling_masks"])
def test_masks_of_one_draw_are_independent(draw):
    class Twins(Encoder):
        def mask_widths(self, input_width):
            return {"a": (input_width, 0.5), "b": (input_width, 0.5)}

    masks = getattr(Twins(), draw)(make_seed(1), 100, 50)
    assert np.mean(masks["a"].numpy() == masks["b"].numpy()) == pytest.approx(0.5, abs=0.05)


def test_samples_drop_each_unit_equally_often():
    masks = Masked().sampling_masks(make_seed(1), 10, 50)
    assert {name: mask.shape.as_list() for name, mask in masks.items()} == {
        "wide": [10, 50],
        "narrow": [10, 3],
    }
    assert (np.sum(masks["wide"].numpy() == 0, axis=0) == 5).all()
    assert (np.sum(masks["narrow"].numpy() == 0, axis=0) == 2).all()


@pytest.mark.parametrize("draw", ["draw_masks", "sampling_masks"])
def test_masks_have_the_dtype_of_the_computation(draw):
    masks = getattr(Masked(dtype="mixed_bfloat16"), draw)(make_seed(1), 2, 5)
    assert masks["wide"].dtype == tf.bfloat16


def test_apply_mask_is_the_same_at_every_step():
    inputs = tf.random.normal([2, 3, 4])
    mask = tf.constant([[0.0, 2.0, 2.0, 0.0], [2.0, 0.0, 2.0, 0.0]])
    outputs = apply_mask(inputs, {"x": mask}, "x")
    for step in range(3):
        np.testing.assert_array_equal(outputs[:, step], inputs[:, step] * mask)
    assert apply_mask(inputs, {"x": mask}, "y") is inputs
    assert apply_mask(inputs, None, "x") is inputs


def test_training_gives_each_sentence_a_row():
    class Scaled(Masked):
        def call(self, inputs, mask=None, dropout_masks=None):
            return apply_mask(zero_padding(inputs, mask), dropout_masks, "wide")

    encoder, inputs = Scaled(), tf.random.normal([4, 3, 50])
    mask = tf.sequence_mask([3, 1, 2, 0], 3)
    states = encoder.training_states(inputs, mask, make_seed(1))
    masks = encoder.draw_masks(make_seed(1), 4, 50)
    np.testing.assert_array_equal(states[0], encoder(inputs, mask=mask, dropout_masks=masks))
    plain = encoder.training_states(inputs, mask, None)
    np.testing.assert_array_equal(plain[0], encoder(inputs, mask=mask))


def test_zero_padding_selects():
    inputs = tf.constant([[[1.0], [np.nan]]])
    np.testing.assert_array_equal(zero_padding(inputs, tf.constant([[True, False]])), [[[1], [0]]])
    assert zero_padding(inputs, None) is inputs


def test_a_subclass_must_name_its_masks():
    with pytest.raises(NotImplementedError, match="Encoder must define mask_widths"):
        Encoder().draw_masks(make_seed(1), 1, 1)


def test_a_mask_of_keras_is_passed_on():
    embedded = tf.keras.layers.Embedding(9, 4, mask_zero=True)(tf.constant([[1, 2, 0]]))
    states = VariationalBiLSTM(8)(embedded)
    np.testing.assert_array_equal(states._keras_mask, [[True, True, False]])
    alone = VariationalBiLSTM(8)(tf.ones([1, 2, 4]), mask=None)
    assert getattr(alone, "_keras_mask", None) is None


@pytest.mark.parametrize("name", quick_params(ENCODERS, {*ENCODERS} - {"bigru_transformer"}))
def test_contract(name):
    config = ENCODERS[name]().get_config()
    rates = [key for key in config if key.endswith("dropout")]
    few = {"num_layers": 1, "num_iterations": 2}  # quicker graphs
    few = {key: few[key] for key in few if key in config}

    def make_layer(**options):
        return ENCODERS[name](**few, **options)

    check_layer(
        make_layer,
        lambda: {"inputs": INPUTS, "mask": MASK},
        call=call,
        make_layer_without_dropout=lambda **options: make_layer(
            **dict.fromkeys(rates, 0.0), **options
        ),
    )


@pytest.mark.parametrize(
    "name",
    quick_params(
        sorted({*ENCODERS} - {"bilstm"}),
        ["none", "variational_bilstm", "relative_transformer", "iterated_dilated_cnn"],
    ),
)
def test_sampling(name):
    """A BiLSTM has no masks: its one pass is tested with it."""
    check_sampling(ENCODERS[name](), tolerance=2e-5)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "float64"])
@pytest.mark.parametrize("name", ENCODERS)
def test_other_dtypes(name, policy):
    layer = ENCODERS[name](dtype=policy)
    inputs = tf.cast(INPUTS, layer.compute_dtype)
    states = layer.training_states(inputs, tf.constant(MASK), make_seed(5))
    assert states.dtype == layer.compute_dtype
    assert np.isfinite(tf.cast(states, tf.float32)).all()
    assert (tf.cast(states, tf.float32).numpy()[:, ~MASK] == 0).all()


def test_words_pass_and_padding_is_zero():
    outputs = NoEncoder()(INPUTS, mask=MASK)
    np.testing.assert_array_equal(outputs, np.where(MASK[..., None], INPUTS, 0))
    np.testing.assert_array_equal(NoEncoder()(INPUTS), INPUTS)


def test_the_mask_is_tied_over_time():
    layer = NoEncoder(output_dropout=0.5)
    masks = layer.draw_masks(make_seed(1), 3, INPUTS.shape[-1])
    outputs = layer(INPUTS, dropout_masks=masks)
    np.testing.assert_allclose(outputs, INPUTS * masks["output"].numpy()[:, None])
    assert NoEncoder().draw_masks(make_seed(1), 3, INPUTS.shape[-1]) == {}
