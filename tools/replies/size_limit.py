"""Limits the size of answers: 4,000 tokens by default, up to 20,000 on request, text and data together.

A token is taken to be four bytes of JSON. A list that is too long is requested again with the number of entries that
fit, so that its cursor continues after the last one shown. In an answer about one resource, long texts and lists are
cut, in text and data alike, and a sentence says by how much and where the rest is.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

from callwright.contract.declaration.model import Input
from callwright.tools.arguments.arguments import LIST_LENGTH
from callwright.tools.replies.asking import asked_plainly, entries_of, list_reply, page_at
from callwright.tools.replies.untyped_answers import acted
from callwright.tools.runtime.tool import Reply, Tool
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import json_bytes, shortened

BYTES_A_TOKEN = 4
DEFAULT_TOKENS = 4_000
"""The default limit of an answer."""
MOST_TOKENS = 20_000
"""The limit of every answer."""

_FENCE = re.compile(r"<(untrusted-[^>\s]+)>")
_ROUNDS = 3
_READABLE_TEXT = 200
"""Texts are cut to this length before lists are cut."""
_SHORTEST_TEXT = 64
"""Shorter texts are ids, states and times, which are useless when cut."""
_MOST_FIELDS = 20
_MOST_CUTS = 5
_LONGEST_CUT = 120
_NOTE_BYTES = 2_000
"""Bytes reserved for the sentences about what was cut, in text and in data."""
_LIST_BYTES = 600
"""Bytes reserved for what a list has beside its entries."""


async def answered(tool: Tool, context: ToolContext, asked: Input, *, noted: Callable[[Reply], Reply]) -> Reply:
    """Runs a tool once. The answer is within the limit, including what `noted` adds to it."""
    most = size_limit_of(asked)
    if tool.handler is not None:
        reply = await acted(tool, context, asked)
    elif tool.many:
        reply = await _listed(tool, context, asked, most)
    else:
        reply = await asked_plainly(tool, context, asked)
    known = _NamedValues(dict(asked) | {name: value for name, value in reply.data.items() if isinstance(value, str)})
    return truncated(noted(reply), most, hint=context.hint(tool.truncation_hint.format_map(known)))


class _NamedValues(dict[str, Any]):
    """Values for the placeholders in `Tool.truncation_hint`. A remote service may omit some."""

    def __missing__(self, name: str) -> str:
        return f"({name})"


def size_limit_of(asked: Input) -> int:
    """The most bytes of an answer: the default, unless the arguments request more entries or tokens."""
    tokens: int | None = getattr(asked, "max_tokens", None)
    if tokens is None:
        wants_more = getattr(asked, "per_page", LIST_LENGTH) > LIST_LENGTH
        tokens = MOST_TOKENS if wants_more else DEFAULT_TOKENS
    return min(max(tokens, DEFAULT_TOKENS), MOST_TOKENS) * BYTES_A_TOKEN


def count_that_fits(sizes: Sequence[int], room: int) -> int:
    """How many of the first entries fit together; at least one, so that each call makes progress."""
    count = 0
    for size in sizes:
        room -= size
        if room < 0 and count:
            break
        count += 1
    return count


def truncated_text(text: str, room: int) -> str:
    """The longest beginning of a text that fits as JSON."""
    if json_bytes(text) <= room:
        return text
    return text[: max(0, bisect_right(range(len(text)), room, key=lambda count: json_bytes(text[:count])) - 1)]


def truncated(reply: Reply, most: int, *, hint: str = "") -> Reply:
    """The reply, shortened if it has more than `most` bytes. `hint` says where the rest is."""
    if reply.size <= most:
        return reply
    room = most - _NOTE_BYTES
    text = _cut_text(reply.text, max(room - json_bytes(reply.data), room // 2))
    data, cuts = _cut_data(reply.data, room - json_bytes(text))
    if text != reply.text:
        cuts.append(f"this text, {len(text)} of {len(reply.text)} characters")
    said = [shortened(cut, _LONGEST_CUT) for cut in cuts[:_MOST_CUTS]]
    if len(cuts) > _MOST_CUTS:
        said.append(f"and {len(cuts) - _MOST_CUTS} more")
    note = " ".join(part for part in (f"Shortened: {'; '.join(said)}.", hint) if part)
    return replace(reply, text=f"{text}\n{note}", data={**data, "shortened": said})


async def _listed(tool: Tool, context: ToolContext, asked: Input, most: int) -> Reply:
    """A page that fits. If there are too many entries, fewer are requested; at least one is returned."""
    per_page: int = getattr(asked, "per_page", LIST_LENGTH)
    for _ in range(_ROUNDS):
        found, paging, left = await page_at(tool, context, asked, most=per_page)
        entries = entries_of(tool, context, asked, found)
        reply = list_reply(tool, context, entries, paging, left)
        if len(entries.data) <= 1 or reply.size <= most:
            return reply
        sizes = [
            json_bytes(said) + json_bytes(entry) + 2 for said, entry in zip(entries.words, entries.data, strict=True)
        ]
        per_page = min(count_that_fits(sizes, most - _LIST_BYTES), len(entries.data) - 1)
    found, paging, left = await page_at(tool, context, asked, most=1)
    return list_reply(tool, context, entries_of(tool, context, asked, found), paging, left)


def _cut_text(text: str, room: int) -> str:
    """The beginning of a text, cut at the end of a line if one is near. An open fence is closed."""
    kept = truncated_text(text, room)
    if kept == text:
        return text
    line_end = kept.rfind("\n")
    kept = (kept[:line_end] if line_end > len(kept) // 2 else kept[:-1]) + "…"
    marks = _FENCE.findall(kept)
    return f"{kept}\n</{marks[-1]}>" if marks and f"</{marks[-1]}>" not in kept else kept


def _cut_data(data: dict[str, Any], room: int) -> tuple[dict[str, Any], list[str]]:
    """The data with its longest texts cut to one length, then its lists, until it fits; and what was cut."""

    def cut(text: int, items: int) -> Truncation:
        return Truncation(text=text, items=items)

    def most(smallest: int, largest: int, made: Callable[[int], Truncation]) -> Truncation | None:
        """The smallest cut that fits."""
        sizes = range(smallest, largest)
        if not sizes or json_bytes(made(smallest).of(data)) > room:
            return None  # then no smaller cut fits
        return made(smallest + bisect_right(sizes[1:], room, key=lambda size: json_bytes(made(size).of(data))))

    found = (
        most(_READABLE_TEXT, room, lambda size: cut(size, room))
        or most(1, room, lambda size: cut(_READABLE_TEXT, size))
        or cut(_SHORTEST_TEXT, 1)
    )
    return found.of(data), found.said(data)


@dataclass(frozen=True)
class Truncation:
    """How long texts may be, and how many entries lists and maps may have."""

    text: int
    items: int

    def of(self, data: dict[str, Any]) -> dict[str, Any]:
        """The data after the cut."""
        return {name: self._of(value) for name, value in data.items()}

    def said(self, data: dict[str, Any]) -> list[str]:
        """What was cut: the place, and how much is left of how much."""
        found: dict[str, list[str]] = {}
        self._say(data, "", found, outermost=True)
        return [
            f"{place}, {whats[0]}" if len(whats) == 1 else f"{place}, {len(whats)} times, first {whats[0]}"
            for place, whats in found.items()
        ]

    def _of(self, value: Any) -> Any:
        if isinstance(value, str):
            return value if len(value) <= self.text else value[: self.text - 1] + "…"
        if isinstance(value, list):
            return [self._of(entry) for entry in cast("list[Any]", value)[: self.items]]
        if isinstance(value, dict):
            inner = cast("dict[str, Any]", value)
            return {name: self._of(entry) for name, entry in islice(inner.items(), self._entries(inner))}
        return value

    def _entries(self, value: dict[str, Any]) -> int:
        """How many entries of an object are kept. A small one is a resource and kept whole, a large one is a map."""
        return len(value) if len(value) <= _MOST_FIELDS else max(self.items, _MOST_FIELDS)

    def _say(self, value: Any, place: str, found: dict[str, list[str]], *, outermost: bool = False) -> None:
        if isinstance(value, str) and len(value) > self.text:
            found.setdefault(place, []).append(f"{self.text - 1} of {len(value)} characters")
        elif isinstance(value, list):
            entries = cast("list[Any]", value)
            if len(entries) > self.items:
                found.setdefault(place, []).append(f"{self.items} of {len(entries)} entries")
            for entry in entries[: self.items]:
                self._say(entry, place, found)
        elif isinstance(value, dict):
            inner = cast("dict[str, Any]", value)
            left = len(inner) if outermost else self._entries(inner)
            if left < len(inner):
                found.setdefault(place, []).append(f"{left} of {len(inner)} entries")
            for name, entry in islice(inner.items(), left):
                self._say(entry, f"{place}.{name}" if place else name, found)
