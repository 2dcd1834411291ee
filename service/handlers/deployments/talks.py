"""Talks in the browser: each is one call of a deployment of its own, which a page opens."""

import secrets
from typing import Any

from sqlalchemy import bindparam, func, insert, select

from callwright.contract.deployments import talks as contract
from callwright.contract.deployments.placing import ONE_ATTEMPT
from callwright.contract.deployments.settings import CampaignSettings
from callwright.contract.problems import LINES_UNAVAILABLE, PLAN_LIMIT_REACHED
from callwright.list_files.name_columns import name_of
from callwright.service.dialling.agent_snapshot import snapshot_of
from callwright.service.dialling.limits.concurrency import CALLING
from callwright.service.handlers.agents import agents as agent_handlers
from callwright.service.handlers.deployments.rows import kept_agent
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.platform.clock.clock import SECOND, moment
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.platform.search_words import word_column
from callwright.service.rules.call_tools import columns_in
from callwright.service.rules.cost_items import FREE
from callwright.service.rules.prices.price_list import stored_price
from callwright.service.rules.rows import BadRow, read_cells
from callwright.service.rules.templates import Columns, render
from callwright.service.tables import calls_by_name
from callwright.service.tables.campaign_settings import columns_of
from callwright.service.tables.rules_files import current_version
from callwright.service.tables.schema import deployment_contacts, deployments
from callwright.service.telephony.chosen_services import ChosenServices, ProviderUnusable, speech_services_of
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.legs.leg_tokens import hash_of
from callwright.service.telephony.legs.line_engine import NOT_TAKEN_S
from callwright.service.telephony.lines.availability import why_no_lines
from callwright.service.telephony.registry import BROWSER

TOKEN_PREFIX = "tlk_"
MOST_TALKS = 10
"""Talks of an organization that may be open or under way at once."""
OPENS_WITHIN_S = 20
"""Seconds that the agent waits for the sound of a page that has come."""
_ENDING = "this service is being stopped and takes no more calls; try again in a minute, when it has been started again"
_D = deployments.c
_OPEN = select(func.count()).where(_D.org_id == bindparam("org"), CALLING, _D.call_type == "web", _D.in_flight > 0)


@handles(contract.talk_to_agent)
def talk_to_agent(asked: contract.TalkToAgent, context: RequestContext) -> contract.Talk:
    """A link that opens a talk with the agent, once. It rings nobody and takes no money of the wallet."""
    agent = agent_handlers.find(context, asked.id)
    check_lines(context)
    variables = read_cells(1, asked.variables)
    if isinstance(variables, BadRow):
        raise invalid("variables", f"cannot be used: {variables.message}")
    _check_variables(agent, variables)
    _check_room(context)
    chosen = chosen_services(context, agent)
    deployment = _add_deployment(context, agent, asked)
    call_id = context.ids.new("cal")
    url, token_hash = new_link(context, call_id)
    request = _request(context, agent, variables, deployment, call_id)
    _add_call(context, request, deployment)
    leg_rows.add(context.connection, BROWSER, request, context.now_ms, token_hash=token_hash)
    return contract.Talk(
        call_id=call_id,
        deployment_id=deployment["id"],
        url=url,
        expires_at=moment(context.now_ms + round(NOT_TAKEN_S * SECOND)),
        hears=chosen.what_is_missing is None,
        notice=chosen.what_is_missing,
    )


def check_lines(context: RequestContext) -> None:
    """Raises `Refusal`: lines_unavailable if this service carries no calls of browsers, or is being stopped."""
    if (why := why_no_lines(context.settings.lines.count)) is not None:
        raise Refusal(LINES_UNAVAILABLE, why)
    if context.is_ending:
        raise Refusal(LINES_UNAVAILABLE, _ENDING)


def new_link(context: RequestContext, call_id: str) -> tuple[str, str]:
    """The address of the page that opens a call, and the hash of the token in it."""
    token = TOKEN_PREFIX + secrets.token_urlsafe(24)
    return f"{context.own_address.root}/talk/{call_id}#{token}", hash_of(token)


def _check_variables(agent: Any, variables: dict[str, str]) -> None:
    for template in (agent.welcome_message, agent.system_prompt):
        if missing := render(template, variables).missing:
            raise invalid("variables", f"has no value for {{{{{missing[0]}}}}}, which the agent's words need")
    known = Columns(variables)
    for name in columns_in(agent.call_tools):
        if known.find(name) is None:
            raise invalid("variables", f"has no value for {name}, which the agent's tools need")


def _check_room(context: RequestContext) -> None:
    under_way = context.connection.execute(_OPEN, {"org": context.org_id}).scalar_one()
    if under_way >= MOST_TALKS:
        details = {"limit": MOST_TALKS, "current": under_way}
        raise Refusal(PLAN_LIMIT_REACHED, f"{MOST_TALKS} talks are open; end one first", details=details)


def chosen_services(context: RequestContext, agent: Any) -> ChosenServices:
    """What hears, thinks and speaks. Raises `Refusal`: lines_unavailable if a provider cannot be used."""
    try:
        return speech_services_of(
            context.connection, context.settings, context.org_id, snapshot_of(agent.id, kept_agent(agent))
        )
    except ProviderUnusable as error:
        raise Refusal(LINES_UNAVAILABLE, str(error)) from error


def _add_deployment(context: RequestContext, agent: Any, asked: contract.TalkToAgent) -> dict[str, Any]:
    row = context.new_row("dep")
    settings = CampaignSettings(
        retry_policy=ONE_ATTEMPT,
        ring_timeout_seconds=OPENS_WITHIN_S,
        max_call_duration_seconds=asked.max_call_duration_seconds,
        circuit_breaker=None,
    )
    row |= {
        **columns_of(settings),
        "name": f"Talk with {agent.name[:80]}, {row['id']}",
        "call_type": "web",
        "status": "active",
        "status_changed_at": context.now_ms,
        "simulated": False,
        "seed": context.settings.sim_seed,
        "agent_id": agent.id,
        "agent_snapshot": json_text(kept_agent(agent)),
        "audience_id": "",
        "phone_number_ids": "[]",
        "max_concurrency": 1,
        "started_at": context.now_ms,
        "active_since_ms": context.now_ms,
        "clock_ms": context.now_ms,
        "last_dial_ms": context.now_ms,
        "contacts": 1,
        "in_flight": 1,
        "attempts": 1,
        "states": json_text({"in_flight": 1}),
        "rules_version": current_version(context.connection),
        "metadata": "{}",
    }
    context.connection.execute(insert(deployments), row)
    return row


def _request(
    context: RequestContext, agent: Any, variables: dict[str, str], deployment: dict[str, Any], call_id: str
) -> CallRequest:
    return CallRequest(
        call_id=call_id,
        org_id=context.org_id,
        deployment_id=deployment["id"],
        contact_id=context.ids.new("row"),
        attempt=1,
        to=f"{BROWSER}-{call_id[-10:]}",
        from_=BROWSER,
        agent=snapshot_of(agent.id, kept_agent(agent)),
        variables=variables,
        seed=deployment["seed"],
        ring_timeout_s=OPENS_WITHIN_S,
        max_duration_s=deployment["max_call_duration_seconds"],
        may_call_back=False,
    )


def _add_call(context: RequestContext, request: CallRequest, deployment: dict[str, Any]) -> None:
    contact = {
        "deployment_id": deployment["id"],
        "id": request.contact_id,
        "org_id": context.org_id,
        "position": 1,
        "phone": request.to,
        "status": "in_flight",
        "attempts": 1,
        "attempt_times": json_text([context.now_ms]),
        "last_call_id": request.call_id,
    }
    context.connection.execute(insert(deployment_contacts), contact)
    name = name_of(request.variables)
    call = {
        "id": request.call_id,
        "org_id": context.org_id,
        "call_type": "web",
        "simulated": False,
        "deployment_id": deployment["id"],
        "agent_id": request.agent.id,
        "agent_version": request.agent.version,
        "contact_id": request.contact_id,
        "contact_name": name,
        "name_words": word_column(name),
        "attempt_number": 1,
        "from_number": request.from_,
        "to_number": request.to,
        "status": "queued",
        "created_at": context.now_ms,
        "price": stored_price(FREE),
        "language": request.agent.language,
        "voice_id": request.agent.voice_id,
        "variables": json_text(request.variables),
    }
    calls_by_name.put(context.connection, [call])
