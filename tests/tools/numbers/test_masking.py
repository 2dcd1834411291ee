"""Contacts' numbers without their middle."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.tools.numbers.masking import masked_all_possible, masked_in, masked_international
from tests.support.tools.odd_numbers import ODDLY_WRITTEN


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("+12025550100", "+1202•••0100"),
        ("+1234", "+•••34"),
        ("call +1 (202) 555-0100 now", "call +1202•••0100 now"),
        ("0049 30 1234567", "+4930•••4567"),
        ("+44 20 7946 0958 or +44 20 7946 0959", "+4420•••0958 or +4420•••0959"),
        ("2026-11-21 at 09:30", "2026-11-21 at 09:30"),
        ("order 2025550100", "order 2025550100"),
        ("12.40 USD, 300 of 1000", "12.40 USD, 300 of 1000"),
        ("1+12025550100", "1+1202•••0100"),
        ("1+2025", "1+2025"),
        ("+12025550100+12025550101", "+1202•••0100+1202•••0101"),
        ("", ""),
    ],
)
def test_international_numbers_lose_their_middle_wherever_they_stand(text: str, shown: str) -> None:
    assert masked_in(text) == shown


@pytest.mark.parametrize("column", ["mobile", "Phone 2", "tel", "home_phone", "WhatsApp", "fax"])
def test_in_a_column_of_telephones_any_notation_is_masked(column: str) -> None:
    for text in ("2025550100", "(202) 555-0100", " 202.555.0100 "):
        assert masked_in(text, column=column) == "202•••0100"
    assert masked_in("none", column=column) == "none"


@pytest.mark.parametrize("column", ["account", "hotel", "order_number", "zip"])
def test_digits_of_other_columns_stay(column: str) -> None:
    assert masked_in("2025550100", column=column) == "2025550100"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("+49 (0)171\u2013555\u20137700", "+4917•••7700"),
        ("+49\u2011171\u2011555\u20112000", "+4917•••2000"),
        ("+49 \u2013 171 \u2013 555 \u2013 1000", "+4917•••1000"),
        ("+49_171_5559000", "+4917•••9000"),
        ("+49.171..555...9000", "+4917•••9000"),
        ("Call tel+491715558899", "Call tel+4917•••8899"),
        ("+49\u00a0171\u202f5559000", "+4917•••9000"),
        ("0171 5556600", "0171•••6600"),
        ("ring 0171/555 99 00 please", "ring 0171•••9900 please"),
        ("01715553000", "0171•••3000"),
        ("(030) 123\u20114567", "030•••4567"),
    ],
)
def test_numbers_are_masked_whatever_stands_between_their_digits(text: str, shown: str) -> None:
    assert masked_in(text) == shown
    assert masked_all_possible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tel-0171 2345678", "tel-0171•••5678"),
        ("Tel.01712345678", "Tel.0171•••5678"),
        ("Tel0171 2345678", "Tel0171•••5678"),
        ("Tel.00491712345678", "Tel.+4917•••5678"),
        ("phone:01712345678", "phone:0171•••5678"),
        ("Telefon-Nr. 171 234 56 78", "Telefon-Nr. 171•••5678"),
        ("mobile=5551234567;", "mobile=555•••4567;"),
        ("0171/2345678", "0171•••5678"),
        ("(0171) 2345678", "0171•••5678"),
        ("tel:+491712345678", "tel:+4917•••5678"),
        ("sip:%2B491712345678@host", "sip:+4917•••5678@host"),
        ("\uff0b\uff14\uff19 \uff11\uff17\uff11 2345678", "+4917•••5678"),
        ("\uff10\uff11\uff17\uff11 \uff12\uff13\uff14\uff15\uff16\uff17\uff18", "0171•••5678"),
        ("\u0660\u0661\u0667\u0661 \u0662\u0663\u0664\u0665\u0666\u0667\u0668", "0171•••5678"),
        (
            "\u0967\u0968 \u2014 +\u0967\u0968\u0966\u0968\u096b\u096b\u096b\u0966\u0967\u0966\u0966",
            "\u0967\u0968 \u2014 +1202•••0100",
        ),
        ("0\u200b1\u20607\ufeff1\u00a02345678", "0171•••5678"),
        ("0\u20e31\u20e37\u20e31\u20e3 2345678", "0171•••5678"),
        ("\u2070\u00b9\u2077\u00b9 2345678", "0171•••5678"),
        ("\u24ea\u2460\u2466\u2460 2345678", "0171•••5678"),
    ],
)
def test_numbers_are_masked_behind_a_word_and_in_digits_of_every_script(text: str, shown: str) -> None:
    assert masked_in(text) == shown
    assert masked_all_possible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "hotel 1234567",
        "tel. 2026-11-21 09:30",
        "phone 21.11.2026",
        "m\u00b2: 0171",
        "\u0661\u0662\u0663 people",
        "550e8400-0012-3456-7890-123456789012",
        "2026-11-21T09:30:00+0100",
        "mobile: 12345",
    ],
)
def test_what_only_looks_like_a_word_or_a_digit_of_a_telephone_stays(text: str) -> None:
    assert masked_in(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "01.02.2026",
        "2026-01-02",
        "05/11/2026 09:30",
        "2026-11-22T09:30:00Z",
        "01099",
        "0.50 EUR",
        "0.001234567",
        "1,234.0012345",
        "A0012345678",
        "ORD-0012345",
    ],
)
def test_dates_prices_postal_codes_and_order_numbers_are_no_telephones(text: str) -> None:
    assert masked_in(text) == text


@pytest.mark.parametrize("column", ["Handy", "kontakt", "Mobil", "Telefon", "Rückruf", "Cell", "Contact number"])
def test_in_a_column_of_telephones_every_run_of_five_digits_is_masked(column: str) -> None:
    assert masked_in("171 5556600", column=column) == "171•••6600"
    assert masked_in("Anna 5556600", column=column) == "Anna 55•••00"
    assert masked_in("55566", column=column) == "•••66"
    assert masked_in("2026-11-22", column=column) == "2026-11-22"
    assert masked_in("22.11.2026", column=column) == "22.11.2026"
    assert masked_in("ext 1234", column=column) == "ext 1234"


@pytest.mark.parametrize("text", ODDLY_WRITTEN)
def test_after_a_plus_anything_but_a_letter_may_stand_between_the_digits_of_a_number(text: str) -> None:
    for shown in (masked_in(text), masked_in(f"ask {text} please"), masked_all_possible(text)):
        assert "\u2022\u2022\u20226543" in shown
        assert not {"777", "7776543", "\u0667\u0667\u0667"} & set(re.split(r"[^\w]", shown))


@pytest.mark.parametrize(
    "text",
    [
        "+1,234.50 EUR, 300 of 1000",
        "+12 %, 300 of 500",
        "UTC+2, 2026-11-21",
        "+02:00, 2026-11-21",
        "C++, 20231121",
        "from +1202\u2022\u2022\u20220100, 1000 people",
    ],
)
def test_amounts_and_zones_of_time_with_a_plus_stay(text: str) -> None:
    assert masked_in(text) == text


def test_a_number_ends_where_a_sentence_goes_on() -> None:
    assert masked_in("from +12025550100, 1000 people") == "from +1202\u2022\u2022\u20220100, 1000 people"
    assert (
        masked_international("from +12025550100, 1000 people", but={"+12025550100"}) == "from +12025550100, 1000 people"
    )
    assert masked_in("+1,416,777,6543 / +1,416,777,6544") == "+1416\u2022\u2022\u20226543 / +1416\u2022\u2022\u20226544"


@given(st.from_regex(r"\+[1-9][0-9]{6,14}", fullmatch=True))
def test_masking_twice_is_masking_once(number: str) -> None:
    once = masked_in(number)
    assert number[5:-4] == "" or number not in once
    assert masked_in(once) == once
