"""Encodings that are hard to tell: letters whose second byte is that of a separator, and wide ones."""

import io

import pytest

from callwright.list_files.encodings import encoding_name
from callwright.list_files.reading import open_list
from callwright.list_files.unreadable import UnreadableList

_ROWS = "".join(f"0312345{number:03d},田中太郎,東京都港区\n" for number in range(40))


@pytest.mark.parametrize("separator", [",", "|"])
@pytest.mark.parametrize(
    ("text", "codec", "country"),
    [
        (f"電話番号,名前,住所\n{_ROWS}0312345999,鈴木,コーポ\n", "cp932", "JP"),
        ("phone,name\n+886212345678,李四\n", "big5", None),
    ],
)
def test_a_letter_with_the_byte_of_a_vertical_bar_is_no_separator(
    text: str, codec: str, country: str | None, separator: str
) -> None:
    text = text.replace(",", separator)
    opened = open_list(io.BytesIO(text.encode(codec)), country=country)
    read = [opened.header.cells, *(row.cells for row in opened.rows)]
    assert read == [line.split(separator) for line in text.splitlines()]


@pytest.mark.parametrize("codec", ["utf-32", "utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"])
def test_a_wide_encoding_is_known_with_and_without_a_mark(codec: str) -> None:
    opened = open_list(io.BytesIO("Name,Phone\nZoë,+12025550100\n".encode(codec)))
    assert opened.header.cells == ["Name", "Phone"]
    assert [row.cells for row in opened.rows] == [["Zoë", "+12025550100"]]
    assert opened.read_as == f"CSV, {codec[:6].upper()}, commas"


def test_a_text_with_zeros_in_its_header_is_refused_as_of_no_known_encoding() -> None:
    with pytest.raises(UnreadableList, match="no encoding that is known; save it again as CSV UTF-8"):
        open_list(io.BytesIO(b"Na\x00me,Pho\x00ne\nAda,+12025550100\n"))


@pytest.mark.parametrize(
    ("codec", "name"),
    [
        ("mac_roman", "Mac Roman"),
        ("iso8859_2", "ISO 8859-2"),
        ("koi8_r", "KOI8-R"),
        ("euc_jp", "EUC-JP"),
        ("gb18030", "GB 18030"),
        ("big5", "Big5"),
        ("cp1252", "code page 1252"),
    ],
)
def test_an_encoding_is_called_as_programs_call_it(codec: str, name: str) -> None:
    assert encoding_name(codec) == name


@pytest.mark.parametrize("codec", ["cp1252", "cp1250", "iso8859_2", "mac_roman", "cp850"])
@pytest.mark.parametrize("rows", [0, 5_000])
def test_a_list_of_two_encodings_is_refused_with_the_lines_of_both(codec: str, rows: int) -> None:
    header, other = b"Name,City,Phone\n", "Müller,Köln,+4915112345601\n"
    many = "".join(f"Jäger,Köln,+49151{number:07d}\n" for number in range(rows))
    file = header + (many + other).encode(codec) + other.encode()
    with pytest.raises(UnreadableList, match=f"^line {rows + 3:,} is UTF-8, but line 2 is not: two encodings"):
        open_list(io.BytesIO(file), country="DE")


def test_two_encodings_in_the_cells_of_one_line_are_refused() -> None:
    file = b"Name,City,Phone\nM\xfcller," + "Köln".encode() + b",+4915112345601\n"
    with pytest.raises(UnreadableList, match="two encodings are mixed"):
        open_list(io.BytesIO(file), country="DE")


@pytest.mark.parametrize(
    ("names", "codec", "country"),
    [
        (["ÄRZTEHAUS SÜD", "Größe", "ÅSE ÄÖ", "MÜLLER–ÖZ"], "cp1252", "DE"),
        (["JOÃO", "IRMÃ", "CONCEIÇÃO", "Ângela", "Nº 5"], "cp1252", "PT"),
        (["ŁÓDŹ", "Żółć", "ĄĘ", "Świętosława"], "cp1250", "PL"),
        (["ĂSTRATA", "BRĂILA", "Țăran".replace("Ț", "Ţ"), "Ioană"], "cp1250", "RO"),
        (["IŞIK", "Çağlar", "ÖZGÜR"], "cp1254", "TR"),
    ],
)
def test_a_list_of_one_code_page_is_read_as_before(names: list[str], codec: str, country: str) -> None:
    text = "Name,Phone\n" + "".join(f"{name},+12025550{100 + place}\n" for place, name in enumerate(names))
    opened = open_list(io.BytesIO(text.encode(codec)), country=country)
    assert [row.cells[0] for row in opened.rows] == names
