"""Fetches a file from an address of a customer, and goes on where a connection broke.

Every connection passes the guard of event delivery: the address is checked when it is made, so a name that changes its
answer gains nothing. Redirects are followed, a few, and each is checked like the first address. Nothing of an address
but its host is in any error. Imports aiohttp, so it is imported only when it is needed.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from ssl import SSLContext
from types import TracebackType
from typing import Self
from urllib.parse import urljoin, urlsplit

import anyio
from aiohttp import ClientResponse
from anyio import to_thread
from yarl import URL

from callwright.contract.checks.address_ranges import Network
from callwright.service.platform.outgoing.failures import of_error
from callwright.service.platform.outgoing.guard import progress_of_this, system_roots
from callwright.service.platform.outgoing.names import LookUp, Names, system_look_up
from callwright.service.platform.outgoing.progress import Progress, timed_out
from callwright.service.platform.uploads import WrittenUpload
from callwright.service.rules import webhook_url
from callwright.service.webhooks.transport.sessions import Sessions
from callwright.service.workers.fetching.failures import FetchBroken, FetchRefused

MOST_REDIRECTS = 3
ANSWER_LIMIT_S = 30.0
"""Seconds for the look-up, the connection and the head of the answer."""
SILENCE_LIMIT_S = 30.0
"""How long nothing may come of a body."""
BLOCK = 1_000_000
LONGEST_TAG = 200
_REDIRECTS = (301, 302, 303, 307, 308)
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})
_WEB_PAGE = "text/html"
_PART = re.compile(r"bytes (\d{1,18})-\d{1,18}/(?:\d{1,18}|\*)")
_NO_MORE = re.compile(r"bytes \*/(\d{1,18})")
KeepTag = Callable[[str | None], Awaitable[None]]
"""Remembers by which tag the host knows the version of the file that is being written."""


def host_of(url: str) -> str:
    """The host of an address, which may be said; its path and query may hold secrets."""
    return urlsplit(url).hostname or "the host"


class Downloads:
    """Fetches files until its block ends. `opened` are private networks that may be used; plain HTTP reaches only them.
    `tls` replaces the system's root certificates.
    """

    def __init__(
        self, opened: Sequence[Network], *, look_up: LookUp = system_look_up, tls: SSLContext | None = None
    ) -> None:
        self._opened, self._names, self._tls = opened, Names(look_up), tls
        self._sessions: Sessions | None = None

    async def __aenter__(self) -> Self:
        tls = self._tls or await to_thread.run_sync(system_roots)
        self._sessions = Sessions(opened=self._opened, names=self._names, most=1, tls=tls, kept_s=1.0)
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        if self._sessions is not None:
            with anyio.CancelScope(shield=True):
                await self._sessions.close()

    async def fetch(
        self, url: str, file: WrittenUpload, *, tag: str | None, most_bytes: int, keep_tag: KeepTag
    ) -> None:
        """Adds to the file what it has not yet, once. Without the `tag` of what is there it begins anew.

        Raises:
            FetchRefused: it cannot be had there.
            FetchBroken: it may be had later; what came is kept.
            StorageFull: the disk is full.
        """
        if file.size and tag is None:
            await to_thread.run_sync(file.take_back, 0)
        headers = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "callwright"}
        if file.size and tag is not None:
            headers |= {"Range": f"bytes={file.size}-", "If-Range": tag}
        progress, answer = await self._followed(url, headers)
        try:
            if not await _continues(answer, file):
                return
            await _check(answer, file, most_bytes)
            if answer.status == HTTPStatus.OK:
                await to_thread.run_sync(file.take_back, 0)
                await keep_tag(_tag(answer))
            await _write(answer, progress, file, most_bytes)
        finally:
            answer.close()

    async def _followed(self, url: str, headers: Mapping[str, str]) -> tuple[Progress, ClientResponse]:
        for _ in range(MOST_REDIRECTS + 1):
            progress, answer = await self._asked(url, headers)
            target = answer.headers.get("Location")
            if answer.status not in _REDIRECTS or target is None:
                return progress, answer
            answer.close()
            url = urljoin(url, target)
            try:
                webhook_url.check(url, opened=self._opened, sent="Requests")
            except ValueError as error:
                raise FetchRefused(f"The host redirects to an address that is not used: {error}") from None
        raise FetchRefused(f"The host redirects more than {MOST_REDIRECTS} times.")

    async def _asked(self, url: str, headers: Mapping[str, str]) -> tuple[Progress, ClientResponse]:
        assert self._sessions is not None
        progress = Progress(plain=urlsplit(url).scheme == "http")
        progress_of_this.set(progress)
        try:
            with anyio.fail_after(ANSWER_LIMIT_S):
                target = URL(url, encoded=url.isascii())  # a signature in the query holds for the URL as it is written
                answer = await self._sessions.unkept.get(
                    target, headers=headers, allow_redirects=False, trace_request_ctx=progress
                )
        except TimeoutError:
            raise FetchBroken(_of_host(timed_out(progress, ANSWER_LIMIT_S))) from None
        except Exception as error:  # whatever a host does, the import says it
            outcome, detail = of_error(error, progress)
            kind = FetchRefused if outcome in ("forbidden_address", "tls_failed") else FetchBroken
            raise kind(_of_host(detail)) from None
        return progress, answer


def _of_host(detail: str) -> str:
    return detail.replace("endpoint", "host")


async def _continues(answer: ClientResponse, file: WrittenUpload) -> bool:
    """Whether bytes come that belong behind those that are there; false if all of them are there already."""
    if answer.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        found = _NO_MORE.fullmatch(answer.headers.get("Content-Range", ""))
        if found is not None and int(found[1]) == file.size:
            return False
        await to_thread.run_sync(file.take_back, 0)
        raise FetchBroken("The host has another file there by now.")
    if answer.status == HTTPStatus.PARTIAL_CONTENT:
        found = _PART.fullmatch(answer.headers.get("Content-Range", ""))
        if found is None or int(found[1]) != file.size:
            await to_thread.run_sync(file.take_back, 0)
            raise FetchBroken("The host sent another part of the file than it was asked for.")
    return True


async def _check(answer: ClientResponse, file: WrittenUpload, most_bytes: int) -> None:
    """Raises an error if the answer is not the file."""
    status = answer.status
    if status in _LATER:
        raise FetchBroken(f"The host answered {status}: it has failed, or has too much to do.")
    if status not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
        raise FetchRefused(f"The host answered {status}: it does not give the file.")
    if answer.content_type == _WEB_PAGE:
        raise FetchRefused("The host answered with a web page, not with a list; give the address of the file itself.")
    before = file.size if status == HTTPStatus.PARTIAL_CONTENT else 0
    if (answer.content_length or 0) + before > most_bytes:
        raise _too_large(most_bytes)


async def _write(answer: ClientResponse, progress: Progress, file: WrittenUpload, most_bytes: int) -> None:
    held, failure = bytearray(), None
    while failure is None:
        try:
            with anyio.fail_after(SILENCE_LIMIT_S):
                chunk = await answer.content.readany()
        except TimeoutError:
            failure, chunk = f"Nothing more came for {SILENCE_LIMIT_S:g} seconds.", b""
        except Exception as error:  # whatever a host does
            failure, chunk = _of_host(of_error(error, progress)[1]), b""
        held += chunk
        if file.size + len(held) > most_bytes:
            raise _too_large(most_bytes)
        if held and (not chunk or len(held) >= BLOCK):
            await to_thread.run_sync(file.append, bytes(held))
            held.clear()
        if not chunk:
            break
    await to_thread.run_sync(file.keep)
    if failure is not None:
        raise FetchBroken(f"The connection broke before all of it was there. {failure}")


def _too_large(most_bytes: int) -> FetchRefused:
    return FetchRefused(f"The file has more than {most_bytes:,} bytes; cut it in pieces.")


def _tag(answer: ClientResponse) -> str | None:
    """What the host calls this version of the file; None where it has no name that is certain (RFC 9110, 13.1.5)."""
    tag = answer.headers.get("ETag", "")
    if not tag.startswith('"'):
        tag = answer.headers.get("Last-Modified", "")
    return tag if tag and len(tag) <= LONGEST_TAG and tag.isascii() and tag.isprintable() else None
