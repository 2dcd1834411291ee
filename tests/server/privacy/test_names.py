"""Names in requests, in answers, and in the sentences that people agree to."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from mcp import Client
from mcp.types import TextContent
from sqlalchemy import Connection, Table, Update, update

from callwright.contract.audiences import CreateAudience
from callwright.contract.checks.names import ONE_LINE
from callwright.contract.surface import OPERATIONS
from callwright.contract.webhooks import CreateWebhook
from callwright.server.mcp.app import build
from callwright.server.mcp.session import ServerSession, SystemClock
from callwright.service import accounts
from callwright.service.accounts.errors import AccountError
from callwright.service.tables import schema
from callwright.tools.runtime.tool_context import Caller
from tests.support import resources
from tests.support.campaigns import draft, make_agent, people, rent
from tests.support.http.raw_requests import AsyncClient
from tests.support.mcp.over_http import Served
from tests.support.service import Tenant

PROVIDER_NAME = r"^[a-z0-9][a-z0-9_-]*$"
"""A part of addresses, and no words for people."""
HIDDEN = {
    "\x07": "U+0007",
    "\n": "U+000A",
    "\x85": "U+0085",
    "\xad": "U+00AD",
    "\u200b": "U+200B",
    "\u200d": "U+200D",
    "\u200f": "U+200F",
    "\u2028": "U+2028",
    "\u202e": "U+202E (RIGHT-TO-LEFT OVERRIDE)",
    "\u2067": "U+2067",
    "\u2060": "U+2060",
    "\u3164": "U+3164",
    "\ufeff": "U+FEFF",
    "\ufe0f": "U+FE0F",
    "\ue000": "U+E000",
    "\U000e0041": "U+E0041",
    "\U000e0100": "U+E0100",
    "\U000f0000": "U+F0000",
    "\u0378": "U+0378, at position 3: no character is known by it",
    "\u05ff": "U+05FF",
    "\U0001fc00": "U+1FC00",
    "\U000e1000": "U+E1000",
}
GOOD = (
    "Praxis Dr. Müller",
    "می‌خواهم",
    "क्‍षमा",
    "שלום עולם",
    "👩‍💻 Team ❤️",
    "👁️‍🗨️",
    "葛\U000e0100城",
    "\U0001fae8\ufe0f \U0001faff\u200d\U0001f4bb \U0001f6d8",
    "東京　歯科",
    "Chez l’Ami «12»",
)


@pytest.mark.requirement("BODY-17")
async def test_a_name_with_something_hidden_is_refused_with_the_character_and_its_place(http: AsyncClient) -> None:
    given = {"voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Be brief."}
    for char, said in HIDDEN.items():
        answer = await http.post("/v1/agents", json={"name": f"Ad{char}a", **given})
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["field"]) == (400, "invalid_field", "name"), said
        assert error["message"].startswith(f"name: must not contain the character {said}"), error["message"]
        assert "position 3" in error["message"]
    for name in GOOD:
        answer = await http.post("/v1/agents", json={"name": name, **given})
        assert answer.json()["data"]["name"] == name, ascii(name)


def test_no_operation_takes_a_name_that_is_not_checked() -> None:
    found: list[str] = []
    for operation in OPERATIONS.values():
        fields: dict[str, Any] = operation.takes.model_json_schema()["properties"] if operation.writes else {}
        for name in {"name", "label"} & fields.keys():
            if operation.name == "remove_provider":  # says which one, and names nothing
                continue
            choices: list[dict[str, Any]] = fields[name].get("anyOf", [fields[name]])
            narrower = PROVIDER_NAME if operation.name == "set_provider" else ONE_LINE
            assert choices[0]["pattern"] == narrower, operation.name
            found.append(operation.name)
    assert len(found) >= 9
    assert "position 2" in _refused(CreateWebhook, url="https://a.example/", events=["*"], description="a\u202eb")
    assert "position 4" in _refused(CreateAudience, name="A", description="a\n\tb\u200b".replace("\t", ""))
    assert CreateAudience(name="A", description="a\n\tb\r\nc").description == "a\n\tb\r\nc"


def _refused(model: Any, **given: Any) -> str:
    with pytest.raises(ValueError, match="must not contain") as caught:
        model(**given)
    return str(caught.value)


async def test_organizations_and_people_have_no_hidden_characters_in_their_names(tenant: Tenant) -> None:
    with pytest.raises(AccountError, match=r"U\+202E"):
        await tenant.database.write(accounts.create_organization, tenant.services.ids, "Acme\u202e", "starter", 1)


def _run(connection: Connection, statement: Update) -> int:
    return connection.execute(statement).rowcount


async def test_names_that_were_stored_before_come_clean_in_text_and_data_and_resources(served: Served) -> None:
    bad = "Ev\u202e\u200b\U000e0041il\u2028name"
    made = await resources.draft(served.tenant)
    tables: tuple[tuple[Table, str], ...] = (
        (schema.agents, "name"),
        (schema.audiences, "name"),
        (schema.deployments, "name"),
        (schema.phone_numbers, "label"),
    )
    for table, column in tables:
        statement = update(table).values({column: bad, "metadata": f'{{"no\u202ete": "x{bad}"}}'})
        await served.tenant.database.write(_run, statement)
    ids = (
        ("get_agent", made.agent.id, "agents", f"agents/{made.agent.id}/prompt"),
        ("get_audience", made.audience.id, "audiences", f"audiences/{made.audience.id}/rejects.csv"),
        ("get_deployment", made.deployment.id, "deployments", f"deployments/{made.deployment.id}"),
        ("get_phone_number", made.number.id, "phone_numbers", "policy"),
    )
    async with served.assistant() as hand:
        for tool, id_, kind, path in ids:
            answers = (
                await hand.result(tool, id=id_),
                await hand.result(f"list_{kind}"),
                await hand.result("get_overview"),
                await hand.client.read_resource(f"callwright://{path}"),
            )
            for answer in answers:
                assert not getattr(answer, "is_error", False), answer
                said = answer.model_dump_json()
                assert not [char for char in HIDDEN if char in said], tool
                assert not any(escaped in said for escaped in ("\\u202e", "\\u200b", "\\u2028", "\\udb40")), tool
            assert any("Evil name" in answer.model_dump_json() for answer in answers), tool
        said = await hand.result("preview_deployment", deployment_id=made.deployment.id)
        assert not [char for char in HIDDEN if char in said.model_dump_json()]
        assert "Evil name" in said.model_dump_json()


async def test_no_name_breaks_out_of_a_sentence_that_a_person_agrees_to(tenant: Tenant) -> None:
    """The sentences of joining, changing, answering and starting have as many quotation marks as they have names."""
    async with asked_always(tenant) as client:
        for index, mark in enumerate(
            ('"', "\u201c", "\u201d", "\u2033", "\uff02", "\u00bb", "''", "\u2019\u2019", "\u02ee")
        ):
            sly = f"{index}{mark}, which calls nobody: nothing. Or {mark}x"
            agent = await make_agent(tenant, f"Ada {sly}")
            made = await draft(tenant, people(2, first=index * 10), f"A {sly}", agent_id=agent.id)
            later = await draft(tenant, people(1, first=index * 10), f"B {sly}", agent_id=agent.id)
            number = await rent(tenant)
            await tenant.client.deployments.start(id=made.id)
            calls: tuple[tuple[str, dict[str, Any]], ...] = (
                ("add_audience_rows", {"audience_id": made.audience_id, "rows": people(1, first=index * 10 + 5)}),
                ("update_deployment", {"deployment_id": made.id, "max_concurrency": 20}),
                ("create_inbound_deployment", {"name": "C", "agent_id": agent.id, "phone_number_id": number.id}),
            )
            said = [await sentence_of(client, tool, **given) for tool, given in calls]
            plan = await client.call_tool("preview_deployment", {"deployment_id": later.id})
            said.append(cast("dict[str, str]", plan.structured_content)["summary"])
            for sentence, names in zip(said, (1, 1, 1, 2), strict=True):
                parts = sentence.split('"')
                assert len(parts) == 2 * names + 1, sentence
                assert not any(mark in part for part in parts), sentence


@asynccontextmanager
async def asked_always(tenant: Tenant) -> AsyncGenerator[Client]:
    """An assistant whose person is asked about simulated calls too, and whose host cannot ask."""

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Caller]:
        yield tenant.client

    ids = iter(range(1_000_000))
    session = ServerSession(
        connect, ids=lambda: f"id{next(ids):030}", clock=SystemClock(), base_url=None, confirm="always"
    )
    async with Client(build(session.opened)) as client:
        yield client


async def sentence_of(client: Client, tool: str, **arguments: Any) -> str:
    """The sentence that the tool wants agreed to."""
    found = await client.call_tool(tool, arguments)
    block = found.content[0]
    assert found.is_error
    assert isinstance(block, TextContent)
    assert "«" in block.text, block.text
    return block.text.partition("«")[2].rpartition("»")[0]
