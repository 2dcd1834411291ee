"""Telephone numbers in a text are found in every notation, and ordinary digits are not taken for them."""

import re
import time
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.tools.numbers.masking import masked_in, masked_international

SEPARATORS = (
    *"|,;:*#~=\\\u2026\u2022\"'&@^!?$%/._-()[]{}<>`\u00b7\u2013\u00a0\u200b ",
    *(" \u2022 ", " | ", ", ", "; ", " ... ", "--", " : ", "\u2022\u2022\u2022", "'\"&@^!#*"),
)
PLUSES = (
    "+",
    "\uff0b",
    "\u2795",
    "\u2795\ufe0f",
    "\ufe62",
    "\u207a",
    "\u271a",
    "\u02d6",
    "%2B",
    "%2b",
    "plus ",
    "Plus",
    "PLUS ",
    "00",
)
TELEPHONES = (
    *("\u260e", "\u260e\ufe0f", "\U0001f4de", "\u2706", "\U0001f4f1", "\u2121", "\U0001f4f2 "),
    *("tel", "Tel.", "TEL:", "ph", "ph.", "Ph:", "cel", "cel.", "phone", "phone no.", "tel. num", "Telefonnummer"),
    *(
        "mobile no.",
        "cell",
        "my number is",
        "Number:",
        "num",
        "num.",
        "the number",
        "call me at",
        "Call her on",
        "ring",
    ),
    *("ring me on", "dial", "reach him at", "text me at", "whatsapp", "wa.me", "fax", "Handynummer", "ruf mich an:"),
    *("rufen Sie an", "tel\u00e9fono", "ll\u00e1mame al", "n\u00famero", "appelez le", "num\u00e9ro", "t\u00e9l"),
    *("\u0442\u0435\u043b.", "\u043d\u043e\u043c\u0435\u0440", "\u8bf7\u6253\u7535\u8bdd", "\u96fb\u8a71\u756a\u53f7:"),
)
GROUPS = (("1", "416", "777", "6543"), ("49", "30", "901", "6543"), ("1", "4", "1", "6", "7", "7", "7", "6543"))


def _hidden(shown: str) -> bool:
    return "\u2022\u2022\u20226543" in shown and "7776543" not in re.sub(r"[\W_]", "", shown)


@pytest.mark.parametrize(
    "text",
    [
        "+1+416+777+6543",
        "+1 +416 +777 +6543",
        "00|1|416|777|6543",
        "00*49*30*7776543",
        "00:1:416:777:6543",
        "00 \u2022 49 30 7776543",
        "+|1 416 777 6543",
        "+: 1 416 777 6543",
        "\u27951 416 777 6543",
        "plus 1 416 777 6543",
        "tel|4167776543",
        "tel \u2022 416 777 6543",
        "tel*416*777*6543",
        "UTC+1 416 777 6543",
        "Ada+|1 416 777 6543",
        "1%2B14167776543",
        "tel 4167776543, 00",
        "tel 416,777 6543",
        "00(0)4167776543",
        "tel 041.67 776543",
        "\u260e 416 777 6543",
        "\U0001f4de416-777-6543",
        "ph. 416 777 6543",
        "cel. 416 777 6543",
        "number: 4167776543",
        "call me at 416 777 6543",
    ],
)
def test_a_number_with_a_countrys_sign_or_a_word_is_masked_in_every_text_whatever_stands_around_its_digits(
    text: str,
) -> None:
    for masks in (masked_in, masked_international):
        for around in ("{}", "ask {} please", "2026-11-23, {}; then", "{}."):
            assert _hidden(masks(around.format(text))), masks(around.format(text))


def test_a_plus_between_all_digits_is_no_way_around() -> None:
    shown = masked_international("+1+4+1+6+7+7+7+0+1+2+3 +4+4+2+0+7+9+4+6+0+9+5+8")
    assert shown == "+1416\u2022\u2022\u20220123 +4420\u2022\u2022\u20220958"


@pytest.mark.parametrize("plus", PLUSES)
def test_behind_every_sign_of_a_country_any_separator_may_stand(plus: str) -> None:
    for separator, groups in product(SEPARATORS, GROUPS):
        for text in (plus + separator.join(groups), plus + separator + separator.join(groups)):
            assert _hidden(masked_in(text)), text
            assert _hidden(masked_international(f"say {text}, please")), text


@pytest.mark.parametrize("label", TELEPHONES)
def test_behind_every_word_and_picture_of_a_telephone_any_separator_may_stand(label: str) -> None:
    for mark in SEPARATORS:
        for text in (f"{label}{mark}4167776543", f"{label} 416{mark}777{mark}6543"):
            assert _hidden(masked_international(text)), text
            assert _hidden(masked_in(f"Ada, {text}")), text


def test_a_date_within_a_number_hides_it_no_less() -> None:
    for text in ("+10000:0/0/1965:43", "call +4915:12/12/1965:43 please"):
        shown = re.sub(r"\D", "", masked_international(text))
        assert re.sub(r"\D", "", text) not in shown


GAPS = st.text("|,;:*#~=\\\u2026\u2022\"'&@^!+ -./()", max_size=7).filter(lambda gap: gap != "\u2022\u2022\u2022")
"""Anything but letters, and but the middle of a number that is masked already, which stays as it is."""


@given(
    st.sampled_from(PLUSES),
    st.from_regex(r"[1-9][0-9]{6,10}6543", fullmatch=True),
    st.lists(GAPS, min_size=16, max_size=16),
)
def test_no_mixture_of_separators_shows_a_number_whole(plus: str, digits: str, gaps: list[str]) -> None:
    text = plus + "".join(digit + gap for digit, gap in zip(digits, gaps, strict=False)).rstrip("+")
    assert digits not in re.sub(r"\D", "", masked_international(text))


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-23T04:05:06.123Z",
        "2026-11-23 00:15:30.123456, 2026-11-24 00:16:31",
        "at 00:15:30.123456, 01:02:03",
        "12,500.00 USD, 0.50 EUR, 00.50",
        "+12,500.00 USD, 300 of 1000",
        "+12.50, +3.75, -1.25, +40.10 EUR",
        "1:00\u20132:30",
        "00:30\u201301:45, 10:00\u201311:30",
        "10/12",
        "room 1204",
        "order 20261123-0001",
        "order number 4167770123",
        "Account no. 41677701",
        "invoice num 20261123",
        "tracking number: 4167770123",
        "number of calls 20261123",
        "number 20261123",
        "v1.2.3.4",
        "192.168.0.1",
        "10.0.0.1:8080, 192.168.001.002",
        "3 x 4,500 = 13,500",
        "attempts: 3/3, 120 s",
        "mobile: 1,234,567 users",
        "phone 21.11.2026, 2026-11-23 10:15",
        "call at 09:30, 10:30, 11:30",
        "revenue plus 12,500,000 USD",
        "spring 2026, 20261123",
        "550e8400-e29b-41d4-a716-446655440000",
        "55008400-0012-3456-7890-123456789012",
        "sha256:00e1d2c3b4a5968778695a4b3c2d1e0f",
        "12.5 %, 40 %, 100 %",
        "hotel 4167770123",
        "UTC+2, 2026-11-21",
        "GMT+02:00, 2026-11-21 10:00",
        "UTC+1 2026-11-21, UTC+02:00 09:30:12.123",
        "C++, 20261123; A+, 20261123; (18+), 20261123",
        "from +1416\u2022\u2022\u20220123, 1000 people, 2026-11-23",
        "tel 416\u2022\u2022\u20220123",
        "2\u00bd cups, 1\u20442",
        "lines 120000-130000 of 450000",
        "7, 14, 21, 28, 35, 42",
    ],
)
def test_ordinary_digits_stay_as_they_are(text: str) -> None:
    for around in ("{}", "see {}, please", "({})"):
        assert masked_international(around.format(text)) == around.format(text)
        assert masked_in(around.format(text)) == around.format(text)


def test_numbers_beside_each_other_and_what_a_sentence_says_after_them_are_kept_apart() -> None:
    assert (
        masked_in("tel 4167770123, +49 30 1234567 2026-11-23 or 0049 30 7654321\n2026 rows")
        == "tel 4167\u2022\u2022\u20220123".replace("4167", "416")
        + ", +4930\u2022\u2022\u20224567 2026-11-23 or +4930\u2022\u2022\u20224321\n2026 rows"
    )
    assert masked_international("call from \u260e +14167770123, not 00|49|30|1234567", but={"+14167770123"}) == (
        "call from \u260e +14167770123, not +4930\u2022\u2022\u20224567"
    )


@pytest.mark.parametrize("written", ["416|777|6543", "416, 777, 6543", "+1+416+777+6543", "\u260e 416:777:6543"])
def test_in_a_column_of_telephones_anything_may_stand_between_the_digits(written: str) -> None:
    assert _hidden(masked_in(written, column="phone"))


REPEATED = (
    *("1", "0", "+", " ", "|", "+1", "+0,", "1+", "+1 ", "00|1|", "0(", "tel ", "plus 1 ", "a1", "\u260e1", "%2B"),
    *("1        ", "123456 a", "+14167776543, ", "tel 4167776543 ", "call me at ", "12,500.00 ", "2026-11-23 09:30, "),
    *("%20", "&nbsp;", "\\n", "\\u002B1", "&#43;1", "%31", "=41", "+1.5 ", "1.5, ", "10:00 ", "+250 "),
)
LENGTH = 8_000


def _least_s(masks: Callable[[str], str], text: str) -> float:
    least = float("inf")
    for _ in range(2):
        before = time.thread_time()
        masks(text)
        least = min(least, time.thread_time() - before)
    return least


@pytest.mark.parametrize("piece", REPEATED)
@pytest.mark.parametrize("first", ["", "tel ", "+1"])
def test_four_times_the_text_takes_about_four_times_as_long(first: str, piece: str) -> None:
    """What looked back or ahead without a bound would take sixteen times as long."""
    short, long = (first + piece * (length // len(piece)) for length in (LENGTH, 4 * LENGTH))
    for masks in (masked_in, masked_international):
        assert any(_least_s(masks, long) <= max(0.02, 8 * _least_s(masks, short)) for _ in range(5))
