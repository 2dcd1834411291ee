"""Moments, fractions, changes and the numbers of orders are told from telephone numbers."""

import pytest

from callwright.tools.numbers.masking import masked_in, masked_international


@pytest.mark.parametrize(
    "text",
    [
        "10:00+01:00 2026-11-23",
        "10:00+10:00 2026-11-23 11:00+10:00",
        "UTC+02:00 2026-11-23 10:00",
        "GMT+2 23.11.2026 10:00",
        "due + 2026-11-23",
        "due +2026-11-23, +2026-11-24",
        "due + 23.11.2026",
        "10:00 23.11.2026",
        "10:00 23/11/2026",
        "10:00 - 11:00 2026-11-23",
        "10:00\u201311:00, 12:00\u201313:00 23-11-2026",
        "10:00 / 11:00 / 12:00 / 13:00",
        "2026-11-23T10:00:00+01:00 2026-11-24T10:00:00+01:00",
        "2026-11-23T10:00:00+10:00/2026-11-24T10:00:00+10:00",
        "2026-11-23T10:00:00+10:00 \u2013 2026-11-24T10:00:00+10:00",
        "2026-11-23T10:00:00+10:00 to 2026-11-24T10:00:00+10:00",
        "2026-11-23 10:00:00 +0100, 2026-11-24 10:00:00 +0100",
        "2026-11-23 10:00:00 +10:00 2026-11-24 10:00:00 +10:00",
        "2026-11-23T10:00:00.123456+1300 2026-11-24T10:00:00.123456+1300",
        "plus 2026-11-23",
        "order 0012345678",
        "order no. 00-4711-0815",
        "Order number: 0012345678",
        "invoice 0049301234567",
        "orders 0012345678, 0012345679 / 0012345680",
        "Kundennummer 0012345678",
        "customer no. 0012345678",
        "+48.137154, +11.576124",
        "[+48.137154,-11.576124]",
        "lat +48.1371541, lon +11.5761241",
        "+48.137154\u00b0, +11.576124\u00b0",
        "temperature +21.5 +22.5 +23.5",
        "from +121.5 to +122.25, +179.99999",
        "+1.5 %, +2.25 %, +3.125 %",
        "+250 +300 +150",
        "+25 +30 +15 +20",
        "ph 7.25, 7.30, 7.41",
        "handy 20261123",
        "Tel. (10:00-12:00)",
    ],
)
def test_what_is_no_telephone_number_stays_whole_behind_a_time_a_sign_or_a_word(text: str) -> None:
    for around in ("{}", "see {}, please", "({})", '"{}"', "Ada: {}\nBob"):
        for masks in (masked_in, masked_international):
            assert masks(around.format(text)) == around.format(text)


@pytest.mark.parametrize(
    "text",
    [
        "10:00 +1 416 777 6543",
        "10:00+14167776543",
        "10:00 +1416 777 6543",
        "2026-11-23 10:00 +1 416 777 6543 11:00",
        "2026-11-23 +14167776543",
        "+1 4 16:77 7 6543",
        "+1 416 7:77 6543",
        "+49:30:777:6543",
        "+12:34 777 6543",
        "plus 12:34 777 6543",
        "+1.4167776543",
        "+1.416 777 6543",
        "+1.416-777-6543",
        "+49.30 7776543",
        "+1.41, 67.77, 65.43",
        "+1 +416 +777 +6543",
        "+1 +41 +67 +77 +65 +43",
        "+353 -871 -777 -6543",
        "tel 10:00-12:00, 416 777 6543",
        "tel (2026-11-23) 416 777 6543",
        "order from +14167776543",
        "order +1 416 777 6543",
        "order by 001 416 777 6543",
        "customer 001 416 777 6543",
        "phone no. 001 416 777 6543",
        "0014167776.54",
        "001416.77:76543",
        "+141677:7::::-65.43",
        "+141677:7::::+65.43",
        "Kunde: 001 416 777 6543",
    ],
)
def test_a_telephone_number_beside_a_time_or_in_a_like_notation_is_masked(text: str) -> None:
    for masks in (masked_in, masked_international):
        digits = "".join(char for char in masks(text) if char.isalnum())
        assert "\u2022\u2022\u2022" in masks(text), masks(text)
        assert not {"7776543", "677765"} & {digits[-7:], digits[-8:-2]}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Phone 1: 416 777 6543", "Phone 1: 416\u2022\u2022\u20226543"),
        ("Phone 2: +1 416 777 6543", "Phone 2: +1416\u2022\u2022\u20226543"),
        ("Tel. #3: 0171 7776543", "Tel. #3: 0171\u2022\u2022\u20226543"),
        (
            "mobile 1) 416 777 6543, 2) 416 777 6544",
            "mobile 1) 416\u2022\u2022\u20226543, 2) 416\u2022\u2022\u20226544",
        ),
        ("tel 1:416:777:6543", "tel 1416\u2022\u2022\u20226543"),
        ("+49 30 7776543 2026-11-23 10:00", "+4930\u2022\u2022\u20226543 2026-11-23 10:00"),
        ("10:00+01:00 +49 30 7776543", "10:00+01:00 +4930\u2022\u2022\u20226543"),
        ("0049 30 7776543 order 0012345678", "+4930\u2022\u2022\u20226543 order 0012345678"),
    ],
)
def test_only_the_number_is_masked(text: str, shown: str) -> None:
    assert masked_in(text) == shown
    assert masked_international(text) == shown


WORDS = (
    *(
        "τηλ.",
        "Τηλ:",
        "τηλέφωνο",
        "ΤΗΛΕΦΩΝΟ",
        "κινητό",
        "फ़ोन",
        "फ\u093cोन:",
        "मोबाइल",
        "फ़ोन नंबर",
        "callback:",
        "call back",
    ),
    *(
        "call back number",
        "callback number is",
        "telemóvel",
        "celular",
        "telefone",
        "cellulare",
        "telefono",
        "telefoon",
    ),
    *("mobiel", "Mobiel nummer", "telefon", "numer telefonu", "komórka", "Telefon numarası", "cep", "Cep no:", "هاتف"),
    *(
        "رقم الهاتف",
        "جوال",
        "الجوال",
        "טלפון",
        "מספר טלפון",
        "נייד",
        "전화",
        "전화번호:",
        "휴대폰",
        "휴대폰 번호",
        "te\u0301le\u0301phone",
    ),
)


@pytest.mark.parametrize("word", WORDS)
def test_the_words_for_a_telephone_of_many_languages_are_known(word: str) -> None:
    for mark in (" ", ": ", "\u00a0", " - "):
        for text in (f"{word}{mark}4167776543", f"Ada, {word}{mark}416 777 6543"):
            assert masked_international(text).endswith(f"{word}{mark}416\u2022\u2022\u20226543"), masked_international(
                text
            )


@pytest.mark.parametrize("text", ["CEP 01310-100", "CEP: 01310100", "주문번호 4167776543", "ऑर्डर नंबर 4167776543"])
def test_a_postal_code_and_the_number_of_an_order_are_none_in_other_languages_either(text: str) -> None:
    assert masked_international(text) == text
