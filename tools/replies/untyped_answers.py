"""Answers that do not fit the contract's model: the service's own fields, as data and in generic words.

Nothing is invented, and the data is complete. In text, strings are inside a fence, because it is not known which of
them an outsider wrote. Contacts' telephone numbers are masked as everywhere.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from callwright.client.compat.lenient_response import LenientResponse
from callwright.client.errors import DoesNotFit
from callwright.contract.checks.counts import count_of
from callwright.contract.checks.visible import cleaned, cleaned_lines
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.declaration.pagination import Page, Pagination
from callwright.tools.runtime.tool import Reply, Tool, no_text
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.untrusted.fence import fenced
from callwright.tools.untrusted.guarded_answers import guarded_json
from callwright.tools.wording.cleaning import with_texts
from callwright.tools.wording.text import line, lines, shortened

Out = TypeVar("Out")
Json = dict[str, Any]

WHAT = "Fields as this service names them."
MOST_BYTES = 6_000
"""The most bytes of text about one resource. The structured answer has the rest."""
_MOST_BYTES_IN_A_LINE = 1_000
_LONGEST_VALUE = 400
_LONGEST_IN_A_LINE = 80
_MOST_ENTRIES = 20
_MOST_SHOWN = 5
_DEPTH = 4
_NUMBER = re.compile(r"\+[0-9]{7,15}")
_PAGING_NAMES = ("pagination", "paging", "page_info", "meta")
_CURSOR_NAMES = ("next_cursor", "nextCursor", "next_page_token", "nextPageToken")
_WRONG = (ValueError, ArithmeticError, LookupError, TypeError, AttributeError)
"""Errors that a text function for a known model may raise on a foreign value."""


class UntypedResource(Resource):
    """A resource that does not fit the contract's model: only the service's fields, under its own names."""


def untyped(entry: Any) -> UntypedResource:
    """A resource as the service returned it, without invisible characters."""
    fields = cast("Json", entry) if isinstance(entry, dict) else {"value": entry}
    return UntypedResource.model_validate(with_texts(fields, cleaned_lines))


def one_of(found: LenientResponse[Out]) -> Out | UntypedResource:
    """The contract's model if it fits, else the service's own fields."""
    return untyped(found.data) if found.answer is None else found.answer


def page_of(found: LenientResponse[Page[Any]]) -> Page[Any]:
    """A page of the contract's models if they fit, else of the service's own fields.

    Values of `pagination` that the service does not state are None.
    """
    if found.answer is not None:
        return found.answer
    listed: Any = found.data.get("data")
    alone = [found.data] if found.data else []
    entries: list[Any] = cast("list[Any]", listed) if isinstance(listed, list) else alone
    told = _told(found.data)
    cursor = next((told[name] for name in _CURSOR_NAMES if isinstance(told.get(name), str) and told[name]), None)
    page, per_page, total = (_count(told, name) for name in ("page", "per_page", "total"))
    more = told.get("has_more", told.get("hasMore"))
    if not isinstance(more, bool):
        more = cursor is not None or (page and per_page and total is not None and total > page * per_page) is True
    pagination = Pagination.model_construct(
        page=page, per_page=per_page, total=total, has_more=more and bool(entries), next_cursor=cursor
    )
    return Page[Any].model_construct(data=[untyped(entry) for entry in entries], pagination=pagination)


def entries_like(operation: AnyOperation, data: Json) -> list[Any]:
    """The entries of a list that have an id, with the texts that the service returned and None for other fields."""
    item = operation.item
    listed: Any = data.get("data")
    if item is None or not isinstance(listed, list):
        return []
    known = [cast("Json", entry) for entry in cast("list[Any]", listed) if isinstance(entry, dict)]
    texts = [{name: value for name, value in entry.items() if isinstance(value, str)} for entry in known]
    needed = {"id", *({"country"} & set(item.model_fields))}
    blank = {name: None for name in item.model_fields if name != "created_at"}
    return [
        item.model_construct(None, **(blank | {name: text[name] for name in text if name != "created_at"}))
        for text in texts
        if needed <= set(text)
    ]


def said(words: Callable[[Any, ToolContext], str], answer: BaseModel, context: ToolContext) -> str:
    """The text that `words` makes of the answer if it fits, else generic text: a field a line, up to a limit."""
    if not isinstance(answer, UntypedResource):
        try:
            return words(answer, context)
        except _WRONG:
            return said(words, untyped(answer.model_dump(mode="json", by_alias=True, exclude_none=True)), context)
    facts = list(_facts(further(answer), "", _LONGEST_VALUE, context.number, _DEPTH))
    if not facts:
        return "Done. The service said nothing more."
    kept, left = _within(facts, MOST_BYTES)
    return lines(
        fenced(kept, tag=context.session.ids(), what=WHAT),
        f"{count_of(left, 'more field is', 'more fields are')} in the structured answer." if left else None,
    )


async def acted(tool: Tool, context: ToolContext, asked: Input) -> Reply:
    """Runs a tool's own code. An answer of its operation that does not fit the contract is returned as it came.

    Raises:
        CallwrightError: the answer of another operation that it needs does not fit, or another error of that code.
    """
    if tool.handler is None:
        raise TypeError(f"{tool.name} has no code of its own")
    try:
        return await tool.handler(context, asked)
    except DoesNotFit as other:
        if other.operation != tool.operation.name:
            raise
        return untyped_reply(guarded_json(tool.operation.item, other.data, masks=context.session.masks), context)


def untyped_reply(data: Json, context: ToolContext) -> Reply:
    """The reply of a tool about one resource that does not fit the contract's model."""
    answer = untyped(data)
    return Reply(text=said(no_text, answer, context), data=further(answer), untrusted=tuple(further(answer)))


def further(answer: BaseModel) -> Json:
    """The fields of an answer that the contract's model does not have."""
    return answer.model_extra or {}


def untyped_line(fields: Json, context: ToolContext) -> str:
    """One entry of a list in one line, to be put inside a fence."""
    kept, left = _within(list(_facts(fields, "", _LONGEST_IN_A_LINE, context.number, _DEPTH)), _MOST_BYTES_IN_A_LINE)
    return line(*kept, f"and {count_of(left, 'more field')}" if left else None) or "(empty)"


def _facts(
    fields: Mapping[str, Any], before: str, longest: int, number: Callable[[str], str], depth: int
) -> Iterator[str]:
    for name, value in fields.items():
        where = f"{before}{cleaned(name)}"
        if isinstance(value, dict) and value and depth > 0:
            yield from _facts(cast("Json", value), f"{where}.", longest, number, depth - 1)
        elif isinstance(value, list) and any(isinstance(entry, (dict, list)) for entry in cast("list[Any]", value)):
            inner = cast("list[Any]", value)
            if len(inner) <= _MOST_SHOWN and depth > 0:
                numbered = {str(index): entry for index, entry in enumerate(inner, start=1)}
                yield from _facts(numbered, f"{where}.", longest, number, depth - 1)
            else:
                yield f"{where}: {count_of(len(inner), 'entry', 'entries')}"
        elif isinstance(value, list):
            entries = cast("list[Any]", value)
            shown = ", ".join(_value(entry, longest, number) for entry in entries[:_MOST_ENTRIES])
            more = f" and {len(entries) - _MOST_ENTRIES} more" if len(entries) > _MOST_ENTRIES else ""
            yield f"{where}: {shown or 'none'}{more}"
        else:
            yield f"{where}: {_value(value, longest, number)}"


def _value(value: Any, longest: int, number: Callable[[str], str]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = cleaned(value if isinstance(value, str) else "{}" if isinstance(value, dict) else str(value))
    return shortened(_NUMBER.sub(lambda match: number(match[0]), text), longest)


def _within(facts: list[str], most: int) -> tuple[list[str], int]:
    kept: list[str] = []
    for fact in facts:
        most -= len(fact.encode()) + 2
        if most < 0 and kept:
            break
        kept.append(fact)
    return kept, len(facts) - len(kept)


def _told(data: Json) -> Json:
    places = [cast("Json", data[name]) for name in _PAGING_NAMES if isinstance(data.get(name), dict)]
    told: Json = dict(data)
    for place in reversed(places):
        told |= place
    return told


def _count(told: Json, name: str) -> int | None:
    value = told.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None
