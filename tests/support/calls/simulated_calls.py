"""Requests for the tests of the simulated network, and what must hold for every result."""

from collections.abc import Mapping
from typing import Any

from callwright.service.telephony.engine import AgentSnapshot, CallRequest, CallResult

PROMPT = """You are Ada from Northwind Dental.
Goals:
- Ask whether {{day}} at ten suits
- Confirm the address
- Find out how many people will come

Facts:
- A check-up costs 40 dollars.
- It takes twenty minutes.
"""
WELCOME = "Hello {{name}}, this is Ada from Northwind Dental. Is now a good time?"


def call(
    *,
    to: str = "+4930123456",
    seed: str = "tests",
    attempt: int = 1,
    prompt: str = PROMPT,
    welcome: str = WELCOME,
    language: str = "en-US",
    variables: Mapping[str, str] | None = None,
    call_id: str = "cal_1",
    call_tools: str | None = None,
    **more: Any,
) -> CallRequest:
    """A request that differs from the ordinary one in what is given."""
    return CallRequest(
        call_id=call_id,
        org_id="org_1",
        deployment_id="dep_1",
        contact_id=f"con_{call_id}",
        attempt=attempt,
        to=to,
        from_="+12025550199",
        agent=AgentSnapshot("agt_1", prompt, welcome, language, "en-US-ada", call_tools=call_tools),
        variables={"name": "Maria", "day": "Thursday"} if variables is None else variables,
        seed=seed,
        **more,
    )


def said_by(result: CallResult, speaker: str) -> list[str]:
    """The texts of one side, in order."""
    return [turn.text for turn in result.turns if turn.speaker == speaker]


def assert_sound(result: CallResult, request: CallRequest) -> None:
    """What holds for every call whatever happened on it."""
    assert result.call_id == request.call_id
    assert [turn.index for turn in result.turns] == list(range(len(result.turns)))
    assert result.ended_s >= (result.answered_s or result.ringing_s or result.initiated_s)
    if result.answered_s is None:
        assert not result.turns
        assert result.answered_by is None
        assert result.duration_s == 0
        return
    assert result.ringing_s is not None
    assert result.initiated_s < result.ringing_s < result.answered_s <= result.ended_s
    assert result.duration_s <= request.max_duration_s + 1e-6
    last_end = {"agent": -1.0, "contact": -1.0}
    before = None
    for turn in result.turns:
        if turn.speaker == "system":
            continue  # a tool was called, which takes no time
        assert turn.text.strip()
        assert turn.start_s == round(turn.start_s, 3)
        assert turn.end_s == round(turn.end_s, 3)
        assert 0 <= turn.start_s < turn.end_s <= result.duration_s + 1e-6
        assert turn.start_s > last_end[turn.speaker]
        last_end[turn.speaker] = turn.end_s
        if before is not None:
            assert turn.start_s > before.start_s
            if not before.interrupted:
                assert turn.start_s - before.end_s >= 0.4 - 1e-6
        before = turn
