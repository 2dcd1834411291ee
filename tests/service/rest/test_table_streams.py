"""Tables that are sent while they are read: when which page is read, what is written, and what an error does."""

import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from callwright.service.handlers.request_context import Position, TableRequest
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.table_columns import Cells, Column
from callwright.service.rest.tables import parquet
from callwright.service.rest.tables.csv_text import CsvText
from callwright.service.rest.tables.parquet import ParquetFile
from callwright.service.rest.tables.pieces import pieces_of
from callwright.service.rest.tables.streams import TableStream, table_stream
from tests.support.callers import answered_number
from tests.support.campaigns import ONCE, people, run
from tests.support.exports import MOST, exported, parquet_file, rows_of
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant

COLUMNS = (
    *(Column("id"), Column("count", "integer"), Column("share", "number"), Column("simulated", "truth")),
    Column("created_at", "moment"),
)
PAGE: Sequence[Cells] = (("a", 1, 0.5, True, "2026-11-21T09:30:00Z"), ("b", None, None, False, None))


class Pages:
    """A table of so many pages, which counts those that were read. The page `fails_at` cannot be read."""

    def __init__(self, count: int, fails_at: int | None = None) -> None:
        self.read, self._count, self._fails_at = 0, count, fails_at

    def page(self, _: Connection, last: Position | None) -> tuple[Sequence[Cells], Position | None]:
        number = last[0] + 1 if last else 0
        if number == self._fails_at:
            raise StorageUnavailable("the database does not answer")
        self.read += 1
        return PAGE, (number,) if number + 1 < self._count else None

    def wanted(self, **more: Any) -> TableRequest:
        return TableRequest(COLUMNS, self.page, **more)


@pytest.mark.requirement("EXPORT-03")
async def test_a_page_is_read_when_its_bytes_are_taken_and_none_after_the_receiver_is_gone(
    database: Database,
) -> None:
    pages = Pages(100)
    answer = await table_stream(database, pages.wanted(), is_head=False)
    assert isinstance(answer, TableStream)
    assert pages.read == 1
    sent: list[bytes] = []
    disconnected = [False]

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if body := message.get("body"):
            sent.append(body)
        if len(sent) == 3:
            disconnected[0] = True
            raise OSError("the connection is gone")

    with pytest.raises(Exception):  # noqa: B017, PT011  # what it is called is the library's own affair
        await answer({"type": "http", "asgi": {"spec_version": "2.4"}}, receive, send)
    assert disconnected == [True]
    assert pages.read == 3
    assert [piece async for piece in answer.pieces] == []


@pytest.mark.requirement("EXPORT-03")
async def test_a_head_request_reads_no_row(database: Database) -> None:
    pages = Pages(3)
    answer = await table_stream(database, pages.wanted(file_name="dep_1-calls.csv"), is_head=True)
    assert answer.headers["content-disposition"] == 'attachment; filename="dep_1-calls.csv"'
    assert (answer.headers["content-type"], pages.read) == ("text/csv; charset=utf-8", 0)


@pytest.mark.requirement("EXPORT-07")
async def test_a_table_whose_first_page_cannot_be_read_is_no_answer_and_a_later_one_cuts_it_off(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(StorageUnavailable):
        await table_stream(database, Pages(3, fails_at=0).wanted(), is_head=False)
    answer = await table_stream(database, Pages(3, fails_at=2).wanted(), is_head=False)
    assert isinstance(answer, TableStream)
    taken: list[bytes] = []
    with pytest.raises(StorageUnavailable):  # noqa: PT012  # the last of several pieces fails
        async for piece in answer.pieces:
            taken.append(piece)
    assert len(taken) == 2
    assert "a table was cut off while it was sent" in caplog.text


@pytest.mark.requirement("EXPORT-04")
@pytest.mark.parametrize("count", [1, 7])
async def test_parquet_has_the_rows_of_csv_with_types_in_groups(
    monkeypatch: pytest.MonkeyPatch, database: Database, count: int
) -> None:
    monkeypatch.setattr(parquet, "GROUP_ROWS", 4)
    pieces = [piece async for piece in pieces_of(database, Pages(count).wanted(form="parquet"))]
    file = parquet_file(b"".join(pieces))
    assert file.metadata.num_row_groups == (count * 2 + 3) // 4
    table = file.read()
    assert table.to_pylist()[:2] == table.to_pylist()[-2:]
    assert table.num_rows == 2 * count
    assert [str(field.type) for field in table.schema] == [
        *("string", "int64", "double", "bool"),
        "timestamp[ms, tz=UTC]",
    ]
    first, second = table.to_pylist()[:2]
    assert (first["id"], first["count"], first["share"], first["simulated"]) == ("a", 1, 0.5, True)
    assert f"{first['created_at']:%Y-%m-%dT%H:%M:%SZ}" == "2026-11-21T09:30:00Z"
    assert (second["count"], second["share"], second["created_at"]) == (None, None, None)
    text = b"".join([piece async for piece in pieces_of(database, Pages(count).wanted())])
    assert [row["id"] for row in rows_of(text.decode())] == [row["id"] for row in table.to_pylist()]


@pytest.mark.requirement("EXPORT-04")
def test_a_table_without_rows_is_its_heading_in_both_formats() -> None:
    assert CsvText(COLUMNS).end().decode("utf-8-sig").encode() == b"id,count,share,simulated,created_at\r\n"
    table = parquet_file(ParquetFile(COLUMNS).end()).read()
    assert (table.num_rows, table.schema.names) == (0, [column.name for column in COLUMNS])


@pytest.mark.requirement("EXPORT-04")
@pytest.mark.service(workers=True)
@pytest.mark.parametrize("of", ["contacts", "calls", "outcomes"])
async def test_a_parquet_export_has_the_columns_and_rows_of_the_csv_export(tenant: Tenant, of: Any) -> None:
    campaign = await run(tenant, people(3, sim_outcome="busy"), retry_policy=ONCE)
    async with tenant.client.deployments.export(id=campaign.id, of=of, format="parquet") as download:
        assert download.media_type == "application/vnd.apache.parquet"
        table = parquet_file(await download.read(MOST)).read()
    found = await exported(tenant, campaign.id, of=of)
    assert table.schema.names == list(found[0])
    key = "result" if of == "outcomes" else "id"
    assert [row[key] for row in table.to_pylist()] == [row[key] for row in found]


@pytest.mark.requirement("EXPORT-04")
async def test_parquet_without_its_package_is_refused_with_the_extra_to_install(
    monkeypatch: pytest.MonkeyPatch, tenant: Tenant, http: AsyncClient
) -> None:
    inbound = await answered_number(tenant)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    answer = await http.get(f"/v1/deployments/{inbound.id}/export?format=parquet")
    error = refused(answer, 400, "invalid_field", "format")
    assert "pip install 'callwright[parquet]'" in error["message"]


@pytest.mark.requirement("EXPORT-02")
def test_a_csv_file_begins_with_one_mark_for_spreadsheets_also_without_rows() -> None:
    with_rows, without = CsvText([Column("name")]), CsvText([Column("name")])
    assert with_rows.written([("Müller",)]) + with_rows.written([("Søren",)]) + with_rows.end() == (
        "\ufeffname\r\nMüller\r\nSøren\r\n".encode()
    )
    assert without.written([]) + without.end() == "\ufeffname\r\n".encode()


@pytest.mark.requirement("EXPORT-02")
@given(st.text(max_size=12))
def test_no_text_becomes_a_cell_that_begins_with_a_formula(text: str) -> None:
    writer = CsvText([Column("text")])
    lines = writer.written([(text,)]).decode("utf-8-sig")
    assert lines.startswith("text\r\n")
    cell = lines.removeprefix("text\r\n").removesuffix("\r\n").removeprefix('"')
    is_number = cell[:1] in "+-" and cell[1:].replace(".", "").isascii() and cell[1:2].isdigit()
    assert is_number or not cell.lstrip().startswith(tuple("=+-@＝＋－＠"))
