"""The client, against the local server; with TF_SERVING_URL set, against a real TF Serving.

For that, have TF Serving serve what ``python -m tests.serving.toy_models DIRECTORY`` writes, with
serving/models.config and serving/batching_parameters.txt, and set TF_SERVING_URL to its REST
address, or to grpc://host:8500.
"""

import os
import random
import threading

import numpy as np
import pytest

from tests.serving.fake_server import Reset, Silence, scripted
from uanet_lite.tagged_sentence import TaggedSentences
from uanet_tf.serving.client import Client
from uanet_tf.serving.retrying import RetryPolicy, ServingError

ONCE = RetryPolicy(attempts=1)


def tag(sentences, url, model_name="uanet", *, threshold=None, **options):
    with Client(url, model_name, **options) as client:
        return client.tag(sentences, threshold=threshold)


@pytest.fixture(scope="module")
def address(request):
    return os.environ.get("TF_SERVING_URL") or request.getfixturevalue("url")


@pytest.fixture(scope="module")
def client(address):
    with Client(address) as client:
        yield client


class TestAgainstAServer:
    def test_words(self, client):
        (answer,) = client.tag([["the", "Chelsea", "Wanderers"]])
        assert answer.tokens == ["the", "Chelsea", "Wanderers"]
        assert answer.labels == answer.refined_labels == ["O", "B-ORG", "I-ORG"]
        assert answer.draft_labels == ["O", "B-PER", "I-PER"]
        assert answer.uncertainty == pytest.approx([0.3, 0.7, 0.9])
        assert answer.confidence == [1.0, 1.0, 1.0]
        assert answer.refined == [False, True, True]
        assert answer.text == "the Chelsea Wanderers"
        (entity,) = answer.entities
        assert entity[:6] == ("Chelsea Wanderers", "ORG", 4, 21, 1, 3)
        assert entity.uncertainty == max(answer.uncertainty[1:3])
        assert str(answer) == "the [ORG Chelsea Wanderers]"

    @pytest.mark.parametrize(
        "text", ["Café Chelsea, é Wanderers!", "日本 Über 😀 Ünsal", "a\tBcde"]
    )
    def test_text(self, client, text):
        (answer,) = client.tag([text])
        assert answer.text == text
        for token, start, end in zip(answer.tokens, answer.starts, answer.ends, strict=True):
            assert text[start:end] == token
        assert answer.entities
        for entity in answer.entities:
            assert text[entity.start : entity.end] == entity.text
            assert answer.tokens[entity.token_start] == entity.text.split()[0]

    def test_text_and_words_give_the_same_labels(self, client):
        by_text, by_words = client.tag(["Café Chelsea beat", ["Café", "Chelsea", "beat"]])
        assert by_text == by_words

    def test_thresholds(self, client):
        words = ["Chelsea", "Wanderers"]
        (answer,) = client.tag([words], threshold=0.8)
        assert answer.refined == [False, True]
        answers = client.tag([words] * 3, threshold=[0.0, 0.8, 5])
        assert [sum(answer.refined) for answer in answers] == [2, 1, 0]

    def test_one_text_counts_as_a_list_of_one(self, client):
        (answer,) = answers = client.tag("Chelsea won", threshold=0.8)
        assert (answer.tokens, answer.refined) == (["Chelsea", "won"], [False, False])
        assert type(answers) is TaggedSentences
        first, second = client.tag("Chelsea won today. They sang.", split_sentences=True)
        assert (first.text, second.text) == ("Chelsea won today.", "They sang.")

    def test_thresholds_of_texts(self, client):
        """Each text has its own, also beside lists of words, whatever the order of requests."""
        given = ["Chelsea Wanderers", ["Chelsea", "Wanderers"], "Chelsea", "Chelsea Wanderers"]
        answers = client.tag(given, threshold=[0.8, 0.0, 0.0, 5])
        assert [answer.refined for answer in answers] == [
            [False, True],
            [True, True],
            [True],
            [False, False],
        ]

    def test_order_padding_and_batches_change_nothing(self, address, client):
        draw = random.Random(3)
        words = ["the", "a", "Chelsea", "Wanderers", "é", "Ünsal", "won"]
        sentences = [
            [draw.choice(words) for _ in range(draw.randrange(0, 12))] for _ in range(50)
        ] + [" ".join(draw.choice(words) for _ in range(5)) for _ in range(20)]
        draw.shuffle(sentences)
        answers = client.tag(sentences)
        assert len(answers) == len(sentences)
        for sentence, answer in zip(sentences, answers, strict=True):
            given = sentence.split() if isinstance(sentence, str) else sentence
            assert answer.tokens == given
            assert len(answer.labels) == len(answer.refined) == len(answer.starts) == len(given)
        with Client(address, batch_size=3) as other:
            assert other.tag(sentences) == answers
            assert [other.tag([sentence])[0].labels for sentence in sentences[:10]] == [
                answer.labels for answer in answers[:10]
            ]

    def test_empty_sentences(self, client):
        answers = client.tag([[], "", ["Chelsea"], " \t ", []])
        assert [answer.labels for answer in answers] == [[], [], ["B-ORG"], [], []]
        assert [answer.text for answer in answers] == ["", "", "Chelsea", " \t ", ""]
        assert client.tag([[]])[0].entities == []
        assert client.tag([""])[0].tokens == []
        assert client.tag([]) == []

    def test_no_such_model(self, address):
        for sentence in ("text", ["word"]):
            with pytest.raises(ServingError, match=r"nope.*Servable not found") as caught:
                tag([sentence], address, "nope", retries=RetryPolicy(sleep=pytest.fail))
            assert caught.value.status in (404, "NOT_FOUND")

    def test_from_many_threads(self, client):
        results = {}

        def ask(number):
            results[number] = client.tag([[f"Club{number}"], f"Club{number} won"])

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 20
        for number, (words, text) in results.items():
            assert words.tokens == [f"Club{number}"]
            assert text.tokens == [f"Club{number}", "won"]

    def test_arrays(self, client):
        words = np.array(["the", "Chelsea"])
        assert client.tag([words])[0].tokens == ["the", "Chelsea"]
        assert client.tag(np.array([words, words], dtype=object))[1].labels == ["O", "B-ORG"]
        (answer,) = client.tag([words], threshold=np.array(0.8))
        assert answer.refined == [False, False]


def outputs(*rows):
    """What a server answers for sentences of these labels, padded to the longest and beyond."""
    width = max(map(len, rows)) + 2
    labels = [list(row) + ["PAD"] * (width - len(row)) for row in rows]
    names = ("labels", "draft_labels", "refined_labels")
    values = ("uncertainty", "confidence", "refined")
    return {
        "outputs": {
            **dict.fromkeys(names, labels),
            **dict.fromkeys(values, [[0.5] * width] * len(rows)),
        }
    }


class TestRequests:
    def test_rows_are_padded_and_lengths_sent(self):
        with scripted((200, outputs(["O"] * 3, ["O"]))) as server:
            answers = tag([["a"], ["b", "c", "d"]], server.url)
        ((path, body),) = server.requests
        assert path == "/v1/models/uanet:predict"
        assert body == {
            "signature_name": "serving_default",
            "inputs": {"tokens": [["b", "c", "d"], ["a", "", ""]], "lengths": [3, 1]},
        }
        assert [answer.tokens for answer in answers] == [["a"], ["b", "c", "d"]]

    def test_a_threshold_asks_its_own_signature(self):
        with scripted((200, outputs(["O"], ["O"]))) as server:
            tag([["a"], ["b"]], server.url, threshold=[1, np.float32(2.5)])
        assert server.requests[0][1]["signature_name"] == "with_threshold"
        assert server.requests[0][1]["inputs"]["threshold"] == [1.0, 2.5]

    def test_a_request_stays_below_4000_tokens_of_padded_sentences(self):
        answers = [(200, outputs(*[["O"] * 1500] * count)) for count in (2, 1)]
        with scripted(*answers) as server:
            tag([["a"] * 1500] * 3, server.url)
        assert [len(body["inputs"]["lengths"]) for _, body in server.requests] == [2, 1]

    @pytest.mark.parametrize("text", ["1 " * 1500, "." * 1500, "न" * 500 + "," * 1000])
    def test_so_do_texts_whatever_their_characters(self, address, text):
        with Client(address, retries=ONCE) as client:
            answers = client.tag([text.strip(), "a", *[text.strip()] * 4])
        assert [len(answer.tokens) for answer in answers][1] == 1
        assert len(answers) == 6

    def test_a_sentence_that_is_refused_is_named(self):
        with (
            scripted((400, {"error": "more than 4,096 tokens"})) as server,
            pytest.raises(ServingError, match=r"sentences\[1\]: .* tokens") as caught,
        ):
            tag([["a"], ["b"] * 5_000, ["c"]], server.url)
        assert (caught.value.sentence, caught.value.status) == (1, 400)

    def test_names_of_models(self):
        with scripted((404, {"error": "no"})) as server:
            for sentence in (["a"], "a"):
                with pytest.raises(ServingError):
                    tag([sentence], server.url, "mine")
            with pytest.raises(ServingError):
                tag(["a"], server.url, "mine", text_model_name="raw")
        names = [path.split("/")[3].split(":")[0] for path, _ in server.requests]
        assert names == ["mine", "mine_text", "raw"]

    def test_other_models_are_noticed(self):
        foreign = {"outputs": {"labels": [["O"]]}}
        for answer, sentences, missing in (
            (foreign, [["a"]], "draft_labels"),
            (outputs(["O"]), [["a"], ["b"]], "labels"),
        ):
            with (
                scripted((200, answer)) as server,
                pytest.raises(ServingError, match=f"lacks {missing}"),
            ):
                tag(sentences, server.url)

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("labels", None),
            ("labels", 5),
            ("labels", ["O"]),
            ("labels", [None]),
            ("labels", [[]]),
            ("labels", [[3]]),
            ("uncertainty", [["x"]]),
            ("confidence", [[None]]),
            ("accepted", [7]),
        ],
    )
    @pytest.mark.parametrize("sentence", ["a", ["a"]])
    def test_outputs_that_are_not_as_ours(self, name, values, sentence):
        ours = outputs(["O"])["outputs"]
        of_text = {"tokens": [["a"]], "starts": [[0]], "ends": [[1]], "lengths": [1]}
        with (
            scripted((200, {"outputs": {**ours, **of_text, name: values}})) as server,
            pytest.raises(ServingError, match=f"lacks {name}"),
        ):
            tag([sentence], server.url)

    @pytest.mark.parametrize("lengths", [None, 1, ["1"], [None], []])
    def test_lengths_that_are_not_as_ours(self, lengths):
        ours = outputs(["O"])["outputs"]
        with (
            scripted((200, {"outputs": {**ours, "lengths": lengths}})) as server,
            pytest.raises(ServingError, match="lacks lengths"),
        ):
            tag(["a"], server.url)


class TestSchemes:
    @pytest.mark.parametrize(
        ("labels", "scheme", "spans"),
        [
            (["B-A", "I-A", "O"], "IOB2", [("A", 0, 2)]),
            (["B-A", "E-A", "S-B"], "BIOES", [("A", 0, 2), ("B", 2, 3)]),
            (["NN", "VB", "NN"], None, []),
        ],
    )
    def test_is_told_from_the_labels(self, labels, scheme, spans):
        with scripted((200, outputs(labels))) as server:
            (answer,) = tag([["x", "y", "z"]], server.url)
        assert answer.scheme == scheme
        assert [tuple(span) for span in answer.spans] == spans

    def test_may_be_given(self):
        with scripted((200, outputs(["B", "O"]))) as server:
            assert tag([["x", "y"]], server.url)[0].entities == []
            (answer,) = tag([["x", "y"]], server.url, scheme="IOB2")
            assert [entity.text for entity in answer.entities] == ["x"]


class TestRetries:
    @pytest.mark.parametrize("trouble", [Reset, (503, {"error": "loading"}), (429, {}), Silence])
    def test_what_passes_is_tried_again(self, trouble):
        pauses = []
        policy = RetryPolicy(attempts=3, sleep=pauses.append)
        with scripted(trouble, trouble, (200, outputs(["O"]))) as server:
            (answer,) = tag([["a"]], server.url, retries=policy, timeout=0.5)
        assert answer.labels == ["O"]
        assert len(server.requests) == 3
        assert len(pauses) == 2
