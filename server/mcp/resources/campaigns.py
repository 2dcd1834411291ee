"""Campaigns as resources: a deployment, its report, an audience's refused rows, an agent's prompt, a voice's sound."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from callwright.contract.agents.agents import GetAgent, get_agent
from callwright.contract.audiences import GetAudience, ListImportErrors, RowError, get_audience, list_import_errors
from callwright.contract.declaration.model import Resource
from callwright.contract.declaration.operation import Operation
from callwright.contract.declaration.pagination import Page, PageQuery
from callwright.contract.deployments.contacts import Contact, ListContacts
from callwright.contract.deployments.deployments import (
    Deployment,
    GetDeployment,
    get_deployment,
    list_contacts,
)
from callwright.contract.voices import GetVoicePreview, get_voice_preview
from callwright.server.mcp.resources.content import TEXT_BYTES, Content, csv_lines, json_text, prose
from callwright.server.mcp.resources.resources import Address
from callwright.server.mcp.session import ServerSession
from callwright.tools.media.recordings import RESOURCE_BYTES
from callwright.tools.runtime.guarded import client_of
from callwright.tools.runtime.tool import data_of
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


def deployment_content(found: Deployment) -> Content:
    """A deployment as a resource shows it."""
    return json_text(data_of(found), whole_with="get_deployment and get_agent give them whole")


async def deployment(session: ServerSession, address: Address) -> Content:
    """A deployment with its settings and counters."""
    client = await client_of(session)
    loose = await client.ask_lenient(get_deployment, GetDeployment(id=address.values["deployment_id"]))
    if loose.answer is None:
        return json_text(loose.data, whole_with="get_deployment gives it whole")
    return deployment_content(loose.answer)


async def agent_prompt(session: ServerSession, address: Address) -> Content:
    """The system prompt alone."""
    client = await client_of(session)
    found = await client.ask_lenient(get_agent, GetAgent(id=address.values["agent_id"]))
    return prose(str(found.data.get("system_prompt", "")), whole_with="get_agent gives the whole prompt")


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


async def voice_preview(session: ServerSession, address: Address) -> Content:
    """The sound of a voice."""
    client = await client_of(session)
    async with client.open(get_voice_preview, GetVoicePreview(id=address.values["voice_id"])) as media:
        return Content(await media.read(RESOURCE_BYTES))


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
