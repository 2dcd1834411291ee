"""Things by name: an argument that takes an id takes an exact name, or a telephone number, too.

A value that looks like an id is passed on untouched and costs no request. Nothing is guessed: of two things with one
name, or a name that is only nearly right, the caller is told what there is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from mcp.server.mcpserver.exceptions import ToolError

from callwright.client.errors import CallwrightError
from callwright.tools.arguments.arguments import bounded, takes_text
from callwright.tools.numbers.masking import numbers_hidden_in
from callwright.tools.numbers.number_repair import E164
from callwright.tools.references.kinds import CONTACT, numbers_of, references_of
from callwright.tools.references.search import LookedUpValue, Search, ToolNamed
from callwright.tools.replies.errors import explained_to
from callwright.tools.runtime.tool import Reply, Tool
from callwright.tools.runtime.tool_context import Session
from callwright.tools.wording.text import lines

_REGIONS = ("country", "default_country")
"""Arguments that say in which country numbers are to be read."""


@dataclass(frozen=True)
class Resolved:
    """Arguments in which every reference is an id and every number E.164, and what was made of what."""

    arguments: dict[str, Any]
    notes: tuple[str, ...] = ()

    def noted(self, reply: Reply) -> Reply:
        """The reply, with what was made of what before its text."""
        return replace(reply, text=lines(*self.notes, reply.text)) if self.notes else reply


async def resolved(tool: Tool, arguments: Mapping[str, Any], session: Session, tools: ToolNamed) -> Resolved:
    """The arguments with ids in place of names, and numbers in E.164. What is of a wrong type is left as it is.

    Raises:
        ToolError: nothing has that name, or several things have; the text shows what there is. Or a number that cannot
            be read. Or the service fails, in which case nothing was changed.
    """
    found = bounded(tool, arguments)
    references, numbers = references_of(tool.arguments), numbers_of(tool.arguments)
    named = [(given, references[given.name]) for given in _values(tool, found, references)]
    named = [(given, reference) for given, reference in named if not reference.is_id(given.value)]
    written = [given for given in _values(tool, found, numbers) if not E164.fullmatch(given.value)]
    if not named and not written:
        return Resolved(found)
    if session.masks:  # a name that is there or not answers yes or no
        for given, _ in named:
            for number in numbers_hidden_in(given.value):
                session.guesses.note(number)
    try:
        search = Search(await session.client(), session, _region(found), tools)
    except CallwrightError as error:
        raise ToolError(explained_to(session, error, tool)) from error
    for given, reference in sorted(named, key=lambda entry: CONTACT in entry[1].kinds):  # they need deployment_id
        _put(found, given, await search.id_of(given, reference, found.get("deployment_id")))
    for given in written:
        reading = await search.number(given, of_contact=numbers[given.name].of_contact)
        _put(found, given, reading.e164)
    return Resolved(found, tuple(search.notes))


def _values(tool: Tool, arguments: Mapping[str, Any], names: Mapping[str, object]) -> Iterator[LookedUpValue]:
    """The texts in these arguments, in lists where a list is wanted. Raises `ToolError` for an empty one."""
    for name in names:
        value: object = arguments.get(name)
        entries: list[tuple[int | None, object]] = [(None, value)]
        if isinstance(value, list) and not takes_text(tool.arguments.model_fields[name].annotation):
            entries = list(enumerate(cast("list[object]", value)))
        for index, entry in entries:
            if isinstance(entry, str) and _can_travel(entry):
                given = LookedUpValue(name, index, entry)
                if not entry.strip():
                    raise ToolError(f"Invalid arguments: {given.where}: is empty; leave it out, or say which is meant.")
                yield given


def _can_travel(text: str) -> bool:
    """Whether a text may be sent at all; if not, the check of the arguments says so."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _put(arguments: dict[str, Any], given: LookedUpValue, value: str) -> None:
    if given.index is None:
        arguments[given.name] = value
    else:
        entries = list(cast("list[Any]", arguments[given.name]))
        entries[given.index] = value
        arguments[given.name] = entries


def _region(arguments: Mapping[str, Any]) -> str | None:
    found = (arguments.get(name) for name in _REGIONS)
    return next((value for value in found if isinstance(value, str) and len(value) == 2 and value.isupper()), None)
