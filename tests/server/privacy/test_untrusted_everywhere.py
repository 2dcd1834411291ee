"""Hostile words in everything that a model reads: text, data, resources, completion and errors."""

import csv
import io
import json
import re
from collections.abc import Generator
from typing import Any, cast

import pytest
from mcp import Client
from mcp.types import CallToolResult, ResourceTemplateReference, TextContent, TextResourceContents

from callwright.client.errors import InvalidRequest
from callwright.contract.audiences import AudienceRow, Column, RowError, RowsAdded
from callwright.contract.calls.transcripts import Snippet
from callwright.tools.wording.cleaning import cleaned
from tests.support.tools import event_samples, finding_samples, samples
from tests.support.tools.fakes import ERAS, FakeCaller, assistant, server
from tests.support.tools.hostile import CASES, Case, fences_of, outside, unseen

LABEL = "callwright/untrusted"
SIGN = "zaunkoenig7319"
"""Stands at the end of all that is foreign, so that it is recognised wherever it turns up."""
BENIGN = Case("nothing special", "Fine.")
LONG = 1_000
"""Longer words are cut in places, and then sentences say so outside of fences."""

TOOL_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("get_transcript", {"call_id": "cal_1"}),
    ("search_transcripts", {"query": "expensive"}),
    ("search_transcripts", {"query": "expensive", "snippets": 10}),
    ("get_call", {"call_id": "cal_1"}),
    ("hang_up_call", {"call_id": "cal_1"}),
    ("resolve_call", {"call_id": "cal_1", "placed": True}),
    ("correct_disposition", {"call_id": "cal_1", "disposition": "goal_met"}),
    ("list_calls", {}),
    ("list_calls", {"fields": ["id", "unanswered_questions", "variables", "warnings"]}),
    ("list_contacts", {"deployment_id": "dep_1"}),
    ("list_contacts", {"deployment_id": "dep_1", "fields": ["id", "values", "phone_number"]}),
    ("list_audience_rows", {"audience_id": "aud_1"}),
    ("list_audience_rows", {"audience_id": "aud_1", "fields": ["values", "external_id"]}),
    ("list_import_errors", {"audience_id": "aud_1", "import_id": "imp_1"}),
    ("get_audience_import", {"audience_id": "aud_1", "import_id": "imp_1"}),
    ("add_audience_rows", {"audience_id": "aud_1", "rows": [{"phone_number": "1"}]}),
    ("get_audience", {"audience_id": "aud_1"}),
    ("create_audience", {"name": "B"}),
    ("update_audience", {"audience_id": "aud_1", "name": "B"}),
    ("list_audiences", {}),
    ("get_audience", {"audience_id": "aud_1", "columns_from": 0}),
    ("preview_deployment", {"deployment_id": "dep_1"}),
    ("get_webhook_delivery", {"webhook_id": "whk_1", "delivery_id": "dlv_1"}),
    ("explain_event", {"event_id": "evt_1"}),
    ("test_webhook", {"webhook_id": "whk_1"}),
)
CALL = "callwright://calls/cal_1"
JSON, VTT = f"{CALL}/transcript.json", f"{CALL}/transcript.vtt"
FENCED = (f"{CALL}/transcript", f"{CALL}/transcript.md")
TABLES = (
    "callwright://deployments/dep_1/report.csv",
    "callwright://deployments/dep_1/calls.csv",
    "callwright://audiences/aud_1/rejects.csv",
)
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def foreign(case: Case) -> str:
    return f"{case.text} {SIGN}"


def answers_with(text: str) -> dict[str, Any]:
    """Answers of the service that hold these words wherever people outside can put some."""
    call = samples.call(
        contact_name=text,
        external_id=text,
        unanswered_questions=[text, "Is there parking?"],
        variables={"note": text, f"column {text}": "x"},
        warnings=[f"sim.outcome cannot be '{text}'."],
    )
    error = RowError(row_number=7, column=text, code="bad_type", message=f"cannot be '{text}'", value_redacted=text)
    row = AudienceRow(
        id="row_1",
        audience_id="aud_1",
        phone_number=samples.CALLEE,
        external_id=text,
        values={"note": text, f"column {text}": "x"},
        created_at=finding_samples.AT,
    )
    contact = samples.contact().model_copy(update={"values": {"note": text, f"column {text}": "x"}})
    columns = [Column(name=text, type="string", sample=text, fill_rate=0.5)]
    audience = samples.audience(
        columns=columns, phone_column=text, timezone_column=text, external_id_column=text, last_import_id="imp_1"
    )
    snippet = Snippet(turn_index=3, role="contact", start_seconds=12.0, text=text)
    return samples.answers() | {
        "get_transcript": samples.transcript(samples.turn(0, "Hello.", "agent"), samples.turn(1, text)),
        "search_transcripts": samples.page([finding_samples.match(snippets=[snippet])]),
        "get_call": call,
        "hang_up_call": call,
        "resolve_call": call,
        "correct_disposition": call,
        "list_calls": samples.page([call]),
        "list_contacts": samples.page([contact]),
        "list_audience_rows": samples.page([row]),
        "list_import_errors": samples.page([error]),
        "add_audience_rows": RowsAdded(
            audience_id="aud_1", received=1, added=0, invalid=1, duplicates=0, errors=[error]
        ),
        "get_audience": audience,
        "create_audience": audience,
        "update_audience": audience,
        "list_audiences": samples.page([audience]),
        "preview_deployment": samples.preview().model_copy(update={"greeting": text}),
        "get_webhook_delivery": event_samples.delivered(
            attempts=[event_samples.attempt(response_excerpt=text, detail=text)]
        ),
        "explain_event": event_samples.explanation(event_samples.arrival(response_excerpt=text)),
    }


def text_of(result: CallToolResult) -> str:
    assert not result.is_error, result.content
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def leaves(data: Any, path: str = "") -> Generator[tuple[str, str]]:
    """Every name and every text of an answer, with the path of its field."""
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, list):
        for entry in cast("list[Any]", data):
            yield from leaves(entry, path)
    elif isinstance(data, dict):
        for name, entry in cast("dict[str, Any]", data).items():
            yield path, name
            yield from leaves(entry, f"{path}.{name}".lstrip("."))


async def replies(client: Client) -> list[CallToolResult]:
    return [await client.call_tool(name, arguments) for name, arguments in TOOL_CALLS]


async def resource(client: Client, uri: str) -> str:
    (part,) = (await client.read_resource(uri)).contents
    assert isinstance(part, TextResourceContents)
    return part.text


def check_text(text: str, where: str, around: str | None) -> None:
    """Nothing foreign stands outside of a fence, where `around` is all that may; nothing inside looks like a mark."""
    assert unseen(text, lines=True) == [], where
    for fence in fences_of(text):
        assert "<" not in fence.body, where
        assert ">" not in fence.body, where
    assert SIGN not in outside(text), where
    if around is not None:
        assert outside(text) == around, where


def check_data(result: CallToolResult, case: Case, where: str) -> None:
    """Nothing unseen in the data, and every foreign word under a label."""
    labels = cast("list[str]", (result.meta or {}).get(LABEL, []))
    for path, text in leaves(result.structured_content):
        assert unseen(text) == [], f"{where} {path}"
        if SIGN in text:
            assert any(path == label or path.startswith(f"{label}.") for label in labels), f"{where} {path}"
            if case.kept:
                assert case.text in text, f"{where} {path}"


_AROUND: list[str] = []


async def around_benign_words() -> list[str]:
    """What replies and fenced resources say around foreign words. Asked for once."""
    if not _AROUND:
        async with assistant(server(FakeCaller(answers=answers_with(foreign(BENIGN)))), "2026-07-28") as client:
            found = [text_of(result) for result in await replies(client)]
            found += [await resource(client, uri) for uri in FENCED]
            _AROUND.extend(outside(text) for text in found)
    return _AROUND


@each_case
async def test_no_tool_lets_foreign_words_out_of_their_fence(case: Case) -> None:
    benign = await around_benign_words()
    async with assistant(server(FakeCaller(answers=answers_with(foreign(case)))), "2026-07-28") as client:
        found = await replies(client)
        again = await client.call_tool(*TOOL_CALLS[0])
    for (name, _), result, around in zip(TOOL_CALLS, found, benign[: len(TOOL_CALLS)], strict=True):
        text = text_of(result)
        check_text(text, name, around if len(case.text) < LONG else None)
        check_data(result, case, name)
    tags = [fence.tag for result in (*found, again) for fence in fences_of(text_of(result))]
    assert len(set(tags)) == len(tags), "a tag is used twice"


@each_case
async def test_no_resource_lets_foreign_words_pass_for_its_own(case: Case) -> None:
    benign = await around_benign_words()
    async with assistant(server(FakeCaller(answers=answers_with(foreign(case)))), "2026-07-28") as client:
        found = {uri: await resource(client, uri) for uri in (*FENCED, CALL, JSON, VTT, *TABLES)}
    for uri, around in zip(FENCED, benign[len(TOOL_CALLS) :], strict=True):
        check_text(found[uri], uri, around if len(case.text) < LONG else None)
        body = "".join(fence.body for fence in fences_of(found[uri]))
        assert re.search(r"(?<!\\)(\\\\)*\[", body) is None, "a bracket could begin a link or a picture"
        assert SIGN in body or len(case.text) > LONG
    for uri in (CALL, JSON):
        for path, text in leaves(json.loads(found[uri])):
            assert unseen(text) == [], f"{uri} {path}"
    subtitles = found[VTT]
    assert unseen(subtitles, lines=True) == []
    assert len(re.findall(r"^\S+ --> ", subtitles, flags=re.M)) == 2
    assert subtitles.count("<") == subtitles.count("<v ") + subtitles.count("</v>") == 4
    assert [block.splitlines()[0][:4] for block in subtitles.strip().split("\n\n")] == [
        "WEBV",
        "NOTE",
        "NOTE",
        "0",
        "1",
    ]
    for uri, columns in zip(TABLES, (14, 13, 7), strict=True):
        rows = list(csv.reader(io.StringIO(found[uri])))
        assert [len(row) for row in rows] == [columns, columns], uri
        for cell in (cell for row in rows for cell in row):
            assert unseen(cell) == [], uri
            assert not cell.lstrip().startswith(("=", "+", "-", "@")), uri


async def refusal(words: str) -> str:
    """What the model reads when the service refuses rows and names a column of them; and no name is suggested."""
    problem = InvalidRequest(
        f"rows.3.{words}: a field is not right.",
        code="invalid_field",
        status=400,
        type="validation_error",
        field=f"rows.3.{words}",
        errors=[{"field": "name", "message": "x"}, {"field": f"rows.4.{words}", "message": "not allowed"}],
    )
    answers = samples.answers() | {
        "add_audience_rows": problem,
        "list_agents": samples.page([samples.agent(name=words)]),
    }
    async with assistant(server(FakeCaller(answers=answers)), "2026-07-28") as client:
        result = await client.call_tool("add_audience_rows", {"audience_id": "aud_1", "rows": [{"phone_number": "1"}]})
        ref = ResourceTemplateReference(type="ref/resource", uri="callwright://agents/{agent_id}/prompt")
        completed = await client.complete(ref, {"name": "agent_id", "value": ""})
    assert result.is_error
    assert completed.completion.values == ["agt_1"]
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


@each_case
async def test_errors_and_completion_say_nothing_foreign(case: Case) -> None:
    assert await refusal(foreign(case)) == (
        "rows.3: a field is not right. rows.4: not allowed. Correct the field named above and call again."
    )


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("case", CASES[::12], ids=lambda case: case.name)
async def test_both_eras_of_the_protocol_are_alike(case: Case, era: str) -> None:
    async with assistant(server(FakeCaller(answers=answers_with(foreign(case)))), era) as client:
        for (name, _), result in zip(TOOL_CALLS, await replies(client), strict=True):
            check_text(text_of(result), name, None)
            check_data(result, case, name)


async def test_a_names_line_break_makes_no_line() -> None:
    answers = samples.answers() | {
        "list_audiences": samples.page([samples.audience(name="A\nagt_9  Trusted\u202e")]),
        "list_agents": samples.page([samples.agent(name="A\r\nagt_9  Trusted")]),
    }
    async with assistant(server(FakeCaller(answers=answers)), "2026-07-28") as client:
        for name in ("list_audiences", "list_agents"):
            text = text_of(await client.call_tool(name, {}))
            assert len(text.splitlines()) == 1
            assert unseen(text) == []


def test_foreign_words_are_recognised() -> None:
    for case in CASES:
        assert cleaned(foreign(case)).endswith(SIGN)
