"""Phone numbers as people write them."""

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.platform.phone import (
    MOBILE_PREFIXES,
    Dialable,
    Undialable,
    line_of,
    masked,
    read_number,
    redacted,
)


@pytest.mark.parametrize(
    ("text", "country", "e164", "region"),
    [
        ("+12125550100", None, "+12125550100", "US"),
        (" +1 (212) 555-0100 ", None, "+12125550100", "US"),
        ("212.555.0100", "US", "+12125550100", "US"),
        ("1-212-555-0100", "US", "+12125550100", "US"),
        ("020 7946 0018", "GB", "+442079460018", "GB"),
        ("+44 20 7946 0018", "US", "+442079460018", "GB"),
        ("0171 1234567", "DE", "+491711234567", "DE"),
        ("00 49 171 1234567", "DE", "+491711234567", "DE"),
        ("098765 43210", "IN", "+919876543210", "IN"),
        ("+52 55 1234 5678", None, "+525512345678", "MX"),
        ("+52 1 55 1234 5678", None, "+525512345678", "MX"),
        ("+5215512345678", "US", "+525512345678", "MX"),
        ("52 1 55 1234 5678", "MX", "+525512345678", "MX"),
        ("+49\u202f171\u20091234567", None, "+491711234567", "DE"),
        ("\u30000171\u00a0123\u20024567", "DE", "+491711234567", "DE"),
        ("1.2125550100E10", "US", "+12125550100", "US"),
        ("+1.2125550100E+10", None, "+12125550100", "US"),
        ("4,91711234567E+11", "DE", "+491711234567", "DE"),
    ],
)
def test_a_written_number_becomes_e164(text: str, country: str | None, e164: str, region: str) -> None:
    assert read_number(text, country) == Dialable(e164, region)


@pytest.mark.parametrize(
    ("text", "country", "code"),
    [
        ("", "US", "missing_phone"),
        ("1.212555010E10", "US", "spreadsheet_damage"),
        ("4.9171E+11", "DE", "spreadsheet_damage"),
        ("1.21255501005E10", "US", "spreadsheet_damage"),
        ("   ", None, "missing_phone"),
        ("2125550100", None, "ambiguous_country"),
        ("hello", None, "invalid_phone"),
        ("hello", "US", "invalid_phone"),
        ("+", None, "invalid_phone"),
        ("+1", None, "invalid_phone"),
        ("+1212555", None, "invalid_phone"),
        ("+999123456789", None, "invalid_phone"),
        ("123", "US", "invalid_phone"),
        ("911", "US", "invalid_phone"),
        ("5550100", "US", "invalid_phone"),
        ("+" + "1" * 500, None, "invalid_phone"),
        ("+19005550100", None, "not_dialable"),
        ("0900 1234567", "DE", "not_dialable"),
        ("bad5", None, "invalid_phone"),
        ("12", None, "invalid_phone"),
        ("5", None, "invalid_phone"),
        ("+49 30 12345671 ext 5", None, "not_dialable"),
        ("+1 212 555 0100 x12", None, "not_dialable"),
        ("030 12345671;ext=5", "DE", "not_dialable"),
    ],
)
def test_what_cannot_be_called_has_a_code_and_a_reason(text: str, country: str | None, code: str) -> None:
    read = read_number(text, country)
    assert isinstance(read, Undialable)
    assert read.code == code
    assert read.message
    assert text.strip() not in read.message or not text.strip()


@given(st.text(max_size=100), st.sampled_from([None, "US", "DE", "IN", "ZZ"]))
def test_any_text_is_read_without_failing(text: str, country: str | None) -> None:
    read = read_number(text, country)
    if isinstance(read, Dialable):
        assert read_number(read.e164) == read


@given(st.text(max_size=60))
def test_a_masked_number_shows_at_most_five_characters(text: str) -> None:
    shown = masked(text)
    assert sum(a == b != "•" for a, b in zip(shown, text, strict=False)) <= 5 or len(text) <= 6
    assert len(shown.replace("•", "")) <= 5 or "•" in text
    if 0 < len(text) <= 6:
        assert set(shown) == {"•"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Europe/+12025550100", "Europe/+120••••••00"),
        ("0171 / 234-56", "017• / •••-56"),
        ("١٢٣٤٥٦٧٨٩٠", "١٢٣•••••٩٠"),
        ("1-2-3-4-5", "•-•-•-4-5"),
        ("row 1234", "row 1234"),
    ],
)
def test_five_digits_and_more_lose_their_middle_in_any_script_and_whatever_stands_between(
    text: str, shown: str
) -> None:
    assert redacted(text) == shown


def test_an_extension_is_refused_and_not_dropped_without_a_word() -> None:
    read = read_number("+49 30 12345671 ext 5")
    assert isinstance(read, Undialable)
    assert "extension" in read.message


def test_every_country_where_a_digit_says_that_a_number_is_mobile_is_known() -> None:
    codes = phonenumbers.COUNTRY_CODE_TO_REGION_CODE
    tokens = {code: token for code in codes if (token := phonenumbers.country_mobile_token(code))}
    assert {f"+{code}{token}": f"+{code}" for code, token in tokens.items()} == MOBILE_PREFIXES


@pytest.mark.parametrize(
    ("number", "line"),
    [
        ("+5491123456789", "+541123456789"),
        ("+541123456789", "+541123456789"),
        ("+12125550100", "+12125550100"),
        ("+49171234567", "+49171234567"),
    ],
)
def test_a_line_is_the_same_in_each_of_its_notations(number: str, line: str) -> None:
    assert line_of(number) == line


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("030 234567 (privat)", "DE"),
        ("030 234567 nach 17", "DE"),
        ("030 234567 Fax", "DE"),
        ("030 23456 App 12", "DE"),
        ("030 234567 Zi. 3", "DE"),
        ("(415) 555-0142 home", "US"),
        ("+1 415 555 0100 oder abends", "US"),
    ],
)
def test_letters_of_a_word_behind_a_number_are_no_digits_of_it(text: str, country: str) -> None:
    read = read_number(text, country)
    assert isinstance(read, Undialable)
    assert (read.code, "a word stands behind the number" in read.message) == ("invalid_phone", True)


@pytest.mark.parametrize(
    ("text", "country", "said"),
    [
        ("DO NOT CALL 415-555-0188", "US", "in front of"),
        ("Bitte NICHT anrufen +14155550191", "US", "in front of"),
        ("DNC 0151 12345613", "DE", "in front of"),
        ("gesperrt 0151 12345612", "DE", "in front of"),
        ("nicht mehr anrufen: 0151 12345611", "DE", "in front of"),
        ("verstorben 0151 12345697", "DE", "in front of"),
        ("falsche Nummer 0151 12345696", "DE", "in front of"),
        ("OLD NUMBER +14155550195", None, "in front of"),
        ("Fax: 415 555 0185", "US", "in front of"),
        ("F: 415 555 0185", "US", "in front of"),
        ("no mobile 415 555 0185", "US", "in front of"),
        ("No contact +14155550185", None, "in front of"),
        ("XXX0151 12345615", "DE", "in front of"),
        ("(\u200eDNC) +14155550191", None, "in front of"),
        ("🚫 415-555-0188", "US", "in front of"),
        ("mobile mobile mobile mobile mobile mobile mobile mobile mobile +14155550191", None, "in front of"),
        ("0151 tot 2345613", "DE", "among the digits"),
        ("+1 415 (DNC) 555 0188", None, "among the digits"),
        ("+DNC 14155550188", None, "among the digits"),
        ("415-555-0188 ✗", "US", "a sign"),
        ("0151 12345612 †", "DE", "a sign"),
    ],
)
def test_a_word_that_may_forbid_a_call_is_not_dropped(text: str, country: str | None, said: str) -> None:
    read = read_number(text, country)
    assert isinstance(read, Undialable)
    assert (read.code, said in read.message) == ("invalid_phone", True)


@pytest.mark.parametrize("country", [None, "DE"])
@pytest.mark.parametrize(
    "front",
    [
        *("Tel. ", "Phone: ", "(mobile) ", "Mob. ", "Cell ", "Work: ", "home - ", "Office ", "WhatsApp ", "T ", "(M) "),
        *(
            "Tel. privat: ",
            "Handy (dienstlich) ",
            "Büro ",
            "Tél. : ",
            "N° de téléphone ",
            "Móvil ",
            "Casa: ",
            "Ufficio/Tel. ",
        ),
        *(
            "Telefoon thuis ",
            "tel. służbowy ",
            "моб.",
            "Κιν. ",
            "手机：",
            "モバイル ",
            "휴대폰 ",
            "मोबाइल ",
            "☎ ",
            "📱\ufe0f",
            "(",
            " - ",
        ),
        *("\u200e", "\ufeff", "\u202a\u2066", "\u200eTel.:\u00a0\u200e", "Tel. 2: ", "Phone (1) "),
    ],
)
def test_a_label_in_front_of_a_number_is_passed_over(front: str, country: str | None) -> None:
    assert read_number(f"{front}+14155550163", country) == Dialable("+14155550163", "US")


def test_a_label_leaves_the_brackets_of_a_number_alone() -> None:
    assert read_number("cell (415) 555-0163", "US") == Dialable("+14155550163", "US")
    assert read_number("(mobile) (415) 555-0163", "US") == Dialable("+14155550163", "US")
    assert read_number("(+1) 415 555 0163") == Dialable("+14155550163", "US")
    assert read_number("\uff0b14155550163\u202c") == Dialable("+14155550163", "US")


@pytest.mark.parametrize(
    "text",
    [
        "4155550137, 4155550138",
        "4155550141 4155550142",
        "415-555-0137 or 415-555-0138",
        "+1 415 555 0163 +1 415 555 0164",
    ],
)
def test_several_numbers_are_told_as_such_whatever_stands_between_them(text: str) -> None:
    read = read_number(text, "US")
    assert isinstance(read, Undialable)
    assert read.code == "several_numbers"


@pytest.mark.parametrize(("text", "country"), [("911", "US"), ("112", "DE"), ("110", "DE")])
def test_a_number_for_emergencies_is_told_as_such(text: str, country: str) -> None:
    read = read_number(text, country)
    assert isinstance(read, Undialable)
    assert "emergencies" in read.message


@pytest.mark.parametrize(
    ("text", "country", "e164"),
    [
        ("1-800-FLOWERS", "US", "+18003569377"),
        ("030 234567 A", "DE", "+4930234567"),
        ("mobil: 0151 23456707", "DE", "+4915123456707"),
        ("49 151 23456704", "DE", "+4915123456704"),
        ("(49) 151-23456704", "DE", "+4915123456704"),
        ("491761234567", "DE", "+491761234567"),
        ("49(0)151 23456707", "DE", "+4915123456707"),
        ("4930234567", "DE", "+4930234567"),
        ("33 6 12 34 56 78", "FR", "+33612345678"),
        ("39 347 1234567", "IT", "+393471234567"),
        ("12125550100", "US", "+12125550100"),
    ],
)
def test_a_number_is_read_as_it_is_meant(text: str, country: str, e164: str) -> None:
    read = read_number(text, country)
    assert isinstance(read, Dialable)
    assert read.e164 == e164


@pytest.mark.parametrize(
    "text", ["2026-11-28", "28.11.2026", "11/28/2026", "2026-01-01", "151123456.05", "151123456,05"]
)
def test_a_date_or_an_amount_is_no_number_of_a_stranger(text: str) -> None:
    read = read_number(text, "DE")
    assert isinstance(read, Undialable)
    assert "a date or an amount" in read.message


@pytest.mark.parametrize("text", ["kaputt 204000", "Kundennr. 234567", "Zimmer 300120", "siehe Akte 204711"])
def test_figures_behind_a_word_are_no_number_of_a_stranger(text: str) -> None:
    assert isinstance(read_number(text, "DE"), Undialable)


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("4711-123456", "DE"),
        ("151 23456789", "DE"),
        ("Tel. 151.23456789", "DE"),
        ("(151) 23456789", "DE"),
        ("20 7946 0958", "GB"),
        ("7781 123456", "GG"),
        ("6 12 34 56 78", "FR"),
        ("412 345 678", "AU"),
        ("3-1234-5678", "JP"),
    ],
)
def test_a_written_number_without_the_0_of_its_country_is_refused_in_a_list(text: str, country: str) -> None:
    read = read_number(text, country, needs_trunk_prefix=True)
    assert isinstance(read, Undialable)
    assert (read.code, "lacks the 0" in read.message) == ("invalid_phone", True)
    assert isinstance(read_number(text, country), Dialable)


@pytest.mark.parametrize(
    ("text", "country", "e164"),
    [
        ("4711123456", "DE", "+494711123456"),
        ("0151 23456789", "DE", "+4915123456789"),
        ("(0)151 23456789", "DE", "+4915123456789"),
        ("49 151 23456789", "DE", "+4915123456789"),
        ("0049 151 23456789", "DE", "+4915123456789"),
        ("+49 151 23456789", "DE", "+4915123456789"),
        ("98765 43210", "IN", "+919876543210"),
        ("(11) 96123-4567", "BR", "+5511961234567"),
        ("11 2345-6789", "AR", "+541123456789"),
        ("415-555-0188", "US", "+14155550188"),
        ("02 1234 5678", "IT", "+390212345678"),
        ("612 34 56 78", "ES", "+34612345678"),
        ("32 12 34 56", "DK", "+4532123456"),
        ("(495) 123-45-67", "RU", "+74951234567"),
    ],
)
def test_a_number_that_is_written_as_its_country_does_or_is_digits_alone_is_taken(
    text: str, country: str, e164: str
) -> None:
    read = read_number(text, country, needs_trunk_prefix=True)
    assert isinstance(read, Dialable)
    assert read.e164 == e164
