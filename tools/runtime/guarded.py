"""The client that tools and resources use: its answers are cleaned and, where the session masks, masked.

Every answer passes through it once, so that text and data made of it cannot show what is hidden: invisible characters
are removed from every text, and if the session masks, telephone numbers are masked, except in speech and where
`masked_fields` says that they are the organization's own.
"""

from collections.abc import Callable, Mapping, Set
from contextlib import AbstractAsyncContextManager
from typing import Any, ParamSpec, TypeVar, cast

from anyio import to_thread
from pydantic import BaseModel, JsonValue, ValidationError

from callwright.client.compat.lenient_response import LenientResponse
from callwright.client.compat.upload_address import UploadState
from callwright.client.errors import CallwrightError
from callwright.contract.checks.visible import cleaned_lines
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import MediaStream, Operation
from callwright.contract.deployments.previews import Preview
from callwright.contract.phone_numbers import ListPhoneNumbers, list_phone_numbers
from callwright.tools.numbers.masking import masked_international, numbers_in
from callwright.tools.numbers.number_guesses import NumberGuesses
from callwright.tools.runtime.added_numbers import added_numbers, looked_for_number
from callwright.tools.runtime.tool_context import Caller, Media, Session, StreamedMedia
from callwright.tools.untrusted.guarded_answers import guarded, guarded_json

P = ParamSpec("P")
In = TypeVar("In", bound=Input)
Out = TypeVar("Out")

_FETCHED = ("recording_url", "transcript_url")
"""Addresses that are opened unchanged, and shown with numbers masked."""
_MOST_NUMBERS = 8
_NO_NUMBERS: Set[str] = frozenset()


class GuardedCaller:
    """A caller whose answers are cleaned, and masked if `masks` is set."""

    def __init__(self, caller: Caller, *, masks: bool, guesses: NumberGuesses | None = None) -> None:
        self._caller = caller
        self._masks = masks
        self._guesses = guesses if masks else None
        self._addresses: dict[str, str] = {}
        """The original addresses, by the form in which they are shown."""

    async def ask(self, operation: Operation[P, In, Out], asked: In, /, *, idempotency_key: str | None = None) -> Out:
        """The answer. Raises the errors of `callwright.client.errors`, and ToolError for guessed numbers."""
        await self._note(asked)
        found = await self._caller.ask(operation, asked, idempotency_key=idempotency_key)
        return self._shown(found, await self._own_numbers(found))

    async def ask_lenient(
        self,
        operation: Operation[P, In, Out],
        asked: In,
        /,
        *,
        idempotency_key: str | None = None,
        extra: Mapping[str, JsonValue] | None = None,
    ) -> LenientResponse[Out]:
        """The answer as it comes, whether the contract's model fits or not."""
        await self._note(asked)
        found = await self._caller.ask_lenient(operation, asked, idempotency_key=idempotency_key, extra=extra)
        own = await self._own_numbers(found.answer)
        return LenientResponse(
            answer=None if found.answer is None else self._shown(found.answer, own),
            data=lambda: self._json(operation.item, found.data, own),
        )

    def _shown(self, answer: Out, own: Set[str]) -> Out:
        shown = guarded(answer, masks=self._masks)
        if own and isinstance(answer, Preview) and isinstance(shown, Preview):
            summary = masked_international(cleaned_lines(answer.summary), but=own)
            return cast("Out", shown.model_copy(update={"summary": summary}))
        return shown

    def _json(self, model: type[BaseModel] | None, data: dict[str, Any], own: Set[str]) -> dict[str, Any]:
        shown = guarded_json(model, data, masks=self._masks)
        for name in _FETCHED:
            if isinstance(address := data.get(name), str):
                self._addresses[shown[name]] = address
        if own:
            shown["summary"] = masked_international(cleaned_lines(str(data.get("summary", ""))), but=own)
        return shown

    async def _own_numbers(self, answer: object) -> Set[str]:
        """The organization's own numbers in a plan's summary, which a person must see to agree to call from them."""
        if not self._masks or not isinstance(answer, Preview):
            return _NO_NUMBERS
        own: set[str] = set()
        for number in numbers_in(answer.summary)[:_MOST_NUMBERS]:
            try:
                found = await self._caller.ask(list_phone_numbers, ListPhoneNumbers(number=number))
            except (CallwrightError, ValidationError):
                continue
            own |= {entry.number for entry in found.data if entry.number == number}
        return own

    async def _note(self, asked: Input) -> None:
        if self._guesses is not None:
            self._guesses.note_question(asked)
            if (number := await looked_for_number(self._caller, asked)) is not None:
                self._guesses.note(number)
            if added := await added_numbers(self._caller, asked):
                await to_thread.run_sync(self._guesses.note_added, added)  # others need not wait for thousands

    def open(
        self, operation: Operation[P, In, MediaStream], asked: In, /
    ) -> AbstractAsyncContextManager[StreamedMedia]:
        """An answer in bytes, open inside `async with`."""
        return self._caller.open(operation, asked)

    def open_address(self, url: str, /, *, accepts: Callable[[str], bool]) -> AbstractAsyncContextManager[Media]:
        """Opens an address from an answer, if its media type is accepted. The content is not changed."""
        return self._caller.open_address(self._addresses.get(url, url), accepts=accepts)

    async def send_part(self, url: str, content: bytes, /, *, begin: int, total: int) -> UploadState:
        """Sends bytes of a file to the `upload_url` of an import."""
        return await self._caller.send_part(url, content, begin=begin, total=total)


async def client_of(session: Session) -> Caller:
    """A session's client, with cleaned and masked answers. Raises the errors of `callwright.client.errors`."""
    return GuardedCaller(await session.client(), masks=session.masks, guesses=session.guesses)
