import numpy as np
import tensorflow as tf

from uanet_tf.training.optimizers import AVERAGE_EVERY, WeightAverage


def test_follows_the_weights():
    weight = tf.Variable([1.0, 2.0])
    average = WeightAverage([weight], decay=0.9)
    expected = weight.numpy()
    for count in range(1, 30):
        weight.assign_add([1.0, -0.5])
        average.update()
        decay = min(0.9**AVERAGE_EVERY, (1 + count) / (10 + count))
        expected = decay * expected + (1 - decay) * weight.numpy()
    np.testing.assert_allclose(average.averages[0].numpy(), expected, rtol=1e-5)


def test_soon_forgets_the_start():
    weight = tf.Variable(1000.0)
    average = WeightAverage([weight], decay=0.9999)
    weight.assign(1.0)
    for _ in range(10):
        average.update()
    assert average.averages[0].numpy() < 2.0


def test_swap_twice_is_nothing():
    weights = [tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])]
    average = WeightAverage(weights, decay=0.5)
    weights[0].assign([5.0, 6.0])
    average.swap()
    assert weights[0].numpy().tolist() == [1.0, 2.0]
    assert average.averages[0].numpy().tolist() == [5.0, 6.0]
    average.swap()
    assert weights[0].numpy().tolist() == [5.0, 6.0]
    assert average.averages[0].numpy().tolist() == [1.0, 2.0]


def test_is_saved_and_restored(tmp_path):
    weight = tf.Variable([1.0])
    average = WeightAverage([weight], decay=0.5)
    weight.assign([9.0])
    average.update()
    kept = average.averages[0].numpy()
    path = tf.train.Checkpoint(average=average).save(str(tmp_path / "state"))

    other = WeightAverage([tf.Variable([0.0])], decay=0.5)
    tf.train.Checkpoint(average=other).restore(path).assert_existing_objects_matched()
    np.testing.assert_array_equal(other.averages[0].numpy(), kept)
    assert int(other.updates) == 1
