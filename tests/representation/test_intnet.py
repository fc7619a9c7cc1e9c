import numpy as np
import pytest

from tests.representation.test_char_layers import WORDS, shaken
from uanet_tf.representation.intnet import IntNet


def convolve(maps, kernel, bias):
    """ReLU of one convolution over one unpadded word [W, D], place by place."""
    size = len(kernel)
    outputs = []
    for place in range(len(maps)):
        total = bias.copy()
        for offset in range(size):
            at = place + offset - (size - 1) // 2
            if 0 <= at < len(maps):
                total += maps[at] @ kernel[offset]
        outputs.append(np.maximum(total, 0))
    return np.stack(outputs)


def of_word(layer, ids):
    """The network written out for one word without padding."""
    vectors = layer.embeddings.numpy()[ids]

    def run(inputs, name):
        return convolve(inputs, layer.kernels[name].numpy(), layer.biases[name].numpy())

    maps = np.concatenate([run(vectors, "initial_3"), run(vectors, "initial_5")], axis=1)
    for block in range(layer.num_layers // 2):
        narrow = run(maps, f"bottleneck_{block}")
        wide = [run(narrow, f"block_{block}_{size}") for size in (3, 5)]
        maps = np.concatenate([maps, *wide], axis=1)
    return maps.max(axis=0)


@pytest.mark.parametrize("num_layers", [1, 3, 5])
def test_equals_the_network_of_each_word(num_layers):
    layer = shaken(IntNet(10, char_width=3, num_layers=num_layers, initial_filters=2, filters=3))
    outputs = layer(WORDS).numpy()
    assert outputs.shape == (5, 2 * (2 + 3 * (num_layers // 2)))
    for ids, output in zip(WORDS, outputs, strict=True):
        word = ids[ids > 0]
        expected = of_word(layer, word) if len(word) else np.zeros(len(output))
        np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-5)


def test_widths_and_number_of_layers():
    layer = IntNet(80, num_layers=9, kernel_sizes=(3, 4, 5))
    layer.build([None, None])
    assert layer.output_width == 3 * (32 + 4 * 16)
    assert len(layer.kernels) == 3 + 4 * (1 + 3)
    assert layer.kernels["bottleneck_3"].shape == [1, 3 * (32 + 3 * 16), 16]
    assert layer.kernels["block_3_4"].shape == [4, 16, 16]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_layers": 4}, "`num_layers` must be odd and positive. Received: num_layers=4"),
        ({"num_layers": -1}, "`num_layers` must be odd and positive. Received: num_layers=-1"),
        ({"kernel_sizes": []}, r"`kernel_sizes` must be positive and distinct. Received: .*\[\]"),
        ({"kernel_sizes": (3, 0)}, r"`kernel_sizes` must be positive"),
        ({"kernel_sizes": (3, 3)}, r"`kernel_sizes` must be positive and distinct"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        IntNet(10, **options)
