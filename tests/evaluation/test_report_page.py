"""Which answers a report shows."""

from uanet_lite.tag_schemes import Span
from uanet_tf.evaluation.report_page import Example, most_doubtful_right, surest_wrong


def example(sentence, start, score, right):
    return Example(sentence, Span("PER", start, start + 1), score, score, right, "nothing")


def test_the_first_of_each_sentence():
    examples = [
        example(sentence, start, (7 * sentence + 3 * start) % 10 / 10, right)
        for sentence in range(4)
        for start in range(6)
        for right in (True, False)
    ]
    for choose, right in ((surest_wrong, False), (most_doubtful_right, True)):
        found = choose(examples, 3)
        assert len({each.sentence for each in found}) == len(found) == 3
        assert all(each.right == right for each in found)
        scores = [each.confidence for each in found]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] == max(each.confidence for each in examples)
