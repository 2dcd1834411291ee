"""Tools for one person's data: what is kept about them, and its deletion."""

from callwright.contract import people as contract
from callwright.contract.audiences import AudienceRow
from callwright.contract.checks.counts import count_of
from callwright.contract.declaration.field_types import Timestamp
from callwright.contract.declaration.marks import Cell
from callwright.contract.people import DeletePerson, ExportPerson, PersonCounts, PersonDeletion
from callwright.tools.runtime.tool import CHANGES, Hints, Projection, Reply, Tool, data_of, no_text, projected
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import line, lines, listed, moment, shortened

_MOST_REQUESTS = 100
"""Requests of one call of the tool, each of which deletes up to 500 entries of each kind."""
_UNTRUSTED = ("audience_rows.name", "audience_rows.external_id")
"""The parts of the answer that hold text of lists."""
_SHOWN = 20
"""Entries of each kind that an answer shows."""
_LONGEST_CELL = 100
"""Characters of a name or an id of the list that an answer shows."""


def _counted(counts: PersonCounts) -> str:
    return ", ".join(
        (
            count_of(counts.audience_rows, "audience row"),
            count_of(counts.contacts, "contact"),
            count_of(counts.refused_rows, "refused row"),
            count_of(counts.calls, "call"),
        )
    )


class PersonRow(Projection):
    """A row of the person in an audience."""

    id: str
    audience_id: str
    name: Cell | None = None
    external_id: Cell | None = None


class PersonContact(Projection):
    """The person in a campaign."""

    id: str
    deployment_id: str
    status: str
    last_outcome: str | None = None


class PersonCallSummary(Projection):
    """A call with the person."""

    id: str
    created_at: Timestamp
    status: str
    outcome: str | None = None
    disposition: str | None = None


class PersonSummary(Projection):
    """What is kept about a person, without what was said: the first entries of each kind, and how many there are."""

    id: str
    counts: PersonCounts
    on_do_not_call_list: bool
    audience_rows: list[PersonRow]
    contacts: list[PersonContact]
    calls: list[PersonCallSummary]


def _row(row: AudienceRow) -> PersonRow:
    shown = projected(PersonRow, row)
    cells = (("name", shown.name), ("external_id", shown.external_id))
    return shown.model_copy(update={name: shortened(cell, _LONGEST_CELL) for name, cell in cells if cell})


async def _exported(context: ToolContext, asked: ExportPerson) -> Reply:
    found = await context.client.ask(contract.export_person, asked)
    summary = PersonSummary(
        id=found.id,
        counts=found.counts,
        on_do_not_call_list=bool(found.do_not_call),
        audience_rows=[_row(row) for row in found.audience_rows[:_SHOWN]],
        contacts=[projected(PersonContact, contact) for contact in found.contacts[:_SHOWN]],
        calls=[projected(PersonCallSummary, one.call) for one in found.calls[:_SHOWN]],
    )
    text = lines(
        f"Kept about this person: {_counted(found.counts)}.",
        "The number is on the do-not-call list." if found.do_not_call else None,
        *[line(one.id, moment(one.created_at), one.status, one.outcome) for one in summary.calls],
        context.hint("get_transcript shows what was said on a call.") if summary.calls else None,
    )
    return Reply(text=text, data=data_of(summary), untrusted=_UNTRUSTED)


async def _deleted(context: ToolContext, asked: DeletePerson) -> Reply:
    """Deletes until nothing is left, and adds up what every request deleted."""
    key, total, waiting = context.key or context.session.ids(), dict[str, int](), 0
    done: PersonDeletion | None = None
    for number in range(_MOST_REQUESTS):
        own_key = f"{key}-{number}" if number else key
        done = await context.client.ask(contract.delete_person, asked, idempotency_key=own_key)
        for name, count in done.deleted.model_dump().items():
            total[name] = total.get(name, 0) + count
        waiting += done.waiting_removed
        if done.complete:
            break
        await context.progress(number + 1, None, f"{sum(total.values())} entries deleted")
    assert done is not None  # there is at least one request
    summed = done.model_copy(update={"deleted": PersonCounts(**total), "waiting_removed": waiting})
    text = lines(
        f"Deleted {_counted(summed.deleted)}.",
        None if summed.complete else "More is left: call again.",
        f"{count_of(waiting, 'contact')} waited and will not be called." if waiting else None,
        "The entry of the do-not-call list stays." if summed.do_not_call == "kept" else summed.advice,
        f"Imports go on and may hold the person: {listed(summed.open_imports, most=5)}. Delete again after them."
        if summed.open_imports
        else None,
    )
    return Reply(text=text, data=data_of(summed))


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.export_person,
        toolset="compliance",
        title="Export one person's data",
        description=(
            "What is kept about one person, by number: audience rows, campaigns, calls, the do-not-call entry. Use it "
            "when somebody asks what is known about them. A whole copy comes from the command people export. Free."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=True, open_world=False),
        reply=no_text,
        handler=_exported,
        output_model=PersonSummary,
        hidden=frozenset({"cursor", "per_page"}),
        argument_descriptions={"number": "The person's number."},
    ),
    Tool(
        operation=contract.delete_person,
        toolset="compliance",
        title="Delete one person's data",
        description=(
            "Deletes what is kept about one person for good, by number; figures and costs stay, and the do-not-call "
            "entry. Refused while they are on a call. Ask the person you work for first. Free."
        ),
        hints=CHANGES,
        reply=no_text,
        handler=_deleted,
        argument_descriptions={"number": "The person's number.", "confirm": "true once it was agreed to."},
    ),
)
