"""One yes is good for one thing: the same answer again, on the newer protocol, does nothing more.

The client speaks the protocol by itself, so that it can carry the same sealed state and the same answer as often as it
likes, as a program between the person and the server may.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from mcp.types import CallToolResult, ElicitResult, InputRequiredResult

from callwright.contract.words import Spend
from tests.service.dialler.campaigns import draft, people
from tests.service.doors import Door, open_service

from .hosts import Host, Person, ScriptedClock, host, text_of

LATER = datetime(2099, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Replayer:
    """A client that keeps a yes and gives it again."""

    door: Door
    host: Host

    async def asked(self, tool: str, arguments: dict[str, Any]) -> str:
        """Calls a tool until the question; gives the sealed state."""
        result = await self.host.client.session.call_tool(tool, arguments, allow_input_required=True)
        assert isinstance(result, InputRequiredResult)
        assert result.request_state is not None
        return result.request_state

    async def answered(self, tool: str, arguments: dict[str, Any], state: str, agree: Any = True) -> CallToolResult:
        """Gives an answer to the question of that state."""
        answer = ElicitResult(action="accept", content={"agree": agree})
        result = await self.host.client.session.call_tool(
            tool,
            arguments,
            input_responses={"agreement": answer},
            request_state=state,
            allow_input_required=True,
        )
        return cast("CallToolResult", result)


@asynccontextmanager
async def replayer(url: str, folder: Path, *, files: Path | None = None) -> AsyncGenerator[Replayer]:
    async with open_service(url, folder / "service", workers=False) as door:
        async with host(door, folder, "memory", "auto", Person("accept"), clock=ScriptedClock(), files=files) as found:
            yield Replayer(door, found)


async def calling_audience(found: Replayer, **fields: Any) -> tuple[str, str]:
    """A campaign that calls whoever joins its audience, which takes the same person twice."""
    audience = await found.door.client.audiences.create(name="Doubles", dedupe="none", rows=people(1))
    campaign = await draft(found.door, [], audience_id=audience.id, start_at=LATER, **fields)
    await found.door.client.deployments.start(id=campaign.id)
    return audience.id, campaign.id


async def test_one_yes_adds_a_person_once_and_the_same_answer_again_gets_the_first_result(
    database_url: str, tmp_path: Path
) -> None:
    async with replayer(database_url, tmp_path) as found:
        audience, _ = await calling_audience(found)
        adding = {"id": audience, "rows": people(1, first=50)}
        state = await found.asked("add_audience_rows", adding)
        said = [await found.answered("add_audience_rows", adding, state) for _ in range(4)]
        assert not any(one.is_error for one in said), text_of(said[0])
        assert all(one.structured_content == said[0].structured_content for one in said)
        assert (await found.door.client.audiences.get(id=audience)).row_count == 2
        again = await found.asked("add_audience_rows", adding)  # another question, another yes
        await found.answered("add_audience_rows", adding, again)
        assert (await found.door.client.audiences.get(id=audience)).row_count == 3


async def test_one_yes_imports_a_file_once_by_its_path_and_as_text(database_url: str, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    text = "phone_number,first_name\n+14155550150,Ann\n+14155550151,Bob\n"
    (files / "people.csv").write_text(text, encoding="utf-8")
    async with replayer(database_url, tmp_path, files=files) as found:
        audience, _ = await calling_audience(found)
        for how in ({"path": "people.csv"}, {"csv": text}):
            importing = {"id": audience, **how}
            state = await found.asked("import_audience", importing)
            said = [await found.answered("import_audience", importing, state) for _ in range(3)]
            assert not any(one.is_error for one in said), text_of(said[0])
            assert len({cast("dict[str, Any]", one.structured_content)["id"] for one in said}) == 1


async def test_one_yes_changes_a_campaign_once(database_url: str, tmp_path: Path) -> None:
    async with replayer(database_url, tmp_path) as found:
        _, campaign = await calling_audience(found, budget_cap=Spend(amount="0.05"))
        deployments = found.door.client.deployments
        change = {"id": campaign, "budget_cap": {"amount": "50.00"}}
        state = await found.asked("update_deployment", change)
        assert not (await found.answered("update_deployment", change, state)).is_error
        await deployments.update(id=campaign, budget_cap=Spend(amount="0.05"))
        again = await found.answered("update_deployment", change, state)
        assert again.is_error
        assert "has been used" in text_of(again)
        cap = (await deployments.get(id=campaign)).budget_cap
        assert cap is not None
        assert float(cap.amount) == 0.05


@pytest.mark.parametrize("agree", ["yes", "true", 1, "on"])
async def test_only_true_is_a_yes(agree: Any, database_url: str, tmp_path: Path) -> None:
    async with replayer(database_url, tmp_path) as found:
        audience, _ = await calling_audience(found)
        adding = {"id": audience, "rows": people(1, first=50)}
        state = await found.asked("add_audience_rows", adding)
        said = await found.answered("add_audience_rows", adding, state, agree)
        assert said.is_error
        assert "did not agree" in text_of(said)
        assert (await found.door.client.audiences.get(id=audience)).row_count == 1
