"""Resources in both eras."""

import base64
import json

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, BlobResourceContents, TextResourceContents

from callwright.client.errors import NotFound, ServiceFailed, ServiceProblem, ServiceUnreachable
from callwright.server.reading import READERS
from callwright.server.resources import TEMPLATES
from tests.tools import samples
from tests.tools.fakes import ERAS, FakeCaller, FakeMedia, assistant, server

both_eras = pytest.mark.parametrize("era", ERAS)
MISSING = NotFound("There is no such thing.", code="not_found", status=404, type="not_found_error")
TEXTS = {
    "callwright://calls/cal_1": "application/json",
    "callwright://calls/cal_1/transcript": "text/markdown",
    "callwright://calls/cal_1/transcript.json": "application/json",
    "callwright://calls/cal_1/transcript.vtt": "text/vtt",
    "callwright://agents/agt_1/prompt": "text/markdown",
    "callwright://deployments/dep_1": "application/json",
}
EVERY = [*TEXTS, "callwright://calls/cal_1/recording"]


async def read(caller: FakeCaller, uri: str, era: str = "2026-07-28", *, base_url: str | None = None):
    async with assistant(server(caller, base_url=base_url), era) as client:
        found = await client.read_resource(uri)
    assert len(found.contents) == 1
    return found.contents[0]


async def text(caller: FakeCaller, uri: str) -> str:
    found = await read(caller, uri)
    assert isinstance(found, TextResourceContents)
    return found.text


async def failure(caller: FakeCaller, uri: str, era: str = "2026-07-28") -> tuple[int, str]:
    async with assistant(server(caller), era) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
    return caught.value.error.code, caught.value.error.message


@both_eras
async def test_templates_are_listed_with_their_types(era: str) -> None:
    async with assistant(server(FakeCaller()), era) as client:
        listed = await client.list_resource_templates()
    found = {template.uri_template: template.mime_type for template in listed.resource_templates}
    assert found == {template.uri: template.mime_type for template in TEMPLATES}
    assert all(template.description and template.title for template in listed.resource_templates)


def test_every_template_has_a_reader() -> None:
    assert {template.name for template in TEMPLATES} == set(READERS)


@both_eras
@pytest.mark.parametrize(("uri", "mime_type"), TEXTS.items())
async def test_a_resource_is_text_of_its_type(uri: str, mime_type: str, era: str) -> None:
    found = await read(FakeCaller(), uri, era)
    assert isinstance(found, TextResourceContents)
    assert (found.mime_type, found.uri) == (mime_type, uri)
    assert found.text


async def test_json_resources_hold_the_data_without_nulls() -> None:
    call = json.loads(await text(FakeCaller(), "callwright://calls/cal_1"))
    assert call["outcome"] == "answered"
    assert "callback_at" not in call
    assert json.loads(await text(FakeCaller(), "callwright://calls/cal_1/transcript.json"))["turn_count"] == 3
    assert json.loads(await text(FakeCaller(), "callwright://deployments/dep_1"))["status"] == "active"


async def test_the_transcript_is_fenced_with_a_tag_of_its_own() -> None:
    found = await text(FakeCaller(), "callwright://calls/cal_1/transcript")
    assert "<untrusted-id1>" in found
    assert found.rstrip().endswith("</untrusted-id1>")


async def test_an_agents_prompt_is_the_prompt_alone() -> None:
    assert await text(FakeCaller(), "callwright://agents/agt_1/prompt") == samples.agent().system_prompt


@both_eras
async def test_a_recording_is_a_blob(era: str) -> None:
    body = b"ID3" + bytes(range(256))
    found = await read(FakeCaller(media=FakeMedia(body)), "callwright://calls/cal_1/recording", era)
    assert isinstance(found, BlobResourceContents)
    assert found.mime_type == "audio/mpeg"
    assert base64.b64decode(found.blob) == body


@both_eras
async def test_a_recording_above_the_cap_is_words_with_a_link(era: str) -> None:
    caller = FakeCaller(media=FakeMedia(bytes(1_000_001)))
    found = await read(caller, "callwright://calls/cal_1/recording", era, base_url="http://127.0.0.1:8080/v1")
    assert isinstance(found, TextResourceContents)
    assert found.mime_type == "text/plain"
    assert "larger than 1,000,000 bytes" in found.text
    assert found.text.endswith("http://127.0.0.1:8080/v1/calls/cal_1/recording")


@both_eras
async def test_without_a_synthesiser_the_reason_is_said(era: str) -> None:
    problem = ServiceFailed("No synthesiser.", code="service_unavailable", status=503, type="api_error")
    code, message = await failure(FakeCaller(media=problem), "callwright://calls/cal_1/recording", era)
    assert code == INTERNAL_ERROR
    assert message.startswith("No synthesiser.")


@both_eras
@pytest.mark.parametrize("uri", EVERY)
async def test_what_does_not_exist_is_an_unknown_resource(uri: str, era: str) -> None:
    caller = FakeCaller(answers=dict.fromkeys(samples.answers(), MISSING), media=MISSING)
    code, message = await failure(caller, uri, era)
    assert code == INVALID_PARAMS
    assert message.startswith("Unknown resource. list_")


@both_eras
@pytest.mark.parametrize("uri", ["callwright://calls", "callwright://calls/a/b/c", "other://calls/cal_1"])
async def test_an_address_of_another_form_is_an_unknown_resource(uri: str, era: str) -> None:
    code, _ = await failure(FakeCaller(), uri, era)
    assert code == INVALID_PARAMS


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ServiceUnreachable("x", request_sent=False, repeatable=True), "The service cannot be reached."),
        (ServiceProblem("Key.", code="invalid_api_key", status=401, type="authentication_error"), "CALLWRIGHT_API_KEY"),
    ],
)
async def test_other_failures_say_what_to_do(error: Exception, words: str) -> None:
    code, message = await failure(FakeCaller(answers={"get_agent": error}), "callwright://agents/agt_1/prompt")
    assert code == INTERNAL_ERROR
    assert words in message


async def test_subtitles_of_a_call_where_nobody_spoke_are_refused_in_words() -> None:
    caller = FakeCaller(answers={"get_transcript": samples.transcript(turns=[], turn_count=0, status="absent")})
    code, message = await failure(caller, "callwright://calls/cal_1/transcript.vtt")
    assert (code, message) == (INTERNAL_ERROR, "There is no transcript: nobody spoke on this call.")
