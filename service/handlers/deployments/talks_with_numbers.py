"""Calls to a number from a browser: a link rings the number once, and its inbound deployment answers."""

from sqlalchemy import bindparam, select

from callwright.contract.deployments import talks as contract
from callwright.contract.problems import PLAN_LIMIT_REACHED
from callwright.service.handlers import phone_numbers as number_handlers
from callwright.service.handlers.agents import agents as agent_handlers
from callwright.service.handlers.called_numbers import check_answered, shown_caller
from callwright.service.handlers.deployments.talks import MOST_TALKS, check_lines, chosen_services, new_link
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.inbound import browser_callers
from callwright.service.inbound.browser_callers import BrowserCaller
from callwright.service.platform.clock.clock import SECOND, moment
from callwright.service.platform.refusals import Refusal
from callwright.service.tables.schema import deployments
from callwright.service.telephony.legs.line_engine import NOT_TAKEN_S

_AGENT = select(deployments.c.agent_id).where(deployments.c.id == bindparam("id"))


@handles(contract.talk_to_number)
def talk_to_number(asked: contract.TalkToNumber, context: RequestContext) -> contract.Talk:
    """A link that calls the number, once. No telephone rings and no money is taken; the routing webhook is asked
    when the call begins."""
    number = number_handlers.find(context, asked.id)
    check_answered(number)
    check_lines(context)
    from_ = "" if asked.caller is None else shown_caller(asked.caller, number)
    under_way = browser_callers.count_open(context.connection, context.org_id, context.now_ms)
    if under_way >= MOST_TALKS:
        details = {"limit": MOST_TALKS, "current": under_way}
        raise Refusal(PLAN_LIMIT_REACHED, f"{MOST_TALKS} links wait to be opened; open one first", details=details)
    agent_id = context.connection.execute(_AGENT, {"id": number.inbound_deployment_id}).scalar_one()
    chosen = chosen_services(context, agent_handlers.find(context, agent_id))
    call_id, expires_ms = context.ids.new("cal"), context.now_ms + round(NOT_TAKEN_S * SECOND)
    url, token_hash = new_link(context, call_id)
    caller = BrowserCaller(call_id, context.org_id, number.id, from_)
    browser_callers.add(context.connection, caller, token_hash, expires_ms)
    return contract.Talk(
        call_id=call_id,
        deployment_id=number.inbound_deployment_id,
        url=url,
        expires_at=moment(expires_ms),
        hears=chosen.what_is_missing is None,
        notice=chosen.what_is_missing,
    )
