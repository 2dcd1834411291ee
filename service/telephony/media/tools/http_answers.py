"""Asks the address of an HTTP tool, once, within limits, and reads the answer.

The address belongs to a customer. So its addresses are checked when the connection is made, redirects are not followed,
there are no proxies and no cookies, and 64 KB of an answer are read at most. An answer that repeats a secret of the
request is read without it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from ssl import SSLContext

import anyio
from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, InvalidURL, TCPConnector, TraceConfig
from anyio import to_thread
from yarl import URL

from callwright.contract.checks.address_ranges import Network
from callwright.service.platform.outgoing.failures import of_error
from callwright.service.platform.outgoing.guard import Guard, Resolver, progress_of_this, system_roots
from callwright.service.platform.outgoing.names import Names
from callwright.service.platform.outgoing.progress import Progress, seconds, timed_out
from callwright.service.telephony.media.tools.blanking import read_answer, secrets_in
from callwright.service.telephony.media.tools.http_request import HttpRequest
from callwright.service.telephony.media.tools.results import ToolResult, failed, shortened

MOST_BYTES = 65_536
"""Bytes of an answer that are read."""
_OF_A_FAILURE = 1_000
"""Characters of an answer that tells of a failure."""
_GO_ON = "Say that it did not work, and go on without it."


@cache
def _roots() -> SSLContext:
    return system_roots()


@dataclass
class _Read:
    """What has come of the answer."""

    status: int | None = None
    body: bytearray = field(default_factory=bytearray)
    is_whole: bool = False


async def asked(request: HttpRequest, *, within_s: float, opened: Sequence[Network], names: Names) -> ToolResult:
    """What the address answers. It raises nothing for what an address does."""
    progress, read = Progress(plain=True), _Read()
    try:
        with anyio.move_on_after(within_s):
            await _exchange(request, opened, names, progress, read)
            return _result(read, secrets_in(request.secrets.values()))
        if read.status is None:
            return failed(f"{timed_out(progress, within_s)} {_GO_ON}")
        return failed(f"The answer did not come whole within {seconds(within_s)}. {_GO_ON}")
    except Exception as error:  # whatever an address does, the agent goes on
        return failed(f"{of_error(error, progress)[1]} {_GO_ON}")


async def _exchange(
    request: HttpRequest, opened: Sequence[Network], names: Names, progress: Progress, read: _Read
) -> None:
    target = URL(request.url, encoded=True)
    if target.scheme not in ("http", "https") or target.host is None:
        raise InvalidURL(request.url)
    progress.plain = target.scheme == "http"
    progress_of_this.set(progress)
    tls = await to_thread.run_sync(_roots)
    connector = TCPConnector(
        force_close=True, ssl=tls, resolver=Resolver(names), use_dns_cache=False, socket_factory=Guard(opened), limit=0
    )
    session = ClientSession(
        connector=connector,
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,
        skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
        timeout=ClientTimeout(total=None, sock_connect=None),
        max_headers=64,
        trace_configs=[_stages(progress)],
    )
    try:
        response = await session.request(
            request.method, target, data=request.body, headers=request.headers, allow_redirects=False
        )
        try:
            read.status = response.status
            while len(read.body) <= MOST_BYTES:
                part = await response.content.read(MOST_BYTES + 1 - len(read.body))
                if not part:
                    read.is_whole = True
                    break
                read.body += part
        finally:
            response.close()
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(1.0):
            await session.close()


def _stages(progress: Progress) -> TraceConfig:
    """Notes when a connection is made: what fails from then on is the answer."""
    stages = TraceConfig()

    async def made(*_: object) -> None:
        progress.stage = "answer"

    stages.on_connection_create_end.append(made)
    return stages


def _result(read: _Read, secrets: Sequence[str]) -> ToolResult:
    status = read.status or 0
    text = _text(bytes(read.body[:MOST_BYTES]))
    if text is None:
        return failed(f"The answer (status {status}) is no text. {_GO_ON}")
    text, value = read_answer(text, secrets)
    if 300 <= status <= 399:
        return failed(f"The address answered {status} and redirects, which is not followed. {_GO_ON}")
    if not 200 <= status <= 299:
        said = f" It said: {text[:_OF_A_FAILURE]}" if text.strip() else ""
        return failed(f"The address answered {status}.{said} {_GO_ON}")
    if not read.is_whole:
        return ToolResult(
            ok=True, text=f"{shortened(text)} (only the first {MOST_BYTES:,} bytes were read)", answer=text
        )
    return ToolResult(ok=True, text=shortened(text) or "It is done.", answer=value)


def _text(body: bytes) -> str | None:
    """The body as text; None for bytes that are none."""
    try:
        text = body.decode("utf-8", "strict" if len(body) < MOST_BYTES else "ignore")
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text
