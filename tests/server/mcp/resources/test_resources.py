"""Resources in both eras."""

import base64
import json

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, BlobResourceContents, TextResourceContents

from callwright.client.errors import NotFound, ServiceFailed, ServiceProblem, ServiceUnreachable
from callwright.contract.calls.calls import Call
from callwright.server.mcp.resources.content import TEXT_BYTES
from callwright.server.mcp.resources.reading import READERS
from callwright.server.mcp.resources.resources import TEMPLATES, UNTRUSTED
from callwright.tools.untrusted.untrusted_fields import untrusted_paths
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, FakeMedia, assistant, server

MISSING = NotFound("There is no such thing.", code="not_found", status=404, type="not_found_error")
TEXTS = {
    "callwright://calls/cal_1": "application/json",
    "callwright://calls/cal_1/transcript": "text/markdown",
    "callwright://calls/cal_1/transcript.md": "text/markdown",
    "callwright://calls/cal_1/transcript.json": "application/json",
    "callwright://calls/cal_1/transcript.vtt": "text/vtt",
    "callwright://agents/agt_1/prompt": "text/markdown",
    "callwright://deployments/dep_1": "application/json",
    "callwright://deployments/dep_1/report.csv": "text/csv",
    "callwright://deployments/dep_1/calls.csv": "text/csv",
    "callwright://deployments/dep_1/outcomes.csv": "text/csv",
    "callwright://audiences/aud_1/rejects.csv": "text/csv",
}
SOUNDS = ["callwright://calls/cal_1/recording", "callwright://voices/en-US-ada/preview"]
EVERY = [*TEXTS, *SOUNDS]


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


async def test_templates_are_listed_with_their_types(era: str) -> None:
    async with assistant(server(FakeCaller()), era) as client:
        listed = await client.list_resource_templates()
    found = {template.uri_template: template.mime_type for template in listed.resource_templates}
    assert found == {template.uri: template.mime_type for template in TEMPLATES if not template.is_fixed}
    assert found["callwright://calls/{call_id}/transcript{?from,to,speaker}"] == "text/markdown"
    assert all(template.description and template.title for template in listed.resource_templates)


def test_every_template_has_a_reader() -> None:
    assert {template.name for template in TEMPLATES} == set(READERS)


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


async def test_where_words_of_others_stand_is_said_beside_them(era: str) -> None:
    said = {uri: (await read(FakeCaller(), uri, era)).meta for uri in EVERY}
    assert said["callwright://calls/cal_1"] == {UNTRUSTED: list(untrusted_paths(Call))}
    assert said["callwright://calls/cal_1/transcript.json"] == {UNTRUSTED: ["turns.text"]}
    assert said["callwright://deployments/dep_1"] is None


async def test_words_of_others_are_cleaned_and_the_number_masked() -> None:
    call = samples.call(unanswered_questions=["a\u202eb\u200bc"], variables={"na\u200bme": "x\ny"})
    found = json.loads(await text(FakeCaller(answers={"get_call": call}), "callwright://calls/cal_1"))
    assert found["unanswered_questions"] == ["abc"]
    assert found["variables"] == {"name": "x y"}
    assert samples.CALLEE not in json.dumps(found)
    assert found["from"] == "+12025550199"


async def test_a_call_with_very_long_variables_is_cut_and_says_so() -> None:
    call = samples.call(variables={f"column{number}": "x" * 1_000 for number in range(100)})
    found = await text(FakeCaller(answers={"get_call": call}), "callwright://calls/cal_1")
    assert len(found.encode()) <= TEXT_BYTES
    assert json.loads(found)["shortened"] == "Texts over 200 characters are cut: get_call gives them whole."


async def test_a_very_long_prompt_is_cut_and_says_what_is_left() -> None:
    agent = samples.agent(system_prompt="नमस्ते " * 4_600)
    found = await text(FakeCaller(answers={"get_agent": agent}), "callwright://agents/agt_1/prompt")
    assert len(found.encode()) <= TEXT_BYTES
    assert found.endswith("more characters: get_agent gives the whole prompt.]\n")


@pytest.mark.parametrize("uri", SOUNDS)
async def test_a_recording_is_a_blob(uri: str, era: str) -> None:
    body = b"ID3" + bytes(range(256))
    found = await read(FakeCaller(media=FakeMedia(body)), uri, era)
    assert isinstance(found, BlobResourceContents)
    assert found.mime_type == "audio/mpeg"
    assert base64.b64decode(found.blob) == body


async def test_a_recording_above_the_cap_is_words_with_a_link(era: str) -> None:
    caller = FakeCaller(media=FakeMedia(bytes(1_000_001)))
    found = await read(caller, "callwright://calls/cal_1/recording", era, base_url="http://127.0.0.1:8080/v1")
    assert isinstance(found, TextResourceContents)
    assert found.mime_type == "text/plain"
    assert "larger than 750,000 bytes" in found.text
    assert found.text.endswith("http://127.0.0.1:8080/v1/calls/cal_1/recording")


async def test_without_a_synthesiser_the_reason_is_said(era: str) -> None:
    problem = ServiceFailed("No synthesiser.", code="service_unavailable", status=503, type="api_error")
    code, message = await failure(FakeCaller(media=problem), "callwright://calls/cal_1/recording", era)
    assert code == INTERNAL_ERROR
    assert message.startswith("No synthesiser.")


@pytest.mark.parametrize("uri", EVERY)
async def test_what_does_not_exist_is_an_unknown_resource(uri: str, era: str) -> None:
    caller = FakeCaller(answers=dict.fromkeys(samples.answers(), MISSING), media=MISSING)
    code, message = await failure(caller, uri, era)
    assert code == INVALID_PARAMS
    assert message.startswith("Unknown resource. list_")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("?form=1", "Transcript has no parameter 'form'. There are from, to, speaker."),
        ("?from=a", "from must be a number of seconds after the answer, for example 12.5."),
        ("?from=-1", "from must be a number of seconds after the answer, for example 12.5."),
        ("?to=nan", "to must be a number of seconds after the answer, for example 12.5."),
        ("?from=9&to=9", "to must be greater than from: both are seconds after the answer."),
        ("?speaker=nobody", "speaker must be agent or contact."),
        ("?speaker=agent&speaker=contact", "Transcript takes each parameter once. There are from, to, speaker."),
    ],
)
async def test_a_wrong_parameter_is_named_in_words(query: str, words: str, era: str) -> None:
    code, message = await failure(FakeCaller(), f"callwright://calls/cal_1/transcript{query}", era)
    assert (code, message) == (INVALID_PARAMS, words)


async def test_a_resource_without_parameters_says_so(era: str) -> None:
    code, message = await failure(FakeCaller(), "callwright://deployments/dep_1?x=1", era)
    assert (code, message) == (INVALID_PARAMS, "Deployment has no parameter 'x'. It takes no parameters.")


async def test_a_fault_of_the_server_is_called_one(era: str, caplog: pytest.LogCaptureFixture) -> None:
    code, message = await failure(FakeCaller(answers={"get_call": KeyError("secret")}), EVERY[0], era)
    assert code == INTERNAL_ERROR
    assert message.startswith("Reading this failed inside the server.")
    assert "secret" not in message
    assert caplog.records


@pytest.mark.parametrize(
    "uri",
    [
        "callwright://calls",
        "callwright://calls/a/b/c",
        "callwright://calls/..%2Fx",
        "callwright://calls/%00",
        "callwright://calls/",
        "other://calls/cal_1",
        f"callwright://calls/{'a' * 101}",
    ],
)
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
