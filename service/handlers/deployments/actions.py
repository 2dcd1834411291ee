"""Previews, starts, pauses, resumes and cancels deployments. A pause or cancellation is never refused for a plan.

A start or resume may name a plan (see `campaigns.start_plan`): then it is refused unless everything is as the preview
showed it. The same plan a second time changes nothing.
"""

import json
from typing import Any

from sqlalchemy import Row

from callwright.contract.deployments import deployments as contract
from callwright.contract.deployments.previews import Preview, PreviewDeployment
from callwright.contract.events import DEPLOYMENT_PAUSED, DEPLOYMENT_RESUMED
from callwright.contract.events import DeploymentPaused as PausedData
from callwright.contract.problems import PLAN_REQUIRED
from callwright.service.campaigns import spending_cap
from callwright.service.campaigns.activation import begin
from callwright.service.campaigns.compliance_checks import paused_for_review
from callwright.service.campaigns.preview import preview
from callwright.service.campaigns.start_guards import audience_of, start_refusals
from callwright.service.campaigns.start_plan import check_plan, parts_of
from callwright.service.dialling import endings
from callwright.service.dialling.agent_snapshot import agent_of
from callwright.service.dialling.dropped_contacts import drop_waiting
from callwright.service.handlers.agents import agents as agent_handlers
from callwright.service.handlers.deployments import inbound
from callwright.service.handlers.deployments.rows import change, check_no_talk, find, get_resource, kept_agent, move
from callwright.service.handlers.deployments.tool_advice import advice_on_tools
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.rules.deployment_states import check_action
from callwright.service.rules.plan_id import StartPlan
from callwright.service.tables.schema import deployment_contacts
from callwright.service.telephony.chosen_services import ProviderUnusable, speech_services_of
from callwright.service.telephony.engine import AgentSnapshot

_K = deployment_contacts.c


def _agent(context: RequestContext, row: Row[Any]) -> dict[str, Any]:
    """The fields of the agent that would call: as it is now, or as it was kept at the start.

    A scheduled deployment that somebody starts at once calls with the agent as it is now.
    """
    if row.agent_snapshot is None or row.status in ("draft", "scheduled"):
        return kept_agent(agent_handlers.find(context, row.agent_id, field="agent_id"))
    return json.loads(row.agent_snapshot)


@handles(contract.preview_deployment)
def preview_deployment(asked: PreviewDeployment, context: RequestContext) -> Preview:
    """What a start or resume would do.

    Raises:
        Refusal: invalid_field for an inbound deployment, which calls nobody; or the plan is of another deployment, too
            old, or not up to date any more.
    """
    row = find(context, asked.id, lock=False)
    check_no_talk(row)
    if row.call_type == "inbound":
        raise invalid("id", "is an inbound deployment, which calls nobody: there is nothing to preview")
    agent = _agent(context, row)
    given: dict[str, Any] = {"seal": context.start_plan_seal, "service": context.settings, "now_ms": context.now_ms}
    shown = preview(context.connection, context.plan, row, agent, plan_id=asked.plan_id, **given)
    advice = [] if row.simulated else _advice_on_lines(context, agent_of(row, agent))
    return shown.model_copy(update={"warnings": [*shown.warnings, *advice]}) if advice else shown


def _advice_on_lines(context: RequestContext, agent: AgentSnapshot) -> list[str]:
    """What is missing for a whole conversation on a real line, and for the agent's tools."""
    try:
        chosen = speech_services_of(context.connection, context.settings, context.org_id, agent)
    except ProviderUnusable as error:
        return [f"No call can be made: {error}"]
    missing = [] if chosen.what_is_missing is None else [f"On these lines {chosen.what_is_missing}."]
    return [*missing, *advice_on_tools(agent, chosen.services)]


@handles(contract.start_deployment)
def start_deployment(asked: contract.StartDeployment, context: RequestContext) -> contract.Deployment:
    """A started deployment. Its contacts are called from now on, or from start_at on; the calls cost money.

    It is paused instead, with a review, while its consent or a country without rules has to be looked at.

    A scheduled deployment starts at once only with a plan that was made while it was scheduled, or with `jump_clock`.
    """
    row = find(context, asked.id)
    check_no_talk(row)
    if _check_start_or_resume("start", asked, row, context):
        start(context, row, plan_id=asked.plan_id, jump_clock=asked.jump_clock)
    return get_resource(context, asked.id)


def _check_start_or_resume(
    action: str, asked: contract.StartDeployment, row: Row[Any], context: RequestContext
) -> bool:
    """Whether the action changes anything; False when it was done before.

    Raises:
        Refusal: the plan is of another deployment, too old, not up to date any more, or missing.
    """
    if asked.jump_clock and (row.call_type == "inbound" or not row.simulated):
        raise invalid("jump_clock", "is for campaigns on the simulated network; leave it out to wait for start_at")
    if row.call_type == "inbound":
        if asked.plan_id is not None:
            raise invalid("plan_id", "an inbound deployment calls nobody and has no plan")
        return check_action(action, row.status, call_type=row.call_type)
    plan: StartPlan | None = None
    if asked.plan_id is not None:
        if asked.plan_id == row.plan_id and not (asked.jump_clock and row.started_at is None):
            return False
        plan = context.start_plan_seal.open(asked.plan_id, org_id=row.org_id, deployment_id=row.id)
    acts = check_action(action, row.status, at_once=plan is not None or asked.jump_clock)
    if plan is not None:
        audience = audience_of(context.connection, row.audience_id, lock=row.started_at is None)
        now = parts_of(context.connection, row, audience=audience, agent=_agent(context, row))
        check_plan(plan, now, context.now_ms)
    elif acts and not row.simulated:
        raise Refusal(PLAN_REQUIRED)
    return acts


def start(context: RequestContext, row: Row[Any], *, plan_id: str | None = None, jump_clock: bool = False) -> None:
    """Starts a draft, or schedules it if start_at is in the future. A scheduled deployment starts at once.

    With `jump_clock` a draft starts at once too, and its clock begins at start_at.

    Raises:
        Refusal: what forbids the start.
    """
    kept = _agent(context, row)
    _check_start(context, row, kept)
    if _paused_for_review(context, row):
        change(context, row.id, agent_snapshot=json_text(kept), plan_id=plan_id)
        return
    answered = spending_cap.charge_deployment(
        context.connection, context.spending_key, row, agent=kept, now_ms=context.now_ms
    )
    change(context, row.id, agent_snapshot=json_text(kept), plan_id=plan_id, **answered)
    if row.status == "draft" and _waits(row, context) and not jump_clock:
        move(context, row.id, "scheduled", None)
        return
    _begin(context, row, jump_clock)


def _waits(row: Row[Any], context: RequestContext) -> bool:
    return row.start_at is not None and row.start_at > context.now_ms


def _begin(context: RequestContext, row: Row[Any], jump_clock: bool) -> None:
    clock_ms = row.start_at if jump_clock and _waits(row, context) else context.now_ms
    begin(context.connection, row, clock_ms, now_ms=context.now_ms)


def _paused_for_review(context: RequestContext, row: Row[Any]) -> bool:
    url = context.settings.public_url
    return paused_for_review(context.connection, context.ids, row, now_ms=context.now_ms, public_url=url)


def _check_start(context: RequestContext, row: Row[Any], kept: dict[str, Any]) -> None:
    given: dict[str, Any] = {"settings": context.settings, "now_ms": context.now_ms, "asked": True}
    for refusal in start_refusals(context.connection, context.plan, row, agent_of(row, kept), **given):
        raise refusal


@handles(contract.pause_deployment, preempts=True)
def pause_deployment(asked: contract.DeploymentAction, context: RequestContext) -> contract.Deployment:
    """A paused deployment: no new calls, those under way finish, the queue stays."""
    row = find(context, asked.id)
    check_no_talk(row)
    if check_action("pause", row.status):
        move(context, row.id, "paused", "manual")
        data = PausedData(deployment_id=row.id, reason="manual", simulated=row.simulated)
        context.emit(DEPLOYMENT_PAUSED, data, simulated=row.simulated)
    return get_resource(context, asked.id)


@handles(contract.resume_deployment)
def resume_deployment(asked: contract.StartDeployment, context: RequestContext) -> contract.Deployment:
    """A resumed deployment, which continues where it stopped."""
    row = find(context, asked.id)
    check_no_talk(row)
    if _check_start_or_resume("resume", asked, row, context):
        if row.call_type == "inbound":
            inbound.check_resume(context, row)
            move(context, row.id, "active", None)
        elif not _go_on(asked, row, context):
            return get_resource(context, asked.id)
        data = PausedData(deployment_id=row.id, reason="manual", simulated=row.simulated)
        context.emit(DEPLOYMENT_RESUMED, data, simulated=row.simulated)
    return get_resource(context, asked.id)


def _go_on(asked: contract.StartDeployment, row: Row[Any], context: RequestContext) -> bool:
    """Whether a paused campaign goes on; False if a person has to look at something first."""
    _check_start(context, row, _agent(context, row))
    if _paused_for_review(context, row):
        return False
    answered = spending_cap.charge_deployment(context.connection, context.spending_key, row, now_ms=context.now_ms)
    change(context, row.id, plan_id=asked.plan_id, **answered)
    if row.started_at is not None:
        change(context, row.id, active_since_ms=row.clock_ms + 1)  # later than every dial before
        move(context, row.id, "active", None)
    elif _waits(row, context) and not asked.jump_clock:
        move(context, row.id, "scheduled", None)
    else:
        _begin(context, row, asked.jump_clock)
    return True


@handles(contract.cancel_deployment, preempts=True)
def cancel_deployment(asked: contract.DeploymentAction, context: RequestContext) -> contract.Deployment:
    """A cancelled deployment: what is pending is dropped for good, calls under way finish, its number is unbound."""
    row = find(context, asked.id)
    if check_action("cancel", row.status):
        if row.call_type == "inbound":
            inbound.unbind(context, row)
        dropped = drop_waiting(context.connection, row, "cancelling")
        move(context, row.id, "cancelled", "manual")
        change(context, row.id, completed_at=context.now_ms, **dropped)
        endings.finish_cancelled(context.connection, context.ids, row.id)
    return get_resource(context, asked.id)
