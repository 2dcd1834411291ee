"""What a tool works with while it runs: the client, a clock, ids, progress, and how to show numbers.

The server hands in a `Session` through the lifespan of the protocol server; tools know it only by these shapes.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec, Protocol, TypeVar

from pydantic import JsonValue

from callwright.client.compat.lenient_response import LenientResponse
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import MediaStream, Operation
from callwright.tools.numbers.number_guesses import NumberGuesses
from callwright.tools.runtime.used_answers import UsedAnswers
from callwright.tools.wording.mentions import offered_words
from callwright.tools.wording.text import masked

ConfirmMode = Literal["real", "always", "never"]
"""When the person is asked: where it is real, on the simulated network too, or never because the host does it."""

P = ParamSpec("P")
In = TypeVar("In", bound=Input)
Out = TypeVar("Out")


class Media(Protocol):
    """An answer that is bytes, opened but not read."""

    @property
    def media_type(self) -> str:
        """For example audio/mpeg."""
        ...

    @property
    def size(self) -> int | None:
        """Bytes in all, where the service says so."""
        ...

    @property
    def etag(self) -> str | None:
        """The version of the bytes, where the service says so."""
        ...

    async def read(self, max_bytes: int, /) -> bytes:
        """The bytes, `max_bytes` at most."""
        ...


class Caller(Protocol):
    """The typed client, as far as tools, resources and completions need it."""

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
        """The answer as it comes, whether the contract's model fits or not. `extra` goes into the body besides."""
        ...

    def open(self, operation: Operation[P, In, MediaStream], asked: In, /) -> AbstractAsyncContextManager[Media]:
        """An answer in bytes, open inside `async with`."""
        ...

    def open_address(self, url: str, /, *, accepts: Callable[[str], bool]) -> AbstractAsyncContextManager[Media]:
        """What stands at an address in an answer, of a type that is accepted. Raises `AddressUnreadable`."""
        ...


class Clock(Protocol):
    """Time, handed in so that tests need not wait."""

    def monotonic(self) -> float:
        """Seconds that only grow."""
        ...

    def time(self) -> float:
        """Seconds since the epoch."""
        ...

    async def sleep(self, seconds: float, /) -> None: ...


class Session(Protocol):
    """The session of whoever calls a tool."""

    @property
    def base_url(self) -> str | None:
        """Where the REST service answers over HTTP, without a trailing slash; None where it does not."""
        ...

    @property
    def masks(self) -> bool:
        """Whether telephone numbers of contacts lose their middle in text."""
        ...

    @property
    def guesses(self) -> NumberGuesses:
        """The numbers of contacts that were looked for."""
        ...

    @property
    def used_answers(self) -> UsedAnswers:
        """What a person has said yes to and is done."""
        ...

    @property
    def secret(self) -> bytes:
        """What seals the sentences that a person's yes comes back with."""
        ...

    @property
    def process(self) -> str:
        """Whose running time the clock's is, in four hexadecimal digits."""
        ...

    @property
    def remote(self) -> bool:
        """Whether the service runs elsewhere, so that its words are others' words."""
        ...

    @property
    def confirm(self) -> ConfirmMode:
        """When the person is asked before something dials or spends."""
        ...

    @property
    def clock(self) -> Clock: ...

    @property
    def ids(self) -> Callable[[], str]:
        """A fresh random id at each call: at least 16 letters and digits."""
        ...

    @property
    def extras(self) -> Mapping[str, Mapping[str, dict[str, Any]]]:
        """JSON Schemas of arguments that only the service at hand takes, by tool and name."""
        ...

    def offers(self, tool: str) -> bool:
        """Whether this tool is switched on for whoever asks."""
        ...

    async def client(self) -> Caller:
        """The client, connected at the first call. Raises the errors of `callwright.client.errors`."""
        ...


class Sessions(Protocol):
    """What the lifespan of the protocol server yields."""

    def current(self) -> Session:
        """The session of whoever asks: on stdio there is one, over HTTP one for each key."""
        ...


Progress = Callable[[float, float | None, str], Awaitable[None]]
"""Reports how much is done, of how much, in words. Does nothing where the caller did not ask for it."""


@dataclass(frozen=True)
class ToolContext:
    """One call of one tool."""

    client: Caller
    session: Session
    progress: Progress
    key: str = ""
    """The idempotency key of what this call creates; a fresh one where it is empty."""

    def asks(self, *, real: bool) -> bool:
        """Whether the person has to be asked about something that is real, or simulated."""
        return self.session.confirm == "always" or (real and self.session.confirm == "real")

    def hint(self, text: str) -> str:
        """Advice to a model, without the sentences that name a tool that is switched off."""
        return offered_words(text, self.session.offers)

    def number(self, phone_number: str) -> str:
        """A contact's telephone number as text shows it."""
        return masked(phone_number) if self.session.masks else phone_number
