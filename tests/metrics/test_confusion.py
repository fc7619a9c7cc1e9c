from uanet_tf.metrics.confusion import OTHER, confusion

GOLD = [["B-PER", "I-PER", "O"], ["B-LOC"]]
GIVEN = [["B-PER", "B-LOC", "O"], ["O"]]


def test_types_without_letters():
    found = confusion(GOLD, GIVEN, task="ner")
    counts = {
        (a, b): found.counts[i][j]
        for i, a in enumerate(found.names)
        for j, b in enumerate(found.names)
        if found.counts[i][j]
    }
    assert counts == {("PER", "PER"): 1, ("PER", "LOC"): 1, ("O", "O"): 1, ("LOC", "O"): 1}


def test_rare_labels_are_counted_together():
    found = confusion([["a", "a", "b", "c"]], [["a", "a", "c", "b"]], task="pos", most=2)
    assert found == (["a", OTHER], [[2, 0], [0, 2]])
