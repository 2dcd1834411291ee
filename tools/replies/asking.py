"""The request of a tool without code of its own: once for a single resource, page by page for a list."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from mcp.server.mcpserver.exceptions import ToolError

from callwright.contract.declaration.model import Input
from callwright.contract.declaration.pagination import Page
from callwright.tools.arguments.arguments import narrowed
from callwright.tools.replies.untyped_answers import WHAT, UntypedResource, further, one_of, page_of, said, untyped_line
from callwright.tools.runtime.tool import Deleted, Paging, Projection, Reply, Tool, data_of, projected
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.untrusted.fence import fenced
from callwright.tools.untrusted.untrusted_fields import Rules, untrusted_fields
from callwright.tools.wording.cleaning import cleaned, cleaned_at
from callwright.tools.wording.text import line, lines, shortened

MOST_ENTRIES = 200
"""The most entries that the service returns at once."""

_CURSOR = re.compile(r"n(\d{1,9})(?:_(.+))?", re.DOTALL)
_LONGEST_VALUE = 200


async def asked_plainly(tool: Tool, context: ToolContext, asked: Input) -> Reply:
    """Sends the operation once, with a fresh idempotency key if needed, and puts the answer into words."""
    operation = tool.operation
    key = (context.key or context.session.ids()) if tool.keyed else None
    complete = await tool.complete_input(context, asked) if tool.complete_input is not None else asked
    question = narrowed(complete, operation.takes)
    found = await context.client.ask_lenient(operation, question, idempotency_key=key)
    answer: Any = one_of(found)
    if operation.shape == "nothing":
        answer = Deleted(id=getattr(asked, operation.path_fields[-1]))
    slim = (
        tool.output_model
        if tool.output_model and issubclass(tool.output_model, Projection) and not isinstance(answer, UntypedResource)
        else None
    )
    data = {**data_of(projected(slim, answer)), **further(answer)} if slim else data_of(answer)
    for path in tool.untrusted:
        cleaned_at(data, path)
    return Reply(text=said(tool.reply, answer, context), data=data, untrusted=(*tool.untrusted, *further(answer)))


@dataclass(frozen=True)
class ListPosition:
    """The position of an answer in its list: how many entries came before, and the service's own cursor.

    A list that the service keeps in memory has no cursors. There the count alone is the position.
    """

    seen: int = 0
    cursor: str | None = None

    @classmethod
    def of(cls, text: str | None) -> "ListPosition":
        """The position that a cursor stands for. Raises ToolError for an invalid one."""
        if text is None:
            return cls()
        match = _CURSOR.fullmatch(text)
        if match is None:
            raise ToolError("Invalid arguments: cursor: not one that this tool gave. Leave it out to begin again.")
        return cls(int(match[1]), match[2])

    @property
    def text(self) -> str:
        """The cursor for this position."""
        return f"n{self.seen}" if self.cursor is None else f"n{self.seen}_{self.cursor}"


async def page_at(tool: Tool, context: ToolContext, asked: Input, *, most: int) -> tuple[Page[Any], Paging, int]:
    """Up to `most` entries from the requested position, the position of the answer, and how many entries follow it."""
    begin_at = ListPosition.of(getattr(asked, "cursor", None))
    by_count = begin_at.seen > 0 and begin_at.cursor is None
    question = narrowed(asked, tool.operation.takes)
    question = question.model_copy(
        update={
            "cursor": begin_at.cursor,
            "page": begin_at.seen // MOST_ENTRIES + 1 if by_count else None,
            "per_page": MOST_ENTRIES if by_count else most,
        }
    )
    question.model_fields_set.update({"cursor", "page", "per_page"})
    found = page_of(await context.client.ask_lenient(tool.operation, question))
    entries, paging = found.data, found.pagination
    more = paging.has_more
    if by_count:
        begin = begin_at.seen % MOST_ENTRIES
        more = more or len(entries) > begin + most
        entries = entries[begin : begin + most]
    seen = begin_at.seen + len(entries)
    total = cast("int | None", paging.total)  # a remote service may omit it
    left = max(total - seen, 1 if more else 0) if total is not None else 0
    following = ListPosition(seen, None if by_count else paging.next_cursor).text if more else None
    position = Paging(total=total, has_more=more, next_cursor=following)
    return found.model_copy(update={"data": entries}), position, left


@dataclass(frozen=True)
class ShownEntries:
    """The entries of a page, each as text and as data with the wanted fields."""

    words: list[str]
    data: list[dict[str, Any]]
    untrusted: tuple[str, ...]
    fences: bool = False
    """Whether the texts have to be put inside one fence."""
    heading: str | None = None
    """The names of the fields, if the texts are values alone."""


def entries_of(tool: Tool, context: ToolContext, asked: Input, page: Page[Any]) -> ShownEntries:
    """The shown fields of each entry: those that were requested, or the ones the tool shows by default."""
    names = cast("list[str] | None", getattr(asked, "fields", None))
    wanted = names or tool.default_fields
    whole: dict[str, Any] = {"data": [data_of(entry) for entry in page.data]}
    for path in tool.untrusted:
        cleaned_at(whole, path)
    more = [{} if names else further(entry) for entry in page.data]
    data = [
        {name: entry[name] for name in (*wanted, *(name for name in others if name not in wanted)) if name in entry}
        for entry, others in zip(whole["data"], more, strict=True)
    ]
    if any(isinstance(entry, UntypedResource) for entry in page.data):
        return ShownEntries([untyped_line(entry, context) for entry in data], data, ("data",), fences=True)
    heading: str | None = None
    if names and tool.fenced_as and all(_is_flat(entry) for entry in data):
        heading = line(*names)
        words = [_values_in_words(entry, names, tool, context) for entry in data]
    elif names and tool.fenced_as:
        words = [untyped_line(entry, context) for entry in data]
    elif names:
        words = [_fields_in_words(entry, tool, context) for entry in data]
    else:
        words = [said(tool.reply, entry, context) for entry in page.data]
    untrusted = tuple(path for path in tool.untrusted if path.split(".")[1] in wanted)
    return ShownEntries(words, data, untrusted, fences=bool(tool.fenced_as), heading=heading)


def list_reply(tool: Tool, context: ToolContext, entries: ShownEntries, paging: Paging, left: int) -> Reply:
    """A page as text and as data: one line an entry, then how many follow and how to get them."""
    fences = entries.fences and bool(entries.words)
    words = entries.words if entries.heading is None or not entries.words else [entries.heading, *entries.words]
    words = [fenced(words, tag=context.session.ids(), what=tool.fenced_as or WHAT)] if fences else words
    most = tool.operation.counts_to
    least = "At least " if most is not None and paging.total == most else ""
    count = f"{least}{left} more" if left else "More"
    text = lines(
        *words,
        f"{count}: call again with cursor={paging.next_cursor}" if paging.has_more else None,
        None if entries.data else context.hint(tool.empty),
    )
    data = {"data": entries.data, "pagination": data_of(paging)}
    return Reply(text=text, data=data, untrusted=entries.untrusted)


def _is_flat(entry: Mapping[str, Any]) -> bool:
    return not any(isinstance(value, list | dict) for value in entry.values())


def _values_in_words(entry: Mapping[str, Any], names: Sequence[str], tool: Tool, context: ToolContext) -> str:
    """The values alone, in the order of the heading above them: a hyphen where there is none."""
    item = tool.operation.item
    kinds: Rules = untrusted_fields(item) if item is not None else {}
    found = ((entry.get(name), kinds.get(name) == "number") for name in names)
    return line(*("-" if value in (None, "") else _value(value, context, is_number=own) for value, own in found))


def _fields_in_words(entry: dict[str, Any], tool: Tool, context: ToolContext) -> str:
    item = tool.operation.item
    kinds: Rules = untrusted_fields(item) if item is not None else {}
    numbers = {name for name, kind in kinds.items() if kind == "number"}
    values = {name: _value(value, context, is_number=name in numbers) for name, value in entry.items()}
    outside = kinds.keys() - numbers
    facts = [f"{name}={value}" for name, value in values.items() if name not in outside]
    said = [f"{name}={value}" for name, value in values.items() if name in outside and entry[name]]
    return lines(line(*facts), fenced(said, tag=context.session.ids(), what="Text from outside.") if said else None)


def _value(value: Any, context: ToolContext, *, is_number: bool) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if is_number:
        return context.number(text)
    words = cleaned(text)
    return words if len(words) <= _LONGEST_VALUE else f"{shortened(words, _LONGEST_VALUE)} ({len(words)} characters)"
