"""The question to a number's routing webhook: what happens to this caller?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Row

from callwright.service.platform.phone import number_facts

TYPE = "inbound.routing"


@dataclass(frozen=True)
class Question:
    """A caller who waits, and the webhook of the number that was called."""

    id: str
    """`evt_…`: the `id` that the endpoint sees, and that of the entry in the log."""
    org_id: str
    number_id: str
    url: str
    secrets: tuple[str, ...]
    """Each signs the question."""
    call_id: str | None
    """None for a test: there is no call."""
    from_: str
    """The caller's number in E.164; empty if it is withheld."""
    from_country: str | None
    to: str
    """The number that was called."""
    deployment_id: str | None
    """The deployment that answers the number, whose agent is `agent_id`; None where none does."""
    agent_id: str | None
    simulated: bool
    attempt: int = 1

    @property
    def is_test(self) -> bool:
        """Whether nobody has called."""
        return self.call_id is None

    def data(self) -> str:
        """The member `data` of what is sent, as JSON."""
        said: Mapping[str, Any] = {
            "call_id": self.call_id,
            "phone_number_id": self.number_id,
            "from": self.from_ or None,
            "to": self.to,
            "from_country": self.from_country,
            "default_deployment_id": self.deployment_id,
            "default_agent_id": self.agent_id,
            "attempt": self.attempt,
            "simulated": self.simulated,
            "is_test": self.is_test,
        }
        return orjson.dumps(said).decode()


def question_about(
    id_: str, number: Row[Any], deployment: Row[Any] | None, call_id: str | None, from_: str
) -> Question:
    """What is asked when somebody calls a number that has a webhook, and that `deployment` answers. `id_` is the
    question's own."""
    return Question(
        id=id_,
        org_id=number.org_id,
        number_id=number.id,
        url=number.routing_url,
        secrets=(number.routing_secret,),
        call_id=call_id,
        from_=from_,
        from_country=number_facts(from_).country if from_ else None,
        to=number.number,
        deployment_id=None if deployment is None else deployment.id,
        agent_id=None if deployment is None else deployment.agent_id,
        simulated=number.simulated,
    )
