"""The checks of `callwright doctor` on a remote service: name, connection, TLS, prefix, key, clock.

They only read, and never show the key.
"""

import json
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

import anyio
from anyio.streams.tls import TLSAttribute

from callwright.client.compat.network_place import Resolve, places_of
from callwright.client.compat.paths import PREFIXES
from callwright.client.envelopes import problem_of
from callwright.client.transport import Request, Response, Transport, httpx
from callwright.contract.checks.counts import count_of
from callwright.server.commands.doctor.checkup import CheckResult
from callwright.service.accounts.principals import PERSONAL_PREFIX

LIMIT_S = 10.0
_BODY_BYTES = 256 * 1024
_DRIFT_S = 5.0
"""Smaller differences of the clocks are ignored."""
_MOST_DRIFT_S = 300.0
"""Beyond this difference, signatures of events are refused."""
_SHORT_CERTIFICATE_DAYS = 14
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL")
"""How a handshake fails with a program that answers in plain HTTP."""

Kind = Literal["list", "key refused", "absent", "page", "moved", "busy", "other", "silent"]


@dataclass(frozen=True, kw_only=True)
class AddressAnswer:
    """The answer of an address, as a `kind` and as text."""

    kind: Kind
    said: str
    date: str | None = None


async def network(base: httpx.URL, resolve: Resolve) -> list[CheckResult]:
    """Checks name, connection and TLS, up to the first that fails."""
    port = base.port or (443 if base.scheme == "https" else 80)
    try:
        with anyio.fail_after(LIMIT_S):
            places = await places_of(base.host, port, resolve)
    except (OSError, TimeoutError):
        said, hint = f"{base.host} has no address", "Check the host name in the base address."
        return [CheckResult("bad", "Name", said, help=hint)]
    where = ", ".join(f"{address} ({place})" for address, place in list(places.items())[:3])
    findings = [CheckResult("good", "Name", f"{base.host} is {where}" if where else base.host)]
    try:
        with anyio.fail_after(LIMIT_S):
            began = anyio.current_time()
            async with await anyio.connect_tcp(base.host, port):
                took = (anyio.current_time() - began) * 1_000
    except (OSError, TimeoutError):
        said, hint = f"nothing accepts connections at port {port}", "Is the service running, is the port right?"
        return [*findings, CheckResult("bad", "Connection", said, help=hint)]
    findings.append(CheckResult("good", "Connection", f"port {port} answers after {took:.0f} ms"))
    if base.scheme == "https":
        return [*findings, await _tls(base.host, port)]
    if set(places.values()) <= {"loopback"}:
        return [*findings, CheckResult("good", "TLS", "none, and none needed on this machine")]
    said, hint = "none: the key is sent without encryption", "Use the https address of the service."
    return [*findings, CheckResult("note", "TLS", said, help=hint)]


async def _tls(host: str, port: int) -> CheckResult:
    try:
        with anyio.fail_after(LIMIT_S):
            stream = await anyio.connect_tcp(host, port, tls=True, ssl_context=httpx.create_ssl_context())
            async with stream:
                version = stream.extra(TLSAttribute.tls_version, "TLS")
                ends = (stream.extra(TLSAttribute.peer_certificate) or {}).get("notAfter")
    except ssl.SSLError as error:
        if error.reason in _NO_TLS:
            hint = f"Write http:// in the base address, or the port of the proxy that ends TLS; {port} has none."
            return CheckResult("bad", "TLS", "what answers there speaks no TLS", help=hint)
        why = getattr(error, "verify_message", "") or error.reason or "the handshake failed"
        return CheckResult(
            "bad", "TLS", str(why), help="Install a certificate that this machine trusts, or add its authority here."
        )
    except (OSError, TimeoutError):
        return CheckResult("bad", "TLS", "the connection breaks during the handshake")
    days = _days_left(ends) if isinstance(ends, str) else None
    if days is not None and days < _SHORT_CERTIFICATE_DAYS:
        return CheckResult("note", "TLS", f"{version}; the certificate ends in {count_of(days, 'day')}")
    return CheckResult("good", "TLS", f"{version}, certificate trusted")


def _days_left(not_after: str) -> int | None:
    try:
        ends = ssl.cert_time_to_seconds(not_after)
    except ValueError:
        return None
    return int((ends - datetime.now(UTC).timestamp()) // 86_400)


async def probe_prefixes(transport: Transport) -> dict[str, AddressAnswer]:
    """The answer below each prefix that the base URL may lack, up to the first that is the service."""
    base = httpx.URL(transport.base_url)
    found: dict[str, AddressAnswer] = {}
    for prefix in PREFIXES if base.path in ("", "/") else ("",):
        found[prefix] = await probe(transport, f"{prefix}/agents?per_page=1")
        if found[prefix].kind in ("list", "key refused"):
            break
    return found


async def probe(transport: Transport, path: str) -> AddressAnswer:
    """The answer to a GET with the key."""
    request = Request("GET", transport.base_url + path, headers={"Accept": "application/json"})
    try:
        with anyio.fail_after(LIMIT_S):
            response = await transport.send_once(request, to_service=True, with_key=True)
            try:
                return _classified(response, await _body(response))
            finally:
                await response.aclose()
    except (TimeoutError, httpx.RequestError):
        return AddressAnswer(kind="silent", said="does not answer")


async def _body(response: Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _BODY_BYTES:
            break
    return bytes(body)


def _classified(response: Response, body: bytes) -> AddressAnswer:
    status, date = response.status_code, response.headers.get("date")
    if response.is_success:
        try:
            json.loads(body)
        except ValueError:
            return AddressAnswer(kind="page", said="not JSON, perhaps a web page", date=date)
        return AddressAnswer(kind="list", said="the service", date=date)
    if 300 <= status < 400:
        return AddressAnswer(
            kind="moved", said=f"moved to {response.headers.get('location', 'somewhere')[:200]}", date=date
        )
    headers = {name.lower(): value for name, value in response.headers.items()}
    problem = problem_of(status, headers, body)
    coded = "" if problem.code.startswith("http_") else f" {problem.code[:60]}"
    kind: Kind = "other"
    if status in (401, 403):
        kind = "key refused"
    elif status == 429:
        kind = "busy"
    elif status in (404, 405, 501):
        kind = "absent"
    return AddressAnswer(kind=kind, said=f"status {status}{coded}", date=date)


def prefix_finding(base: httpx.URL, found: dict[str, AddressAnswer]) -> CheckResult:
    """The prefix of the service."""
    prefix = next((prefix for prefix, seen in found.items() if seen.kind in ("list", "key refused")), None)
    if prefix is not None:
        if base.path not in ("", "/"):
            return CheckResult("good", "Prefix", f"{base.path}, as in the base address")
        said = f"{prefix}, found by trying" if prefix else "none is needed"
        hint = f"Write it into the base address to save a request: {str(base).rstrip('/')}{prefix}" if prefix else ""
        return CheckResult("note" if prefix else "good", "Prefix", said, help=hint)
    tried = "; ".join(f"{base.path.rstrip('/')}{prefix}/agents: {seen.said}" for prefix, seen in found.items())
    moved = next((seen.said for seen in found.values() if seen.kind == "moved"), None)
    hint = "The base address needs its version prefix, for example /v1 or /api/v1."
    return CheckResult("bad", "Prefix", f"the service was not found: {tried}", help=f"It {moved}." if moved else hint)


def key_finding(found: Sequence[AddressAnswer], key: str = "") -> CheckResult:
    """Whether the key is accepted."""
    if any(seen.kind == "list" for seen in found):
        return CheckResult("good", "Key", "accepted")
    refused = next((seen for seen in found if seen.kind == "key refused"), None)
    if refused is None:
        return CheckResult("note", "Key", "not tried: the service was not found")
    said = f"refused with {refused.said}"
    if key.startswith(PERSONAL_PREFIX):
        said = f"{said}: it is a personal key, which is for MCP over HTTP at /mcp alone"
        hint = "Set an API key: `callwright keys create --org NAME` on the machine of the service makes one."
        return CheckResult("bad", "Key", said, help=hint)
    return CheckResult(
        "bad",
        "Key",
        said,
        help="Make a new key where the service runs (ours: `callwright keys create --org NAME`), and set it.",
    )


def clock_finding(found: Sequence[AddressAnswer], now: Callable[[], float]) -> CheckResult | None:
    """The difference of the two clocks; None if no answer had a date."""
    date = next((seen.date for seen in found if seen.date), None)
    try:
        there = parsedate_to_datetime(date or "").timestamp()
    except (ValueError, TypeError):
        return None
    ahead = now() - there
    if abs(ahead) < _DRIFT_S:
        return CheckResult("good", "Clock", "the same as the service's")
    said = f"this machine is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} the service"
    late = "Signatures of events would be refused. " if abs(ahead) > _MOST_DRIFT_S else ""
    return CheckResult("note", "Clock", said, help=f"{late}Synchronize the clock of this machine.")
