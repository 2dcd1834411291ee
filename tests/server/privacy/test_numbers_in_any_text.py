"""Telephone numbers in texts where another service may put them: masked whatever the field is called."""

import json
import re
from typing import Any, cast

import pytest
from mcp.types import TextContent, TextResourceContents
from pydantic import BaseModel

from callwright.client.errors import NotFound
from callwright.contract.declaration.pagination import Page
from callwright.server.mcp.app import build
from callwright.tools.catalogue.registry import TOOLS
from callwright.tools.numbers.masking import numbers_hidden_in
from callwright.tools.runtime.tool import Tool
from callwright.tools.wording.text import masked
from tests.support.mcp.masked_answers import answers, asked, shown
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, FakeMedia, assistant, server, session
from tests.support.tools.odd_numbers import ODDLY_WRITTEN

ABROAD = "no answer from +491712345678, +49 171 234 56 78, tel:+49-171-2345678 or 0049 171 2345678"
KEEPS = frozenset(
    {
        *("id", "text", "number", "from", "from_number", "forward_to", "system_prompt", "welcome_message"),
        *("message_template", "amount", "unanswered_questions", "url", "next_cursor", "secret"),
    }
)
"""Fields that show the organization's numbers, speech, and what is handed back as it came."""
HIDDEN_DIGITS = ("1712345678", "171 234", "171-234")


def _told(value: Any, name: str = "") -> Any:
    """An answer with a contact's number in every text that may be anything."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        told = {key: _told(entry, key) for key, entry in entries.items()}
        return {**told, "remark": ABROAD, "failure": {"message": [ABROAD], ABROAD: 1}} if name != "pagination" else told
    if isinstance(value, list):
        return [_told(entry, name) for entry in cast("list[Any]", value)]
    keeps = name in KEEPS or name.endswith(("_id", "_at", "_ids"))
    return f"{value} {ABROAD}" if isinstance(value, str) and not keeps else value


def _json_of(answer: Any) -> Any:
    return answer if answer is None else answer.model_dump(mode="json", by_alias=True, exclude_none=True)


def _reading(answer: Any) -> Any:
    """The same in the contract's own models, where a state is any word."""
    if not isinstance(answer, BaseModel):
        return answer
    more: dict[str, Any] = {}
    for name, value in answer.__dict__.items():
        free = name in ("status_reason", "name", "summary", "label", "description", "detail", "disposition", "currency")
        if isinstance(value, BaseModel):
            more[name] = _reading(value)
        elif isinstance(value, list):
            more[name] = [_reading(entry) for entry in cast("list[Any]", value)]
        elif free and isinstance(value, str | None):
            more[name] = ABROAD
    shown = answer.model_copy(update=more)
    if shown.model_extra is not None and not isinstance(answer, Page):
        shown.model_extra["remark"] = ABROAD
    return shown


@pytest.mark.parametrize("fits", [True, False])
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_whatever_text_another_service_puts_a_number_into_it_is_shown_without_its_middle(
    tool: Tool, fits: bool
) -> None:
    found = {name: _reading(answer) if fits else _told(_json_of(answer)) for name, answer in answers().items()}
    opened = session(FakeCaller(answers=found))
    opened.remote = True
    async with assistant(build(opened.opened), "2026-07-28") as client:
        result = await asked(client, tool)
        resources = await client.list_resources() if fits else None
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    text += json.dumps(result.structured_content, ensure_ascii=False)
    if resources is not None:
        text += "".join(f"{one.title} {one.description}" for one in resources.resources)
    left = [
        text[max(0, text.find(digits) - 150) : text.find(digits) + 20] for digits in HIDDEN_DIGITS if digits in text
    ]
    assert left == []


async def test_ids_moments_money_and_cursors_of_another_service_stay_as_they_are() -> None:
    given = {
        "id": "0049171234567800",
        "call_type": "outbound",
        "contact_id": "17123456789012",
        "external_ref": "550e8400-0012-3456-7890-123456789012",
        "started_at": "2026-11-21T09:30:00.000000+0000",
        "created": 1764000000,
        "idempotencyKey": "0171234567890",
        "next_cursor": "+/0049171234567800==",
        "cost": {"amount": "+0012345678.123456", "currency": "EUR", "micros": 1234567890},
        "contact_count": 123456,
    }
    async with assistant(server(FakeCaller(answers=answers() | {"get_call": given})), "auto") as client:
        result = await client.call_tool("get_call", {"call_id": "cal_1"})
    assert result.structured_content == given


async def test_an_id_that_is_a_telephone_number_and_a_number_in_an_address_lose_their_middle() -> None:
    given = {"id": "cal_1", "contact_id": "+491712345678", "recording_url": "https://a.test/1_+491712345678.mp3"}
    async with assistant(server(FakeCaller(answers=answers() | {"get_call": given})), "auto") as client:
        text = shown(await client.call_tool("get_call", {"call_id": "cal_1"}))
    assert "12345678" not in text
    assert "https://a.test/1_+4917•••5678.mp3" in text


ADDRESSES = (
    "tel:+1-202-555-9143",
    "https://a.test/+1.202.555.9143",
    "https://a.test/+1/202/555/9143",
    "https://a.test/x+1202555-9143",
    "https://a.test/?to=%2B1%20202%20555%209143",
    "https://a.test/?to=%2B1+202+555+9143",
    "https://a.test/0012025559143",
    "https://a.test/?tel=2025559143",
)


@pytest.mark.parametrize("address", ADDRESSES)
async def test_a_number_in_an_address_is_masked_however_it_is_written_and_counted_as_it_is_shown(address: str) -> None:
    given = {"id": "cal_1", "recording_url": address}
    async with assistant(server(FakeCaller(answers=answers() | {"get_call": given})), "auto") as client:
        text = shown(await client.call_tool("get_call", {"call_id": "cal_1"}))
    (hidden,) = numbers_hidden_in(address)
    assert masked(hidden) in text
    assert not re.search(r"555\D{0,3}9143", text)


@pytest.mark.parametrize("said", [{"direction": "inbound"}, {"call_type": "incoming"}, {"type": "Inbound"}])
async def test_the_number_of_somebody_who_called_is_theirs_whatever_says_so(said: dict[str, str]) -> None:
    given = {"id": "cal_1", "from": "+491712345678", "to": "+12025550199", **said}
    async with assistant(server(FakeCaller(answers=answers() | {"get_call": given})), "auto") as client:
        text = shown(await client.call_tool("get_call", {"call_id": "cal_1"}))
    assert "12345678" not in text
    assert "+12025550199" in text


async def test_a_summary_names_the_organizations_own_numbers_and_nobody_elses() -> None:
    preview = samples.preview().model_copy(update={"summary": "Call from +12025550199 to +491712345678."})
    own = samples.page([samples.number()])
    found = answers() | {"preview_deployment": preview, "list_phone_numbers": own}
    async with assistant(server(FakeCaller(answers=found)), "auto") as client:
        text = shown(await client.call_tool("preview_deployment", {"deployment_id": "dep_1"}))
    assert text.count("Call from +12025550199 to +4917•••5678.") >= 1
    assert "12345678" not in text


GONE = NotFound("none", code="not_found", status=404, type="not_found_error")
PLACE = "https://a.test/1_+491712345678"


async def test_a_recording_at_an_address_with_a_number_in_it_is_fetched_and_the_number_not_shown() -> None:
    caller = FakeCaller(answers=answers() | {"get_call": {"id": "cal_1", "recording_url": PLACE}}, media=GONE)
    caller.at[PLACE] = FakeMedia(b"ID3" + bytes(2_000))
    async with assistant(server(caller), "auto") as client:
        result = await client.call_tool("get_recording", {"call_id": "cal_1"})
        (part,) = (await client.read_resource("callwright://calls/cal_1/recording")).contents
    assert caller.addresses == [PLACE, PLACE]
    assert "1712345678" not in result.model_dump_json()
    assert part.mime_type == "audio/mpeg"


async def test_a_speaker_of_another_services_transcript_who_is_called_by_a_number_has_no_middle() -> None:
    call = {"id": "cal_1", "transcript_url": PLACE}
    caller = FakeCaller(answers=answers() | {"get_call": call, "get_transcript": GONE})
    said = {"turns": [{"speaker": "+491712345678", "channel": "tel:+491712345678", "text": "I am +491712345670."}]}
    caller.at[PLACE] = FakeMedia(json.dumps(said).encode())
    async with assistant(server(caller), "auto") as client:
        text = shown(await client.call_tool("get_transcript", {"call_id": "cal_1"}))
        (part,) = (await client.read_resource("callwright://calls/cal_1/transcript")).contents
    assert isinstance(part, TextResourceContents)
    for found in (text, part.text):
        assert "+491712345678" not in found
        assert "I am +491712345670." in found


async def test_things_that_are_offered_in_place_of_an_unknown_name_show_no_number() -> None:
    agents = samples.page([samples.agent(name="Anna for +49 171 2345678")])
    async with assistant(server(FakeCaller(answers=answers() | {"list_agents": agents})), "auto") as client:
        result = await client.call_tool("get_agent", {"agent_id": "Anna for +49 171 234"})
    assert "Anna for +4917•••5678" in str(result.content)


@pytest.mark.parametrize("text", [*ODDLY_WRITTEN, "\uff14\uff11\uff16\uff17\uff17\uff17\uff16\uff15\uff14\uff13"])
async def test_a_number_is_masked_in_any_column_and_in_the_greeting_whatever_stands_between_its_digits(
    text: str,
) -> None:
    row = samples.row().model_copy(update={"phone_number": "+14167770123", "values": {"remark": text}})
    preview = samples.preview().model_copy(update={"greeting": f"Hello, is {text} right?"})
    found = answers() | {"list_audience_rows": samples.page([row]), "preview_deployment": preview}
    async with assistant(server(FakeCaller(answers=found)), "auto") as client:
        results = (
            await client.call_tool("list_audience_rows", {"audience_id": "aud_1"}),
            await client.call_tool("preview_deployment", {"deployment_id": "dep_1"}),
        )
    for result in results:
        told = shown(result)
        assert "\u2022\u2022\u20226543" in told
        assert text not in told
