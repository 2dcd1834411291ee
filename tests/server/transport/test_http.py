"""MCP over HTTP through the official clients: both transports, both eras of the protocol, several keys at once."""

import base64
import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp.types import BlobResourceContents, TextResourceContents
from sqlalchemy import select

from callwright.client.errors import AuthenticationFailed
from callwright.server.embedded.embedded import ServiceKeys
from callwright.server.transport.key_sessions import IdentifiedKey
from callwright.service import accounts
from callwright.service.tables.schema import audit_log
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient
from tests.support.mcp.over_http import (
    INITIALIZE,
    LIFE_S,
    LIST,
    OLDER,
    PROTOCOL,
    WAYS,
    Era,
    Over,
    Served,
    open_served,
    post,
    request,
    serving,
)
from tests.support.processes.programs import Assistant
from tests.support.service import Tenant
from tests.support.tools.fakes import FakeCaller, FakeMedia

BOTH = pytest.mark.parametrize(("over", "era"), WAYS)


async def answered_call(tenant: Tenant) -> str:
    """A call on which somebody spoke; returns its id."""
    rows = [{"phone_number": "+12025550100", "first_name": "Ada"}]
    made = await resources.audience(tenant, "One", rows=rows)
    agent, number = await resources.agent(tenant), await resources.number(tenant)
    deployment = await tenant.client.deployments.create(
        name="One", agent_id=agent.id, audience_id=made.id, phone_number_ids=[number.id]
    )
    await tenant.client.deployments.start(id=deployment.id)
    await tenant.ended(deployment.id)
    page = await tenant.client.calls.list(deployment_id=deployment.id, outcome=["answered"])
    return page.data[0].id


@BOTH
async def test_tools_are_listed_and_called_by_every_client(served: Served, over: Over, era: Era) -> None:
    async with served.assistant(over=over, era=era) as hand:
        names = {tool.name for tool in (await hand.client.list_tools()).tools}
        assert {"get_wallet", "create_agent", "start_deployment"} <= names
        assert (await hand.use("get_wallet"))["balance"]["amount"] == "100.000000"
        refused = await hand.refused("get_agent", agent_id="agt_none")
        assert "list_agents" in refused


@BOTH
@pytest.mark.service(workers=True)
async def test_a_transcript_and_a_recording_are_read_as_resources(
    served: Served, http: AsyncClient, over: Over, era: Era
) -> None:
    call_id = await answered_call(served.tenant)
    async with served.assistant(over=over, era=era) as hand:
        words = (await hand.client.read_resource(f"callwright://calls/{call_id}/transcript")).contents[0]
        sound = (await hand.client.read_resource(f"callwright://calls/{call_id}/recording")).contents[0]
    assert isinstance(words, TextResourceContents)
    assert "agent" in words.text
    assert isinstance(sound, BlobResourceContents)
    assert sound.mime_type == "audio/mpeg"
    same = await http.get(f"/v1/calls/{call_id}/recording")
    assert base64.b64decode(sound.blob) == same.content


async def test_rest_is_served_beside_it_as_before(http: AsyncClient) -> None:
    for path in ("/v1/wallet", "/api/v1/wallet", "/openapi.json", "/healthz"):
        assert (await http.get(path)).status_code == 200
    nowhere = await http.get("/nowhere")
    assert (nowhere.status_code, nowhere.json()["error"]["code"]) == (404, "not_found")
    assert (await http.post("/healthz")).status_code == 405
    for path in ("/mcpx", "/mcp/x", "/ssex", "/messages", "/.well-known/oauth-protected-resource"):
        answer = await http.get(path)
        assert answer.status_code in (404, 405), path


async def test_a_trailing_slash_makes_no_difference(http: AsyncClient) -> None:
    answers = [(await http.get(path)).status_code for path in ("/mcp", "/mcp/")]
    assert answers[0] == answers[1] != 404


@BOTH
async def test_two_organizations_see_only_their_own_things_at_the_same_time(
    served: Served, over: Over, era: Era
) -> None:
    async with served.tenant.another_organization() as other:
        async with served.assistant(over=over, era=era) as mine:
            async with served.assistant(other.api_key, over=over, era=era) as theirs:
                made = {"mine": await _agents(mine, "mine"), "theirs": await _agents(theirs, "theirs")}
                async with anyio.create_task_group() as tasks:
                    for _ in range(5):
                        tasks.start_soon(_sees_only, mine, "mine")
                        tasks.start_soon(_sees_only, theirs, "theirs")
                await mine.refused("get_agent", agent_id=made["theirs"])
                await theirs.refused("get_agent", agent_id=made["mine"])


async def _agents(hand: Assistant, name: str) -> str:
    made = await hand.use("create_agent", name=name, voice_id="en-US-ada", language="en-US", system_prompt="Hello.")
    return made["id"]


async def _sees_only(hand: Assistant, name: str) -> None:
    assert [agent["name"] for agent in (await hand.use("list_agents"))["data"]] == [name]


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_personal_key_works_here_with_the_tools_of_its_profile(
    database_url: str, tmp_path: Path, era: Era
) -> None:
    tools: dict[str | None, frozenset[str] | None] = {None: None, "analyst": frozenset({"get_wallet"})}
    async with open_served(database_url, tmp_path, workers=False, tools_of=tools.__getitem__) as served:
        personal = await served.personal_key("analyst")
        async with served.assistant(personal.secret, era=era) as hand, served.assistant(era=era) as whole:
            assert [tool.name for tool in (await hand.client.list_tools()).tools] == ["get_wallet"]
            assert (await hand.use("get_wallet"))["play_money"] is True
            assert "switched on" in await hand.refused("list_agents")
            assert len((await whole.client.list_tools()).tools) > 40
        async with served.raw_client(personal.secret) as http:
            answer = await http.get("/v1/wallet")
            assert (answer.status_code, answer.json()["error"]) == (401, "api_key_required")


async def test_each_key_is_told_of_its_own_tools_at_the_handshake(database_url: str, tmp_path: Path) -> None:
    tools: dict[str | None, frozenset[str] | None] = {None: None, "analyst": frozenset({"get_wallet"})}
    async with open_served(
        database_url,
        tmp_path,
        workers=False,
        tools_of=tools.__getitem__,
        instructions_of=lambda enabled: "all" if enabled is None else ", ".join(enabled),
    ) as served:
        personal = await served.personal_key("analyst")
        for over, era in WAYS:
            async with served.assistant(personal.secret, over=over, era=era) as hand:
                assert hand.client.instructions == "get_wallet"
            async with served.assistant(over=over, era=era) as whole:
                assert whole.client.instructions == "all"


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_whose_key_is_revoked_gets_no_further(served: Served, era: Era) -> None:
    for made in (await served.live_key(), await served.personal_key()):
        async with served.assistant(made.secret, era=era) as hand:
            await hand.use("get_wallet")
            await served.revoke(made.id)
            with pytest.raises(MCPError):
                await hand.use("get_wallet")


async def test_a_key_that_is_revoked_while_its_tool_runs_does_nothing_more(served: Served) -> None:
    for made in (await served.live_key(), await served.personal_key()):
        keys = ServiceKeys(served.service)
        key = await keys.look_up(made.secret)
        assert key is not None
        client = keys.client(key)
        assert (await client.wallet.get()).play_money is True
        await served.revoke(made.id)
        with pytest.raises(AuthenticationFailed) as caught:
            await client.wallet.get()
        assert caught.value.code == "invalid_api_key"


async def test_a_tool_leaves_its_name_in_the_audit_log_and_rest_leaves_none(served: Served) -> None:
    first, second = await resources.draft(served.tenant, "first"), await resources.draft(served.tenant, "second")
    async with served.assistant() as hand:
        await hand.use("start_deployment", deployment_id=first.deployment.id)
    await served.tenant.client.deployments.start(id=second.deployment.id)
    columns = (audit_log.c.subject, audit_log.c.tool)
    statement = select(*columns).where(audit_log.c.action == "start_deployment")
    rows = await served.service.services.database.read(lambda connection: connection.execute(statement).all())
    assert {row.subject: row.tool for row in rows} == {
        first.deployment.id: "start_deployment",
        second.deployment.id: None,
    }


async def test_a_personal_key_is_the_actor_of_what_it_does(served: Served) -> None:
    personal = await served.personal_key()
    async with served.assistant(personal.secret) as hand:
        await _agents(hand, "Ada")
    statement = select(audit_log).where(audit_log.c.action == "create_agent")
    database = served.service.services.database
    rows = await database.read(lambda connection: connection.execute(statement).all())
    owner = await database.read(accounts.first_owner, served.tenant.org_id)
    assert [(row.actor, row.user_id) for row in rows] == [(personal.id, owner)]


async def test_a_change_is_announced_to_whoever_listens(served: Served) -> None:
    campaign = await resources.draft(served.tenant)
    uri = f"callwright://deployments/{campaign.deployment.id}"
    async with served.assistant() as hand:
        async with hand.client.listen(resource_subscriptions=[uri]) as stream:
            await served.tenant.client.deployments.update(id=campaign.deployment.id, name="Renamed")
            with anyio.fail_after(LIFE_S):
                async for event in stream:
                    assert event == ResourceUpdated(uri=uri)
                    break


class LongRecordings(ServiceKeys):
    """The keys of a service whose recordings are long."""

    def client(self, key: IdentifiedKey, /) -> Any:
        return FakeCaller(media=FakeMedia(b"ID3" + bytes(700_000)))


@BOTH
async def test_an_answer_of_nearly_a_megabyte_arrives(tenant: Tenant, over: Over, era: Era) -> None:
    async with serving(tenant, keys=LongRecordings(tenant.service)) as served:
        async with served.assistant(over=over, era=era) as hand:
            found = (await hand.client.read_resource("callwright://calls/cal_1/recording")).contents[0]
    assert isinstance(found, BlobResourceContents)
    assert len(base64.b64decode(found.blob)) == 700_003


async def test_a_body_above_1_mb_is_refused(http: AsyncClient) -> None:
    most = "x" * 1_000_000
    assert (await post(http, "tools/call", name="get_wallet", arguments={"x": most})).status_code == 413


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("id", "id: has 900000 characters; at most 255 are allowed"),
        ("progressToken", "progressToken: has 900000 characters; at most 255 are allowed"),
        ("arguments", "It holds more than 20,000 lists and objects."),
    ],
)
async def test_what_the_protocol_would_copy_or_send_back_is_refused_in_both_eras(
    served: Served, http: AsyncClient, place: str, said: str
) -> None:
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    message = request("tools/call", name="get_wallet", arguments={"x": [deep] * 7_000 if place == "arguments" else 1})
    if place == "id":
        message["id"] = "i" * 900_000
    if place == "progressToken":
        message["params"]["_meta"]["progressToken"] = "t" * 900_000
    newer = {**OLDER, "MCP-Protocol-Version": PROTOCOL, "Mcp-Method": "tools/call", "Mcp-Name": "get_wallet"}
    older = {**OLDER, "Mcp-Session-Id": await sessions_of(served)}
    for path, headers in (("/mcp", newer), ("/mcp", older), ("/messages/?session_id=x", OLDER)):
        sent = json.dumps(message, separators=(",", ":"))
        answer = await http.post(path, content=sent, headers={**headers, "Content-Type": "application/json"})
        assert answer.status_code == 400
        assert answer.json()["id"] == (1 if place == "progressToken" else None)
        assert answer.json()["error"]["message"].startswith(said)


async def test_a_message_with_nan_and_an_id_of_255_characters_is_answered(http: AsyncClient) -> None:
    message = {**request("tools/call", name="get_wallet", arguments={"x": float("nan")}), "id": "i" * 255}
    newer = {**OLDER, "MCP-Protocol-Version": PROTOCOL, "Mcp-Method": "tools/call", "Mcp-Name": "get_wallet"}
    headers = {**newer, "Content-Type": "application/json"}
    answer = await http.post("/mcp", content=json.dumps(message), headers=headers)
    assert answer.json()["id"] == "i" * 255
    message["id"] = "i" * 256
    assert (await http.post("/mcp", content=json.dumps(message), headers=headers)).status_code == 400


async def test_one_post_is_a_whole_conversation(http: AsyncClient) -> None:
    answer = await post(http, "tools/call", name="get_wallet", arguments={})
    assert answer.headers["content-type"] == "application/json"
    assert "mcp-session-id" not in answer.headers
    result: dict[str, Any] = answer.json()["result"]
    assert result["structuredContent"]["play_money"] is True


async def sessions_of(served: Served) -> str:
    """A session of the older protocol, opened with the first organization's key; returns its id."""
    async with served.raw_client() as http:
        answer = await http.post("/mcp", json=INITIALIZE, headers=OLDER)
        return answer.headers["mcp-session-id"]


async def test_a_session_is_of_no_use_to_another_key(served: Served) -> None:
    session = {**OLDER, "Mcp-Session-Id": await sessions_of(served)}
    second = await served.live_key()
    async with served.raw_client() as owner, served.raw_client(second.secret) as other:
        assert (await owner.post("/mcp", json=LIST, headers=session)).status_code == 200
        assert (await other.post("/mcp", json=LIST, headers=session)).status_code == 404
        assert (await other.delete("/mcp", headers=session)).status_code == 404
        assert (await owner.delete("/mcp", headers=session)).status_code == 200
