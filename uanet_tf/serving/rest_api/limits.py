"""What one client of the server, and all of them together, may use."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of a server; beyond one of them a request is refused, and nothing else changes.

    Attributes:
      body_bytes: largest body, unpacked too (413).
      tokens: most tokens of a request, padding included (400); also of all requests that run at
        once: others wait. It bounds memory.
      answer_seconds: longest time from a body to its answer, waiting included (504); 0: no limit.
      read_seconds: longest time for the head of a request, for its body (408), and for taking
        the answer.
      connections: most connections; a further one gets 503 and is closed.
    """

    body_bytes: int = 8 << 20
    tokens: int = 4096
    answer_seconds: float = 30.0
    read_seconds: float = 30.0
    connections: int = 512
