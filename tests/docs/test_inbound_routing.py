"""The page about routing webhooks: its server answers what the service asks, and its figures are the service's."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callwright.client.transport import ASGITransport, httpx
from callwright.contract import inbound_routing as contract
from callwright.service.inbound.routing import answers
from callwright.service.inbound.routing.answers import Overrides, RoutingAnswer
from callwright.service.inbound.routing.asking import KEPT_S, RoutingWebhook
from callwright.service.platform.outgoing.posted import Posted
from tests.support.service import Tenant
from tests.support.webhooks.routing import CALLER, question_of

PAGE = (Path(__file__).parents[2] / "docs" / "inbound-routing.md").read_text(encoding="utf-8")
SECRET = "whsec_0123456789abcdefghijklmn"


class _Server:
    """Takes what the service asks to the server of the page."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def ready(self) -> None:
        """It always is."""

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, subscription: str | None = None
    ) -> Posted:
        async with httpx.AsyncClient(transport=ASGITransport(app=self._app), base_url="http://receiver") as client:
            found = await client.post("/who-answers", content=body, headers=dict(headers))
        return Posted("succeeded", found.status_code, found.text, "", 1, is_whole=True, body=found.content)


async def test_the_server_of_the_page_greets_those_who_called_before(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUTING_SECRET", SECRET)
    monkeypatch.setenv("REGULARS", json.dumps([CALLER]))
    (program,) = re.findall(r"^```python\n(import json\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    made: dict[str, Any] = {}
    exec(program, made)
    webhook = RoutingWebhook(replace(tenant.services, routing_endpoints=_Server(made["app"])))
    for caller, overrides in ((CALLER, Overrides("Good to hear you again.")), ("+12025550148", Overrides())):
        asked = await webhook.ask(question_of(tenant, "num_1", from_=caller, secrets=(SECRET,)))
        assert asked.answer == RoutingAnswer("answer", overrides=overrides)


async def test_the_question_of_the_page_is_the_one_that_is_asked(tenant: Tenant) -> None:
    (shown,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert json.loads(shown)["data"].keys() == json.loads(question_of(tenant, "num_1").data()).keys()


def test_the_figures_of_the_page_are_those_of_the_service() -> None:
    assert f"{contract.ROUTING_LIMIT_MS:,} ms" in PAGE
    assert f"less than {contract.SLOW_ROUTING_MS}" in PAGE
    assert f"at most {contract.MOST_ANSWER_BYTES // 1_024} KB" in PAGE
    assert f"kept for {KEPT_S:g} seconds" in PAGE
    assert f"up to {answers.MOST_VARIABLES}, of up to 2,000 characters" in PAGE
    assert contract.FAILURES_UNTIL_ALERT == 5
    assert "After five callers in a row" in PAGE
