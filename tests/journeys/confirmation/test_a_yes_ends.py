"""A yes counts for ten minutes, whatever is done to the clock meanwhile.

A clock that was ahead is put right, is set back, or goes on while the computer sleeps. Whoever can be asked is asked by
a question, whose moment travels with the client or stays in the process; elsewhere the moment stands in a sentence.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import time
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from mcp import MCPError
from mcp.server import request_state
from mcp.types import ElicitResult, InputRequiredResult

from tests.journeys.hosts import Era, Host, Person, ScriptedClock, host
from tests.support.campaigns import draft, people
from tests.support.mcp.over_http import serving
from tests.support.service import Tenant, open_service
from tests.support.tools.results import text_of

HOUR, DAY = 3_600.0, 86_400.0
LATER = datetime(2099, 1, 1, tzinfo=UTC)
both_ways = pytest.mark.parametrize("way", ["memory", "http"])


@dataclass(frozen=True)
class Turn:
    """What happens between a question and its answer: the clock is set by so much, and so much time goes by."""

    set_by_s: float
    goes_by_s: float
    begins_ahead_s: float = 0.0

    def happen(self, clock: ScriptedClock) -> None:
        clock.ahead += self.set_by_s
        clock.pass_by(self.goes_by_s)


turns = pytest.mark.parametrize(
    ("turn", "counts"),
    [
        pytest.param(Turn(0, 598), True, id="in time"),
        pytest.param(Turn(0, 600), False, id="too late"),
        pytest.param(Turn(-31 * DAY, 5 * HOUR, begins_ahead_s=31 * DAY), False, id="31 days ahead, put right"),
        pytest.param(Turn(-31 * DAY, 31 * DAY, begins_ahead_s=31 * DAY), False, id="31 days ahead, reached again"),
        pytest.param(Turn(-HOUR, 0), False, id="set back by an hour"),
        pytest.param(Turn(-HOUR, HOUR + 1), False, id="set back by an hour, reached again"),
        pytest.param(Turn(-50, 620), False, id="set back a little, too late"),
        pytest.param(Turn(-50, 500), True, id="set back a little, in time"),
        pytest.param(Turn(601, 0), False, id="slept for ten minutes"),
    ],
)


@dataclass(frozen=True)
class HostSession:
    """A host, the time the tools live by, and a campaign that calls whoever joins its audience."""

    tenant: Tenant
    host: Host
    clock: ScriptedClock
    audience: str

    @property
    def adding(self) -> dict[str, Any]:
        return {"id": self.audience, "rows": people(1, first=50)}

    async def rows(self) -> int | None:
        """The people there are; one from the beginning."""
        return (await self.tenant.client.audiences.get(id=self.audience)).row_count


async def calling_audience(tenant: Tenant) -> str:
    """An audience that takes the same person twice and that a campaign calls."""
    audience = await tenant.client.audiences.create(name="Doubles", dedupe="none", rows=people(1))
    campaign = await draft(tenant, [], audience_id=audience.id, start_at=LATER)
    await tenant.client.deployments.start(id=campaign.id)
    return audience.id


@pytest.fixture
async def found(tenant: Tenant, found: Host, clock: ScriptedClock) -> HostSession:
    """The host, and a campaign on the service."""
    return HostSession(tenant, found, clock, await calling_audience(tenant))


def sentence_in(said: str) -> str:
    return said.split("«")[1].split("»")[0]


@both_ways
@turns
async def test_an_answer_counts_for_ten_minutes_whatever_is_done_to_the_clock(
    turn: Turn, counts: bool, found: HostSession
) -> None:
    found.clock.ahead = turn.begins_ahead_s

    async def before_answer() -> None:
        turn.happen(found.clock)
        await anyio.lowlevel.checkpoint()

    found.host.person.before_answer = before_answer
    result = await found.host.call("add_audience_rows", **found.adding)
    assert result.is_error is not counts, text_of(result)
    assert await found.rows() == (2 if counts else 1)
    if not counts:
        assert "not answered within 10 minutes" in text_of(result)
        assert "Call again" in text_of(result)


@both_ways
@turns
@pytest.mark.parametrize("answer", [None])
async def test_a_sentence_counts_for_ten_minutes_whatever_is_done_to_the_clock(
    turn: Turn, counts: bool, found: HostSession
) -> None:
    found.clock.ahead = turn.begins_ahead_s
    sentence = sentence_in(await found.host.refused("add_audience_rows", **found.adding))
    turn.happen(found.clock)
    result = await found.host.call("add_audience_rows", **found.adding, person_agreed_to=sentence)
    assert result.is_error is not counts, text_of(result)
    assert await found.rows() == (2 if counts else 1)
    if not counts:
        assert "a yes counts no longer" in text_of(result)
        new = sentence_in(text_of(result))
        await found.host.data("add_audience_rows", **found.adding, person_agreed_to=new)
        assert await found.rows() == 2


@both_ways
@pytest.mark.parametrize("answer", [None])
async def test_a_sentence_that_was_used_stays_used_after_a_clock_was_ahead_and_put_right(found: HostSession) -> None:
    sentence = sentence_in(await found.host.refused("add_audience_rows", **found.adding))
    await found.host.data("add_audience_rows", **found.adding, person_agreed_to=sentence)
    found.clock.ahead = HOUR
    another = sentence_in(await found.host.refused("add_audience_rows", **found.adding))
    await found.host.data("add_audience_rows", **found.adding, person_agreed_to=another)
    found.clock.ahead = 0.0
    said = await found.host.refused("add_audience_rows", **found.adding, person_agreed_to=sentence)
    assert "has been used already" in said
    assert await found.rows() == 3


@pytest.mark.parametrize(
    ("ahead_s", "counts"), [(31 * DAY, False), (HOUR, False), (61, False), (59, True), (-59, True), (-600, False)]
)
async def test_another_process_takes_a_sentence_only_of_a_clock_that_hardly_differs(
    ahead_s: float, counts: bool, era: Era, database_url: str, tmp_path: Path
) -> None:
    fast, right = ScriptedClock(ahead=ahead_s), ScriptedClock()
    async with open_service(database_url, tmp_path / "service", workers=False) as tenant:
        async with serving(tenant, confirm="always", clock=fast) as one:
            async with serving(tenant, confirm="always", clock=right) as other:
                async with one.assistant(era=era) as first, other.assistant(era=era) as second:
                    audience = await calling_audience(tenant)
                    adding = {"id": audience, "rows": people(1, first=50)}
                    sentence = sentence_in(await first.refused("add_audience_rows", **adding))
                    if counts:
                        await second.use("add_audience_rows", **adding, person_agreed_to=sentence)
                    else:
                        said = await second.refused("add_audience_rows", **adding, person_agreed_to=sentence)
                        assert "a yes counts no longer" in said
                    rows = (await tenant.client.audiences.get(id=audience)).row_count
                    assert rows == (2 if counts else 1)


async def state_of(one: Host, adding: dict[str, Any]) -> str:
    """What a client carries until the person answers."""
    found = await one.client.session.call_tool("add_audience_rows", adding, allow_input_required=True)
    assert isinstance(found, InputRequiredResult)
    assert found.request_state is not None
    return found.request_state


@pytest.mark.parametrize("why", ["of another process", "altered", "of a clock that was ahead"])
@pytest.mark.parametrize("era", ["auto"])
async def test_an_answer_to_a_question_that_is_not_known_is_refused_with_what_to_do(
    why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: HostSession
) -> None:
    async with host(found.tenant, tmp_path, "memory", "auto", Person("accept")) as another:
        state = await state_of(found.host, found.adding)
        if why == "of another process":
            state = await state_of(another, found.adding)
        elif why == "altered":
            state = f"{state[:-4]}AAAA"
        else:
            monkeypatch.setattr(request_state, "time", SimpleNamespace(time=lambda: time() - HOUR))
        with pytest.raises(MCPError) as refused:
            await found.host.client.session.call_tool(
                "add_audience_rows",
                found.adding,
                input_responses={"agreement": ElicitResult(action="accept", content={"agree": True})},
                request_state=state,
                allow_input_required=True,
            )
    error = refused.value.error
    assert (error.code, error.data) == (-32602, {"reason": "invalid_request_state"})
    assert "Nothing was done" in error.message
    assert "Call again without requestState to ask anew" in error.message
    assert await found.rows() == 1
