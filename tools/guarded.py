"""The way to the service as tools and resources have it: what people outside said or wrote comes in clean.

Every answer passes here once, so that text and data made of it cannot show what is hidden: invisible characters are
taken out of every text, whoever wrote it, and where the session masks, contacts' telephone numbers lose their middle.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from typing import Any, Literal, ParamSpec, TypeVar, cast

from pydantic import BaseModel, JsonValue

from callwright.client.loose import Loose
from callwright.contract.audiences import Audience, AudienceRow, Column, RowError, RowsAdded
from callwright.contract.calls import Call, Transcript, TranscriptTurn
from callwright.contract.contacts import Contact
from callwright.contract.event_log import EventExplanation, WebhookArrival
from callwright.contract.model import Input
from callwright.contract.operation import AnyOperation, MediaStream, Operation
from callwright.contract.pagination import Page
from callwright.contract.previews import Preview
from callwright.contract.transcripts import Snippet, TranscriptMatch
from callwright.contract.visible import cleaned, cleaned_lines
from callwright.contract.webhooks import DeliveryAttempt, DeliveryWithAttempts

from .number_guesses import NumberGuesses
from .privacy import masked_everywhere, masked_in, masked_number
from .use import Caller, Media, Session

P = ParamSpec("P")
In = TypeVar("In", bound=Input)
Out = TypeVar("Out")

Kind = Literal["speech", "words", "number", "spelt"]

FOREIGN: Mapping[type[BaseModel], Mapping[str, Kind | type[BaseModel]]] = {
    Call: {"to": "number", "unanswered_questions": "speech", "variables": "words", "warnings": "words"},
    Transcript: {"turns": TranscriptTurn},
    TranscriptTurn: {"text": "speech"},
    TranscriptMatch: {"snippets": Snippet},
    Snippet: {"text": "speech"},
    Contact: {"phone_number": "number", "values": "words"},
    AudienceRow: {"phone_number": "number", "values": "words", "external_id": "words"},
    Audience: {
        "columns": Column,
        "phone_column": "words",
        "timezone_column": "words",
        "external_id_column": "words",
    },
    Column: {"name": "words", "sample": "spelt"},
    RowsAdded: {"errors": RowError},
    RowError: {"column": "words", "message": "words", "value_redacted": "words"},
    Preview: {"greeting": "spelt"},
    DeliveryWithAttempts: {"attempts": DeliveryAttempt},
    DeliveryAttempt: {"response_excerpt": "words", "detail": "words"},
    EventExplanation: {"webhooks": WebhookArrival},
    WebhookArrival: {"response_excerpt": "words"},
}
"""Where answers hold what came from outside. `speech` is said on a call: it is cleaned, and numbers in it stay. `words`
stood in a file, are made of its cells, or are what an endpoint answered: numbers in them are masked. `number` is a
contact's own. `spelt` has somebody's cells in it without the columns they come from: whatever may be a number is
masked. A model is a part that has more inside, or a list of such parts.
"""
_NUMBERS = frozenset({"to", "from", "to_number", "from_number", "caller", "callee", "customer_number"})
"""Names of fields that other services give to telephone numbers."""
_NOTHING: Mapping[str, Kind | type[BaseModel]] = {}
_INBOUND: Mapping[str, Kind | type[BaseModel]] = {
    "from_number": "number",
    **{name: kind for name, kind in FOREIGN[Call].items() if name != "to"},
}
_INBOUND_JSON: Mapping[str, Kind | type[BaseModel]] = {**_INBOUND, "from": "number"}
"""A call that a contact made: the number it came from is theirs, the one it went to is the organization's."""


class GuardedCaller:
    """A caller whose answers are clean, and masked where `masks` says so."""

    def __init__(self, caller: Caller, *, masks: bool, guesses: NumberGuesses | None = None) -> None:
        self._caller = caller
        self._masks = masks
        self._guesses = guesses if masks else None

    async def ask(self, operation: Operation[P, In, Out], asked: In, /, *, idempotency_key: str | None = None) -> Out:
        """The answer of the service. Raises the errors of `callwright.client.errors`, ToolError for guessed numbers."""
        self._note(operation, asked)
        return guarded(await self._caller.ask(operation, asked, idempotency_key=idempotency_key), masks=self._masks)

    async def ask_loosely(
        self,
        operation: Operation[P, In, Out],
        asked: In,
        /,
        *,
        idempotency_key: str | None = None,
        extra: Mapping[str, JsonValue] | None = None,
    ) -> Loose[Out]:
        """The answer as it comes, whether the contract's model fits or not."""
        self._note(operation, asked)
        found = await self._caller.ask_loosely(operation, asked, idempotency_key=idempotency_key, extra=extra)
        return Loose(
            answer=guarded(found.answer, masks=self._masks),
            data=lambda: guarded_json(operation.item, found.data, masks=self._masks),
        )

    def _note(self, operation: AnyOperation, asked: Input) -> None:
        if self._guesses is not None and operation.shape == "many":
            self._guesses.note_question(asked)

    def open(self, operation: Operation[P, In, MediaStream], asked: In, /) -> AbstractAsyncContextManager[Media]:
        """An answer in bytes, open inside `async with`."""
        return self._caller.open(operation, asked)

    def open_address(self, url: str, /, *, accepts: Callable[[str], bool]) -> AbstractAsyncContextManager[Media]:
        """What stands at an address in an answer, of a type that is accepted. It comes as it is."""
        return self._caller.open_address(url, accepts=accepts)


async def client_of(session: Session) -> Caller:
    """The way to the service of whoever asks, with clean answers. Raises the errors of `callwright.client.errors`."""
    return GuardedCaller(await session.client(), masks=session.masks, guesses=session.guesses)


def guarded(answer: Out, *, masks: bool) -> Out:
    """The answer with every text cleaned and, where `masks`, contacts' numbers masked."""
    if isinstance(answer, Page):
        page = cast("Page[Any]", answer)
        told = [guarded(entry, masks=masks) for entry in page.data if _may_be_told(entry, masks)]
        return cast("Out", page.model_copy(update={"data": told}))
    if not isinstance(answer, BaseModel):
        return answer
    inbound = isinstance(answer, Call) and answer.call_type == "inbound"
    rules = _INBOUND if inbound else foreign_fields(type(answer))
    there = answer.__dict__  # of an answer that does not fit its model, fields may be missing
    update = {name: _safe(kind, there[name], masks=masks) for name, kind in rules.items() if name in there}
    for name, value in there.items():
        if name not in rules and (shown := _own(value, masks)) is not value:
            update[name] = shown
    more = {name: _unknown(name, value, masks) for name, value in (answer.model_extra or {}).items()}
    if not update and not more:
        return answer
    shown = answer.model_copy(update=update)
    if shown.model_extra is not None:
        shown.model_extra.update(more)
    return shown


def guarded_json(model: type[BaseModel] | None, data: dict[str, Any], *, masks: bool) -> dict[str, Any]:
    """The JSON of an answer, with the same done to it, and to every field that the contract does not know."""
    if "data" in data and isinstance(data["data"], list):
        entries = cast("list[Any]", data["data"])
        shown = [
            _json(model, cast("dict[str, Any]", one), masks) if isinstance(one, dict) else one
            for one in entries
            if model is not RowError or _may_be_told(one, masks)
        ]
        return {**data, "data": shown}
    return _json(model, data, masks)


def _may_be_told(entry: Any, masks: bool) -> bool:
    """False for a row of somebody whom the audience has: rows of guessed numbers would tell the hidden digits."""
    code: Any = None
    if isinstance(entry, RowError):
        code = entry.code
    elif isinstance(entry, dict):
        code = cast("dict[str, Any]", entry).get("code")
    return not masks or code != "duplicate_in_audience"


def foreign_fields(model: type[BaseModel]) -> Mapping[str, Kind | type[BaseModel]]:
    """The fields of a model that hold what came from outside."""
    return next((FOREIGN[base] for base in model.__mro__ if base in FOREIGN), _NOTHING)


def _json(model: type[BaseModel] | None, data: dict[str, Any], masks: bool) -> dict[str, Any]:
    rules = foreign_fields(model) if model is not None else _NOTHING
    if model is Call and data.get("call_type") == "inbound":
        rules = _INBOUND_JSON
    fields = model.model_fields if model is not None else {}
    known = {*fields, *(field.serialization_alias for field in fields.values())}
    return {
        (name if name in known else _column(name, masks)): _safe(rules[name], value, masks=masks)
        if name in rules
        else _own(value, masks)
        if name in known
        else _unknown(name, value, masks)
        for name, value in data.items()
    }


def _own(value: Any, masks: bool) -> Any:
    """What the organization wrote, cleaned line by line; the value itself where there is nothing to clean."""
    if isinstance(value, str):
        return cleaned_lines(value)
    if isinstance(value, list):
        entries = cast("list[Any]", value)
        shown = [_own(entry, masks) for entry in entries]
        return entries if all(new is old for new, old in zip(shown, entries, strict=True)) else shown
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        kept = {cleaned(name): _own(entry, masks) for name, entry in inner.items()}
        return inner if len(kept) == len(inner) and all(kept.get(name) is inner[name] for name in inner) else kept
    return guarded(value, masks=masks) if isinstance(value, BaseModel) else value


def _unknown(name: str, value: Any, masks: bool) -> Any:
    """A field of another service: cleaned line by line, and masked where its name says that it is a number."""
    if isinstance(value, str):
        text = cleaned_lines(value)
        return masked_in(text, column="phone" if name in _NUMBERS else name) if masks and name != "text" else text
    if isinstance(value, list):
        return [_unknown(name, part, masks) for part in cast("list[Any]", value)]
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        return {
            masked_in(cleaned(key)) if masks else cleaned(key): _unknown(key, part, masks)
            for key, part in inner.items()
        }
    return masked_number(value, column="phone" if name in _NUMBERS else name) if masks else value


def _safe(kind: Kind | type[BaseModel], value: Any, *, masks: bool) -> Any:
    if isinstance(kind, type):
        return _part(kind, value, masks)
    if isinstance(value, list):
        return [_safe(kind, text, masks=masks) for text in cast("list[Any]", value)]
    if isinstance(value, dict):
        return _cells(cast("dict[str, Any]", value), hides=masks and kind == "words")
    if not isinstance(value, str):
        return masked_number(value, column="phone" if kind == "number" else "") if masks and kind != "speech" else value
    if kind == "spelt":
        return masked_everywhere(cleaned(value)) if masks else cleaned(value)
    if kind == "number":
        return masked_in(cleaned(value), column="phone") if masks else cleaned(value)
    return _shown(value, hides=masks and kind == "words")


def _part(model: type[BaseModel], value: Any, masks: bool) -> Any:
    if isinstance(value, list):
        parts = cast("list[Any]", value)
        return [_part(model, part, masks) for part in parts if model is not RowError or _may_be_told(part, masks)]
    if isinstance(value, dict):
        return _json(model, cast("dict[str, Any]", value), masks)
    return guarded(value, masks=masks)


def _shown(text: str, *, hides: bool, column: str | None = None) -> str:
    return masked_in(cleaned(text), column=column) if hides and text else cleaned(text)


@lru_cache(maxsize=4_096)
def _column(name: str, hides: bool) -> str:
    """The name of a column. A file without a header has somebody's cells there."""
    return _shown(name, hides=hides)


def _cells(cells: Mapping[str, Any], *, hides: bool) -> dict[str, Any]:
    """A row's cells by column. Columns that become the same are numbered, so that no cell is lost."""
    kept: dict[str, Any] = {}
    for column, value in cells.items():
        shown = name = _column(column, hides)
        number = 2
        while name in kept:
            name, number = f"{shown} ({number})", number + 1
        if isinstance(value, str):
            kept[name] = _shown(value, hides=hides, column=column)
        else:
            kept[name] = masked_number(value, column=column) if hides else value
    return kept
