"""The session that tools, resources and completions share. Its client is connected when it is first needed.

A host spawns the server and wants the handshake and the list of tools at once, so nothing here waits for the service.
"""

import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from mcp.server.subscriptions import ToolsListChanged

    from callwright.tools.arguments.extras import Extras
    from callwright.tools.runtime.tool_context import Caller, Clock, ConfirmBy, ConfirmMode

Connect = Callable[[], "AbstractAsyncContextManager[Caller]"]
"""Opens a client of the service, and closes it. Raises the errors of `callwright.client.errors` if it cannot."""


def random_id() -> str:
    """An id nobody can guess: 32 hexadecimal digits."""
    return secrets.token_hex(16)


class SystemClock:
    """The machine's clock."""

    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()

    async def sleep(self, seconds: float, /) -> None:
        await anyio.sleep(seconds)


def process_of(fresh_id: str) -> str:
    """The digits that identify this process in the state of clients, made from a unique id."""
    from callwright.tools.confirmation.asked_at import PROCESS_DIGITS

    return sha256(fresh_id.encode()).hexdigest()[:PROCESS_DIGITS]


@dataclass
class _Attempt:
    wanted: anyio.Event = field(default_factory=anyio.Event)
    done: anyio.Event = field(default_factory=anyio.Event)
    caller: "Caller | None" = None
    error: Exception | None = None


class ServerSession:
    """One client of one service, with the settings of its tools, shared by every request of a server.

    `ids` makes ids that nobody can guess: they become idempotency keys and the tags of fences. `base_url` is the
    REST base URL with the version prefix, or None if the service does not answer over HTTP. `masks` masks contacts'
    telephone numbers in text. `enabled` names the enabled tools, None all of them. `confirm` says when the person
    is asked before something dials or spends, `confirm_by` how they agree if a host cannot ask. `secret` signs the
    sentences that come back with their consent; without it only this session can verify them. `process` is the same
    for sessions that share a monotonic clock. A request waits at most `patience_s` seconds for the connection;
    connecting continues after that. `connected` is a client that is open already: then nothing is connected.
    """

    def __init__(
        self,
        connect: Connect,
        *,
        ids: Callable[[], str],
        clock: "Clock",
        base_url: str | None,
        masks: bool = True,
        enabled: frozenset[str] | None = None,
        confirm: "ConfirmMode" = "real",
        confirm_by: "ConfirmBy" = "sentence",
        secret: bytes | None = None,
        process: str | None = None,
        patience_s: float = 30.0,
        connected: "Caller | None" = None,
    ) -> None:
        self._connect = connect
        self._secret = secret
        self._process = process
        self._patience_s = patience_s
        self._attempt = _Attempt(caller=connected)
        self.ids = ids
        self.clock = clock
        self.base_url = base_url
        self.masks = masks
        self.enabled = enabled
        from callwright.tools.numbers.number_guesses import NumberGuesses
        from callwright.tools.runtime.open_uploads import OpenUploads
        from callwright.tools.runtime.used_answers import UsedAnswers

        self.guesses = NumberGuesses()
        """Counts the numbers of contacts that were looked for or added."""
        self.used_answers = UsedAnswers()
        """The person's answers that were used already."""
        self.open_uploads = OpenUploads()
        """Uploads of files that a later call may go on with."""
        self.remote = False
        """Whether the service is remote and may return less than the contract promises."""
        self.extras: Extras = {}
        """Arguments that only this service takes."""
        self.announce: Callable[[ServerSession, ToolsListChanged], Awaitable[None]] | None = None
        """Notifies listening hosts of a change; the MCP server sets it."""
        self.confirm: ConfirmMode = confirm
        self.confirm_by: ConfirmBy = confirm_by

    def current(self) -> "ServerSession":
        """This session, which all callers share."""
        return self

    @property
    def secret(self) -> bytes:
        """The key that signs the sentences for a person's consent."""
        if self._secret is None:
            self._secret = self.ids().encode()
        return self._secret

    @property
    def process(self) -> str:
        """The id of the process that the clock's monotonic time belongs to, in four hexadecimal digits."""
        if self._process is None:
            self._process = process_of(self.ids())
        return self._process

    def offers(self, tool: str) -> bool:
        """Whether this tool is switched on."""
        return self.enabled is None or tool in self.enabled

    async def client(self) -> "Caller":
        """The client. The first caller starts the connection and every caller waits for it.

        Raises:
            CallwrightError: the connection cannot be made, and the next caller tries again; or it takes too long.
        """
        attempt = self._attempt
        if attempt.caller is not None:
            return attempt.caller
        attempt.wanted.set()
        with anyio.move_on_after(self._patience_s):
            await attempt.done.wait()
        if not attempt.done.is_set():
            from callwright.client.errors import ServiceTimeout

            raise ServiceTimeout("the service is not ready yet", request_sent=False, repeatable=True)
        if attempt.caller is None:
            raise attempt.error or RuntimeError("the session is closed")
        return attempt.caller

    def begin(self) -> None:
        """Starts the connection without waiting for it."""
        self._attempt.wanted.set()

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator["ServerSession"]:
        """Keeps the session alive. Enter it once; the connection is closed at the end."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep)
            try:
                yield self
            finally:
                tasks.cancel_scope.cancel()
                self._attempt.done.set()
                self._attempt = _Attempt()
                self._attempt.done.set()

    async def _keep(self) -> None:
        """Opens and closes the connection in one task, as task groups inside it demand."""
        while True:
            attempt = self._attempt
            await attempt.wanted.wait()
            try:
                async with self._connect() as caller:
                    attempt.caller = caller
                    attempt.done.set()
                    await anyio.sleep_forever()
            except Exception as error:
                # A broken connection also ends here: the next caller gets a new one.
                self._attempt = _Attempt()
                attempt.error = error
                attempt.done.set()
