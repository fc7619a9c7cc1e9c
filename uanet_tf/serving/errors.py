"""The error of a call to a server."""


class ServingError(RuntimeError):
    """A server could not be reached, or did not give an answer; explained in one sentence.

    Attributes:
      status: HTTP code, or the name of the gRPC code; None where there was no answer.
      retryable: whether the same call may succeed later: refused or lost connections, time-outs,
        a server that is overloaded or not ready. Never a request that the server found wrong.
      sentence: position of the sentence that was refused; None: it was not alone in its request.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | str | None = None,
        retryable: bool = False,
        sentence: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retryable = retryable
        self.sentence = sentence
