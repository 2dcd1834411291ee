"""Receives events: checks that a request comes from the service, and parses its event.

The header `X-Service-Signature` is `t=<unix seconds>,v1=<hex>`, with HMAC-SHA256 over the seconds, a full stop and the
raw body. The key is the whole secret, `whsec_` included, in UTF-8. While secrets are being replaced there is a `v1` for
each that is valid. Items with other names are ignored, so that later signature schemes can be added.
"""

import hmac
import re
import time
from collections.abc import Sequence
from typing import cast

from pydantic import ValidationError

from callwright.client.errors import InvalidArguments, InvalidSignature, UnexpectedAnswer, reasons
from callwright.contract.declaration.model import Resource
from callwright.contract.events import EVENT_TYPES, EventEnvelope

SIGNATURE_HEADER = "X-Service-Signature"
TOLERANCE_S = 300
"""How far the time of a signature may be from now, in seconds, in either direction."""
MOST_HEADER_CHARACTERS = 2_000
_ITEM = re.compile(r"([A-Za-z0-9_-]{1,40})=([!-~]{0,500})")
_SECONDS = re.compile(r"[0-9]{1,12}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def verify(
    body: bytes,
    signature: str | None,
    secrets: str | Sequence[str],
    *,
    tolerance_s: int = TOLERANCE_S,
    now_s: float | None = None,
) -> EventEnvelope:
    """Verifies the signature of a request and returns the event in its body.

        event = verify(await request.body(), request.headers.get("X-Service-Signature"), secret)

    `body` is the raw body: JSON that was parsed and written again has another signature. `secrets` is the
    subscription's secret, or several while it is being replaced. `now_s` is the present time in seconds since the
    epoch, by default that of the machine's clock. `typed_data` gives the event's data as a model.

    Raises:
        InvalidSignature: answer 401. `reason` and the text say why; neither holds a secret.
        InvalidArguments: `body` is not bytes, or a secret is empty: anybody could sign with an empty one.
        UnexpectedAnswer: the signed body is not an event.
    """
    keys = _keys(secrets)
    if not isinstance(cast("object", body), bytes | bytearray | memoryview):
        raise InvalidArguments("body: must be the bytes as they came, before any decoding or parsing")
    seconds, digests = _read(signature)
    signed = seconds.encode() + b"." + body
    found = [hmac.compare_digest(hmac.digest(key, signed, "sha256"), digest) for key in keys for digest in digests]
    if not any(found):  # every one is compared, so that the time taken does not say which
        raise InvalidSignature(
            "no_match",
            "no signature fits the body and the secret. Pass the raw bytes of the request, not JSON that was parsed "
            "and written again, and the secret of this subscription; while it is being replaced, the old one as well",
        )
    late_s = (time.time() if now_s is None else now_s) - int(seconds)
    if late_s > tolerance_s:
        raise InvalidSignature(
            "too_old",
            f"it was signed {late_s:.0f} s ago, and {tolerance_s} s are allowed. Where this happens to every event, "
            "this machine's clock is fast, or requests wait too long; else somebody sent an old request again",
        )
    if -late_s > tolerance_s:
        raise InvalidSignature(
            "too_new",
            f"it was signed {-late_s:.0f} s in the future, and {tolerance_s} s are allowed: the clock here is slow",
        )
    try:
        return EventEnvelope.model_validate_json(body)
    except ValidationError as error:
        raise UnexpectedAnswer(f"the body is signed and is no event: {reasons(error)}") from None


def typed_data(event: EventEnvelope) -> Resource | None:
    """The data of an event as the model of its type, for example `contract.events.CallCompleted`.

    None for a type that this version does not know; `event.data` is a dict in any case.

    Raises:
        UnexpectedAnswer: the data does not fit the type.
    """
    known = EVENT_TYPES.get(event.type)
    if known is None:
        return None
    try:
        return known.data.model_validate(event.data)
    except ValidationError as error:
        raise UnexpectedAnswer(f"the data does not fit {event.type}: {reasons(error)}") from None


def _keys(secrets: str | Sequence[str]) -> list[bytes]:
    given: list[object] = [secrets] if isinstance(secrets, str) else list(secrets)
    keys = [secret.encode() for secret in given if isinstance(secret, str) and secret and secret == secret.strip()]
    if not keys or len(keys) < len(given):
        raise InvalidArguments(
            "secrets: must be the secret of the subscription (whsec_…), or a list of such; none is empty or has white "
            "space around it"
        )
    return keys


def _read(signature: str | None) -> tuple[str, list[bytes]]:
    """The seconds as written in the header, and every digest of the scheme `v1`."""
    if not signature:
        raise InvalidSignature("missing", f"the request has no header {SIGNATURE_HEADER}: it is not from the service")
    if len(signature) > MOST_HEADER_CHARACTERS:
        raise _malformed(f"it has more than {MOST_HEADER_CHARACTERS:,} characters")
    items = [_ITEM.fullmatch(part.strip(" ")) for part in signature.split(",")]
    named = [(item[1], item[2]) for item in items if item is not None]
    if len(named) < len(items):
        raise _malformed("a part of it is no name=value")
    seconds = [value for name, value in named if name == "t"]
    if len(seconds) != 1 or not _SECONDS.fullmatch(seconds[0]):
        raise _malformed("it must hold t=, the Unix time in seconds, and that once")
    digests = [value for name, value in named if name == "v1"]
    if not digests or not all(map(_DIGEST.fullmatch, digests)):
        raise _malformed("it must hold v1= with 64 hexadecimal digits in lower case")
    return seconds[0], [bytes.fromhex(digest) for digest in digests]


def _malformed(why: str) -> InvalidSignature:
    return InvalidSignature("malformed", f"the header {SIGNATURE_HEADER} is not of the service's form: {why}")
