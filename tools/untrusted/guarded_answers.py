"""Guards an answer before it is shown: every text is cleaned and, if a session masks, contacts' numbers are masked.

It handles the contract's models and JSON that does not fit them alike.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeVar, cast

from pydantic import BaseModel

from callwright.contract.audiences import RowError
from callwright.contract.checks.visible import cleaned, cleaned_lines
from callwright.contract.declaration.marks import CallType, UntrustedKind, field_named, model_in
from callwright.contract.declaration.pagination import Page
from callwright.tools.numbers.masking import (
    masked_all_possible,
    masked_column,
    masked_in,
    masked_international,
    masked_number,
    masked_single,
)
from callwright.tools.numbers.national_numbers import RowContext, ShownRows
from callwright.tools.untrusted.masked_fields import may_hold_text, own_text, unknown_number, unknown_text
from callwright.tools.untrusted.untrusted_fields import (
    CONVERSATIONS,
    Rules,
    is_about_a_contact,
    is_speech,
    shows_whole,
    untrusted_fields,
)
from callwright.tools.wording.cleaning import named_apart

Out = TypeVar("Out")
_OWN_ID = "external_id"


def guarded(answer: Out, *, masks: bool, rows: ShownRows | None = None) -> Out:
    """The answer with every text cleaned and, if `masks`, contacts' numbers masked. `rows` are shown with it."""
    if isinstance(answer, Page):
        page = cast("Page[Any]", answer)
        rows = ShownRows(page.data)
        told = [guarded(entry, masks=masks, rows=rows) for entry in page.data if _may_be_told(entry, masks)]
        return cast("Out", _with_extra(page.model_copy(update={"data": told}), masks))
    if not isinstance(answer, BaseModel):
        return answer
    model = type(answer)
    there = answer.__dict__  # an answer that does not fit its model may lack fields
    call_type: CallType = "inbound" if there.get("call_type") == "inbound" else "outbound"
    rules = untrusted_fields(model, call_type)
    row = _row_context(there, model, rules, rows) if masks and is_about_a_contact(model) else None
    update = {name: _safe(kind, there[name], masks=masks, row=row) for name, kind in rules.items() if name in there}
    if (own := _as_its_cell(there, row, masks=masks)) is not None:
        update[_OWN_ID] = own
    for name, whole in _further_texts(model, call_type):
        if (value := there.get(name)) is not None and (shown := _own(value, masks, name, whole=whole)) is not value:
            update[name] = shown
    if not update and not answer.model_extra:
        return answer
    return cast("Out", _with_extra(answer.model_copy(update=update), masks))


_ONE_NUMBER = re.compile(r"[\d\s()+./-]+")
_FEWEST, _MOST = 10, 15
"""The digits of a telephone number with its area code."""


@cache
def _further_texts(model: type[BaseModel], call_type: CallType) -> tuple[tuple[str, bool], ...]:
    """The other fields of a model that may hold text, and whether numbers in them are the organization's own."""
    rules = untrusted_fields(model, call_type)
    names = (name for name in model.model_fields if name not in rules and may_hold_text(model, name))
    return tuple((name, shows_whole(model, name, call_type)) for name in names)


def _with_extra(shown: BaseModel, masks: bool) -> BaseModel:
    """The copy of an answer with fields cleaned that the contract does not know."""
    if extra := shown.model_extra:
        more = _json(type(shown), extra, masks)
        extra.clear()
        extra.update(more)
    return shown


def guarded_json(model: type[BaseModel] | None, data: dict[str, Any], *, masks: bool) -> dict[str, Any]:
    """Like `guarded`, for the JSON of an answer, including every field that the contract does not know."""
    if "data" in data and isinstance(data["data"], list):
        entries = cast("list[Any]", data["data"])
        rows = ShownRows(entries)
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
    """False for a row of a person whom the audience has already: rows of guessed numbers would reveal hidden digits."""
    code: Any = None
    if isinstance(entry, RowError):
        code = entry.code
    elif isinstance(entry, dict):
        code = cast("dict[str, Any]", entry).get("code")
    return not masks or code != "duplicate_in_audience"


def _row_context(fields: Mapping[str, Any], model: type[BaseModel], rules: Rules, rows: ShownRows | None) -> RowContext:
    numbers = (value for name, value in fields.items() if rules.get(field_named(model, name) or "") == "number")
    return RowContext(next((number for number in numbers if isinstance(number, str)), None), rows)


class _Treatment(NamedTuple):
    """How a field of some JSON is treated."""

    rule: UntrustedKind | type[BaseModel] | None
    known: bool
    whole: bool
    speech: bool


def _json(
    model: type[BaseModel] | None, data: dict[str, Any], masks: bool, rows: ShownRows | None = None
) -> dict[str, Any]:
    call_type: CallType = "inbound" if _came_in(data) else "outbound"
    row = None
    if masks and model is not None and is_about_a_contact(model):
        row = _row_context(data, model, untrusted_fields(model, call_type), rows)

    def entry(name: str, value: Any) -> tuple[str, Any]:
        treatment = _treatment(model, name, call_type)
        if treatment.rule is not None:
            shown = _safe(treatment.rule, value, masks=masks, row=row)
        elif treatment.known:
            shown = _own(value, masks, name, whole=treatment.whole)
        else:
            shown = _unknown(name, value, masks, speech=treatment.speech)
        return name if treatment.known else _column(name, masks), shown

    kept = named_apart(entry(name, value) for name, value in data.items())
    if (own := _as_its_cell(data, row, masks=masks)) is not None:
        kept[_OWN_ID] = own
    return kept


@lru_cache(maxsize=4_096)
def _treatment(model: type[BaseModel] | None, name: str, call_type: CallType) -> _Treatment:
    if model is None:
        return _Treatment(rule=None, known=False, whole=False, speech=False)
    field = field_named(model, name)
    whole = shows_whole(model, name, call_type)
    rule = None if field is None else untrusted_fields(model, call_type).get(field) or model_in(model, field)
    return _Treatment(rule=rule, known=whole or field is not None, whole=whole, speech=is_speech(model))


def _came_in(call: Mapping[str, Any]) -> bool:
    """Whether a contact made this call, by any field name that services have for that."""
    return any(
        isinstance(said := call.get(name), str) and said.lower().startswith("in")
        for name in ("call_type", "direction", "type")
    )


def _own(value: Any, masks: bool, name: str, *, whole: bool = False) -> Any:
    """The value of a field that the contract knows, cleaned line by line; the same object if nothing changes."""
    if isinstance(value, str):
        text = cleaned_lines(value)
        return own_text(name, text) if masks and not whole else text
    if isinstance(value, list):
        entries = cast("list[Any]", value)
        shown = [_own(entry, masks, name, whole=whole) for entry in entries]
        return entries if all(new is old for new, old in zip(shown, entries, strict=True)) else shown
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        kept = named_apart((_said(key, masks), _own(entry, masks, key)) for key, entry in inner.items())
        return inner if all(kept.get(key) is entry for key, entry in inner.items()) else kept
    return guarded(value, masks=masks) if isinstance(value, BaseModel) else value


def _said(key: str, masks: bool) -> str:
    return masked_international(cleaned(key)) if masks else cleaned(key)


def _unknown(name: str, value: Any, masks: bool, *, speech: bool = False) -> Any:
    """The value of a field that the contract does not know: cleaned line by line, and masked unless it is speech."""
    if isinstance(value, str):
        text = cleaned_lines(value)
        return unknown_text(name, text) if masks and not (speech and name == "text") else text
    speech = speech or name in CONVERSATIONS
    if isinstance(value, list):
        return [_unknown(name, part, masks, speech=speech) for part in cast("list[Any]", value)]
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        return named_apart(
            (_column(key, masks), _unknown(key, part, masks, speech=speech)) for key, part in inner.items()
        )
    return unknown_number(name, value) if masks else value


def _safe(kind: UntrustedKind | type[BaseModel], value: Any, *, masks: bool, row: RowContext | None = None) -> Any:
    if isinstance(kind, type):
        return _part(kind, value, masks)
    if isinstance(value, list):
        return [_safe(kind, text, masks=masks) for text in cast("list[Any]", value)]
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        if kind == "text":
            return _cells(inner, masks, row)
        if kind == "quoted":
            return named_apart((_column(name, masks), _safe(kind, part, masks=masks)) for name, part in inner.items())
        return _unknown("", inner, masks and kind != "speech")
    if not isinstance(value, str):
        return masked_number(value, column="phone" if kind == "number" else "") if masks and kind != "speech" else value
    if kind == "column":
        return _column(value, masks)
    if kind == "quoted":
        return masked_all_possible(cleaned(value)) if masks else cleaned(value)
    if kind == "number":
        return masked_in(cleaned(value), column="phone") if masks else cleaned(value)
    return _shown(value, hides=masks and kind == "text")


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
    """The name of a column."""
    return masked_column(cleaned(name)) if hides else cleaned(name)


def _cells(cells: Mapping[str, Any], hides: bool, row: RowContext | None) -> dict[str, Any]:
    """A row's cells by column."""
    return named_apart((_column(column, hides), _cell(column, value, hides, row)) for column, value in cells.items())


def _as_its_cell(fields: Mapping[str, Any], row: RowContext | None, *, masks: bool) -> str | None:
    """The shown external id of a person, if a cell has it too, or it may be the person's number; else None.

    It is shown in the same way as the cell. Where an answer has no number to compare it with, ten digits and more count
    as one.
    """
    own, cells = fields.get(_OWN_ID), fields.get("values")
    if not masks or not isinstance(own, str):
        return None
    if row is None:
        return masked_single(own) if _may_be_a_number(own) else None
    if row.is_own_number(own):
        return masked_single(own)
    if not isinstance(cells, Mapping):
        return None
    named = cast("Mapping[str, Any]", cells).items()
    shown = [_cell(column, value, True, row) for column, value in named if value == own]
    return next((cell for cell in shown if cell != cleaned(own)), None)


def _may_be_a_number(own: str) -> bool:
    written = cleaned(own)
    return _ONE_NUMBER.fullmatch(written) is not None and _FEWEST <= sum(map(str.isdigit, written)) <= _MOST


def _cell(column: str, value: Any, hides: bool, row: RowContext | None) -> Any:
    if isinstance(value, str):
        shown = _shown(value, hides=hides, column=column)
        return masked_single(shown) if row is not None and row.is_number_cell(column, shown) else shown
    if isinstance(value, (list, dict)):
        return _unknown(column, value, hides)
    return masked_number(value, column=column) if hides else value
