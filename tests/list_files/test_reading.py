"""Files that are made to take long are read or refused in one pass."""

import gzip
import io

import pytest
from openpyxl import Workbook

from callwright.list_files import encodings, reading, workbooks
from callwright.list_files.reading import open_list
from callwright.list_files.unreadable import UnreadableList


def test_a_long_text_without_separators_is_split_in_one_pass() -> None:
    """A pattern that looks back from the end at every place would take hours for the larger one."""
    for cell in (b"a" * 120_000, b"\xe9 " + b"a" * 120_000):
        opened = open_list(io.BytesIO(b"phone\n" + cell + b"\n\xff\n"))
        assert len(list(opened.rows)) == 2
    assert encodings.encoding_of(io.BytesIO(b"a" * 900_000 + b"\n\xff")) == "cp1252"


def test_a_sheet_of_wide_and_nearly_empty_rows_is_refused_by_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "MOST_CELLS", 50_000)
    book, data = Workbook(), io.BytesIO()
    for row in range(1, 11):
        book.worksheets[0].cell(row, 16_384, "x")
    book.save(data)
    with pytest.raises(UnreadableList, match="cells; cut it in pieces"):
        list(open_list(data).rows)


@pytest.mark.parametrize("empty", [b"\n", b",,\n", b'""\r\n'])
def test_a_small_packed_file_of_nothing_but_empty_rows_is_refused_in_seconds(
    empty: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_EMPTY_ROWS", 100_000)
    data = gzip.compress(b"phone,name\n+12025550100,Ada\n" + empty * 300_000)
    with pytest.raises(UnreadableList, match="rows are empty, 100,003 up to line 100,005; delete"):
        list(open_list(io.BytesIO(data)).rows)
    with pytest.raises(UnreadableList, match="rows are empty"):
        open_list(io.BytesIO(gzip.compress(empty * 300_000)))


def test_empty_rows_between_others_are_left_out_however_many_there_are() -> None:
    text = "phone,name\n" + "+12025550100,Ada\n,\n" * 150_000
    assert sum(1 for _ in open_list(io.BytesIO(text.encode())).rows) == 150_000


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b"<html><body><table><tr><td>Phone</td></tr></table>",
            "it is a web page .HTML., whatever its name says; save",
        ),
        (b"\xef\xbb\xbf\r\n<!DOCTYPE HTML PUBLIC>\n<html>", "it is a web page"),
        (b"<table border=1><tr><td>Phone", "it is a web page"),
        (b'<?xml version="1.0"?>\n<Workbook>', "it is XML, whatever its name says"),
        (b"MIME-Version: 1.0\nX-Document-Type: Workbook\n", "it is a web archive"),
        (b"BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nTEL:+12025550100\nEND:VCARD\n", "it is an address book .vCard.; save"),
        (b'[{"name": "Ada", "phone": "+12025550100"}]', "it is JSON; save the list as XLSX or as CSV"),
        (b'[\n  {\n    "phone": "+12025550100"\n  }\n]\n', "it is JSON"),
        (b'{"people": []}', "it is JSON"),
        (
            gzip.compress(gzip.compress(b"phone\n+12025550100\n", mtime=0), mtime=0),
            "packed with gzip twice; pack it once",
        ),
        (b"\x00" * 5_000, "no encoding that is known"),
    ],
)
def test_a_file_of_another_kind_is_named_and_it_is_said_what_to_do(data: bytes, said: str) -> None:
    with pytest.raises(UnreadableList, match=said):
        open_list(io.BytesIO(data))


@pytest.mark.parametrize("header", ["[Name],[Phone]", "{{name}},phone", "<Name>,phone", "Begin,phone", '"[",phone'])
def test_a_header_with_brackets_is_a_header(header: str) -> None:
    assert len(open_list(io.BytesIO(f"{header}\nAda,+12025550100\n".encode())).header.cells) == 2
