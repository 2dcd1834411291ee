"""Questions to routing webhooks: their log, and one that is asked for a test."""

from typing import Any

from sqlalchemy import Connection, Row, select

from callwright.contract import inbound_routing as contract
from callwright.contract.declaration.pagination import Page
from callwright.contract.problems import INVALID_STATE_TRANSITION
from callwright.service.handlers import phone_numbers as number_handlers
from callwright.service.handlers.inbound_routing.shown import fallback_of, shown_request
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.inbound.routing import log
from callwright.service.inbound.routing.asking import Asked, RoutingWebhook
from callwright.service.inbound.routing.question import Question
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
    return context.page(listing, asked, lambda row: shown_request(contract.RoutingRequest, row))


async def _asked_now(test: contract.RoutingTest, services: Services) -> contract.RoutingTest:
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
def try_inbound_routing(asked: contract.TestInboundRouting, context: RequestContext) -> contract.RoutingTest:
    """What is to be asked; the webhook is asked when this is committed. Raises `Refusal` where there is none."""
    number = number_handlers.find(context, asked.id)
    if number.routing_url is None:
        raise Refusal(
            INVALID_STATE_TRANSITION,
            "the number has no routing webhook; set one with set_inbound_routing first",
            field="id",
            details={"current_status": "not_set", "allowed": ["set"]},
        )
    return contract.RoutingTest(
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


def _question(connection: Connection, test: contract.RoutingTest) -> Question:
    number = connection.execute(select(phone_numbers).where(_N.id == test.phone_number_id)).one()
    deployment = _bound(connection, number)
    return Question(
        id=test.id,
        org_id=number.org_id,
        number_id=number.id,
        url=number.routing_url,
        secrets=(number.routing_secret,),
        call_id=None,
        from_=MADE_UP_CALLER,
        from_country="US",
        to=number.number,
        deployment_id=None if deployment is None else deployment.id,
        agent_id=None if deployment is None else deployment.agent_id,
        simulated=number.simulated,
    )


def _bound(connection: Connection, number: Row[Any]) -> Row[Any] | None:
    if number.inbound_deployment_id is None:
        return None
    return connection.execute(select(deployments).where(_D.id == number.inbound_deployment_id)).one()


def _logged(connection: Connection, services: Services, question: Question, asked: Asked) -> contract.RoutingTest:
    if asked.answer is not None and (why := why_unknown(connection, question.org_id, asked.answer)) is not None:
        asked = asked.refused(why)
    log.write(connection, services.ids, question, asked, now_ms=services.clock.now_ms())
    row = connection.execute(select(routing_requests).where(_R.id == question.id)).one()
    return shown_request(contract.RoutingTest, row, would_do=_would_do(connection, question, asked))


def _entry(connection: Connection, request_id: str) -> contract.RoutingTest | None:
    row = connection.execute(select(routing_requests).where(_R.id == request_id)).one_or_none()
    return None if row is None else shown_request(contract.RoutingTest, row)


def _would_do(connection: Connection, question: Question, asked: Asked) -> str:
    """What a caller would get now: by the answer, else by the deployment, else by what the number says."""
    answer = asked.answer
    if answer is not None and answer.action == "transfer":
        return f"The caller is forwarded to {answer.transfer_to}."
    if answer is not None and answer.action == "reject":
        return f"The call is refused: {answer.reject_reason}."
    number = connection.execute(select(phone_numbers).where(_N.id == question.number_id)).one()
    deployment = _bound(connection, number)
    if deployment is not None and deployment.status == "active":
        agent_id = (answer.agent_id if answer is not None else None) or deployment.agent_id
        changed = sorted(answer.overrides.named()) if answer is not None else []
        own = f" with its own {', '.join(changed)}" if changed else ""
        return f"Agent {agent_id} answers for deployment {deployment.id}{own}, in its business hours."
    fallback = fallback_of(number)
    if fallback is None:
        return "The caller hears the busy tone: no active deployment answers the number, and it has no fallback."
    if fallback.action == "forward":
        return f"The caller is forwarded to {fallback.forward_to}, the number's fallback."
    return "The call is refused, as the number's fallback says."
