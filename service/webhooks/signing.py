"""Signatures of deliveries, and the headers that contain them.

A signature is `t=<unix seconds>,v1=<hex>`, HMAC-SHA256 over the seconds, a full stop and the raw body. The key is the
whole secret with its prefix, in UTF-8. While secrets are being replaced there is one `v1` for each that is valid.
Receivers refuse a time more than 300 seconds off, so every attempt is signed again.
"""

import hmac
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from types import MappingProxyType

import orjson

_USER_AGENT = f"Callwright/{version('callwright')}"


def signature(body: bytes, at_s: int, secrets: Sequence[str]) -> str:
    """The value of the header. `at_s` is the moment of the attempt in seconds since the epoch."""
    told = f"t={at_s}"
    signed = told[2:].encode() + b"." + body
    for secret in secrets:
        # Not `hmac.digest`: it releases the interpreter lock each time, and while another thread works, taking it again
        # takes a hundred times as long as the digest.
        told += f",v1={hmac.new(secret.encode(), signed, 'sha256').hexdigest()}"
    return told


def earlier_at(now_ms: int, earlier: str) -> list[tuple[str, int]]:
    """The earlier secrets that still sign at a time, newest first, each with its end.

    `earlier` is JSON, `[[secret, until_ms], …]`, as a subscription's row has it.
    """
    if earlier == "[]":
        return []
    return [(secret, until_ms) for secret, until_ms in orjson.loads(earlier) if until_ms > now_ms]


def secrets_at(now_ms: int, secret: str, earlier: str) -> tuple[str, ...]:
    """The secrets that sign at a time: the current one, and earlier ones until their ends."""
    return (secret, *(one for one, _ in earlier_at(now_ms, earlier)))


def request_headers(
    body: bytes, at_s: int, secrets: Sequence[str], *, event_id: str, delivery_id: str, simulated: bool
) -> dict[str, str]:
    """All headers of an attempt that the service decides on, signed for the moment `at_s`."""
    ids = {"X-Service-Event-Id": event_id, "X-Service-Delivery-Id": delivery_id}
    return signed_headers(body, at_s, secrets, ids, simulated=simulated)


def signed_headers(
    body: bytes,
    at_s: int,
    secrets: Sequence[str],
    further: Mapping[str, str] = MappingProxyType({}),
    *,
    simulated: bool,
) -> dict[str, str]:
    """The headers of any signed request, with `further` ones."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": _USER_AGENT,
        "X-Service-Signature": signature(body, at_s, secrets),
        **further,
    }
    return {**headers, "X-Service-Simulated": "true"} if simulated else headers
