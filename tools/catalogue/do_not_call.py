"""Tools for the do-not-call list."""

from typing import Annotated

from pydantic import Field

from callwright.contract import do_not_call as contract
from callwright.contract.checks.counts import count_of
from callwright.contract.declaration.model import Resource
from callwright.contract.do_not_call import Counts, DoNotCallAdded, DoNotCallEntry, DoNotCallImported, RefusedNumber
from callwright.tools.media.recordings import where_it_is
from callwright.tools.runtime.tool import ADDS, CHANGES, READS, Reply, Tool, data_of, deleted, no_text
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.untrusted.fence import fenced
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import line, lines, moment, shortened

_COUNTRY = "Country of numbers without a +, such as US."
_SHOWN = 10
_NOTE_SHOWN = 100


class ExportedList(Resource):
    """Where the list can be had as a file."""

    media_type: str
    size_bytes: int | None
    url: Annotated[str | None, Field(description="Fetch it over HTTP here, with the API key.")]


def _entry(entry: DoNotCallEntry, context: ToolContext) -> str:
    return line(
        entry.id,
        context.number(entry.number),
        entry.reason,
        f"since {moment(entry.created_at)}",
        f"until {moment(entry.expires_at)}" if entry.expires_at else None,
        f"asked on call {entry.source_call_id}" if entry.source_call_id else None,
        "simulated" if entry.simulated else None,
        shortened(cleaned(entry.note), _NOTE_SHOWN) if entry.note else None,
    )


def _counts(answer: Counts) -> str:
    return line(
        f"{answer.added} of {count_of(answer.received, 'number')} added",
        f"{answer.extended} hold longer now" if answer.extended else None,
        f"{answer.already_there} there already" if answer.already_there else None,
        f"{answer.kept_permanent} stay permanent, whatever end was sent" if answer.kept_permanent else None,
        f"{answer.refused} refused" if answer.refused else None,
    )


def _refused(errors: list[RefusedNumber], count: int, context: ToolContext) -> str | None:
    said = [
        line(
            f"row {one.row_number}" + (f" in line {one.line}" if one.line else ""),
            one.field,
            one.code,
            cleaned(one.message),
            cleaned(one.value_redacted) if one.value_redacted else None,
        )
        for one in errors[:_SHOWN]
    ]
    more = f"{count_of(count - len(said), 'more refused row')}." if count > len(said) else None
    return lines(fenced(said, tag=context.session.ids(), what="Refused numbers."), more) if said else None


def _added(answer: DoNotCallAdded, context: ToolContext) -> str:
    return lines(_counts(answer), _refused(answer.errors, answer.refused, context))


def _imported(answer: DoNotCallImported, context: ToolContext) -> str:
    return lines(
        line(_counts(answer), answer.read_as),
        *(f"{notice}." for notice in answer.notices),
        _columns(answer, context),
        _refused(answer.errors, answer.refused, context),
    )


def _columns(answer: DoNotCallImported, context: ToolContext) -> str:
    """Which columns were read, whose names are of the file."""
    said = [f"read: {cleaned(name)}" for name in answer.number_columns]
    said += [f"NOT read, though it holds numbers: {cleaned(name)}" for name in answer.unread_number_columns]
    return fenced(said, tag=context.session.ids(), what="Columns of numbers.")


async def _export(context: ToolContext, asked: contract.ExportDoNotCall) -> Reply:
    """Where the whole list is. Its numbers are not for a model."""
    async with context.client.open(contract.export_do_not_call, asked) as media:
        query = "" if asked.simulated is None else f"?simulated={str(asked.simulated).lower()}"
        base_url = context.session.base_url
        found = ExportedList(
            media_type=media.media_type,
            size_bytes=media.size,
            url=f"{base_url}/do_not_call/export{query}" if base_url else None,
        )
    size = f"{found.size_bytes / 1000:.0f} kB" if found.size_bytes is not None else None
    return Reply(text=lines(line("The list as CSV", size), where_it_is(found.url)), data=data_of(found))


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.list_do_not_call,
        toolset="compliance",
        title="List the do-not-call list",
        description=(
            "Numbers that no campaign calls, newest first: why, since when, until when, and the call on which the "
            "person asked. With number it says whether one is on it. Numbers are masked. Free."
        ),
        hints=READS,
        reply=_entry,
        fenced_as="Entries of the do-not-call list.",
        empty="No entry fits.",
        default_fields=("id", "number", "reason", "created_at", "expires_at", "source_call_id", "simulated"),
        hidden=frozenset({"sort"}),
        example="note",
    ),
    Tool(
        operation=contract.get_do_not_call,
        toolset="compliance",
        title="Get a do-not-call entry",
        description=(
            "One entry of the do-not-call list by its id: number, reason, note, when it ends. To find one by its "
            "number use list_do_not_call. Free."
        ),
        hints=READS,
        reply=_entry,
    ),
    Tool(
        operation=contract.add_do_not_call,
        toolset="compliance",
        title="Add to the do-not-call list",
        description=(
            "Puts 1 to 1,000 numbers on the list: from the next call on no campaign calls them. Use it when "
            "somebody asks by mail or letter not to be called; who asks on a call is on it by itself. For a file use "
            "import_do_not_call. Free."
        ),
        hints=ADDS,
        reply=_added,
        collapsed=frozenset({"entries"}),
        argument_descriptions={
            "entries": (
                'Such as [{"number": "+12025550100", "reason": "requested", "note": "by mail"}]; expires_at only for '
                "one that ends. Reasons: requested, regulator, litigator, deceased, wrong_number, other."
            ),
            "default_country": _COUNTRY,
        },
    ),
    Tool(
        operation=contract.remove_do_not_call,
        toolset="compliance",
        title="Remove from the do-not-call list",
        description=(
            "Removes one entry, by its id: campaigns MAY CALL its person again. Only when the person who owns the "
            "list says so. An opt-out heard on a call needs a reason, which the audit log keeps. To find the id use "
            "list_do_not_call. Free."
        ),
        hints=CHANGES,
        reply=deleted("Removed {id} from the do-not-call list."),
    ),
    Tool(
        operation=contract.import_do_not_call,
        toolset="compliance",
        title="Import a do-not-call list",
        description=(
            "Puts the numbers of a CSV file, up to 1 MB, on the list, for example those of a national one. Columns of "
            "numbers are found; columns reason, note, expires_at are read, and none of them refuses a number. Refused "
            "rows come by line. For a few numbers use add_do_not_call. Free."
        ),
        hints=ADDS,
        reply=_imported,
        argument_descriptions={"default_country": _COUNTRY},
    ),
    Tool(
        operation=contract.export_do_not_call,
        toolset="compliance",
        title="Export the do-not-call list",
        description=(
            "Where the whole list can be had as CSV, for a person to fetch: the numbers do not pass through here. To "
            "look at entries use list_do_not_call. Free."
        ),
        hints=READS,
        reply=no_text,
        output_model=ExportedList,
        handler=_export,
    ),
)
