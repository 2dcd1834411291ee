"""Completion of ids in both eras."""

from typing import Any

import pytest
from mcp.types import PromptReference, ResourceTemplateReference

from callwright.client.errors import ServiceUnreachable
from callwright.contract.model import Input
from callwright.prompts.registry import PROMPTS
from callwright.server.candidates import LISTS
from callwright.server.resources import TEMPLATES
from tests.tools import samples
from tests.tools.fakes import ERAS, FakeCaller, assistant, server

both_eras = pytest.mark.parametrize("era", ERAS)
CALL = ResourceTemplateReference(uri="callwright://calls/{call_id}")
PROMPT = PromptReference(name="plan_campaign")


async def completed(caller: FakeCaller, name: str, typed: str, *, ref: Any = PROMPT, era: str = "2026-07-28"):
    async with assistant(server(caller), era) as client:
        found = await client.complete(ref, {"name": name, "value": typed})
    return found.completion


@both_eras
@pytest.mark.parametrize(
    ("name", "typed", "expected"),
    [
        ("call_id", "cal", "cal_1"),
        ("agent_id", "AGT", "agt_1"),
        ("agent_id", "clin", "agt_1"),
        ("deployment_id", "March", "dep_1"),
        ("audience_id", "march p", "aud_1"),
        ("audience", "", "aud_1"),
    ],
)
async def test_ids_are_found_by_the_beginning_of_id_or_name(name: str, typed: str, expected: str, era: str) -> None:
    assert (await completed(FakeCaller(), name, typed, era=era)).values == [expected]


@both_eras
async def test_templates_are_completed_too(era: str) -> None:
    assert (await completed(FakeCaller(), "call_id", "cal_", ref=CALL, era=era)).values == ["cal_1"]


@pytest.mark.parametrize(("name", "typed"), [("agent_id", "x"), ("agent_id", "reminders"), ("goal", "a")])
async def test_what_does_not_fit_gives_nothing(name: str, typed: str) -> None:
    assert (await completed(FakeCaller(), name, typed)).values == []


async def test_at_most_a_hundred_are_given_in_the_order_of_the_list() -> None:
    many = samples.page([samples.agent(id=f"agt_{number}") for number in range(150)])
    found = await completed(FakeCaller(answers={"list_agents": many}), "agent_id", "agt_")
    assert found.values == [f"agt_{number}" for number in range(100)]
    assert found.has_more is True


async def test_pages_are_followed_until_something_fits_but_not_for_ever() -> None:
    def endless(_: Input) -> Any:
        return samples.page([samples.agent(id="agt_old", name="Other")], total=9_999, cursor="next")

    caller = FakeCaller(answers={"list_agents": endless})
    assert (await completed(caller, "agent_id", "zzz")).values == []
    cursors = [asked.asked.model_dump()["cursor"] for asked in caller.asked]
    assert cursors == [None, "next", "next", "next", "next"]


@both_eras
async def test_a_service_that_cannot_be_reached_completes_nothing(era: str) -> None:
    gone = ServiceUnreachable("x", request_sent=False, repeatable=True)
    assert (await completed(FakeCaller(answers={"list_agents": gone}), "agent_id", "", era=era)).values == []


def test_every_variable_of_a_template_can_be_completed() -> None:
    assert {template.variable for template in TEMPLATES} <= set(LISTS)


def test_every_id_that_a_prompt_takes_can_be_completed() -> None:
    names = {argument.name for prompt in PROMPTS for argument in prompt.arguments}
    assert names - set(LISTS) == {"goal", "question"}
