"""Reports and refused rows as CSV."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, TextResourceContents

from callwright.client.errors import InvalidRequest
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.pagination import Page, Pagination
from callwright.contract.deployments.contacts import ListContacts
from callwright.server.mcp.resources.content import TEXT_BYTES, csv_lines
from callwright.server.mcp.resources.tables import (
    CALLS_COLUMNS,
    OUTCOMES_COLUMNS,
    REJECTS_COLUMNS,
    REPORT_COLUMNS,
)
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, assistant, server

REPORT = "callwright://deployments/dep_1/report.csv"
REJECTS = "callwright://audiences/aud_1/rejects.csv"
CALLS = "callwright://deployments/dep_1/calls.csv"
OUTCOMES = "callwright://deployments/dep_1/outcomes.csv"


async def text(caller: FakeCaller, uri: str, era: str = "2026-07-28", **options: Any) -> str:
    async with assistant(server(caller, **options), era) as client:
        [found] = (await client.read_resource(uri)).contents
    assert isinstance(found, TextResourceContents)
    assert found.mime_type == "text/csv"
    return found.text


def paged(make: Callable[[int], Any], total: int) -> Callable[[Input], Page[Any]]:
    """A list of `total` entries that goes on by cursor, as the service's own do."""

    def answer(asked: Input) -> Page[Any]:
        given = asked.model_dump()
        first, size = int((given["cursor"] or "c+0")[2:]), given["per_page"]
        entries = [make(number) for number in range(first, min(first + size, total))]
        more = first + size < total
        paging = Pagination(
            page=first // size + 1,
            per_page=size,
            total=total,
            has_more=more,
            next_cursor=f"c+{first + size}" if more else None,
        )
        return Page[Any].model_construct(data=entries, pagination=paging)

    return answer


def contact(number: int, **changes: Any) -> Any:
    return samples.contact().model_copy(update={"id": f"ctc_{number:024d}", **changes})


async def test_a_report_has_a_line_for_each_contact_with_the_number_masked(era: str) -> None:
    [head, line] = csv.reader(io.StringIO(await text(FakeCaller(), REPORT, era)))
    assert tuple(head) == REPORT_COLUMNS
    said = ["", "", f"{samples.AT:%Y-%m-%dT%H:%M:%SZ}", ""]
    masked = samples.CALLEE[:5] + "•••" + samples.CALLEE[-4:]
    assert line == ["ctc_1", "", "", f"'{masked}", "retry_waiting", "1", "busy", "", "", "true", *said]


async def test_a_session_that_shows_numbers_shows_them_here() -> None:
    assert f"'{samples.CALLEE}," in await text(FakeCaller(), REPORT, masks=False)


async def test_a_report_of_real_calls_says_so() -> None:
    real = samples.answers() | {"get_deployment": samples.deployment(simulated=False)}
    [line] = csv.DictReader(io.StringIO(await text(FakeCaller(answers=real), REPORT)))
    assert line["simulated"] == "false"


async def test_a_long_report_goes_on_where_its_last_line_says(era: str) -> None:
    caller = FakeCaller(answers=samples.answers() | {"list_contacts": paged(contact, 1_300)})
    uri, seen, readings = REPORT, list[str](), 0
    while uri:
        found = await text(caller, uri, era)
        assert len(found.encode()) <= TEXT_BYTES
        *lines, last = found.splitlines()
        more = last.startswith("# ")
        seen += [line.split(",")[0] for line in (lines if more else [*lines, last])[1:]]
        if more:
            assert last.startswith(f"# {1_300 - len(seen)} rows are left: read {REPORT}?cursor=c%2B")
        uri = last.partition(": read ")[2] if more else ""
        readings += 1
    assert seen == [f"ctc_{number:024d}" for number in range(1_300)]
    assert readings == 2


async def test_a_report_is_read_in_few_bounded_steps() -> None:
    caller = FakeCaller(answers=samples.answers() | {"list_contacts": paged(contact, 100_000)})
    await text(caller, REPORT)
    sizes = [asked.asked.per_page for asked in caller.asked if isinstance(asked.asked, ListContacts)]
    assert len(sizes) < 40
    assert set(sizes) == {50}


async def test_a_cursor_that_the_service_refuses_is_an_invalid_parameter(era: str) -> None:
    refusal = InvalidRequest("Bad cursor.", code="invalid_cursor", status=400, type="invalid_request_error")
    caller = FakeCaller(answers=samples.answers() | {"list_contacts": refusal})
    async with assistant(server(caller), era) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(f"{REPORT}?cursor=zzz")
    assert caught.value.error.code == INVALID_PARAMS
    assert caught.value.error.message.startswith("Bad cursor. Call again without cursor")


async def test_refused_rows_are_those_of_the_newest_import(era: str) -> None:
    caller = FakeCaller(answers=samples.answers() | {"get_audience": samples.audience(last_import_id="imp_9")})
    [head, line] = csv.reader(io.StringIO(await text(caller, REJECTS, era)))
    assert tuple(head) == REJECTS_COLUMNS
    error = samples.refused_row()
    assert line[:5] == [str(error.row_number), "", "", error.column or "", error.code]
    assert caller.asked[-1].asked.model_dump()["import_id"] == "imp_9"


async def test_an_audience_without_an_import_has_the_header_alone() -> None:
    caller = FakeCaller(answers=samples.answers() | {"get_audience": samples.audience(last_import_id=None)})
    assert await text(caller, REJECTS) == "row,line,external_id,column,code,message,value\n"
    assert caller.names() == ["get_audience"]


async def test_cells_of_others_are_cleaned_cut_and_no_formula() -> None:
    bad = samples.refused_row().model_copy(
        update={
            "external_id": "=1+1",
            "column": "=cmd|' /C calc'!A0",
            "message": "a\u202e,b\n",
            "value_redacted": "+" + "x" * 1_000,
        }
    )
    answers = {"get_audience": samples.audience(last_import_id="imp_9"), "list_import_errors": samples.page([bad])}
    [_, line] = csv.reader(io.StringIO(await text(FakeCaller(answers=samples.answers() | answers), REJECTS)))
    assert line[2] == "'=1+1"
    assert line[3] == "'=cmd|' /C calc'!A0"
    assert line[5] == "a,b "
    assert line[6] == "'+" + "x" * 118 + "…"


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@x", " =1", "\t=1", "＝1", "＠x"])
def test_a_cell_that_a_spreadsheet_would_run_gets_a_leading_quote(cell: str) -> None:
    [[found]] = csv.reader(io.StringIO(csv_lines([[cell]])))
    assert found.startswith("'")


def test_quotes_commas_and_nothing_are_written_as_the_format_has_it() -> None:
    assert csv_lines([['a "b"', "c,d", None, 3, "plain"]]) == '"a ""b""","c,d",,3,plain\n'


async def test_the_calls_of_a_deployment_have_a_line_each_with_the_number_masked(era: str) -> None:
    [head, line] = csv.reader(io.StringIO(await text(FakeCaller(), CALLS, era)))
    assert tuple(head) == CALLS_COLUMNS
    found = dict(zip(head, line, strict=True))
    assert (found["call_id"], found["simulated"]) == ("cal_1", "true")
    assert samples.CALLEE not in found["to"]
    assert "•••" in found["to"]
    assert samples.CALLEE in await text(FakeCaller(), CALLS, masks=False)


async def test_a_long_list_of_calls_goes_on_where_its_last_line_says(era: str) -> None:
    def call(number: int) -> Any:
        return samples.call().model_copy(update={"id": f"cal_{number:024d}"})

    caller = FakeCaller(answers=samples.answers() | {"list_calls": paged(call, 1_300)})
    uri, seen = CALLS, list[str]()
    for _ in range(4):
        *lines, last = (await text(caller, uri, era)).splitlines()
        more = last.startswith("# ")
        seen += [line.split(",")[0] for line in (lines if more else [*lines, last])[1:]]
        if not more:
            break
        uri = last.partition(": read ")[2]
    assert seen == [f"cal_{number:024d}" for number in range(1_300)]


async def test_outcomes_and_dispositions_are_counted() -> None:
    stats = samples.deployment().stats.model_copy(update={"outcomes": {"busy": 2}, "dispositions": {"goal_met": 1}})
    found = {"get_deployment": samples.deployment().model_copy(update={"stats": stats})}
    rows = list(csv.reader(io.StringIO(await text(FakeCaller(answers=samples.answers() | found), OUTCOMES))))
    assert rows == [list(OUTCOMES_COLUMNS), ["outcome", "busy", "2"], ["disposition", "goal_met", "1"]]
