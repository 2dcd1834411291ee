"""A sentence with a signature at its end, which has to come back with a person's consent where a host cannot ask.

The signature covers the call and the time of the question, so the sentence is valid only for this call, for ten
minutes, and once. Each sentence has a new signature, so that the same thing can be agreed to again. Nothing is stored
until a signature is used.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from callwright.tools.confirmation.asked_at import MONOTONIC_DIGITS, PROCESS_DIGITS, AskedAt

_NONCE_DIGITS, _SEAL_DIGITS = 8, 20
_SIGNATURE = re.compile(
    rf"\(Asked at (\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d)Z, "
    rf"reference ([0-9a-f]{{{_NONCE_DIGITS}}})([0-9a-f]{{{PROCESS_DIGITS}}})([0-9a-f]{{{MONOTONIC_DIGITS}}})"
    rf"([0-9a-f]{{{_SEAL_DIGITS}}})\.\)$"
)
_WHEN = "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True)
class Signature:
    """The end of a sentence: its time in whole seconds, a nonce and a seal."""

    at: AskedAt
    nonce: str
    seal: str

    @property
    def words(self) -> str:
        """The text of the signature."""
        shown = datetime.fromtimestamp(self.at.wall_s, UTC)
        return f"(Asked at {shown:{_WHEN}}Z, reference {self._reference}{self.seal}.)"

    @property
    def key(self) -> str:
        """The idempotency key of the call that follows, the same in every process."""
        return f"agreed{self._reference}{self.seal}"

    @property
    def _reference(self) -> str:
        return f"{self.nonce}{self.at.process}{int(self.at.monotonic_s):0{MONOTONIC_DIGITS}x}"


def new_nonce(fresh_id: str) -> str:
    """The nonce of a new question, made of an id that nobody can guess."""
    return hashlib.sha256(fresh_id.encode()).hexdigest()[:_NONCE_DIGITS]


def new_signature(about: str, *, secret: bytes, at: AskedAt, nonce: str) -> Signature:
    """The signature of a new sentence. `about` is everything that it covers."""
    return _signed(about, secret, at.in_seconds, nonce)


def signature_in(sentence: str) -> Signature | None:
    """The signature at the end of a sentence; None where there is none."""
    found = _SIGNATURE.search(" ".join(sentence.split()))
    if found is None:
        return None
    when, nonce, process, running, seal = found.groups()
    try:
        shown_s = datetime.strptime(when, _WHEN).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
    return Signature(AskedAt(shown_s, int(running, 16), process), nonce, seal)


def is_genuine(signature: Signature, about: str, *, secret: bytes) -> bool:
    """Whether a signature was made with this secret, for this call."""
    return hmac.compare_digest(signature.seal, _signed(about, secret, signature.at, signature.nonce).seal)


def _signed(about: str, secret: bytes, at: AskedAt, nonce: str) -> Signature:
    words = f"{at.wall_s:.0f} {nonce} {at.process} {at.monotonic_s:.0f} {about}"
    return Signature(at, nonce, hmac.new(secret, words.encode(), hashlib.sha256).hexdigest()[:_SEAL_DIGITS])
