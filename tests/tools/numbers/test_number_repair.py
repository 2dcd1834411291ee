"""Telephone numbers as people write them."""

import subprocess
import sys

import pytest

from callwright.tools.numbers.number_repair import NumberReading, readings

BANGALORE = NumberReading("+919876543210", "IN")
WASHINGTON = NumberReading("+12025550100", "US")
LONDON = NumberReading("+442079460958", "GB")
BERLIN = NumberReading("+4930901820", "DE")


@pytest.mark.parametrize(
    ("written", "countries", "read"),
    [
        ("(202) 555-0100", ["US"], WASHINGTON),
        ("(202) 555-0100", ["US", "CA"], WASHINGTON),
        ("98765 43210", ["IN"], BANGALORE),
        ("098765 43210", ["IN"], BANGALORE),
        ("98765 43210", ["US", "IN"], BANGALORE),
        ("919876543210", ["IN"], BANGALORE),
        ("020 7946 0958", ["GB"], LONDON),
    ],
)
def test_a_national_number_is_read_in_the_country_that_makes_it_valid(
    written: str, countries: list[str], read: NumberReading
) -> None:
    assert readings(written, countries) == [read]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("+44 (0)20 7946 0958", LONDON),
        ("0044 (0)20 7946 0958", LONDON),
        ("0049 30 901820", BERLIN),
        ("+1 202.555.0100", WASHINGTON),
        ("\u202a+1 202\u2011555\u20110100\u202c", WASHINGTON),
        ("＋１２０２５５５０１００", WASHINGTON),
    ],
)
def test_an_international_number_needs_no_country(written: str, read: NumberReading) -> None:
    assert readings(written, []) == [read]


def test_two_zeros_begin_an_international_number_in_countries_that_dial_otherwise() -> None:
    assert readings("0049 30 901820", ["US"]) == [BERLIN]


def test_digits_of_other_scripts_are_digits() -> None:
    assert readings("٢٠٢٥٥٥٠١٠٠", ["US"]) == [WASHINGTON]


def test_a_number_that_two_countries_can_mean_is_read_twice() -> None:
    found = readings("06 12 34 56 78", ["FR", "NL"])
    assert {reading.country for reading in found} == {"FR", "NL"}


@pytest.mark.parametrize(
    "written", ["", "  ", "Anna", "tel:+12025550100", "1-800-FLOWERS", "12345", "+1202555010", "9" * 61, "•••0100"]
)
def test_what_is_no_valid_number_is_not_read(written: str) -> None:
    assert readings(written, ["US"]) == []


def test_a_country_that_has_no_numbers_reads_none() -> None:
    assert readings("(202) 555-0100", ["XX"]) == []


def test_the_library_is_not_imported_before_a_number_is_read() -> None:
    code = (
        "import sys, callwright.tools.references.names; assert 'phonenumbers' not in sys.modules;"
        "from callwright.tools.numbers.number_repair import readings; readings('+1 202 555 0100', []);"
        "assert 'phonenumbers' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
