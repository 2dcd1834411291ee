"""Routing webhooks that answer as a test tells them, without a network, and questions of callers."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from callwright.contract.attempts import AttemptOutcome
from callwright.service.inbound.routing import log
from callwright.service.inbound.routing.answers import RoutingAnswer
from callwright.service.inbound.routing.asking import Asked
from callwright.service.inbound.routing.question import Question
from callwright.service.platform.outgoing.posted import Posted
from tests.support.service import Tenant

CALLER = "+12025550147"


def told(members: Any = None, *, duration_ms: int = 84, status: int = 200) -> Posted:
    """A good answer with a body of JSON, or with none."""
    body = b"" if members is None else json.dumps(members).encode()
    return Posted("succeeded", status, body.decode(), "", duration_ms, is_whole=True, body=body)


@dataclass
class ScriptedRouting:
    """What every routing webhook answers, and what they were asked."""

    answer: Callable[[Any], Posted] = lambda _: told()
    questions: list[Any] = field(default_factory=list[Any])
    headers: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])

    async def ready(self) -> None:
        """It always is."""

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, subscription: str | None = None
    ) -> Posted:
        """Answers a question."""
        question = json.loads(body)
        self.questions.append(question)
        self.headers.append(headers)
        return self.answer(question)


def question_of(tenant: Tenant, number_id: str, **changes: Any) -> Question:
    """A caller of a number."""
    fields: dict[str, Any] = {
        "id": tenant.services.ids.new("evt"),
        "org_id": tenant.org_id,
        "number_id": number_id,
        "url": "https://example.com/who-answers",
        "secrets": ("whsec_0123456789abcdefghijklmn",),
        "call_id": tenant.services.ids.new("cal"),
        "from_": CALLER,
        "from_country": "US",
        "to": "+12125550101",
        "deployment_id": None,
        "agent_id": None,
        "simulated": True,
    }
    return Question(**{**fields, **changes})


GOOD = Asked(RoutingAnswer(), "succeeded", 200, "{}", "", 84)


def bad(outcome: AttemptOutcome = "timeout", latency_ms: int = 1_000) -> Asked:
    """A question without a usable answer."""
    return Asked(None, outcome, None, "", "The endpoint did not answer within 1 second.", latency_ms)


async def logged(tenant: Tenant, number_id: str, *asked: Asked, **changes: Any) -> list[str]:
    """Logs a caller for each of these; gives the ids of the entries."""
    services, ids = tenant.services, list[str]()
    for one in asked:
        question = question_of(tenant, number_id, **changes)
        given = (services.ids, question, one)
        await tenant.database.write(log.write, *given, now_ms=services.clock.now_ms())
        ids.append(question.id)
    return ids
