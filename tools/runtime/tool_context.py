"""What a running tool uses: the client, a clock, ids, progress, and the masking of numbers.

The server passes in a `Session` through the lifespan of the protocol server. Tools know only these protocols.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec, Protocol, TypeVar

from pydantic import JsonValue

from callwright.client.compat.lenient_response import LenientResponse
from callwright.client.compat.upload_address import UploadState
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import MediaStream, Operation
from callwright.tools.numbers.number_guesses import NumberGuesses
from callwright.tools.runtime.open_uploads import OpenUploads
from callwright.tools.runtime.used_answers import UsedAnswers
from callwright.tools.wording.mentions import offered_words
from callwright.tools.wording.text import masked

ConfirmMode = Literal["real", "always", "never"]
"""When the person is asked: for real calls and money, on the simulated network too, or never because the host asks."""
ConfirmBy = Literal["sentence", "page"]
"""How a person agrees where the host cannot ask: by a sentence that the model sends back too, or on a page alone."""

P = ParamSpec("P")
In = TypeVar("In", bound=Input)
Out = TypeVar("Out")


class Media(Protocol):
    """An answer of bytes, opened but not read."""

    @property
    def media_type(self) -> str:
        """For example audio/mpeg."""
        ...

    @property
    def size(self) -> int | None:
        """The number of bytes, if the service states it."""
        ...

    @property
    def etag(self) -> str | None:
        """The version of the bytes, if the service states it."""
        ...

    async def read(self, max_bytes: int, /) -> bytes:
        """The bytes, `max_bytes` at most."""
        ...


class StreamedMedia(Media, Protocol):
    """An answer of bytes that can be taken as they come."""

    def aiter_bytes(self, max_bytes: int | None = None) -> AsyncGenerator[bytes]:
        """The bytes in chunks, all of them; or the errors of `callwright.client.errors`."""
        ...


class Caller(Protocol):
    """The part of the typed client that tools, resources and completions need."""

    async def ask(self, operation: Operation[P, In, Out], asked: In, /, *, idempotency_key: str | None = None) -> Out:
        """The answer of the service. Raises the errors of `callwright.client.errors`."""
        ...

    async def ask_lenient(
        self,
        operation: Operation[P, In, Out],
        asked: In,
        /,
        *,
        idempotency_key: str | None = None,
        extra: Mapping[str, JsonValue] | None = None,
    ) -> LenientResponse[Out]:
        """The answer, whether or not it fits the contract's model. `extra` is added to the body."""
        ...

    def open(
        self, operation: Operation[P, In, MediaStream], asked: In, /
    ) -> AbstractAsyncContextManager[StreamedMedia]:
        """An answer in bytes, open inside `async with`."""
        ...

    def open_address(self, url: str, /, *, accepts: Callable[[str], bool]) -> AbstractAsyncContextManager[Media]:
        """Opens an address from an answer, if its media type is accepted. Raises `AddressUnreadable`."""
        ...

    async def send_part(self, url: str, content: bytes, /, *, begin: int, total: int) -> UploadState:
        """Sends bytes of a file to the `upload_url` of an import; empty ones ask what has arrived.

        Raises the errors of `callwright.client.errors`.
        """
        ...


class Clock(Protocol):
    """Time, passed in so that tests need not wait."""

    def monotonic(self) -> float:
        """Monotonic seconds."""
        ...

    def time(self) -> float:
        """Seconds since the epoch."""
        ...

    async def sleep(self, seconds: float, /) -> None: ...


class Session(Protocol):
    """The session of the caller of a tool."""

    @property
    def base_url(self) -> str | None:
        """The base URL of the REST service, without a trailing slash; None if it does not answer over HTTP."""
        ...

    @property
    def masks(self) -> bool:
        """Whether the middle of contacts' telephone numbers is masked."""
        ...

    @property
    def guesses(self) -> NumberGuesses:
        """Counts the numbers of contacts that were looked for or added."""
        ...

    @property
    def used_answers(self) -> UsedAnswers:
        """The person's answers that were used already."""
        ...

    @property
    def open_uploads(self) -> OpenUploads:
        """Uploads of files that a later call may go on with."""
        ...

    @property
    def secret(self) -> bytes:
        """The key that signs the sentences for a person's consent."""
        ...

    @property
    def process(self) -> str:
        """The id of the process that the clock's monotonic time belongs to, in four hexadecimal digits."""
        ...

    @property
    def remote(self) -> bool:
        """Whether the service is remote, so that its texts come from outside."""
        ...

    @property
    def confirm(self) -> ConfirmMode:
        """When the person is asked before something dials or spends."""
        ...

    @property
    def confirm_by(self) -> ConfirmBy:
        """How a person agrees where the host cannot ask them."""
        ...

    @property
    def clock(self) -> Clock: ...

    @property
    def ids(self) -> Callable[[], str]:
        """Returns a new random id at each call: at least 16 letters and digits."""
        ...

    @property
    def extras(self) -> Mapping[str, Mapping[str, dict[str, Any]]]:
        """JSON Schemas of arguments that only this service takes, by tool and name."""
        ...

    def offers(self, tool: str) -> bool:
        """Whether this tool is switched on for the caller."""
        ...

    async def client(self) -> Caller:
        """The client, connected at the first call. Raises the errors of `callwright.client.errors`."""
        ...


class Sessions(Protocol):
    """The sessions that the lifespan of the protocol server yields."""

    def current(self) -> Session:
        """The caller's session: on stdio there is one, over HTTP one for each key."""
        ...


Progress = Callable[[float, float | None, str], Awaitable[None]]
"""Reports the amount done, the total, and a text. Does nothing if the caller did not ask for progress."""


@dataclass(frozen=True)
class ToolContext:
    """One call of one tool."""

    client: Caller
    session: Session
    progress: Progress
    key: str = ""
    """The idempotency key of the call's request; if empty, a new one is made."""

    def asks(self, *, real: bool) -> bool:
        """Whether the person has to be asked about something real, or simulated."""
        return self.session.confirm == "always" or (real and self.session.confirm == "real")

    def hint(self, text: str) -> str:
        """Advice to a model, without the sentences that name a switched-off tool."""
        return offered_words(text, self.session.offers)

    def number(self, phone_number: str) -> str:
        """A contact's telephone number, masked if the session masks."""
        return masked(phone_number) if self.session.masks else phone_number
