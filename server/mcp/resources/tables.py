"""Lists as CSV resources: contacts, calls and outcomes of a deployment, and the refused rows of an audience."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from callwright.contract.audiences import GetAudience, ListImportErrors, RowError, get_audience, list_import_errors
from callwright.contract.calls.calls import Call, ListCalls, list_calls
from callwright.contract.declaration.model import Resource
from callwright.contract.declaration.operation import Operation
from callwright.contract.declaration.pagination import Page, PageQuery
from callwright.contract.deployments.contacts import Contact, ListContacts
from callwright.contract.deployments.deployments import GetDeployment, get_deployment, list_contacts
from callwright.server.mcp.resources.content import TEXT_BYTES, Content, csv_lines
from callwright.server.mcp.resources.resources import Address
from callwright.server.mcp.session import ServerSession
from callwright.tools.runtime.guarded import client_of
from callwright.tools.runtime.tool_context import Caller
from callwright.tools.wording.text import masked

Asked = TypeVar("Asked", bound=PageQuery)
Item = TypeVar("Item", bound=Resource)

_ROWS_AT_ONCE = 50
_MOST_PAGES = 50
_NOTE_BYTES = 3_000
"""Bytes reserved for the last line, which may hold a long cursor."""

REPORT_COLUMNS = (
    "contact_id",
    "external_id",
    "name",
    "phone_number",
    "status",
    "attempts",
    "last_outcome",
    "last_disposition",
    "last_call_id",
    "simulated",
    "status_reason",
    "decided_by",
    "next_attempt_at",
    "callback_at",
)
REJECTS_COLUMNS = ("row", "line", "external_id", "column", "code", "message", "value")
CALLS_COLUMNS = (
    "call_id",
    "contact_id",
    "external_id",
    "contact_name",
    "to",
    "created_at",
    "status",
    "outcome",
    "disposition",
    "duration_seconds",
    "cost_amount",
    "attempt_number",
    "simulated",
)
OUTCOMES_COLUMNS = ("kind", "name", "count")


async def report(session: ServerSession, address: Address) -> Content:
    """One line for each contact."""
    client, deployment_id = await client_of(session), address.values["deployment_id"]
    about = await client.ask(get_deployment, GetDeployment(id=deployment_id))

    def row(contact: Contact) -> Sequence[object]:
        return (
            contact.id,
            contact.external_id,
            contact.name,
            masked(contact.phone_number) if session.masks else contact.phone_number,
            contact.status,
            contact.attempts,
            contact.last_outcome,
            contact.last_disposition,
            contact.last_call_id,
            "true" if about.simulated else "false",
            contact.status_reason,
            contact.decided_by,
            _moment(contact.next_attempt_at),
            _moment(contact.callback_at),
        )

    def asked(cursor: str | None) -> ListContacts:
        return ListContacts(id=deployment_id, per_page=_ROWS_AT_ONCE, cursor=cursor)

    return await _table(client, address, list_contacts, asked, REPORT_COLUMNS, row)


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.strftime("%Y-%m-%dT%H:%M:%SZ")


async def calls(session: ServerSession, address: Address) -> Content:
    """One line for each call of a deployment, newest first."""
    client, deployment_id = await client_of(session), address.values["deployment_id"]
    await client.ask(get_deployment, GetDeployment(id=deployment_id))  # an unknown one has no list of calls

    def row(call: Call) -> Sequence[object]:
        return (
            call.id,
            call.contact_id,
            call.external_id,
            call.contact_name,
            masked(call.to) if session.masks else call.to,
            _moment(call.created_at),
            call.status,
            call.outcome,
            call.disposition,
            call.duration_seconds,
            None if call.cost is None else call.cost.amount,
            call.attempt_number,
            "true" if call.simulated else "false",
        )

    def asked(cursor: str | None) -> ListCalls:
        return ListCalls(deployment_id=[deployment_id], per_page=_ROWS_AT_ONCE, cursor=cursor)

    return await _table(client, address, list_calls, asked, CALLS_COLUMNS, row)


async def outcomes(session: ServerSession, address: Address) -> Content:
    """How many calls of a deployment ended in which way, and how many had which disposition."""
    client = await client_of(session)
    stats = (await client.ask(get_deployment, GetDeployment(id=address.values["deployment_id"]))).stats
    kinds = (("outcome", stats.outcomes), ("disposition", stats.dispositions))
    rows = [(kind, name, count) for kind, counts in kinds for name, count in sorted(counts.items())]
    return Content(csv_lines([OUTCOMES_COLUMNS, *rows]))


async def rejects(session: ServerSession, address: Address) -> Content:
    """The refused rows of the newest import; only the header if there was none."""
    client, audience_id = await client_of(session), address.values["audience_id"]
    newest = (await client.ask(get_audience, GetAudience(id=audience_id))).last_import_id
    if newest is None:
        return Content(csv_lines([REJECTS_COLUMNS]))

    def row(error: RowError) -> Sequence[object]:
        refused = (error.column, error.code, error.message, error.value_redacted)
        return (error.row_number, error.line, error.external_id, *refused)

    def asked(cursor: str | None) -> ListImportErrors:
        return ListImportErrors(id=audience_id, import_id=newest, per_page=_ROWS_AT_ONCE, cursor=cursor)

    return await _table(client, address, list_import_errors, asked, REJECTS_COLUMNS, row)


async def _table(
    client: Caller,
    address: Address,
    operation: Operation[Any, Asked, Page[Item]],
    asked: Callable[[str | None], Asked],
    columns: Sequence[str],
    row: Callable[[Item], Sequence[object]],
) -> Content:
    """As many whole pages of a list as fit, as CSV; the last line says how many rows are left and where they are."""
    parts = [csv_lines([columns])]
    left = TEXT_BYTES - _NOTE_BYTES
    cursor = address.values.get("cursor")
    for number in range(_MOST_PAGES):
        page = await client.ask(operation, asked(cursor))
        part = csv_lines(row(entry) for entry in page.data)
        left -= len(part.encode())
        paging = page.pagination
        if left < 0 and number:
            rest = paging.total - (paging.page - 1) * paging.per_page
            break
        parts.append(part)
        rest = paging.total - (paging.page - 1) * paging.per_page - len(page.data)
        cursor = paging.next_cursor if paging.has_more else None
        if cursor is None:
            return Content("".join(parts))
    else:
        rest = 0
    count = f"{rest} rows are" if rest > 0 else "More rows are"
    parts.append(f"# {count} left: read {address.but(cursor=cursor or '')}\n")
    return Content("".join(parts))
