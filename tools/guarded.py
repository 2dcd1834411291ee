"""The way to the service as tools and resources have it: what people outside said or wrote comes in clean.

Every answer passes here once, so that text and data made of it cannot show what is hidden: invisible characters are
taken out of every text, whoever wrote it, and where the session masks, telephone numbers lose their middle, except
where `masked_fields` says that they are the organization's own, and in speech.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import AbstractAsyncContextManager
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, cast

from pydantic import BaseModel, JsonValue, ValidationError

from callwright.client.errors import CallwrightError
from callwright.client.loose import Loose
from callwright.contract.audiences import Audience, AudienceRow, Column, RowError, RowsAdded
from callwright.contract.calls import Call, Transcript, TranscriptTurn
from callwright.contract.contacts import Contact
from callwright.contract.event_log import EventExplanation, WebhookArrival
from callwright.contract.model import Input
from callwright.contract.operation import MediaStream, Operation
from callwright.contract.pagination import Page
from callwright.contract.phone_numbers import ListPhoneNumbers, list_phone_numbers
from callwright.contract.previews import Preview
from callwright.contract.transcripts import Snippet, TranscriptMatch
from callwright.contract.visible import cleaned, cleaned_lines
from callwright.contract.webhooks import DeliveryAttempt, DeliveryWithAttempts

from .added_numbers import added_numbers
from .masked_fields import inner_model, may_hold_text, own_text, shows_whole, unknown_number, unknown_text
from .national_numbers import Beside, Rows
from .number_guesses import NumberGuesses
from .privacy import masked_abroad, masked_everywhere, masked_in, masked_number, masked_whole, numbers_in
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
_WITH_CELLS = frozenset({Call, Contact, AudienceRow})
_FETCHED = ("recording_url", "transcript_url")
"""Addresses that are opened as they came, and shown without a number in them."""
_MOST_NUMBERS = 5
_NO_NUMBERS: Set[str] = frozenset()
_SPEECH = frozenset({Transcript, TranscriptTurn, TranscriptMatch, Snippet})
_CONVERSATIONS = frozenset({"transcript", "turns", "messages", "segments", "utterances"})
"""Names of fields that other services give to what was said on a call."""
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
        self._addresses: dict[str, str] = {}
        """Addresses as they came, by what is shown of them."""

    async def ask(self, operation: Operation[P, In, Out], asked: In, /, *, idempotency_key: str | None = None) -> Out:
        """The answer of the service. Raises the errors of `callwright.client.errors`, ToolError for guessed numbers."""
        await self._note(asked)
        found = await self._caller.ask(operation, asked, idempotency_key=idempotency_key)
        return self._shown(found, await self._own_numbers(found))

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
        await self._note(asked)
        found = await self._caller.ask_loosely(operation, asked, idempotency_key=idempotency_key, extra=extra)
        own = await self._own_numbers(found.answer)
        return Loose(
            answer=None if found.answer is None else self._shown(found.answer, own),
            data=lambda: self._json(operation.item, found.data, own),
        )

    def _shown(self, answer: Out, own: Set[str]) -> Out:
        shown = guarded(answer, masks=self._masks)
        if own and isinstance(answer, Preview) and isinstance(shown, Preview):
            summary = masked_abroad(cleaned_lines(answer.summary), but=own)
            return cast("Out", shown.model_copy(update={"summary": summary}))
        return shown

    def _json(self, model: type[BaseModel] | None, data: dict[str, Any], own: Set[str]) -> dict[str, Any]:
        shown = guarded_json(model, data, masks=self._masks)
        for name in _FETCHED:
            if isinstance(address := data.get(name), str):
                self._addresses[shown[name]] = address
        if own:
            shown["summary"] = masked_abroad(cleaned_lines(str(data.get("summary", ""))), but=own)
        return shown

    async def _own_numbers(self, answer: object) -> Set[str]:
        """Those numbers in the summary of a plan that the organization rents: a person agrees to call from them."""
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
            if added := await added_numbers(self._caller, asked):
                self._guesses.note_added(added)

    def open(self, operation: Operation[P, In, MediaStream], asked: In, /) -> AbstractAsyncContextManager[Media]:
        """An answer in bytes, open inside `async with`."""
        return self._caller.open(operation, asked)

    def open_address(self, url: str, /, *, accepts: Callable[[str], bool]) -> AbstractAsyncContextManager[Media]:
        """What stands at an address in an answer, of a type that is accepted. It comes as it is."""
        return self._caller.open_address(self._addresses.get(url, url), accepts=accepts)


async def client_of(session: Session) -> Caller:
    """The way to the service of whoever asks, with clean answers. Raises the errors of `callwright.client.errors`."""
    return GuardedCaller(await session.client(), masks=session.masks, guesses=session.guesses)


def guarded(answer: Out, *, masks: bool, rows: Rows | None = None) -> Out:
    """The answer with every text cleaned and, where `masks`, contacts' numbers masked. `rows` are shown with it."""
    if isinstance(answer, Page):
        page = cast("Page[Any]", answer)
        rows = Rows(page.data)
        told = [guarded(entry, masks=masks, rows=rows) for entry in page.data if _may_be_told(entry, masks)]
        return cast("Out", _with_extra(page.model_copy(update={"data": told}), masks))
    if not isinstance(answer, BaseModel):
        return answer
    model = type(answer)
    inbound = isinstance(answer, Call) and answer.call_type == "inbound"
    rules = _INBOUND if inbound else foreign_fields(model)
    there = answer.__dict__  # of an answer that does not fit its model, fields may be missing
    beside = _beside(there, inbound, rows) if masks and model in _WITH_CELLS else None
    update = {
        name: _safe(kind, there[name], masks=masks, beside=beside) for name, kind in rules.items() if name in there
    }
    for name, whole in _further_texts(model, inbound):
        if (value := there.get(name)) is not None and (shown := _own(value, masks, name, whole=whole)) is not value:
            update[name] = shown
    if not update and not answer.model_extra:
        return answer
    return cast("Out", _with_extra(answer.model_copy(update=update), masks))


@cache
def _further_texts(model: type[BaseModel], inbound: bool) -> tuple[tuple[str, bool], ...]:
    """The other fields of a model that may hold text, and whether numbers in them are the organization's own."""
    rules = _INBOUND if inbound else foreign_fields(model)
    names = (name for name in model.model_fields if name not in rules and may_hold_text(model, name))
    return tuple((name, _whole(model, name, inbound)) for name in names)


def _whole(model: type[BaseModel], name: str, inbound: bool) -> bool:
    return name == "to" if inbound else shows_whole(model, name)


def _with_extra(shown: BaseModel, masks: bool) -> BaseModel:
    """The copy of an answer with the fields clean that the contract does not know."""
    if extra := shown.model_extra:
        more = _json(type(shown), extra, masks)
        extra.clear()
        extra.update(more)
    return shown


def guarded_json(model: type[BaseModel] | None, data: dict[str, Any], *, masks: bool) -> dict[str, Any]:
    """The JSON of an answer, with the same done to it, and to every field that the contract does not know."""
    if "data" in data and isinstance(data["data"], list):
        entries = cast("list[Any]", data["data"])
        rows = Rows(entries)
        shown = [
            _json(model, cast("dict[str, Any]", one), masks, rows)
            if isinstance(one, dict)
            else _unknown("", one, masks)
            for one in entries
            if model is not RowError or _may_be_told(one, masks)
        ]
        around = {name: value for name, value in data.items() if name != "data"}
        return {**_json(None, around, masks), "data": shown}
    return _json(model, data, masks)


def _may_be_told(entry: Any, masks: bool) -> bool:
    """False for a row of somebody whom the audience has: rows of guessed numbers would tell the hidden digits."""
    code: Any = None
    if isinstance(entry, RowError):
        code = entry.code
    elif isinstance(entry, dict):
        code = cast("dict[str, Any]", entry).get("code")
    return not masks or code != "duplicate_in_audience"


def _beside(fields: Mapping[str, Any], inbound: bool, rows: Rows | None) -> Beside:
    names = ("from_number", "from") if inbound else ("phone_number", "to")
    return Beside(next((fields[name] for name in names if isinstance(fields.get(name), str)), None), rows)


def foreign_fields(model: type[BaseModel]) -> Mapping[str, Kind | type[BaseModel]]:
    """The fields of a model that hold what came from outside."""
    return next((FOREIGN[base] for base in model.__mro__ if base in FOREIGN), _NOTHING)


class _Treatment(NamedTuple):
    """What is done with a field of some JSON."""

    rule: Kind | type[BaseModel] | None
    known: bool
    whole: bool
    speech: bool


def _json(model: type[BaseModel] | None, data: dict[str, Any], masks: bool, rows: Rows | None = None) -> dict[str, Any]:
    inbound = model is Call and _came_in(data)
    beside = _beside(data, inbound, rows) if masks and model in _WITH_CELLS else None
    kept: dict[str, Any] = {}
    for name, value in data.items():
        treatment = _treatment(model, name, inbound)
        if treatment.rule is not None:
            shown = _safe(treatment.rule, value, masks=masks, beside=beside)
        elif treatment.known:
            shown = _own(value, masks, name, whole=treatment.whole)
        else:
            shown = _unknown(name, value, masks, speech=treatment.speech)
        _keep(kept, name if treatment.known else _column(name, masks), shown)
    return kept


@lru_cache(maxsize=4_096)
def _treatment(model: type[BaseModel] | None, name: str, inbound: bool) -> _Treatment:
    if model is None:
        return _Treatment(rule=None, known=False, whole=False, speech=False)
    rules = _INBOUND_JSON if inbound else foreign_fields(model)
    whole = _whole(model, name, inbound)
    known = whole or any(name in (own, field.serialization_alias) for own, field in model.model_fields.items())
    rule = rules.get(name) or (inner_model(model, name) if known else None)
    return _Treatment(rule=rule, known=known, whole=whole, speech=model in _SPEECH)


def _came_in(call: Mapping[str, Any]) -> bool:
    """Whether a contact made this call, by any name that a service has for that."""
    return any(
        isinstance(said := call.get(name), str) and said.lower().startswith("in")
        for name in ("call_type", "direction", "type")
    )


def _own(value: Any, masks: bool, name: str, *, whole: bool = False) -> Any:
    """What a field holds that the contract knows, cleaned line by line; the value itself where nothing changes."""
    if isinstance(value, str):
        text = cleaned_lines(value)
        return own_text(name, text) if masks and not whole else text
    if isinstance(value, list):
        entries = cast("list[Any]", value)
        shown = [_own(entry, masks, name, whole=whole) for entry in entries]
        return entries if all(new is old for new, old in zip(shown, entries, strict=True)) else shown
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        kept = _named_apart((_said(key, masks), _own(entry, masks, key)) for key, entry in inner.items())
        return inner if all(kept.get(key) is entry for key, entry in inner.items()) else kept
    return guarded(value, masks=masks) if isinstance(value, BaseModel) else value


def _said(key: str, masks: bool) -> str:
    return masked_abroad(cleaned(key)) if masks else cleaned(key)


def _unknown(name: str, value: Any, masks: bool, *, speech: bool = False) -> Any:
    """A field of another service: cleaned line by line, and masked unless it is what was said on a call."""
    if isinstance(value, str):
        text = cleaned_lines(value)
        return unknown_text(name, text) if masks and not (speech and name == "text") else text
    speech = speech or name in _CONVERSATIONS
    if isinstance(value, list):
        return [_unknown(name, part, masks, speech=speech) for part in cast("list[Any]", value)]
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        return _named_apart(
            (_column(key, masks), _unknown(key, part, masks, speech=speech)) for key, part in inner.items()
        )
    return unknown_number(name, value) if masks else value


def _safe(kind: Kind | type[BaseModel], value: Any, *, masks: bool, beside: Beside | None = None) -> Any:
    if isinstance(kind, type):
        return _part(kind, value, masks)
    if isinstance(value, list):
        return [_safe(kind, text, masks=masks) for text in cast("list[Any]", value)]
    if isinstance(value, dict):
        if kind == "words":
            return _cells(cast("dict[str, Any]", value), masks, beside)
        return _unknown("", value, masks and kind != "speech")
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


def _cells(cells: Mapping[str, Any], hides: bool, beside: Beside | None) -> dict[str, Any]:
    """A row's cells by column."""
    return _named_apart(
        (_column(column, hides), _cell(column, value, hides, beside)) for column, value in cells.items()
    )


def _cell(column: str, value: Any, hides: bool, beside: Beside | None) -> Any:
    if isinstance(value, str):
        shown = _shown(value, hides=hides, column=column)
        return masked_whole(shown) if beside is not None and beside.tells_number(column, shown) else shown
    if isinstance(value, (list, dict)):
        return _unknown(column, value, hides)
    return masked_number(value, column=column) if hides else value


def _named_apart(entries: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Values by name. Names that became the same are numbered, so that nothing is lost."""
    kept: dict[str, Any] = {}
    for shown, value in entries:
        _keep(kept, shown, value)
    return kept


def _keep(kept: dict[str, Any], shown: str, value: Any) -> None:
    name, number = shown, 2
    while name in kept:
        name, number = f"{shown} ({number})", number + 1
    kept[name] = value
