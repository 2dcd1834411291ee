"""Completion of ids in both eras."""

from typing import Any

import anyio
import pytest
from mcp.types import PromptReference, ResourceTemplateReference

from callwright.client.errors import ServiceUnreachable
from callwright.contract.declaration.model import Input
from callwright.prompts.registry import PROMPTS
from callwright.server.mcp import completions
from callwright.server.mcp.candidates import LISTS
from callwright.server.mcp.resources.resources import TEMPLATES, template_named
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, assistant, server

CALL = ResourceTemplateReference(uri="callwright://calls/{call_id}")
PROMPT = PromptReference(name="plan_campaign")


async def completed(
    caller: FakeCaller,
    name: str,
    typed: str,
    *,
    ref: Any = PROMPT,
    era: str = "2026-07-28",
    given: dict[str, str] | None = None,
):
    async with assistant(server(caller), era) as client:
        found = await client.complete(ref, {"name": name, "value": typed}, context_arguments=given)
    return found.completion


def template(name: str) -> ResourceTemplateReference:
    return ResourceTemplateReference(uri=template_named(name).uri)


@pytest.mark.parametrize(
    ("name", "typed", "expected"),
    [
        ("call_id", "cal", "cal_1"),
        ("agent_id", "AGT", "agt_1"),
        ("agent_id", "clin", "agt_1"),
        ("deployment_id", "March", "dep_1"),
        ("audience_id", "march p", "aud_1"),
        ("audience", "aud", "aud_1"),
        ("audience", "", samples.audience().name),
        ("agent", "clin", samples.agent().name),
        ("voice_id", "en-us", "en-US-ada"),
        ("voice_id", "ada", "en-US-ada"),
    ],
)
async def test_ids_are_found_by_the_beginning_of_id_or_name(name: str, typed: str, expected: str, era: str) -> None:
    assert (await completed(FakeCaller(), name, typed, era=era)).values == [expected]


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


@pytest.mark.parametrize(("count", "more"), [(99, False), (100, False), (101, True)])
async def test_it_is_said_whether_there_are_more(count: int, more: bool) -> None:
    many = samples.page([samples.agent(id=f"agt_{number}") for number in range(count)])
    found = await completed(FakeCaller(answers={"list_agents": many}), "agent_id", "agt_")
    assert (len(found.values), found.has_more) == (min(count, 100), more)


@pytest.mark.parametrize(
    ("name", "given", "filters"),
    [
        ("call_id", {"deployment_id": "dep_7"}, {"deployment_id": "dep_7"}),
        ("call_id", {"deployment_id": "dep_7", "agent_id": "agt_7"}, {"deployment_id": "dep_7", "agent_id": "agt_7"}),
        ("deployment_id", {"agent": "agt_7"}, {"agent_id": "agt_7"}),
        ("deployment_id", {"audience_id": "aud_7", "call_id": "cal_1"}, {"audience_id": "aud_7"}),
        ("deployment_id", {"agent": "Clinic"}, {}),
        ("agent_id", {"deployment_id": "dep_7"}, {}),
        ("call_id", {"deployment_id": "", "call_id": "cal_0"}, {}),
    ],
)
async def test_arguments_that_were_given_narrow_the_others(
    name: str, given: dict[str, str], filters: dict[str, str], era: str
) -> None:
    caller = FakeCaller()
    await completed(caller, name, "", given=given, era=era)
    asked = caller.asked[0].asked.model_dump(exclude_none=True, exclude={"per_page"})
    assert asked == {field: [found] for field, found in filters.items()}


@pytest.mark.parametrize(("name", "expected"), [("call", ["cal_0", "cal_1"]), ("transcript", ["cal_1"])])
async def test_a_transcript_is_offered_only_where_somebody_spoke(name: str, expected: list[str]) -> None:
    calls = samples.page([samples.call(id="cal_0", turn_count=0), samples.call()])
    caller = FakeCaller(answers={"list_calls": calls})
    assert (await completed(caller, "call_id", "cal", ref=template(name))).values == expected


@pytest.mark.parametrize(
    ("name", "typed", "expected"),
    [("speaker", "", ["agent", "contact"]), ("speaker", "C", ["contact"]), ("topic", "out", ["outcomes"])],
)
async def test_words_are_completed_without_asking_the_service(
    name: str, typed: str, expected: list[str], era: str
) -> None:
    caller = FakeCaller()
    found = await completed(caller, name, typed, ref=template("transcript" if name == "speaker" else "guide"), era=era)
    assert (found.values, found.has_more, caller.asked) == (expected, False, [])


async def test_a_slow_service_gives_what_was_found_until_then(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(FakeCaller):
        async def ask(self, operation: Any, asked: Any, /, *, idempotency_key: str | None = None) -> Any:
            if len(self.asked) == 1:
                await anyio.sleep_forever()
            return await super().ask(operation, asked, idempotency_key=idempotency_key)

    assert completions.PATIENCE_S == 3
    monkeypatch.setattr(completions, "PATIENCE_S", 0.05)
    first = samples.page([samples.agent()], total=300, cursor="next")
    found = await completed(Slow(answers={"list_agents": first}), "agent_id", "agt")
    assert (found.values, found.has_more) == (["agt_1"], True)


async def test_names_are_cleaned() -> None:
    named = samples.page([samples.agent(name="Cli\u202enic\u200b")])
    assert (await completed(FakeCaller(answers={"list_agents": named}), "agent", "clinic")).values == ["Clinic"]


async def test_pages_are_followed_until_something_fits_but_not_for_ever() -> None:
    def endless(_: Input) -> Any:
        return samples.page([samples.agent(id="agt_old", name="Other")], total=9_999, cursor="next")

    caller = FakeCaller(answers={"list_agents": endless})
    found = await completed(caller, "agent_id", "zzz")
    assert (found.values, found.has_more) == ([], True)
    cursors = [asked.asked.model_dump()["cursor"] for asked in caller.asked]
    assert cursors == [None, "next", "next", "next", "next"]


async def test_a_service_that_cannot_be_reached_completes_nothing(era: str) -> None:
    gone = ServiceUnreachable("x", request_sent=False, repeatable=True)
    assert (await completed(FakeCaller(answers={"list_agents": gone}), "agent_id", "", era=era)).values == []


def test_every_variable_of_a_template_can_be_completed() -> None:
    names = {name for template in TEMPLATES for name in template.variables}
    assert names - set(LISTS) - set(completions.WORDS) == {"from", "to", "cursor"}


def test_every_id_that_a_prompt_takes_can_be_completed() -> None:
    names = {argument.name for prompt in PROMPTS for argument in prompt.arguments}
    assert names - set(LISTS) == {"goal", "question"}
