"""Questions to routing webhooks: their log, and one that is asked for a test."""

from typing import Any

from sqlalchemy import Connection, Row, select

from callwright.contract import inbound_routing as contract
from callwright.contract.declaration.pagination import Page
from callwright.contract.deployments.inbound import AfterHours, Inbound
from callwright.contract.problems import INVALID_STATE_TRANSITION
from callwright.service.handlers import phone_numbers as number_handlers
from callwright.service.handlers.inbound_routing.shown import fallback_of, shown_request
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.inbound.decision import Answers, decide
from callwright.service.inbound.routing import log
from callwright.service.inbound.routing.answers import RoutingAnswer
from callwright.service.inbound.routing.asking import Asked, RoutingWebhook
from callwright.service.inbound.routing.decision_words import decision_words
from callwright.service.inbound.routing.question import Question, question_about
from callwright.service.inbound.routing.references import why_unknown
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.database.listing import Listing
from callwright.service.platform.refusals import Refusal
from callwright.service.services import Services
from callwright.service.tables.schema import deployments, phone_numbers, routing_requests

MADE_UP_CALLER = "+12025550100"
"""Nobody has this number: it is kept for fiction."""
_R, _N, _D = routing_requests.c, phone_numbers.c, deployments.c
_COLUMNS = {
    "created_at": _R.created_at,
    "failed": _R.outcome != "succeeded",
    "slow": _R.latency_ms > contract.SLOW_ROUTING_MS,
}


@handles(contract.list_routing_requests)
def list_routing_requests(
    asked: contract.ListRoutingRequests, context: RequestContext
) -> Page[contract.RoutingRequest]:
    """A page of the log of a number, also of one whose webhook was removed."""
    number = number_handlers.find(context, asked.id)
    rows = select(routing_requests).where(_R.phone_number_id == number.id)
    listing = Listing(contract.list_routing_requests, rows, _COLUMNS, _R.id, countable=("created_at",))
    return context.page(listing, asked, shown_request)


async def _asked_now(test: contract.RoutingRequest, services: Services) -> contract.RoutingRequest:
    """Asks the webhook, and gives the entry of the log. A request that is repeated finds the entry of the first one."""
    found = await services.database.read(_entry, test.id)
    if found is not None:
        return found
    question = await services.database.read(_question, test)
    webhook = RoutingWebhook(services)
    await webhook.ready()
    asked = await webhook.ask(question)
    return await services.database.write(_logged, services, question, asked)


@handles(contract.test_inbound_routing, then=_asked_now)
def try_inbound_routing(asked: contract.TestInboundRouting, context: RequestContext) -> contract.RoutingRequest:
    """What is to be asked; the webhook is asked when this is committed. Raises `Refusal` where there is none."""
    number = number_handlers.find(context, asked.id)
    _check_set(number)
    return contract.RoutingRequest(
        id=context.ids.new("evt"),
        phone_number_id=number.id,
        is_test=True,
        simulated=number.simulated,
        created_at=moment(context.now_ms),
        from_number=MADE_UP_CALLER,
        outcome="interrupted",
        latency_ms=0,
        slow=False,
    )


def _check_set(number: Row[Any]) -> None:
    if number.routing_url is None:
        raise Refusal(
            INVALID_STATE_TRANSITION,
            "the number has no routing webhook; set one with set_inbound_routing first",
            field="id",
            details={"current_status": "not_set", "allowed": ["set"]},
        )


def _question(connection: Connection, test: contract.RoutingRequest) -> Question:
    number = connection.execute(select(phone_numbers).where(_N.id == test.phone_number_id)).one()
    _check_set(number)  # it may have been removed since
    deployment = _bound(connection, number)
    return question_about(test.id, number, deployment, None, MADE_UP_CALLER)


def _bound(connection: Connection, number: Row[Any]) -> Row[Any] | None:
    if number.inbound_deployment_id is None:
        return None
    return connection.execute(select(deployments).where(_D.id == number.inbound_deployment_id)).one()


def _logged(connection: Connection, services: Services, question: Question, asked: Asked) -> contract.RoutingRequest:
    if asked.answer is not None and (why := why_unknown(connection, question.org_id, asked.answer)) is not None:
        asked = asked.refused(why)
    now_ms = services.clock.now_ms()
    decision = _decision(connection, question, asked.answer, now_ms)
    log.write(connection, services.ids, question, asked, decision=decision, now_ms=now_ms)
    row = connection.execute(select(routing_requests).where(_R.id == question.id)).one()
    return shown_request(row)


def _entry(connection: Connection, request_id: str) -> contract.RoutingRequest | None:
    row = connection.execute(select(routing_requests).where(_R.id == request_id)).one_or_none()
    return None if row is None else shown_request(row)


def _decision(connection: Connection, question: Question, answer: RoutingAnswer | None, now_ms: int) -> str:
    """What a caller would get now, if a line is free: by the answer, else by the deployment, else by the number."""
    number = connection.execute(select(phone_numbers).where(_N.id == question.number_id)).one()
    deployment, fallback = _bound(connection, number), fallback_of(number)
    if deployment is None:
        answers, agent_id = Answers(False, None, AfterHours(), fallback), None
    else:
        settings = Inbound.model_validate_json(deployment.inbound)
        is_active, agent_id = deployment.status == "active", deployment.agent_id
        answers = Answers(is_active, settings.business_hours, settings.after_hours, fallback)
    if answer is not None and answer.agent_id is not None:
        agent_id = answer.agent_id
    return decision_words(decide(answers, answer, at_ms=now_ms), agent_id, answer)
