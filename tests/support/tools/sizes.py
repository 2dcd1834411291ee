"""Answers as large as anybody can make them: every sample with its words, lists and maps blown up."""

from collections.abc import Callable
from functools import cache
from typing import Any, cast

from pydantic import BaseModel

from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.declaration.pagination import Page, Pagination
from callwright.tools.catalogue.registry import TOOLS
from tests.support.tools import samples

TEXT = ("ж" * 12 + '"' * 12 + "\n <b>") * 1_000
ENTRIES = 400
TOTAL = 100_000
MOST_INSIDE = 12
"""Entries of a list or a map that stands inside of a list."""
WORDS = frozenset(
    {
        "basis",
        "column",
        "description",
        "detail",
        "explanation",
        "external_id",
        "greeting",
        "label",
        "locality",
        "message",
        "message_template",
        "name",
        "next_step",
        "response_excerpt",
        "sample",
        "summary",
        "system_prompt",
        "text",
        "value_redacted",
        "welcome_message",
    }
)


def blown_up(value: Any, name: str = "", *, text: str = TEXT, entries: int = ENTRIES) -> Any:
    """A value of an answer, with everything long that can be."""
    if isinstance(value, BaseModel):
        fields = {field: getattr(value, field) for field in type(value).model_fields}
        update = {field: blown_up(inner, field, text=text, entries=entries) for field, inner in fields.items()}
        return value.model_copy(update=update)
    if isinstance(value, list):
        inside = min(entries, MOST_INSIDE)
        one = [blown_up(entry, "text", text=text, entries=inside) for entry in cast("list[Any]", value)]
        return (one or [])[:1] * entries
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        first = next(iter(inner.values()), "x")
        kept = text if isinstance(first, str) else first
        return dict(inner) | {f"column {number} {'k' * 80}": kept for number in range(entries)}
    return text if isinstance(value, str) and name in WORDS else value


def answers(*, text: str = TEXT, entries: int = ENTRIES) -> dict[str, Any]:
    """A large answer for every operation. Lists give as many entries as they are asked for."""
    return dict(_answers(text, entries))


@cache
def _answers(text: str, entries: int) -> dict[str, Any]:
    found = samples.answers()
    for tool in TOOLS:
        sample = found.get(tool.name)
        if isinstance(sample, Page):
            page = cast("Page[Any]", sample)
            found[tool.name] = pages_of(tool.operation, blown_up(page.data[0], text=text, entries=min(entries, 50)))
        elif isinstance(sample, BaseModel):
            found[tool.name] = blown_up(sample, text=text, entries=entries)
    return found


def pages_of(operation: AnyOperation, entry: Any) -> Callable[[Input], Page[Any]]:
    """A list of equal entries without end, but for what calls one audience: that is read to its end."""

    def page(asked: Input) -> Page[Any]:
        count: int = getattr(asked, "per_page", 20)
        more = getattr(asked, "audience_id", None) is None
        cursor = f"after-{operation.name}" if more else None
        paging = Pagination(page=1, per_page=count, total=TOTAL, has_more=more, next_cursor=cursor)
        return Page[Any](data=[entry] * count, pagination=paging)

    return page
