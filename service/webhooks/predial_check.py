"""Asks a customer's address, in one signed request, whether a person may be called.

It is sent like an event: addresses are checked when the connection is made, and redirects are not followed. Only 200
with a whole answer below 4 KB counts.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError

from callwright.contract.deployments.dialling import PREDIAL_CHECK_SECONDS
from callwright.service.accounts.predial_secrets import first_predial_secrets, predial_secrets
from callwright.service.dialling.eligibility.gate import Allowed
from callwright.service.dialling.eligibility.predial import (
    LEAST_RETRY_S,
    MOST_ASKED,
    MOST_REASON,
    MOST_RETRY_S,
    Declined,
    Failure,
    Later,
    PredialAnswer,
    Question,
    Unanswered,
)
from callwright.service.platform.clock.clock import MINUTE, SECOND, iso_milliseconds
from callwright.service.platform.event_envelope import envelope
from callwright.service.platform.outgoing.posted import Posted, Poster
from callwright.service.services import Services
from callwright.service.settings import ServiceSettings
from callwright.service.webhooks.signing import signed_headers
from callwright.service.webhooks.transport.endpoints import Endpoints

TYPE = "predial.check"
SECRETS_KEPT_MS = MINUTE
"""How long the secrets of an organization are not read again."""
MOST_KEPT = 1_000
"""The most organizations whose secrets are kept."""
_FAILURES: Mapping[str, Failure] = {"redirected": "redirected", "forbidden_address": "forbidden_address"}


class _Answer(BaseModel):
    """What an address answers. Further members are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    eligible: StrictBool
    reason: Annotated[StrictStr, Field(max_length=MOST_REASON)] | None = None
    retry_after_seconds: Annotated[StrictInt, Field(ge=LEAST_RETRY_S, le=MOST_RETRY_S)] | None = None


def predial_endpoints(settings: ServiceSettings, deployments: int) -> Endpoints:
    """What sends the questions of so many deployments. None ever waits for another's to end."""
    return Endpoints(
        opened=settings.webhook_networks, deadline_s=PREDIAL_CHECK_SECONDS, most_connections=deployments * MOST_ASKED
    )


class HttpPredialCheck:
    """The pre-dial check over HTTP."""

    def __init__(self, services: Services, endpoints: Poster) -> None:
        self._services, self._endpoints = services, endpoints
        self._secrets: dict[str, tuple[int, tuple[str, ...]]] = {}

    async def ask(self, question: Question) -> PredialAnswer:
        """The address's answer. Only reading the secret raises, if the database fails."""
        secrets = await self._secrets_of(question.org_id)
        services, now_ms = self._services, self._services.clock.now_ms()
        body = envelope(services.ids.new("chk"), TYPE, now_ms, question.org_id, _data(question))
        headers = signed_headers(body, now_ms // SECOND, secrets, simulated=question.simulated)
        kept_for = f"{TYPE} {question.deployment_id}"
        return read_answer(await self._endpoints.post(question.url, body, headers, subscription=kept_for))

    async def _secrets_of(self, org_id: str) -> tuple[str, ...]:
        running_ms, now_ms = self._services.clock.running_ms(), self._services.clock.now_ms()
        until_ms, found = self._secrets.get(org_id, (0, ()))
        if not found or running_ms >= until_ms:
            database = self._services.database
            found = await database.read(predial_secrets, org_id, now_ms)
            found = found or await database.write(first_predial_secrets, org_id, now_ms)
            if len(self._secrets) >= MOST_KEPT:
                self._secrets.clear()
            self._secrets[org_id] = (running_ms + SECRETS_KEPT_MS, found)
        return found


def read_answer(posted: Posted) -> PredialAnswer:
    """What an answer means. Everything but a clear one counts as none."""
    if posted.status is None:
        return Unanswered(_FAILURES.get(posted.outcome, "no_answer"))
    if posted.status != 200:
        return Unanswered(_FAILURES.get(posted.outcome, "wrong_status"))
    if not posted.is_whole:
        return Unanswered("too_long")
    try:
        answer = _Answer.model_validate(orjson.loads(posted.excerpt))
    except (orjson.JSONDecodeError, ValidationError):
        return Unanswered("unreadable")
    if answer.eligible:
        return Allowed()
    if answer.retry_after_seconds is not None:
        return Later(answer.retry_after_seconds)
    return Declined(answer.reason or "")


def _data(question: Question) -> str:
    data: dict[str, Any] = {
        "deployment_id": question.deployment_id,
        "contact_id": question.contact_id,
        "attempt_number": question.attempt,
        "to": question.to,
        "from": question.from_,
        "simulated": question.simulated,
        "dial_at": iso_milliseconds(question.dial_ms),
    }
    return orjson.dumps(data).decode()
