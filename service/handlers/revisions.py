"""The revisions of agents, phone numbers, deployments and audiences, and the check of those that a request expects.

A revision depends on what matters to somebody who accepts its use: what is said, who is called, when, and the price. It
does not depend on what the dialler changes (counters, clocks, the next call), nor on metadata and labels. Deployments
and numbers count their changes, so that settings that were changed back have another revision.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import bindparam, select

from callwright.contract.declaration.model import Input
from callwright.contract.declaration.revisions import Expecting
from callwright.contract.problems import REVISION_MISMATCH
from callwright.service.handlers.request_context import RequestContext
from callwright.service.platform.refusals import Refusal
from callwright.service.platform.revisions import revision
from callwright.service.rules.provider_choice import CHOICE
from callwright.service.tables.schema import agents, audiences, deployments, phone_numbers

_D = deployments.c
_CALLS = _D.audience_id == bindparam("id")
_CALLING = select(deployments).where(_CALLS, _D.status.in_(("scheduled", "active", "paused"))).order_by(_D.id)
_STARTED = (
    select(_D.id)
    .where(_CALLS, _D.status.in_(("active", "paused")), _D.started_at.is_not(None))
    .order_by(_D.id)
    .with_for_update()
)
_LOCKED = {
    table.name: select(table).where(table.c.id == bindparam("id"), table.c.org_id == bindparam("org")).with_for_update()
    for table in (deployments, agents, phone_numbers, audiences)
}


def of_agent(row: Any) -> str:
    """The revision of an agent: its voice, what it says, the providers it names, and its tools."""
    said = [row.name, row.system_prompt, row.welcome_message, row.language, row.voice_id]
    named = [getattr(row, name) for name in CHOICE]
    tools = [row.call_tools] if row.call_tools else []
    return revision("agent", [*said, *named, *tools] if any(named) or tools else said)


def of_number(row: Any) -> str:
    """The revision of a phone number: the number, its price, and who answers it."""
    return revision(
        "phone_number",
        [
            *(row.number, row.status, bool(row.simulated)),
            *(row.monthly_micros, bool(row.auto_renew), row.inbound_deployment_id, row.settings_changes),
        ],
    )


def of_deployment(row: Any) -> str:
    """The revision of a deployment: its status and every setting but `metadata`."""
    return revision(
        "deployment",
        [
            *(row.name, row.status, row.call_type, bool(row.simulated), row.agent_id, row.audience_id),
            *(row.phone_number_ids, row.start_at, row.end_at, row.settings, row.max_concurrency),
            *(row.budget_cap_micros, row.inbound, row.settings_changes),
        ],
    )


def of_audience(context: RequestContext, audience_id: str) -> str:
    """The revision of an audience: the campaigns that call its people.

    It does not depend on rows and imports, because people are usually added in several requests.
    """
    calling = context.connection.execute(_CALLING, {"id": audience_id}).all()
    return revision("audience", [audience_id, {row.id: of_deployment(row) for row in calling}])


def check_expected(asked: Input | None, context: RequestContext) -> None:
    """Checks the revisions that a request expects, and locks their rows until the unit of work ends.

    Locks are taken in one order: deployments, agents, phone numbers, audiences.

    Raises:
        Refusal: revision_mismatch, with the ids of what has changed or does not exist.
    """
    expected = asked.expected_revisions if isinstance(asked, Expecting) else None
    if not expected:
        return
    now = {
        thing: found
        for prefix, found_of in _KINDS
        for thing in sorted(expected)
        if thing.startswith(prefix) and (found := found_of(context, thing)) is not None
    }
    if changed := [thing for thing in expected if now.get(thing) != expected[thing]]:
        several = len(changed) > 1
        message = f"{', '.join(changed)} {'are' if several else 'is'} not as expected, or not there: nothing was done"
        raise Refusal(REVISION_MISMATCH, message, field="expected_revisions", details={"changed": changed})


def _held(table: str, revision_of: Callable[[Any], str]) -> Callable[[RequestContext, str], str | None]:
    def found(context: RequestContext, thing: str) -> str | None:
        row = context.connection.execute(_LOCKED[table], {"id": thing, "org": context.org_id}).one_or_none()
        return None if row is None else revision_of(row)

    return found


def _audience(context: RequestContext, audience_id: str) -> str | None:
    """The revision of an audience, with locks on its row and on the started campaigns that call it."""
    row = context.connection.execute(_LOCKED[audiences.name], {"id": audience_id, "org": context.org_id}).one_or_none()
    if row is None:
        return None
    context.connection.execute(_STARTED, {"id": audience_id}).all()
    return of_audience(context, audience_id)


_KINDS: tuple[tuple[str, Callable[[RequestContext, str], str | None]], ...] = (
    ("dep_", _held(deployments.name, of_deployment)),
    ("agt_", _held(agents.name, of_agent)),
    ("num_", _held(phone_numbers.name, of_number)),
    ("aud_", _audience),
)
