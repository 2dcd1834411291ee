"""Routes whoever calls on a real line: the number's routing webhook is asked while it rings, and the call begins.

A SIP trunk and a carrier's request both come here. It takes as long as the webhook may, a second, and two transactions.
"""

import logging
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from callwright.service.dialling.queue import FIND
from callwright.service.inbound.arrival import Arrival
from callwright.service.inbound.live.live_calls import NOBODY, LiveCaller, Routed, begin_live, known_already
from callwright.service.inbound.routing.asking import RoutingWebhook
from callwright.service.inbound.routing.question import question_about
from callwright.service.services import Services
from callwright.service.tables.schema import phone_numbers

log = logging.getLogger(__name__)
_N = phone_numbers.c
_NUMBER = select(phone_numbers).where(
    _N.number == bindparam("number"), _N.released_at.is_(None), _N.simulated.is_(False)
)


@dataclass(frozen=True)
class _Called:
    """A number and the deployment that answers it, and what the caller has got already."""

    number: Row[Any]
    deployment: Row[Any]
    again: Routed | None


class InboundRouter:
    """Routes callers of any carrier. It may be asked for many at once."""

    def __init__(self, services: Services) -> None:
        self._services, self._webhook = services, RoutingWebhook(services)

    async def ready(self) -> None:
        """Does what only the first caller of this process would wait for."""
        await self._webhook.ready()

    async def route(self, caller: LiveCaller) -> Routed:
        """What a caller gets. Their call has begun, and its leg waits for a host unless they are refused.

        Raises StorageUnavailable: nothing was stored, and nobody answers.
        """
        services = self._services
        called = await services.database.read(_called, caller)
        if called is None:
            log.info("somebody calls a number that nobody answers")
            return NOBODY
        if called.again is not None:
            return called.again
        arrival = await self._arrival(caller, called)
        given = (services.ids, called.deployment.id, caller, arrival)
        routed = await services.database.write(begin_live, *given, now_ms=services.clock.now_ms())
        services.wake()
        return routed

    async def _arrival(self, caller: LiveCaller, called: _Called) -> Arrival:
        ids, clock, number = self._services.ids, self._services.clock, called.number
        call_id, at_ms = ids.new("cal"), clock.now_ms()
        if not number.routing_enabled or number.routing_url is None:
            return Arrival(call_id, caller.from_, at_ms)
        question = question_about(ids.new("evt"), number, called.deployment, call_id, caller.from_)
        return Arrival(call_id, caller.from_, at_ms, question=question, asked=await self._webhook.ask(question))


def _called(connection: Connection, caller: LiveCaller) -> _Called | None:
    number = connection.execute(_NUMBER, {"number": caller.to}).first()
    if number is None or number.inbound_deployment_id is None:
        return None
    deployment: Row[Any] = connection.execute(FIND, {"id": number.inbound_deployment_id}).one()
    return _Called(number, deployment, known_already(connection, caller, deployment.id))
