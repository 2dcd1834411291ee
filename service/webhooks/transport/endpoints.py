"""Sending to endpoints: one POST, once, with limits for everything an endpoint can do.

An endpoint belongs to a customer and may be slow, broken or hostile, and a URL may lead into other people's networks.
So addresses are checked when the connection is made, one deadline covers everything up to the status, redirects are not
followed, there are no proxies and no cookies, and only the beginning of an answer is read.
"""

import importlib
from collections.abc import Mapping, Sequence
from ssl import SSLContext
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast

import anyio
from anyio import to_thread

from callwright.contract.checks.address_ranges import Network
from callwright.service.platform.outgoing.names import LookUp, Names, system_look_up
from callwright.service.platform.outgoing.posted import Posted

if TYPE_CHECKING:
    from callwright.service.webhooks.transport.posting import Posting

DEADLINE_S = 5.0
"""The time for the DNS look-up, the connection and the answer's status together."""
KEPT_S = 4.0
"""A connection that was idle for longer is not used again; many servers close it after five seconds."""
MOST_CONNECTIONS = 256
"""The most requests under way at a time. Others wait, and their deadline does not run yet."""


class Endpoints:
    """Sends to endpoints until its block ends. The HTTP client is imported at the first request, because most processes
    never send an event.

    `opened` are ranges of private networks to which events may be sent; plain HTTP is allowed only to them.
    `tls` replaces the system's root certificates.

    `most_answer_bytes`: the answer itself is wanted, so the deadline covers all of it, and one that is longer or breaks
    off is a failure. Otherwise the status alone counts. Connections are kept for `kept_s`.
    """

    def __init__(
        self,
        *,
        opened: Sequence[Network] = (),
        deadline_s: float = DEADLINE_S,
        most_connections: int = MOST_CONNECTIONS,
        look_up: LookUp = system_look_up,
        tls: SSLContext | None = None,
        most_answer_bytes: int | None = None,
        kept_s: float = KEPT_S,
    ) -> None:
        self._opened, self._deadline_s, self._most, self._tls = opened, deadline_s, most_connections, tls
        self._most_answer_bytes, self._kept_s = most_answer_bytes, kept_s
        self._names = Names(look_up)
        self._slots = anyio.Semaphore(most_connections, fast_acquire=True)
        self._importing = anyio.Lock()
        self._is_open = False
        self._posting: Posting | None = None

    async def __aenter__(self) -> Self:
        self._is_open = True
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        """Closes all connections; requests under way fail."""
        posting, self._posting, self._is_open = self._posting, None, False
        if posting is not None:
            with anyio.CancelScope(shield=True):
                await posting.close()

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, subscription: str | None = None
    ) -> Posted:
        """Sends a body once and returns the result. Raises nothing for what an endpoint does.

        Connections are kept for some seconds for the `subscription` only; without one they are closed at once. Once an
        endpoint has answered with a status, the result is that status, even if the rest of its answer fails, unless the
        answer itself is wanted.
        """
        if self._slots.value:  # nobody waits for a slot, and `acquire` would take longer
            self._slots.acquire_nowait()
        else:
            await self._slots.acquire()
        try:
            if not self._is_open:
                raise RuntimeError("Endpoints sends only while its block lasts")
            posting = self._posting or await self._imported()
            return await posting.post(url, body, headers, subscription)
        finally:
            self._slots.release()

    async def ready(self) -> None:
        """Imports the HTTP client, so that the next request does not wait for that."""
        if self._posting is None:
            await self._imported()

    async def _imported(self) -> "Posting":
        """Imports the HTTP client, which takes 200 ms, and reads the system's root certificates, both in a thread."""
        async with self._importing:
            posting = self._posting
            if posting is None:
                module = await to_thread.run_sync(importlib.import_module, f"{__package__}.posting")
                tls = self._tls or await to_thread.run_sync(module.system_roots)
                sessions = module.Sessions(
                    opened=self._opened, names=self._names, most=self._most, tls=tls, kept_s=self._kept_s
                )
                made = module.Posting(sessions, self._deadline_s, self._most_answer_bytes)
                self._posting = posting = cast("Posting", made)
            return posting
