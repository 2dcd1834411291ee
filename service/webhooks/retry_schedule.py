"""When a delivery is attempted again, and after which outcomes: five attempts within about ten minutes."""

from callwright.contract.attempts import AttemptOutcome

GAPS_MS = (15_000, 45_000, 135_000, 405_000)
"""From the end of one attempt to the beginning of the next. Each is three times the last; together ten minutes."""
JITTER = 0.1
"""The largest random change of a gap, as a fraction, so that attempts that fail together are not retried together."""
RETRIED: frozenset[AttemptOutcome] = frozenset(
    {"server_error", "timeout", "connection_failed", "tls_failed", "dns_failed", "bad_answer"}
)
"""Temporary failures. A 4xx or 3xx answer and a forbidden address are final."""


def next_attempt_ms(outcome: AttemptOutcome, counted: int, ended_ms: int, chance: float) -> int | None:
    """The time of the next attempt; None if there is none.

    `counted` is how many attempts were made, without interrupted ones. `chance` is a random number of [0, 1).
    """
    if outcome not in RETRIED or counted > len(GAPS_MS):
        return None
    return ended_ms + round(GAPS_MS[counted - 1] * (1 + JITTER * (2 * chance - 1)))
