"""A list in parts."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from callwright.list_files.reading import LONGEST_LINE
from callwright.list_files.unreadable import UnreadableList
from callwright.tools.arguments.csv_parts import CsvPart, parts_of

HEADER = "phone_number,note\n"


def parts(data: bytes | str, **options: int) -> list[CsvPart]:
    raw = data.encode() if isinstance(data, str) else data
    return list(parts_of(io.BufferedReader(io.BytesIO(raw)), **options))  # pyright: ignore[reportArgumentType]  # as open() gives it


def rows(found: list[CsvPart]) -> list[list[str]]:
    return [row for part in found for row in list(csv.reader(io.StringIO(part.csv), strict=True))[1:]]


def test_a_small_file_is_one_part_and_stays_as_it_is() -> None:
    text = HEADER + '+12025550100,"a ""quoted"" note"\n'
    assert parts(text) == [CsvPart(text, 1, 1, len(text))]


def test_every_part_has_the_header_and_fits_and_nothing_is_lost_or_doubled() -> None:
    body = [f"+1202555{number:04d},note {number}\n" for number in range(1_000)]
    found = parts(HEADER + "".join(body), part_bytes=2_000)
    assert len(found) > 10
    assert all(part.csv.startswith(HEADER) for part in found)
    assert all(len(json.dumps(part.csv)) <= 2_002 for part in found)
    assert "".join(part.csv.removeprefix(HEADER) for part in found) == "".join(body)
    assert [part.first_row for part in found[1:]] == [part.last_row + 1 for part in found[:-1]]
    assert (found[0].first_row, found[-1].last_row) == (1, 1_000)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_line_break_in_quotes_never_ends_a_part(ending: str) -> None:
    body = [f'+1202555{number:04d},"first{ending}second, ""third"""{ending}' for number in range(50)]
    found = parts(f"phone_number,note{ending}" + "".join(body), part_bytes=200)
    assert len(found) > 10
    assert [len(row) for row in rows(found)] == [2] * 50
    assert rows(found)[7][1] == f'first{ending}second, "third"'


def test_a_stray_quote_inside_a_cell_is_text() -> None:
    found = parts(HEADER + '+12025550100,5" pipe\n+12025550101,plain\n', part_bytes=60)
    assert [part.last_row for part in found] == [1, 2]


def test_empty_lines_are_no_rows_and_the_last_line_may_lack_its_break() -> None:
    found = parts(f"\n{HEADER}\r\n+1,a\n\n\n+2,b")
    assert [part.csv for part in found] == ["\n" + HEADER + "\n+1,a\n\n\n+2,b\n"]
    assert found[0].last_row == 2


def test_a_byte_order_mark_is_no_part_of_the_first_column() -> None:
    assert parts(b"\xef\xbb\xbf" + (HEADER + "+1,a\n").encode())[0].csv.startswith("phone_number")


def test_it_begins_at_the_row_that_is_asked_for() -> None:
    body = "".join(f"+{number},n\n" for number in range(1, 11))
    found = parts(HEADER + body, from_row=8, part_bytes=40)
    assert [row[0] for row in rows(found)] == ["+8", "+9", "+10"]
    assert found[0].first_row == 8


def test_bytes_are_counted_as_json_counts_them() -> None:
    found = parts(HEADER + "".join(f'+{number},"é\n"\n' for number in range(100)), part_bytes=200)
    assert all(len(json.dumps(part.csv, ensure_ascii=False).encode()) <= 202 for part in found)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is empty"),
        (b"\n\n", "it is empty"),
        (HEADER.encode(), "no row but the header"),
        ((HEADER + "+1,café\n" * 9 + "+1,caf").encode() + b"\xe9\n", "it is UTF-8, but line 11 is not"),
        ((HEADER + '+1,"open\n+2,b\n').encode(), "the row that begins in line 2 has a quotation mark"),
        ((HEADER + '+1,"a"b\n').encode(), "the row that begins in line 2 has a quotation mark"),
        ((HEADER + f'+1,"{"a" * 200_000}"\n').encode(), "line 2 has a cell that is too long"),
        (b"a" * (LONGEST_LINE + 5), "line 1 has more than"),
        (b"%PDF-1.7 and more", "it is a PDF; save the list as XLSX or as CSV"),
        (b"\x89PNG\r\n\x1a\n and more", "it is a picture (PNG); save the list as XLSX or as CSV"),
        (b"\xff\xd8\xff\xe0 and more", "it is a picture (JPEG); save the list as XLSX or as CSV"),
        (b"{\\rtf1 and more", "it is a text document (RTF); save the list as XLSX or as CSV"),
        (b"PK\x03\x04 and more", "it is damaged"),
    ],
)
def test_what_cannot_be_imported_is_refused_with_what_to_do(data: bytes, words: str) -> None:
    with pytest.raises(UnreadableList, match=re.escape(words)):
        parts(data)


def test_a_row_that_fits_no_request_is_named() -> None:
    with pytest.raises(UnreadableList, match="row 2 is too large"):
        parts(HEADER + f"+1,a\n+2,{'b' * 100}\n", part_bytes=100)


def test_a_row_behind_the_end_is_named_with_the_number_of_rows() -> None:
    with pytest.raises(UnreadableList, match="it has 1 data rows, so there is no row 5"):
        parts(HEADER + "+1,a\n", from_row=5)


def test_the_file_stays_open_and_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(HEADER + "+1,a\n", encoding="utf-8")
    with path.open("rb") as file:
        assert list(parts_of(file)) == list(parts_of(file))
        begun = parts_of(file)
        next(begun)
        begun.close()
        assert not file.closed


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_whatever_separates_the_columns_a_part_has_commas(separator: str) -> None:
    text = f'phone_number{separator}name\n+12025550100{separator}"Byron, Ada"\n'
    assert parts(text)[0].csv == 'phone_number,name\n+12025550100,"Byron, Ada"\n'


def test_each_row_of_the_first_part_stays_in_its_line() -> None:
    text = '\nphone_number;note\n\n+1;"two\nlines"\n;\n+2;b\n'
    assert parts(text)[0].csv == '\nphone_number,note\n\n+1,"two\nlines"\n\n+2,b\n'


def test_a_carriage_return_alone_stays_within_its_cell() -> None:
    found = parts(b'phone_number,note\r\n+1,"a\rb"\r\n+2,c\r\n')
    assert [part.csv for part in found] == ['phone_number,note\n+1,"a\rb"\n+2,c\n']
    assert rows(found) == [["+1", "a\rb"], ["+2", "c"]]
