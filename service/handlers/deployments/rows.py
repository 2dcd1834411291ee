"""A deployment's row: found under its lock, changed, and read as callers see it."""

from typing import Any

from sqlalchemy import Row, and_, bindparam, select, update

from callwright.contract.checks.counts import count_of
from callwright.contract.deployments import deployments as contract
from callwright.contract.problems import PLAN_LIMIT_REACHED
from callwright.service.dialling.agent_snapshot import SNAPSHOT
from callwright.service.dialling.queue import WAITING
from callwright.service.handlers.deployments.view import to_resource
from callwright.service.handlers.request_context import RequestContext
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.tables.schema import audience_rows, deployment_contacts, deployments

_D, _K = deployments.c, deployment_contacts.c
NAMED = Prepared(select(_D.id).where(_D.org_id == bindparam("org"), _D.name == bindparam("name")))
"""The deployment with a name, for `changes.check_name_free`."""
_ONE = select(deployments).where(_D.id == bindparam("id"), _D.org_id == bindparam("org"))
_LOCKED = _ONE.with_for_update()
_SOONEST = (
    select(_K.id)
    .where(_K.deployment_id == _D.id, WAITING, _D.status == "active")
    .order_by(_K.next_at, _K.position)
    .limit(1)
    .scalar_subquery()
)
_SOON = deployment_contacts.alias("soon")
SEEN = select(
    deployments,
    _SOON.c.next_at.label("soonest_at"),
    _SOON.c.phone.label("soonest_phone"),
    audience_rows.c.timezone.label("soonest_timezone"),
    audience_rows.c.cells.label("soonest_cells"),
    _SOON.c.decided_by.label("soonest_rule"),
).select_from(
    deployments.outerjoin(_SOON, and_(_SOON.c.deployment_id == _D.id, _SOON.c.id == _SOONEST)).outerjoin(
        audience_rows, audience_rows.c.id == _SOON.c.id
    )
)
"""Deployments with what `view.to_resource` needs: an active one has the contact that is called next."""
_SEEN_ONE = SEEN.where(_D.id == bindparam("id"), _D.org_id == bindparam("org"))


def find(context: RequestContext, deployment_id: str, *, lock: bool = True) -> Row[Any]:
    """The deployment's row, with `lock` locked until the unit of work ends. Raises `Refusal`: not_found."""
    return context.one(_LOCKED if lock else _ONE, id=deployment_id)


def check_no_talk(row: Row[Any]) -> None:
    """Raises `Refusal`: invalid_field for a talk in the browser, which can only be cancelled."""
    if row.call_type == "web":
        raise invalid("id", "is a talk in the browser: hang up its call, or cancel it; it cannot be changed")


def get_resource(context: RequestContext, deployment_id: str) -> contract.Deployment:
    """The deployment as callers see it. Raises `Refusal`: not_found."""
    return to_resource(
        context.one(_SEEN_ONE, id=deployment_id), connection=context.connection, full_at_ms=context.full_at_ms
    )


def change(context: RequestContext, deployment_id: str, **values: Any) -> None:
    """Updates columns of a deployment."""
    context.connection.execute(
        update(deployments).where(_D.id == deployment_id).values(**values, updated_at=context.now_ms)
    )


def move(context: RequestContext, deployment_id: str, status: contract.DeploymentStatus, reason: str | None) -> None:
    """Changes the status of a deployment."""
    change(context, deployment_id, status=status, status_reason=reason, status_changed_at=context.now_ms)


def check_concurrency(context: RequestContext, wanted: int) -> None:
    """Raises `Refusal`: plan_limit_reached for more calls at a time than the organization's plan allows."""
    limit = context.plan.concurrent_calls
    if limit is not None and wanted > limit:
        message = f"max_concurrency: the plan {context.plan.name} allows {count_of(limit, 'call')} at a time"
        raise Refusal(PLAN_LIMIT_REACHED, message, field="max_concurrency", details={"limit": limit, "current": wanted})


def check_reserved(context: RequestContext, reserved: int) -> None:
    """Raises `Refusal`: plan_limit_reached if a campaign would leave so many lines free that it has none."""
    lines = context.plan.lines_for_campaigns
    if lines is not None and reserved >= lines:
        field = "reserved_inbound_concurrency"
        message = (
            f"{field}: campaigns have {count_of(lines, 'line')} in the plan {context.plan.name}; leave one at least"
        )
        raise Refusal(PLAN_LIMIT_REACHED, message, field=field, details={"limit": lines - 1, "current": reserved})


def kept_agent(agent: Row[Any]) -> dict[str, Any]:
    """What a deployment keeps of its agent when it starts."""
    kept = {name: getattr(agent, name) for name in (*SNAPSHOT, "name", "version")}
    return {**kept, "agent_updated_at": agent.updated_at}
