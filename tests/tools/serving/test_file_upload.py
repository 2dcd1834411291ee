"""import_audience with the path of a file, which is uploaded, over the protocol."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from mcp.types import CallToolResult

from callwright.client.compat.upload_address import UploadState
from callwright.client.errors import InvalidRequest, NotFound, ServiceTimeout
from callwright.contract.audiences import AudienceImport, BegunImport, ImportAudience
from callwright.server.mcp.app import build
from callwright.server.mcp.session import ServerSession
from callwright.tools.arguments.file_arguments import PATIENCE_S
from callwright.tools.arguments.files import Folders
from callwright.tools.serving import file_upload
from callwright.tools.serving.served import served_tools
from callwright.tools.serving.served_files import with_files
from tests.support.tools import samples
from tests.support.tools.fakes import ERAS, FakeCaller, FakeClock, assistant, session
from tests.support.tools.results import text_of

URL = "https://voice.test/uploads/upl_secret"
ROWS = 40_000
LIST = b"phone_number,first_name\n" + b"".join(
    b"+1%010d,Person %d\n" % (2_020_000_000 + row, row) for row in range(ROWS)
)
Part = Callable[["Service", bytes], UploadState | Exception]


@dataclass
class Service(FakeCaller):
    """Takes the parts of a file, and imports it within `looks_needed` looks."""

    answers: dict[str, Any] = field(default_factory=samples.answers)
    begins: list[ImportAudience] = field(default_factory=list[ImportAudience])
    parts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    wrong: dict[int, Exception] = field(default_factory=dict[int, Exception])
    """What happens to a part, by its number from 1."""
    arrives: bool = True
    """Whether a part that goes wrong arrives all the same."""
    part_s: float = 0.0
    total: int = len(LIST)
    looks_needed: int = 3
    looks: int = 0
    clock: FakeClock = field(default_factory=FakeClock)

    def __post_init__(self) -> None:
        self.answers |= {"import_audience": self._begin, "get_audience_import": self._look}

    def _begin(self, asked: ImportAudience) -> Any:
        self.begins.append(asked)
        if asked.csv is not None:
            return samples.imported(status="importing", added=0, invalid=0, duplicates=0)
        made = samples.imported(status="uploading", processed=0, percent=0, added=0, invalid=0, duplicates=0)
        expires_at = datetime.fromtimestamp(self.clock.time(), UTC) + timedelta(minutes=15)
        return BegunImport(**made.model_dump(exclude={"expires_at"}), upload_url=URL, expires_at=expires_at)

    async def send_part(self, url: str, content: bytes, /, *, begin: int, total: int) -> UploadState:
        self.parts.append((begin, len(content)))
        await self.clock.sleep(self.part_s)
        error = self.wrong.get(len(self.parts))
        if error is None or self.arrives:
            state = await super().send_part(url, content, begin=begin, total=total)
            if error is None:
                return replace(state, expires_at=datetime.fromtimestamp(self.clock.time(), UTC) + timedelta(hours=1))
        raise error

    def _look(self, _: object) -> AudienceImport:
        if len(self.uploaded) < self.total:
            return samples.imported(status="uploading", processed=0, percent=0, added=0, invalid=0, duplicates=0)
        self.looks += 1
        done = ROWS * min(self.looks, self.looks_needed) // self.looks_needed
        counts = {"total_rows": ROWS, "processed": done, "added": done, "invalid": 0, "duplicates": 0}
        if self.looks < self.looks_needed:
            return samples.imported(status="importing", rows_per_second=9_000, seconds_left=3, **counts)
        return samples.imported(status="completed", **counts)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(file_upload, "PART_BYTES", 300_000)
    (tmp_path / "people.csv").write_bytes(LIST)
    return tmp_path


@dataclass
class Told:
    """The progress that the host was told."""

    said: list[tuple[float, float | None, str | None]] = field(
        default_factory=list[tuple[float, float | None, str | None]]
    )

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.said.append((progress, total, message))

    @property
    def words(self) -> str:
        return "\n".join(message or "" for _, _, message in self.said)


def session_of(service: Service) -> ServerSession:
    return session(service, clock=service.clock)


async def imported(
    held: ServerSession,
    folder: Path,
    *,
    era: str = ERAS[-1],
    told: Told | None = None,
    patience_s: float = PATIENCE_S,
    **more: Any,
) -> CallToolResult:
    built = build(held.opened, tools=with_files(served_tools(), Folders([folder]), patience_s=patience_s))
    async with assistant(built, era) as client:
        arguments = {"audience_id": "aud_1", "path": "people.csv", **more}
        return await client.call_tool("import_audience", arguments, progress_callback=told)


@pytest.mark.requirement("UP-09")
@pytest.mark.parametrize("era", ERAS)
async def test_a_large_file_is_uploaded_in_one_call_that_says_how_far_it_is(folder: Path, era: str) -> None:
    service, told = Service(part_s=0.5), Told()
    result = await imported(session_of(service), folder, era=era, told=told)
    assert not result.is_error, text_of(result)
    assert bytes(service.uploaded) == LIST
    assert [asked.csv for asked in service.begins] == [None]
    assert text_of(result).startswith("people.csv is uploaded, 1.0 MB.\nimp_1  completed")
    assert (cast("dict[str, Any]", result.structured_content)["added"]) == ROWS
    percents = [percent for percent, _, _ in told.said]
    assert percents == sorted(set(percents))
    assert {total for _, total, _ in told.said} == {100.0}
    assert percents[-1] == 100.0
    assert "0.3 of 1.0 MB uploaded, 0.6 MB a second, about 1 s left" in told.words
    assert "13,333 of 40,000 rows read, 9,000 a second, about 3 s left" in told.words
    assert "rows looked at" in told.words
    assert URL not in text_of(result) + told.words + str(result.structured_content)


@pytest.mark.requirement("UP-09")
@pytest.mark.parametrize("arrives", [True, False])
async def test_after_a_broken_connection_it_goes_on_from_what_has_arrived(folder: Path, arrives: bool) -> None:
    service = Service(arrives=arrives, wrong={2: ServiceTimeout("late", request_sent=True, repeatable=True)})
    result = await imported(session_of(service), folder)
    assert not result.is_error, text_of(result)
    assert bytes(service.uploaded) == LIST
    third = 300_000 if not arrives else 600_000
    assert service.parts[:4] == [
        (0, 300_000),
        (300_000, 300_000),
        (300_000, 0),
        (third, min(300_000, len(LIST) - third)),
    ]
    assert len(service.begins) == 1


async def test_a_lost_answer_to_the_last_part_is_no_failure(folder: Path) -> None:
    service = Service(wrong={4: ServiceTimeout("late", request_sent=True, repeatable=True)})
    service.wrong[5] = NotFound("gone", code="not_found", status=404, type="not_found_error")
    result = await imported(session_of(service), folder)
    assert not result.is_error, text_of(result)
    assert "imp_1  completed" in text_of(result)


@pytest.mark.requirement("UP-09")
async def test_a_call_whose_time_is_over_says_so_and_the_next_one_goes_on(folder: Path) -> None:
    service = Service(part_s=15.0)
    held = session_of(service)
    first = await imported(held, folder)
    assert not first.is_error, text_of(first)
    assert text_of(first).startswith(
        "0.9 of 1.0 MB of people.csv are uploaded. Time was up: call again with the same path"
    )
    assert "It waits for its file" in text_of(first)
    assert (cast("dict[str, Any]", first.structured_content))["status"] == "uploading"
    await service.clock.sleep(50 * 60)  # more had arrived, so it is waited for longer than at first
    second = await imported(held, folder)
    assert "imp_1  completed" in text_of(second)
    assert bytes(service.uploaded) == LIST
    assert len(service.begins) == 1
    assert service.parts[3] == (0, 0)  # asks what has arrived


async def test_an_import_that_goes_on_beyond_the_time_of_the_call_names_the_tool_that_looks(folder: Path) -> None:
    service = Service(looks_needed=10_000)
    result = await imported(session_of(service), folder)
    assert not result.is_error, text_of(result)
    assert "It goes on: get_audience_import with audience_id=aud_1 and import_id=imp_1 shows how it ends." in text_of(
        result
    )
    assert service.clock.now - 1_000 < 45


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ServiceTimeout("late", request_sent=True, repeatable=True), "The service did not answer in time"),
        (
            InvalidRequest("An uploaded file has at most 9 bytes.", code="payload_too_large", status=413, type="x"),
            "at most",
        ),
    ],
)
async def test_a_refusal_and_a_service_that_stays_away_are_told_with_what_they_block(
    folder: Path, error: Exception, words: str
) -> None:
    service = Service(arrives=False, wrong=dict.fromkeys(range(1, 100), error))
    result = await imported(session_of(service), folder)
    assert result.is_error
    assert text_of(result).startswith("people.csv is not uploaded: ")
    assert words in text_of(result)
    assert "no campaign of the audience starts" in text_of(result)
    assert URL not in text_of(result)


async def test_an_address_that_is_no_longer_valid_begins_anew_in_the_next_call(folder: Path) -> None:
    gone = NotFound("gone", code="not_found", status=404, type="not_found_error")
    service = Service(arrives=False, wrong={2: gone})
    held = session_of(service)
    refused = await imported(held, folder)
    assert "no longer valid" in text_of(refused)
    service.uploaded.clear()
    again = await imported(held, folder)
    assert not again.is_error, text_of(again)
    assert len(service.begins) == 2


@pytest.mark.requirement("UP-09")
@pytest.mark.parametrize(
    "content",
    [
        b'phone_number;note\r\n+12025550100;"a\rb"\r\n\r\n+12025550101;\x00\r\n',
        "phone_number,name\n+4930901820,Jürgen\n".encode("cp1252"),
    ],
)
async def test_a_small_file_is_uploaded_as_it_is_too(folder: Path, content: bytes) -> None:
    (folder / "people.csv").write_bytes(content)
    service = Service(total=len(content))
    result = await imported(session_of(service), folder)
    assert not result.is_error, text_of(result)
    assert bytes(service.uploaded) == content
    assert [asked.csv for asked in service.begins] == [None]
    assert text_of(result).startswith(f"people.csv is uploaded, {len(content)} bytes.\nimp_1  completed")


@pytest.mark.parametrize("wait_s", [0, 3])
async def test_a_call_waits_for_the_import_no_longer_than_it_is_asked_to(folder: Path, wait_s: int) -> None:
    service = Service(looks_needed=10_000, part_s=5.0)
    result = await imported(session_of(service), folder, wait_seconds=wait_s)
    assert "It goes on: get_audience_import" in text_of(result)
    assert service.clock.now - 1_000 == pytest.approx(len(service.parts) * 5.0 + wait_s)


async def test_where_nobody_gives_up_a_call_waits_until_the_import_has_ended(folder: Path) -> None:
    service = Service(looks_needed=100, part_s=15.0)
    result = await imported(session_of(service), folder, patience_s=3_600.0)
    assert text_of(result).startswith("people.csv is uploaded, 1.0 MB.\nimp_1  completed")
    assert service.clock.now - 1_000 > 4 * PATIENCE_S


async def test_a_later_row_to_begin_with_is_sent_in_parts(folder: Path) -> None:
    service = Service()
    await imported(session_of(service), folder, from_row=39_000)
    assert [asked.csv is None for asked in service.begins] == [False]
    assert service.parts == []


async def test_another_service_that_takes_no_uploads_gets_the_file_in_parts(folder: Path) -> None:
    service = Service()

    def begin(asked: ImportAudience) -> Any:
        if asked.csv is None:
            service.begins.append(asked)
            return InvalidRequest("csv is required", code="missing_field", status=400, type="x", field="csv")
        return Service._begin(service, asked)  # pyright: ignore[reportPrivateUsage]  # the fake's own

    service.answers |= {"import_audience": begin, "get_audience_import": samples.imported(status="completed")}
    held = session_of(service)
    held.remote = True
    result = await imported(held, folder)
    assert not result.is_error, text_of(result)
    assert [asked.csv is None for asked in service.begins] == [True, False, False]


async def test_numbers_that_look_alike_are_refused_before_anything_is_sent(folder: Path) -> None:
    alike = b"".join(b"+1202%03d0100,Eve\n" % number for number in range(200, 240))
    (folder / "people.csv").write_bytes(LIST + alike)
    service = Service()
    result = await imported(session_of(service), folder)
    assert result.is_error
    assert "look like" in text_of(result)
    assert service.begins == []


async def test_the_person_is_asked_with_the_number_of_rows(folder: Path) -> None:
    service = Service()
    service.answers["list_deployments"] = samples.page([samples.deployment(simulated=False)])
    held = session_of(service)
    refused = await imported(held, folder)
    assert service.begins == []
    assert "Add 40000 people" in text_of(refused)
    sentence = text_of(refused).split("«")[1].split("»")[0]
    agreed = await imported(held, folder, person_agreed_to=sentence)
    assert not agreed.is_error, text_of(agreed)
    assert bytes(service.uploaded) == LIST
