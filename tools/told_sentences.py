"""A sentence that has to come back with a person's yes, where a host cannot ask: it bears when it was made.

Its mark is sealed over what would be done, so that the sentence is good for that alone, for ten minutes, and once. Each
time it is another one, so that the same thing can be agreed to a second time. Nothing is kept for it until it is used.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime

_NONCE_DIGITS, _SEAL_DIGITS = 8, 20
_MARK = re.compile(
    rf"\(Asked at (\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d)Z, "
    rf"reference ([0-9a-f]{{{_NONCE_DIGITS}}})([0-9a-f]{{{_SEAL_DIGITS}}})\.\)$"
)
_WHEN = "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True)
class Mark:
    """The end of a sentence: when it was made, in seconds since the epoch, and which one of that second it is."""

    at: float
    nonce: str
    seal: str

    @property
    def words(self) -> str:
        """As it stands in the sentence."""
        return f"(Asked at {datetime.fromtimestamp(self.at, UTC):{_WHEN}}Z, reference {self.nonce}{self.seal}.)"

    @property
    def key(self) -> str:
        """The idempotency key of what is done by this sentence, the same in every process."""
        return f"agreed{self.nonce}{self.seal}"


def new_mark(about: str, *, secret: bytes, at: float, fresh_id: str) -> Mark:
    """The mark of a new sentence. `about` is all that it is good for, `fresh_id` an id that nobody can guess."""
    nonce = hashlib.sha256(fresh_id.encode()).hexdigest()[:_NONCE_DIGITS]
    return _sealed(about, secret, at // 1, nonce)


def mark_in(sentence: str) -> Mark | None:
    """The mark at the end of a sentence; None where there is none."""
    found = _MARK.search(" ".join(sentence.split()))
    if found is None:
        return None
    try:
        at = datetime.strptime(found[1], _WHEN).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
    return Mark(at, found[2], found[3])


def is_genuine(mark: Mark, about: str, *, secret: bytes) -> bool:
    """Whether a mark was made here, and for this."""
    return hmac.compare_digest(mark.seal, _sealed(about, secret, mark.at, mark.nonce).seal)


def _sealed(about: str, secret: bytes, at: float, nonce: str) -> Mark:
    sealed = hmac.new(secret, f"{at:.0f} {nonce} {about}".encode(), hashlib.sha256)
    return Mark(at, nonce, sealed.hexdigest()[:_SEAL_DIGITS])
