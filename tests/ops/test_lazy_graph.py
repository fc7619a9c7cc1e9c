import concurrent.futures

import tensorflow as tf

from uanet_tf.ops.graphs import LazyGraph


def test_threads_share_one_graph():
    traced = []

    def double(x):
        traced.append(x)
        return 2 * x

    graph = LazyGraph(double, [tf.TensorSpec([None], tf.int32)])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(graph, [tf.constant([k] * (1 + k)) for k in range(8)]))
    assert [r.numpy().tolist() for r in results] == [[2 * k] * (1 + k) for k in range(8)]
    assert len(traced) == 1
    graph.forget()
    graph(tf.constant([1]))
    assert len(traced) == 2
