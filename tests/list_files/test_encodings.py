"""Letters whose second byte is that of a separator."""

import io

import pytest

from callwright.list_files.reading import open_list

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
