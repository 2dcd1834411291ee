"""What is going to be taken away says so on every answer."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from callwright.client.transport import ASGITransport, httpx
from callwright.contract.agents.agents import list_agents
from callwright.contract.declaration.operation import Deprecation
from callwright.contract.voices import list_voices
from callwright.service.app import Application
from callwright.service.rest.pipeline import RequestPipeline
from callwright.service.rest.routes import RouteTable
from tests.support.service import Tenant

OLD = Deprecation(
    since=datetime(2027, 1, 1, tzinfo=UTC),
    sunset=datetime(2028, 1, 1, tzinfo=UTC),
    link="https://voice.example.com/docs/v2",
)


@pytest.mark.requirement("VER-03", "VER-08")
async def test_a_deprecated_operation_names_both_moments_and_a_page_on_every_answer(tenant: Tenant) -> None:
    table = RouteTable([replace(list_agents, deprecated=OLD), list_voices])
    transport = ASGITransport(app=Application(tenant.services, RequestPipeline(tenant.services, table)))
    headers = {"Authorization": f"Bearer {tenant.api_key}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as http:
        for path, status in (("/v1/agents", 200), ("/v1/agents?sort=nothing", 400)):
            answer = await http.get(path)
            assert answer.status_code == status
            assert answer.headers["deprecation"] == "@1798761600"
            assert answer.headers["sunset"] == "Sat, 01 Jan 2028 00:00:00 GMT"
            assert answer.headers["link"] == '<https://voice.example.com/docs/v2>; rel="sunset"'
        assert "deprecation" not in (await http.get("/v1/voices")).headers
