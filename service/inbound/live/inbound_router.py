"""Routes whoever calls on a real line: the number's routing webhook is asked while it rings, and the call begins.

Callers of a SIP trunk, of a carrier and in a browser come here. It takes as long as the webhook may, a second, and two
transactions.
"""

import logging
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from callwright.service.accounts.principals import SERVICE
from callwright.service.dialling.queue import FIND
from callwright.service.inbound.arrival import Arrival
from callwright.service.inbound.live.live_calls import NOBODY, LiveCaller, Routed, begin_live, known_already
from callwright.service.inbound.routing.asking import RoutingWebhook
from callwright.service.inbound.routing.question import question_about
from callwright.service.platform.ids import Ids
from callwright.service.services import Services
from callwright.service.tables import audit_log
from callwright.service.tables.schema import phone_numbers

log = logging.getLogger(__name__)
_N = phone_numbers.c
_NUMBER = select(phone_numbers).where(
    _N.number == bindparam("number"), _N.released_at.is_(None), _N.simulated.is_(False)
)
_OF_LINK = select(phone_numbers).where(_N.id == bindparam("id"), _N.released_at.is_(None))


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
            await services.database.write(_note_unanswered, services.ids, caller, services.clock.now_ms())
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
        call_id = ids.new("cal") if caller.link is None else caller.link.call_id
        at_ms = clock.now_ms()
        if not caller.has_line or not number.routing_enabled or number.routing_url is None:
            return Arrival(call_id, caller.from_, at_ms)
        question = question_about(ids.new("evt"), number, called.deployment, call_id, caller.from_)
        return Arrival(call_id, caller.from_, at_ms, question=question, asked=await self._webhook.ask(question))


def _called(connection: Connection, caller: LiveCaller) -> _Called | None:
    number = _number_of(connection, caller)
    if number is None or number.inbound_deployment_id is None:
        return None
    deployment: Row[Any] = connection.execute(FIND, {"id": number.inbound_deployment_id}).one()
    return _Called(number, deployment, known_already(connection, caller, deployment.id))


def _number_of(connection: Connection, caller: LiveCaller) -> Row[Any] | None:
    if caller.link is not None:
        return connection.execute(_OF_LINK, {"id": caller.link.number_id}).first()
    return connection.execute(_NUMBER, {"number": caller.to}).first()


def _note_unanswered(connection: Connection, ids: Ids, caller: LiveCaller, now_ms: int) -> None:
    """A call belongs to the agent that answers it. Where there is none, the audit log says that somebody called."""
    number = _number_of(connection, caller)
    if number is not None:
        changes = {"reason": "no_deployment"}
        entry = audit_log.entry_row(
            ids, number.org_id, "call.refused", number.id, by=SERVICE, at_ms=now_ms, changes=changes
        )
        audit_log.add_entries(connection, [entry])
