"""import_audience with the path of a file, sent in parts to a service that takes no uploads, in both eras."""

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from mcp import Client
from mcp.types import CallToolResult, ElicitResult

from callwright.client.errors import InvalidRequest, ServiceTimeout
from callwright.contract.audiences import AudienceImport, ImportAudience
from callwright.server.mcp.app import build
from callwright.server.mcp.session import ServerSession
from callwright.tools.arguments.csv_parts import parts_of
from callwright.tools.arguments.file_arguments import PATIENCE_S
from callwright.tools.arguments.files import Folders
from callwright.tools.arguments.schema import input_schema
from callwright.tools.serving import file_import as module
from callwright.tools.serving.file_import import import_tool
from callwright.tools.serving.served import served_tools
from callwright.tools.serving.served_files import with_files
from callwright.tools.toolsets import enabled_tools
from tests.support.tools import samples
from tests.support.tools.fakes import ERAS, FakeCaller, FakeClock, assistant, server, session
from tests.support.tools.results import text_of

NEWER = ERAS[-1]
HEADER = "phone_number,first_name\n"
ROWS = [f"+1202555{number:04d},Ada\n" for number in range(100, 130)]


@dataclass
class Service(FakeCaller):
    """Imports what it is sent, each at the second look."""

    answers: dict[str, Any] = field(default_factory=samples.answers)
    sent: list[str] = field(default_factory=list[str])
    looks: int = 0
    looks_needed: int = 2
    failing: dict[int, Exception] = field(default_factory=dict[int, Exception])
    ends: Callable[[AudienceImport], AudienceImport] = lambda done: done
    after_the_first_part: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.answers |= {"import_audience": self._begin, "get_audience_import": self._look}

    def _begin(self, asked: ImportAudience) -> AudienceImport | Exception:
        if asked.csv is None:
            return InvalidRequest("csv is required", code="missing_field", status=400, type="x", field="csv")
        if error := self.failing.get(len(self.sent) + 1):
            return error
        self.sent.append(asked.csv or "")
        if len(self.sent) == 1:
            self.after_the_first_part()
        self.looks = 0
        return samples.imported(
            id=f"imp_{len(self.sent)}", status="importing", percent=0, added=0, invalid=0, duplicates=0
        )

    def _look(self, _: object) -> AudienceImport:
        self.looks += 1
        made = samples.imported(id=f"imp_{len(self.sent)}", status="importing", added=0, invalid=0, duplicates=0)
        if self.looks < self.looks_needed:
            return made
        rows = self.sent[-1].count("\n") - 1
        return self.ends(made.model_copy(update={"status": "completed", "added": rows, "total_rows": rows}))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def small(file: Any, **reading: Any) -> Any:
        return parts_of(file, part_bytes=250, **reading)

    monkeypatch.setattr(module, "parts_of", small)
    (tmp_path / "people.csv").write_text(HEADER + "".join(ROWS), encoding="utf-8")
    return tmp_path


def opened(
    service: FakeCaller, folder: Path, era: str = NEWER, *, clock: FakeClock | None = None
) -> AbstractAsyncContextManager[Client]:
    return assistant(build(remote(service, clock).opened, tools=with_files(served_tools(), Folders([folder]))), era)


def remote(service: FakeCaller, clock: FakeClock | None = None) -> ServerSession:
    held = session(service, clock=clock)
    held.remote = True
    return held


async def imported(service: FakeCaller, folder: Path, *, clock: FakeClock | None = None, **more: Any) -> CallToolResult:
    async with opened(service, folder, clock=clock) as client:
        return await client.call_tool("import_audience", {"audience_id": "aud_1", "path": "people.csv", **more})


def imports_of(service: Service) -> list[str]:
    """What was asked about imports, without the upload that the service refuses."""
    return [
        asked.operation
        for asked in service.asked
        if asked.operation == "get_audience_import" or getattr(asked.asked, "csv", None) is not None
    ]


def rows_of(service: Service) -> list[str]:
    assert all(part.startswith(HEADER) for part in service.sent)
    return [row for part in service.sent for row in part.removeprefix(HEADER).splitlines(keepends=True)]


async def test_a_file_goes_in_parts_in_its_order_and_the_answer_names_each(folder: Path, era: str) -> None:
    service = Service()
    seen: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with opened(service, folder, era) as client:
        result = await client.call_tool(
            "import_audience", {"audience_id": "aud_1", "path": "people.csv"}, progress_callback=on_progress
        )
    assert not result.is_error, text_of(result)
    assert rows_of(service) == ROWS
    data = cast("dict[str, Any]", result.structured_content)
    assert [part["import_id"] for part in data["parts"]] == [f"imp_{count + 1}" for count in range(len(service.sent))]
    assert (data["parts"][0]["first_row"], data["parts"][-1]["last_row"]) == (1, 30)
    assert "next_row" not in data
    assert text_of(result).startswith(
        "Rows 1 to 30 of people.csv went in. They are 3 imports, so far 30 added, 0 invalid, 0 duplicates."
    )
    assert [now for now, _, _ in seen] == sorted(now for now, _, _ in seen)
    assert seen[-1][2] == "row 30 sent"
    assert seen[-1][0] == seen[-1][1] == (folder / "people.csv").stat().st_size


async def test_each_part_waits_for_the_one_before_and_has_a_key_of_its_own(folder: Path) -> None:
    service = Service()
    await imported(service, folder)
    assert imports_of(service)[:4] == [
        "import_audience",
        "get_audience_import",
        "get_audience_import",
        "import_audience",
    ]
    keys = [entry.key for entry in service.asked if entry.operation == "import_audience"][1:]
    assert None not in keys
    assert len(set(keys)) == len(keys) == 3


async def test_a_file_that_fits_one_request_is_one_import_that_is_waited_for_as_long_as_is_asked(folder: Path) -> None:
    (folder / "people.csv").write_text(HEADER + ROWS[0], encoding="utf-8")
    service = Service()
    result = await imported(service, folder, wait_seconds=0)
    assert imports_of(service) == ["import_audience"]
    assert service.sent == [HEADER + ROWS[0]]
    assert text_of(result).startswith("Rows 1 to 1 of people.csv are being imported.\nimp_1")
    waited = await imported(service, folder)
    assert text_of(waited).startswith("Rows 1 to 1 of people.csv went in.\nimp_2  completed")


async def test_the_person_is_asked_first_where_a_real_campaign_calls_the_audience(folder: Path) -> None:
    service = Service()
    service.answers["list_deployments"] = samples.page([samples.deployment(simulated=False)])
    refused = await imported(service, folder)
    assert refused.is_error
    assert service.sent == []
    sentence = text_of(refused).split("«")[1].split("»")[0]
    agreed = await imported(service, folder, person_agreed_to=sentence)
    assert not agreed.is_error, text_of(agreed)
    assert rows_of(service) == ROWS


async def test_the_audience_may_be_named(folder: Path) -> None:
    service = Service()
    service.answers["list_audiences"] = samples.page([samples.audience(id="aud_1", name="March")])
    async with opened(service, folder) as client:
        result = await client.call_tool("import_audience", {"audience_id": "March", "path": "people.csv"})
    assert text_of(result).startswith('audience "March" is aud_1\nRows 1 to 30')


async def test_text_can_still_be_imported(folder: Path) -> None:
    service = Service()
    async with opened(service, folder) as client:
        result = await client.call_tool("import_audience", {"audience_id": "aud_1", "csv": HEADER + ROWS[0]})
    assert not result.is_error, text_of(result)
    assert service.sent == [HEADER + ROWS[0]]


@pytest.mark.parametrize("more", [{}, {"path": "people.csv", "csv": HEADER}])
async def test_either_a_path_or_a_text_is_wanted(folder: Path, more: dict[str, str]) -> None:
    service = Service()
    async with opened(service, folder) as client:
        result = await client.call_tool("import_audience", {"audience_id": "aud_1", **more})
    assert text_of(result) == "Invalid arguments: path: give either the path of a file, or its text as csv."
    assert imports_of(service) == []


async def test_a_part_that_fails_says_which_rows_went_in_and_how_to_go_on(folder: Path) -> None:
    late = ServiceTimeout("late", request_sent=False, repeatable=True)
    service = Service(failing={3: late})
    result = await imported(service, folder)
    assert result.is_error
    first = len(rows_of(service)) + 1
    assert f"Rows 1 to {first - 1} of people.csv went in." in text_of(result)
    assert f"Rows {first} to 30 failed: The service did not answer in time." in text_of(result)
    assert f"call again with the same path and from_row={first}" in text_of(result)
    service.failing.clear()
    await imported(service, folder, from_row=first)
    assert rows_of(service) == ROWS


async def test_a_first_part_that_is_refused_says_that_nothing_went_in(folder: Path) -> None:
    refused = InvalidRequest("no such audience", code="not_found", status=404, type="not_found_error")
    result = await imported(Service(failing={1: refused}), folder)
    assert text_of(result).startswith("Nothing of people.csv went in. Rows 1 to ")


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ({"status": "failed", "status_reason": "this is not CSV: x", "added": 0}, "this is not CSV: x"),
        ({"invalid": 9, "total_rows": 9, "added": 0}, "the service refused every row of it"),
    ],
)
async def test_no_more_is_sent_after_a_part_of_which_nothing_was_taken(
    folder: Path, end: dict[str, Any], words: str
) -> None:
    service = Service(ends=lambda done: done.model_copy(update=end))
    result = await imported(service, folder)
    assert result.is_error
    assert words in text_of(result)
    assert "No more was sent." in text_of(result)
    assert text_of(result).startswith(
        "Nothing of rows 1 to 12 of people.csv went in. Rows 1 to 12 are import imp_1, and "
    )
    assert len(service.sent) == 1


async def test_of_parts_whose_rows_were_partly_refused_the_answer_says_how_many_went_in(folder: Path) -> None:
    def ends(done: AudienceImport) -> AudienceImport:
        if done.id == "imp_1":
            return done.model_copy(
                update={"status": "completed_with_errors", "added": 9, "invalid": 2, "duplicates": 1}
            )
        return done.model_copy(update={"status": "failed", "status_reason": "they are bad", "added": 0, "invalid": 7})

    said = text_of(await imported(Service(ends=ends), folder))
    assert said.startswith(
        "Of rows 1 to 12 of people.csv 9 went in, 2 were invalid, 1 duplicates. "
        "Nothing of rows 13 to 24 of people.csv went in."
    )
    assert "from_row=13" in said


async def test_the_reason_of_a_failed_import_names_no_tool_that_is_switched_off(folder: Path) -> None:
    reason = "9 rows are bad. list_import_errors says what is wrong with them. Correct the file."
    failed = samples.imported(status="failed", status_reason=reason, added=0)
    service = Service(ends=lambda done: done.model_copy(update={"status": "failed", "status_reason": reason}))
    own = remote(service)
    own.enabled = enabled_tools(profile="builder")
    service.answers["get_audience_import"] = failed
    async with assistant(build(own.opened, tools=with_files(served_tools(), Folders([folder]))), NEWER) as client:
        found = await client.call_tool("get_audience_import", {"audience_id": "aud_1", "import_id": "imp_1"})
        sent = await client.call_tool("import_audience", {"audience_id": "aud_1", "path": "people.csv"})
    assert "9 rows are bad. Correct the file." in text_of(found)
    assert "9 rows are bad. Correct the file. No more was sent." in text_of(sent)
    assert "list_import_errors" not in f"{found} {sent}"


async def test_a_part_that_takes_too_long_ends_the_call_with_how_to_go_on(folder: Path) -> None:
    clock = FakeClock()
    service = Service(looks_needed=10_000)
    result = await imported(service, folder, clock=clock)
    assert not result.is_error, text_of(result)
    data = cast("dict[str, Any]", result.structured_content)
    assert data["next_row"] == data["parts"][-1]["last_row"] + 1
    assert f"from_row={data['next_row']}" in text_of(result)
    assert len(service.sent) == 1
    assert PATIENCE_S <= clock.now - 1_000 < PATIENCE_S + 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            HEADER.encode() + "+1,café\n".encode() * 40 + b"+1,caf\xe9\n",
            "it is UTF-8, but line 42 is not; save it again",
        ),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 99, "it is an old Excel file (.xls) or one with a password"),
        (HEADER.encode() + b'+1,"open\n', "the row that begins in line 2 has a quotation mark without its counterpart"),
        (HEADER.encode(), "it has no row but the header"),
    ],
)
async def test_a_file_that_cannot_be_read_to_its_end_is_refused_before_anything_is_sent(
    folder: Path, content: bytes, words: str
) -> None:
    (folder / "people.csv").write_bytes(content)
    service = Service()
    result = await imported(service, folder)
    assert result.is_error
    assert text_of(result).startswith(f"Invalid arguments: path: {words}")
    assert text_of(result).endswith("Nothing of people.csv went in.")
    assert imports_of(service) == []


async def test_a_row_behind_the_end_is_refused(folder: Path) -> None:
    result = await imported(Service(), folder, from_row=31)
    assert "it has 30 data rows, so there is no row 31" in text_of(result)


async def test_refused_rows_are_numbered_by_their_part_and_the_answer_says_where_it_begins(folder: Path) -> None:
    service = Service(ends=lambda done: done.model_copy(update={"invalid": 1}))
    said = text_of(await imported(service, folder))
    assert "imp_2: 1 invalid; its row 1 is row " in said


async def test_a_file_outside_is_refused_over_the_protocol(folder: Path) -> None:
    result = await imported(Service(), folder, path="../secret.csv")
    assert text_of(result).startswith("Invalid arguments: path: lies outside of the folders")


async def test_the_schema_names_the_folders_and_no_longer_wants_text(folder: Path, era: str) -> None:
    async with opened(Service(), folder, era) as client:
        tool = next(tool for tool in (await client.list_tools()).tools if tool.name == "import_audience")
    assert tool.input_schema["required"] == ["audience_id"]
    assert str(folder) in tool.input_schema["properties"]["path"]["description"]
    assert {"parts", "next_row"} <= set(cast("dict[str, Any]", tool.output_schema)["properties"])
    assert len(tool.description or "") <= 1_024


def test_the_schema_is_that_of_the_model_that_checks_the_arguments(folder: Path) -> None:
    tool = next(tool for tool in with_files(served_tools(), Folders([folder])) if tool.name == "import_audience")
    checking = import_tool(Folders([folder]))
    checked = input_schema(checking.arguments, descriptions={})["properties"]
    shown = {checking.shown(name): schema for name, schema in checked.items()}
    assert set(tool.parameters["properties"]) == {checking.shown(name) for name in checking.offered}
    assert set(tool.parameters["properties"]) == {*shown} - {"content", "file", "url", "expected_revisions"}
    for name, schema in tool.parameters["properties"].items():
        assert {**schema, "description": ""} == {**shown[name], "description": ""}


async def test_without_folders_there_is_no_path_anywhere(folder: Path, era: str) -> None:
    async with assistant(server(Service()), era) as client:
        tool = next(tool for tool in (await client.list_tools()).tools if tool.name == "import_audience")
        result = await client.call_tool("import_audience", {"audience_id": "aud_1", "path": str(folder / "people.csv")})
    assert "path" not in json.dumps(tool.input_schema)
    assert "path: unknown argument" in text_of(result)


@pytest.mark.parametrize("change", ["grows", "is written over"])
async def test_what_was_counted_is_what_is_sent_even_if_the_file_changes_after_the_first_part(
    folder: Path, change: str
) -> None:
    path = folder / "people.csv"

    def changed() -> None:
        more = "".join(f"+1202666{number:04d},Eve\n" for number in range(500))
        if change == "grows":
            with path.open("a", encoding="utf-8") as file:
                file.write(more)
        else:
            with path.open("r+", encoding="utf-8") as file:
                file.write(HEADER + more)

    service = Service(after_the_first_part=changed)
    service.answers["list_deployments"] = samples.page([samples.deployment(simulated=False)])
    sentence = text_of(await imported(service, folder)).split("«")[1].split("»")[0]
    assert "Add 30 people" in sentence
    result = await imported(service, folder, person_agreed_to=sentence)
    assert not result.is_error, text_of(result)
    assert rows_of(service) == ROWS


async def test_other_people_in_place_of_those_that_were_agreed_to_are_not_sent(folder: Path) -> None:
    service = Service()
    service.answers["list_deployments"] = samples.page([samples.deployment(simulated=False)])
    others = HEADER + "".join(f"+1202666{number:04d},Eve\n" for number in range(100, 130))
    asked: list[str] = []

    async def swapped(context: Any, params: Any) -> ElicitResult:
        del context
        asked.append(params.message)
        (folder / "people.csv").write_text(others, encoding="utf-8")
        return ElicitResult(action="accept", content={"agree": True})

    built = build(session(service).opened, tools=with_files(served_tools(), Folders([folder])))
    for era in ERAS:
        (folder / "people.csv").write_text(HEADER + "".join(ROWS), encoding="utf-8")
        async with Client(built, mode=era, elicitation_callback=swapped) as client:
            result = await client.call_tool("import_audience", {"audience_id": "aud_1", "path": "people.csv"})
        assert result.is_error
        assert "changed" in text_of(result)
    assert [message.split(" to ")[0] for message in asked] == ["Add 30 people"] * 2
    assert service.sent == []
