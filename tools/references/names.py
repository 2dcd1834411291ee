"""Resolves names: an argument that takes an id also takes an exact name, or a telephone number.

A value that looks like an id is passed on unchanged and costs no request. Nothing is guessed: if several resources have
the name, or the name is only nearly right, the caller gets a list of what exists.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from mcp.server.mcpserver.exceptions import ToolError

from callwright.client.errors import CallwrightError
from callwright.contract.declaration.filters import takes_several
from callwright.tools.arguments.arguments import bounded, takes_text
from callwright.tools.arguments.understood import Understood
from callwright.tools.numbers.masking import numbers_hidden_in
from callwright.tools.numbers.number_repair import E164
from callwright.tools.references.kinds import CONTACT, numbers_of, references_of
from callwright.tools.references.search import LookedUpValue, Search, ToolNamed
from callwright.tools.replies.errors import explained_to
from callwright.tools.runtime.tool import Reply, Tool
from callwright.tools.runtime.tool_context import Session
from callwright.tools.wording.text import lines

_REGIONS = ("country", "default_country")
"""Arguments with the country of numbers that have no country code."""


@dataclass(frozen=True)
class Resolved:
    """Arguments in which every reference is an id and every number E.164. `notes` describe the replacements."""

    arguments: dict[str, Any]
    notes: tuple[str, ...] = ()

    def noted(self, reply: Reply) -> Reply:
        """The reply, with the notes before its text."""
        return replace(reply, text=lines(*self.notes, reply.text)) if self.notes else reply


async def resolved(tool: Tool, arguments: Mapping[str, Any], session: Session, tools: ToolNamed) -> Resolved:
    """The arguments with names replaced by ids, and numbers in E.164. Values of a wrong type are left as they are.

    Raises:
        ToolError: nothing has that name, or several things have; the text shows what exists. Or a number cannot
            be read. Or the service fails, in which case nothing was changed.
    """
    understood = Understood(tool, arguments)
    found = bounded(tool, understood.arguments)
    references, numbers = references_of(tool.arguments), numbers_of(tool.arguments)
    named = [(given, references[given.name]) for given in _values(tool, found, references)]
    named = [(given, reference) for given, reference in named if not reference.is_id(given.value)]
    written = [given for given in _values(tool, found, numbers) if not E164.fullmatch(given.value)]
    if not named and not written:
        return Resolved(found, tuple(understood.notes))
    if session.masks:  # whether a name exists is an answer too
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
    return Resolved(found, (*understood.notes, *search.notes))


def _values(tool: Tool, arguments: Mapping[str, Any], names: Mapping[str, object]) -> Iterator[LookedUpValue]:
    """The texts in these arguments, and in lists if the argument takes a list. Raises `ToolError` for an empty one."""
    for name in names:
        value: object = arguments.get(name)
        entries: list[tuple[int | None, object]] = [(None, value)]
        field = tool.arguments.model_fields[name]
        if isinstance(value, list) and (takes_several(field) or not takes_text(field.annotation)):
            entries = list(enumerate(cast("list[object]", value)))
        for index, entry in entries:
            if isinstance(entry, str) and _can_travel(entry):
                given = LookedUpValue(name, index, entry, tool.shown(name))
                if not entry.strip():
                    raise ToolError(f"Invalid arguments: {given.where}: is empty; leave it out, or say which is meant.")
                yield given


def _can_travel(text: str) -> bool:
    """Whether a text can be sent; if not, the validation of the arguments reports it."""
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
