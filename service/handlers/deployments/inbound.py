"""Creates, changes, resumes and unbinds inbound deployments. A number is bound to at most one of them."""

from typing import Any

from sqlalchemy import Row, insert, update

from callwright.contract.deployments import deployments as contract
from callwright.contract.deployments.inbound import ANSWERING, CreateInboundDeployment, Inbound
from callwright.contract.problems import PHONE_NUMBER_ALREADY_BOUND
from callwright.service.campaigns import spending_cap
from callwright.service.handlers import phone_numbers as number_handlers
from callwright.service.handlers.agents import agents as agent_handlers
from callwright.service.handlers.changes import check_name_free
from callwright.service.handlers.deployments.rows import NAMED, check_concurrency, get_resource
from callwright.service.handlers.forwarding import checked_forward
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.inbound import callers
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.tables.campaign_settings import columns_of
from callwright.service.tables.inbound_settings import inbound_of
from callwright.service.tables.schema import deployments, phone_numbers

_N = phone_numbers.c
_NO_CAMPAIGN = {"audience_id": "", "phone_number_ids": "[]", **columns_of(None)}
"""The values of columns that only campaigns use and that cannot be null. No caller sees them."""


@handles(contract.create_inbound_deployment)
def create_inbound_deployment(asked: CreateInboundDeployment, context: RequestContext) -> contract.Deployment:
    """An inbound deployment, active at once, with the number bound to it."""
    agent_handlers.find(context, asked.agent_id, field="agent_id", lock=True)
    number = number_handlers.find(context, asked.phone_number_id, field="phone_number_id", lock=True)
    settings = Inbound(
        phone_number_id=asked.phone_number_id,
        business_hours=asked.business_hours,
        after_hours=checked_forward(asked.after_hours, "after_hours", number.number),
        overflow=checked_forward(asked.overflow, "overflow", number.number),
        recording_enabled=asked.recording_enabled,
    )
    check_name_free(context, NAMED, asked.name)
    if number.inbound_deployment_id is not None:
        raise Refusal(
            PHONE_NUMBER_ALREADY_BOUND,
            f"phone_number_id: deployment {number.inbound_deployment_id} answers this number",
            field="phone_number_id",
            details={"bound_to": number.inbound_deployment_id},
        )
    number_handlers.check_capable(context, number, "phone_number_id")
    check_concurrency(context, asked.max_concurrency)
    _check_unbounded(context)
    row: dict[str, Any] = {
        **_NO_CAMPAIGN,
        **context.new_row("dep"),
        "name": asked.name,
        "call_type": "inbound",
        "status": "active",
        "status_changed_at": context.now_ms,
        "started_at": context.now_ms,
        "simulated": number.simulated,
        "seed": context.settings.sim_seed,
        "agent_id": asked.agent_id,
        "inbound": settings.model_dump_json(),
        "max_concurrency": asked.max_concurrency,
        "metadata": json_text(asked.metadata),
    }
    context.connection.execute(insert(deployments), row)
    _bind(context, asked.phone_number_id, row["id"])
    return get_resource(context, row["id"])


def changed_settings(context: RequestContext, row: Row[Any], asked: contract.UpdateDeployment) -> str | None:
    """The column `inbound` of a deployment after a change; None if the change does not concern it.

    A field may be named at the top, as when the deployment is made, or inside `inbound`, as it is shown. Raises
    `Refusal` for a field that is named twice, another phone number, or a number that cannot be called.
    """
    outside = {name: value for name, value in asked.named().items() if name in ANSWERING}
    inside = asked.inbound.named() if asked.inbound is not None else {}
    if row.inbound is None or not (outside or inside):
        return None
    if twice := sorted({*outside} & {*inside}):
        raise invalid(twice[0], f"is named twice: here and as inbound.{twice[0]}")
    settings = inbound_of(row)
    if inside.pop("phone_number_id", settings.phone_number_id) != settings.phone_number_id:
        message = "cannot change: cancel this deployment and make another one for the other number"
        raise invalid("inbound.phone_number_id", message)
    number = number_handlers.find(context, settings.phone_number_id).number
    changes = {**outside, **inside}
    for name in ("after_hours", "overflow"):
        if name in changes:
            field = name if name in outside else f"inbound.{name}"
            changes[name] = checked_forward(changes[name], field, number)
    return settings.model_copy(update=changes).model_dump_json()


def check_resume(context: RequestContext, row: Row[Any]) -> None:
    """Raises `Refusal` when an inbound deployment cannot take calls again."""
    number_handlers.check_capable(context, number_handlers.find(context, inbound_of(row).phone_number_id), None)
    _check_unbounded(context)


def unbind(context: RequestContext, row: Row[Any]) -> None:
    """Releases the number of an inbound deployment for another one. Whoever is still to call finds nobody."""
    callers.forget(context.connection, row.id)
    _bind(context, inbound_of(row).phone_number_id, None)


def _bind(context: RequestContext, number_id: str, deployment_id: str | None) -> None:
    values = {"inbound_deployment_id": deployment_id, "updated_at": context.now_ms}
    context.connection.execute(update(phone_numbers).where(_N.id == number_id).values(values))


def _check_unbounded(context: RequestContext) -> None:
    if context.spending_key.cap_micros is not None:
        raise spending_cap.unbounded(context.spending_key)
