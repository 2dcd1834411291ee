"""Everything by its name and every number as people write it, against the real service over the typed client."""

import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from mcp import Client

from callwright.server.mcp.app import build
from callwright.server.mcp.session import ServerSession, SystemClock
from callwright.tools.arguments.files import Folders
from callwright.tools.runtime.tool_context import Caller
from callwright.tools.serving.served import served_tools
from callwright.tools.serving.served_files import with_files
from tests.support.service import open_service
from tests.support.tools.fakes import assistant
from tests.support.tools.results import text_of

NAME = ' "Räumung", 50% & more; रवि 🙂?#/[1] '
PEOPLE = [{"phone_number": "(202) 555-0100", "first_name": "Maria"}, {"phone_number": "2025550101", "first_name": "Jo"}]
ROWS = 2_000


class Hand:
    """Calls tools."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def use(self, tool: str, /, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """The first line and the data of an answer."""
        result = await self._client.call_tool(tool, arguments)
        assert not result.is_error, text_of(result)
        return text_of(result).splitlines()[0], cast("dict[str, Any]", result.structured_content)

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        result = await self._client.call_tool(tool, arguments)
        assert result.is_error, text_of(result)
        return text_of(result)


@asynccontextmanager
async def hand_of(database_url: str, data: Path) -> AsyncGenerator[Hand]:
    (data / "files").mkdir()
    async with open_service(database_url, data / "service") as tenant:
        tools = with_files(served_tools(), Folders([data / "files"]))

        @asynccontextmanager
        async def connect() -> AsyncGenerator[Caller]:
            yield tenant.client

        ids = (f"{count:032}" for count in itertools.count())
        session = ServerSession(connect, ids=lambda: next(ids), clock=SystemClock(), base_url=None, masks=False)
        async with assistant(build(session.opened, tools=tools), "auto") as client:
            yield Hand(client)


async def test_a_campaign_is_built_and_followed_without_a_single_id(database_url: str, tmp_path: Path) -> None:
    async with hand_of(database_url, tmp_path) as hand:
        said, agent = await hand.use(
            "create_agent", name=NAME, voice_id="Ada", language="en-US", system_prompt="Hello."
        )
        assert said == 'voice "Ada" is en-US-ada'
        said, _ = await hand.use("get_agent", agent_id=NAME)
        assert said == f'agent "{NAME}" is {agent["id"]}'
        assert "Did you mean" in await hand.refused("get_agent", agent_id=NAME.upper())

        await hand.use("create_audience", name="March", default_country="US", rows=PEOPLE)
        said, rows = await hand.use("list_audience_rows", audience_id="March", phone_number="+1 (202) 555-0100")
        assert said.startswith('audience "March" is aud_')
        assert [row["values"]["first_name"] for row in rows["data"]] == ["Maria"]

        _, rented = await hand.use("rent_phone_number", country="US")
        number: str = rented["number"]
        national = f"({number[2:5]}) {number[5:8]}-{number[8:]}"
        await hand.use("update_phone_number", phone_number_id=national, label="Front desk")
        said, found = await hand.use("get_phone_number", phone_number_id="Front desk")
        assert said == f'phone number "Front desk" is {rented["id"]}  ({number})'
        assert found["number"] == number

        _, draft = await hand.use(
            "create_deployment", name="April", agent_id=NAME, audience_id="March", phone_number_ids=[national]
        )
        said, followed = await hand.use("get_deployment", deployment_id="April")
        assert said == f'deployment "April" is {draft["id"]}'
        assert (followed["agent_id"], followed["phone_number_ids"]) == (agent["id"], [rented["id"]])
        for argument, value in (("agent_id", NAME), ("audience_id", "March")):
            _, listed = await hand.use("list_deployments", **{argument: value})
            assert [entry["id"] for entry in listed["data"]] == [draft["id"]]
        said, _ = await hand.use("list_calls", deployment_id="April", to="202-555-0100")
        assert said == f'deployment "April" is {draft["id"]}'
        said, charges = await hand.use("list_transactions", reference_id=number)
        assert said == f'phone number "{number}" is {rented["id"]}'
        assert [charge["type"] for charge in charges["data"]] == ["number_rental"]


async def test_what_is_deleted_or_released_has_no_name_any_more(database_url: str, tmp_path: Path) -> None:
    async with hand_of(database_url, tmp_path) as hand:
        await hand.use("create_agent", name="Gone", voice_id="Ben", language="en-US", system_prompt="Hello.")
        await hand.use("delete_agent", agent_id="Gone")
        assert 'no agent is called "Gone"' in await hand.refused("get_agent", agent_id="Gone")
        _, rented = await hand.use("rent_phone_number", country="US", label="Desk")
        await hand.use("release_phone_number", phone_number_id="Desk")
        for name in ("Desk", rented["number"]):
            assert "no phone number is called" in await hand.refused("get_phone_number", phone_number_id=name)


async def test_two_numbers_of_one_label_are_shown_with_what_tells_them_apart(database_url: str, tmp_path: Path) -> None:
    async with hand_of(database_url, tmp_path) as hand:
        rented = [(await hand.use("rent_phone_number", country="US", label="Desk"))[1] for _ in range(2)]
        said = await hand.refused("release_phone_number", phone_number_id="Desk")
        assert '2 phone numbers are called "Desk"' in said
        assert all(number["id"] in said and number["number"] in said for number in rented)


async def test_a_large_file_becomes_one_audience_in_its_order(database_url: str, tmp_path: Path) -> None:
    async with hand_of(database_url, tmp_path) as hand:
        note = f'"first line\nsecond, ""quoted"" line {"x" * 900}"'
        lines = [f"+1202555{number:04d},{number},{note}\r\n" for number in range(ROWS)]
        (tmp_path / "files" / "people.csv").write_bytes(
            b"\xef\xbb\xbf" + ("phone_number,place,note\r\n" + "".join(lines)).encode()
        )
        await hand.use("create_audience", name="Large")
        said, imported = await hand.use("import_audience", audience_id="Large", path="people.csv")
        assert said.startswith('audience "Large" is aud_')
        while True:
            _, seen = await hand.use("get_audience_import", audience_id="Large", import_id=imported["id"])
            if seen["status"] not in ("pending", "importing"):
                break
        assert seen["status"] == "completed"
        _, audience = await hand.use("get_audience", audience_id="Large")
        assert audience["valid_count"] == ROWS
        _, rows = await hand.use("list_audience_rows", audience_id="Large", per_page=2, fields=["values"])
        assert [row["values"]["place"] for row in rows["data"]] == ["0", "1"]
        assert rows["data"][0]["values"]["note"].startswith('first line second, "quoted" line xxx')
