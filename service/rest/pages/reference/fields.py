"""Fields as lists of definitions, and examples as they look on the wire."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from callwright.service.rest.documentation.reference.tables import Tables
from callwright.service.rest.pages.reference.marked import inline

Json = Mapping[str, Any]


def field_list(fields: Iterable[str]) -> str:
    """Several fields together; nothing if there are none."""
    inside = "".join(fields)
    return f'<dl class="fields">{inside}</dl>' if inside else ""


def field_entry(name: str, shape: Json, tables: Tables, *, is_required: bool = False) -> str:
    """One field: its name, its type, whether it has to be there, and what it means."""
    mark = '<span class="must">required</span>' if is_required else ""
    return (
        f'<div><dt><code>{escape(name)}</code> <span class="type">{inline(tables.type_of(shape))}</span> {mark}</dt>'
        f"<dd>{inline(tables.said(shape))}</dd></div>"
    )


def object_fields(shape: Json, tables: Tables, *, shows_required: bool = True) -> str:
    """The fields of an object."""
    required = set(shape.get("required", ())) if shows_required else set[str]()
    properties: Mapping[str, Json] = shape.get("properties", {})
    return field_list(
        field_entry(name, field, tables, is_required=name in required) for name, field in properties.items()
    )


def wire(lines: Iterable[str], title: str) -> str:
    """A request or an answer as it is sent, from the lines of a fenced block. Keyboards can scroll it."""
    text = "\n".join(line for line in lines if not line.startswith("```")).strip()
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><pre tabindex="0"><code>{escape(text, quote=False)}'
        "</code></pre></figure>"
    )
