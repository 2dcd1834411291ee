"""Call tools of agents through the API: set whole, kept with versions, refused by field, and their secrets."""

import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from callwright.contract.agents.agents import Agent
from callwright.service.platform.secret_box import SecretBox
from callwright.service.tables import providers as provider_rows
from callwright.service.tables.schema import agents
from callwright.service.telephony.chosen_services import speech_services_of
from callwright.service.telephony.engine import AgentSnapshot
from tests.support import resources
from tests.support.deployments.plans import make_real
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal
from tests.support.service import Tenant

SECRET = "Bearer th1s-is-the-s3cret-of-the-tests"
FREE: dict[str, Any] = {
    "type": "http",
    "name": "free_times",
    "description": "Free times of a day.",
    "url": "https://calendar.example.com/free/{{day}}?of={{Name}}",
    "headers": {"X-Day": "{{day}}"},
    "secret_headers": ["Authorization"],
    "parameters": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
    "columns": ["Name"],
    "rehearsal": {"times": ["ten", "three"]},
}
END: dict[str, Any] = {"type": "end_call", "name": "end_call", "description": "Ends the call."}
KEYS: dict[str, Any] = {"type": "press_keys", "name": "press", "description": "Presses keys."}
BACK: dict[str, Any] = {
    "type": "call_back_at",
    "name": "call_back",
    "description": "Notes a callback.",
    "time_zone": "Europe/Berlin",
}


async def set_tools(tenant: Tenant, agent_id: str, *tools: Any) -> Agent:
    return await tenant.client.agents.set_call_tools(id=agent_id, call_tools=list(tools))


async def secrets_of(tenant: Tenant, agent_id: str) -> Any:
    """The secret headers that a call of the agent would send now."""
    row = select(agents).where(agents.c.id == agent_id)
    found = await tenant.database.read(lambda connection: connection.execute(row).one())
    snapshot = AgentSnapshot(agent_id, "", "", "en-US", "en-US-ada", call_tools=found.call_tools)
    settings = tenant.services.settings
    chosen = await tenant.database.read(speech_services_of, settings, tenant.org_id, snapshot)
    return chosen.services.tools.secrets


@pytest.mark.requirement("CALLTOOL-07")
async def test_tools_are_set_whole_shown_and_make_a_version(tenant: Tenant) -> None:
    made = await resources.agent(tenant)
    assert made.call_tools == []
    changed = await set_tools(tenant, made.id, FREE, END, KEYS, BACK)
    assert (changed.version, [tool.type for tool in changed.call_tools]) == (
        2,
        ["http", "end_call", "press_keys", "call_back_at"],
    )
    assert changed.call_tools[0].model_dump(mode="json", exclude_defaults=True) == FREE
    assert "Name" in changed.variables
    assert (await set_tools(tenant, made.id, FREE, END, KEYS, BACK)).version == 2
    newest, _ = (await tenant.client.agents.list_versions(id=made.id)).data
    assert (newest.changed, newest.call_tools) == (["call_tools"], changed.call_tools)
    assert (await set_tools(tenant, made.id)).call_tools == []


@pytest.mark.requirement("CALLTOOL-07")
async def test_a_version_that_is_brought_back_has_its_tools_and_a_comparison_names_them(tenant: Tenant) -> None:
    made = await resources.agent(tenant)
    second = await set_tools(tenant, made.id, FREE)
    await tenant.client.agents.update(id=made.id, welcome_message="Good day")
    await set_tools(tenant, made.id, END)
    back = await tenant.client.agents.update(id=made.id, restore_version=2)
    assert (back.version, back.call_tools) == (5, second.call_tools)
    compared = await tenant.client.agents.get(id=made.id, compare_to=4)
    assert [one.field for one in compared.differences or ()] == ["welcome_message", "call_tools"]
    assert "free_times" in str((compared.differences or [])[1].diff)
    none = await tenant.client.agents.update(id=made.id, restore_version=1)
    assert none.call_tools == []


async def test_a_campaign_keeps_the_tools_it_was_started_with(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant, "Tools")
    await set_tools(tenant, campaign.agent.id, END)
    started = await tenant.client.deployments.start(id=campaign.deployment.id)
    await set_tools(tenant, campaign.agent.id)
    kept = (await tenant.client.deployments.get(id=started.id)).agent_snapshot
    assert kept is not None
    assert [tool.name for tool in kept.call_tools] == ["end_call"]


async def test_a_column_of_a_tool_that_the_audience_lacks_keeps_a_campaign_from_being_made(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant, "Tools")
    await set_tools(tenant, campaign.agent.id, {**FREE, "columns": ["Shoe size"], "url": "https://example.com/{{day}}"})
    with pytest.raises(Exception, match="Shoe size"):
        await tenant.client.deployments.create(name="Another", **campaign.parts)


REFUSED: list[tuple[str, list[dict[str, Any]], str]] = [
    ("call_tools.0.name", [{**END, "name": "hang_up"}], "means something else"),
    ("call_tools.0.name", [{**END, "name": "transfer_call"}], "type transfer"),
    ("call_tools.1.name", [END, {**KEYS, "name": "end_call"}], "must be unique"),
    ("call_tools.0.name", [{**END, "name": "End Call"}], "wrong form"),
    ("call_tools.0.url", [{**FREE, "url": "https://a.example/{{dey}}"}], "dey"),
    ("call_tools.0.url", [{**FREE, "url": "https://{{day}}.example/free"}], "stand behind the host"),
    ("call_tools.0.url", [{**FREE, "url": "http://calendar.example.com/"}], "https://"),
    ("call_tools.0.url", [{**FREE, "url": "https://127.0.0.1/free"}], "loopback"),
    ("call_tools.0.url", [{**FREE, "url": "https://localhost/free"}], "this machine"),
    ("call_tools.0.url", [{**FREE, "url": "https://169.254.169.254/latest"}], "metadata"),
    ("call_tools.0.url", [{**FREE, "url": "https://ada:secret@calendar.example.com/"}], "password"),
    ("call_tools.0.url", [{**FREE, "url": "https://calendar.example.com/{day}"}], "brace"),
    ("call_tools.0.headers.X-A", [{**FREE, "headers": {"X-A": "{{nobody}}"}}], "nobody"),
    ("call_tools.0.headers.X-A", [{**FREE, "headers": {"X-A": "a\r\nX-B: b"}}], "one line"),
    ("call_tools.0.headers", [{**FREE, "headers": {"X A": "a"}}], "name of a header"),
    ("call_tools.0.headers", [{**FREE, "headers": {"Host": "a"}}], "set by the service"),
    ("call_tools.0.secret_headers", [{**FREE, "headers": {"authorization": "a"}}], "twice"),
    ("call_tools.0.body", [{**FREE, "body": {"a": 1}}], "not sent with GET"),
    ("call_tools.0.body", [{**FREE, "method": "POST", "body": {"a": ["{{nobody}}"]}}], "nobody"),
    ("call_tools.0.parameters", [{**FREE, "parameters": {"type": "array"}}], "object"),
    (
        "call_tools.0.parameters",
        [{**FREE, "parameters": {"type": "object", "properties": {"day": {"type": "string", "pattern": "(a+)+"}}}}],
        "pattern is not understood",
    ),
    (
        "call_tools.0.parameters",
        [{**FREE, "parameters": {"type": "object", "properties": {"day": {"type": "text"}}}}],
        "type must be one of",
    ),
    ("call_tools.0.timeout_seconds", [{**FREE, "timeout_seconds": 31}], "at most 30"),
    ("call_tools.0.use_when.after", [{**FREE, "use_when": {"after": "nobody"}}], "another tool"),
    ("call_tools.0.use_when.say", [{**FREE, "use_when": {"say": "At {{time}}."}}], "time"),
    ("call_tools.0.time_zone", [{**BACK, "time_zone": "Europe/Atlantis"}], "IANA"),
    ("call_tools.0.use_when", [{**BACK, "use_when": {}}], "by itself"),
    ("call_tools.0.keys", [{**KEYS, "use_when": {}}], "required"),
    ("call_tools.0", [{"type": "shell", "name": "x", "description": "y"}], "type"),
    ("call_tools", [{**END, "name": f"end_{number}"} for number in range(21)], "20"),
]


@pytest.mark.requirement("CALLTOOL-08")
@pytest.mark.parametrize(("field", "tools", "said"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
async def test_tools_that_contradict_themselves_are_refused_by_field(
    tenant: Tenant, http: AsyncClient, field: str, tools: list[dict[str, Any]], said: str
) -> None:
    agent = await resources.agent(tenant)
    answer = await http.put(f"/v1/agents/{agent.id}/call-tools", json={"call_tools": tools})
    assert said in refused(answer, 400, "invalid_field", field)["message"]
    assert (await tenant.client.agents.get(id=agent.id)).version == 1


@pytest.mark.requirement("CALLTOOL-09")
async def test_a_secret_is_shown_nowhere_and_stays_for_its_tool_and_address(tenant: Tenant) -> None:
    agent = await resources.agent(tenant)
    found = await set_tools(tenant, agent.id, FREE)
    assert [one.is_set for one in found.call_tool_secrets] == [False]
    assert any("Authorization" in warning for warning in found.warnings)
    given = {"tool": "free_times", "header": "authorization", "value": SECRET}
    shown = await tenant.client.agents.set_call_tool_secret(id=agent.id, **given)
    assert (shown.is_set, shown.sent_to) == (True, "https://calendar.example.com")
    row = select(agents.c.call_tool_secrets).where(agents.c.id == agent.id)
    stored = await tenant.database.read(lambda connection: connection.execute(row).scalar_one())
    assert stored
    assert SECRET not in stored
    assert await secrets_of(tenant, agent.id) == {"free_times": {"Authorization": SECRET}}

    again = await set_tools(tenant, agent.id, {**FREE, "url": "https://calendar.example.com/other"}, END)
    assert (again.call_tool_secrets[0].is_set, again.warnings) == (True, [])
    assert SECRET not in again.model_dump_json()
    elsewhere = await set_tools(tenant, agent.id, {**FREE, "url": "https://attacker.example.com/"})
    assert elsewhere.call_tool_secrets[0].is_set is False
    assert await secrets_of(tenant, agent.id) == {"free_times": {}}
    back = await tenant.client.agents.update(id=agent.id, restore_version=2)
    assert back.call_tool_secrets[0].is_set
    assert await secrets_of(tenant, agent.id) == {"free_times": {"Authorization": SECRET}}

    log = (await tenant.client.audit_log.list(action="set_call_tool_secret", per_page=1)).data
    assert log
    assert SECRET not in log[0].model_dump_json()
    removed = await tenant.client.agents.set_call_tool_secret(id=agent.id, **{**given, "value": ""})
    assert not removed.is_set


@pytest.mark.requirement("CALLTOOL-09")
async def test_secrets_of_tools_are_encrypted_again_with_a_new_secrets_key(tenant: Tenant) -> None:
    agent = await resources.agent(tenant)
    await set_tools(tenant, agent.id, FREE)
    await tenant.client.agents.set_call_tool_secret(
        id=agent.id, tool="free_times", header="Authorization", value=SECRET
    )
    folder = tenant.services.settings.data
    old = (folder / "secrets.key").read_text(encoding="ascii").strip()
    new = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
    both = SecretBox(replace(tenant.services.settings, secrets_key=f"{new},{old}"))
    assert await tenant.database.write(provider_rows.encrypt_again, both) == (1, [])
    (folder / "secrets.key").write_text(new, encoding="ascii")
    assert await secrets_of(tenant, agent.id) == {"free_times": {"Authorization": SECRET}}


async def test_a_secret_of_no_tool_or_header_is_refused(tenant: Tenant) -> None:
    agent = await resources.agent(tenant)
    await set_tools(tenant, agent.id, FREE, END)
    for given, field in (
        ({"tool": "end_call", "header": "Authorization"}, "tool"),
        ({"tool": "free_times", "header": "X-Key"}, "header"),
    ):
        async with refusal(400, "invalid_field", field):
            await tenant.client.agents.set_call_tool_secret(id=agent.id, value=SECRET, **given)


async def test_a_tool_is_stored_without_what_is_left_out(tenant: Tenant) -> None:
    agent = await resources.agent(tenant)
    await set_tools(tenant, agent.id, END)
    row = select(agents.c.call_tools).where(agents.c.id == agent.id)
    stored = await tenant.database.read(lambda connection: connection.execute(row).scalar_one())
    assert json.loads(stored) == [END]


async def test_a_preview_of_real_calls_names_tools_that_cannot_work(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant, "Tools")
    await set_tools(tenant, campaign.agent.id, {**FREE, "columns": [], "url": "https://example.com/{{day}}"}, BACK)
    shown = await tenant.client.deployments.preview(id=campaign.deployment.id)
    assert not any("free_times" in warning for warning in shown.warnings)  # simulated: nothing is sent
    await make_real(tenant, campaign.deployment.id)
    shown = await tenant.client.deployments.preview(id=campaign.deployment.id)
    assert [warning for warning in shown.warnings if "free_times" in warning] == [
        "These tools of the agent fail, because a secret header is not set: free_times (Authorization).",
        "No model is set, so these tools are never called: free_times; give them use_when.",
    ]
