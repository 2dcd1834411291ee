"""What a routing webhook may answer, and what of it cannot be used."""

import json
from typing import Any

import pytest

from callwright.service.inbound.routing.answers import Overrides, RoutingAnswer, read
from callwright.service.platform.outgoing.posted import Posted

OWN = "+12125550101"
ELSEWHERE = "+12125550177"


def answered(body: Any) -> RoutingAnswer | str:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read(Posted("succeeded", 200, "", "", 1, is_whole=True, body=raw), OWN)


@pytest.mark.parametrize("body", [b"", b" \n", {}, {"action": None}, {"agent_id": None, "overrides": None}])
def test_an_answer_that_says_nothing_lets_the_bound_deployment_answer(body: Any) -> None:
    assert answered(body) == RoutingAnswer("answer")


@pytest.mark.requirement("ROUTE-02")
def test_everything_of_an_answer_is_read_and_further_members_are_ignored() -> None:
    said = {
        "action": "answer",
        "agent_id": "agt_1",
        "variables": {"first_name": "Maria", "Last visit": "in May"},
        "metadata": {"ticket": "7"},
        "overrides": {
            "welcome_message": "Good morning.",
            "language": "de-DE",
            "voice_id": "de-DE-ida",
            "system_prompt": "Be brief.",
            "mood": "kind",
        },
        "later": {"version": 2},
    }
    assert answered(said) == RoutingAnswer(
        "answer",
        agent_id="agt_1",
        variables={"first_name": "Maria", "Last visit": "in May"},
        metadata={"ticket": "7"},
        overrides=Overrides("Good morning.", "de-DE", "de-DE-ida", "Be brief."),
    )
    assert answered({"action": "transfer", "transfer_to": "+1 212 555 0177"}) == RoutingAnswer(
        "transfer", transfer_to=ELSEWHERE
    )
    assert answered({"action": "reject", "reject_reason": "closed"}) == RoutingAnswer("reject", reject_reason="closed")
    assert answered({"action": "reject"}) == RoutingAnswer("reject", reject_reason="busy")
    assert answered({"action": "answer", "reject_reason": "busy", "transfer_to": ELSEWHERE}) == RoutingAnswer("answer")


def test_an_empty_welcome_message_is_one_and_lets_the_caller_begin() -> None:
    found = answered({"overrides": {"welcome_message": ""}})
    assert isinstance(found, RoutingAnswer)
    assert found.overrides.named() == {"welcome_message": ""}


@pytest.mark.requirement("ROUTE-07")
@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"OK", "not JSON"),
        (b"{", "not JSON"),
        (b'{"agent_id": "\xff"}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        ([], "not a JSON object"),
        ("answer", "not a JSON object"),
        (None, "not a JSON object"),
        ({"action": "hang_up"}, "action"),
        ({"action": ["answer"]}, "action"),
        ({"agent_id": 7}, "agent_id"),
        ({"agent_id": ""}, "agent_id"),
        ({"agent_id": "a" * 61}, "agent_id"),
        ({"agent_id": "agt_\x00"}, "agent_id"),
        ({"variables": ["first_name"]}, "variables"),
        ({"variables": {"age": 41}}, "variables"),
        ({"variables": {"": "x"}}, "variables"),
        ({"variables": {"note": "x" * 2_001}}, "variables"),
        ({"variables": {f"v{index}": "x" for index in range(101)}}, "variables"),
        ({"metadata": {"ticket": 7}}, "metadata"),
        ({"metadata": {"x" * 41: "7"}}, "metadata"),
        ({"overrides": "Good morning."}, "overrides"),
        ({"overrides": {"language": "Deutsch, bitte"}}, "overrides.language"),
        ({"overrides": {"system_prompt": ""}}, "overrides.system_prompt"),
        ({"overrides": {"welcome_message": "x" * 2_001}}, "overrides.welcome_message"),
        ({"action": "transfer"}, "transfer_to is missing"),
        ({"action": "transfer", "transfer_to": 12125550177}, "transfer_to"),
        ({"action": "transfer", "transfer_to": "2125550177"}, "transfer_to"),
        ({"action": "transfer", "transfer_to": "+19005550177"}, "transfer_to"),
        ({"action": "transfer", "transfer_to": "+1911"}, "transfer_to"),
        ({"action": "transfer", "transfer_to": OWN}, "the number that was called"),
        ({"action": "reject", "reject_reason": "asleep"}, "reject_reason"),
    ],
)
def test_an_answer_that_cannot_be_used_is_described_without_its_words(body: Any, named: str) -> None:
    found = answered(body)
    assert isinstance(found, str)
    assert named in found
    assert found.endswith(".")
    assert len(found) < 300
    assert "x" * 41 not in found
