"""Telephone numbers of which some characters are written as escapes of JSON, HTML, addresses and programs."""

from itertools import product
from typing import Any

import pytest

from callwright.tools.numbers.escapes import unescaped
from callwright.tools.numbers.masking import masked_all_possible, masked_in, masked_international
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, assistant, server

PLUSES = (
    *(r"\u002B", r"\u002b", r"\\u002b", r"\x2b", r"\u{2b}", r"\U0000002B", r"\uff0b", "&#43;", "&#x2B;", "&#0043;"),
    *("&plus;", "&amp;plus;", "&amp;#43;", "%2B", "%2b", "%252B", "%EF%BC%8B", "=2B", "&phone;", "&#9742;"),
    *(r"\ud83d\udcde", r"Tel.\u00a0", r"tel:&nbsp;", "tel%3A", r"\nTel ", r"\tphone ", "+", "00"),
)
SEPARATORS = (
    *("&nbsp;", "&nbsp", "&#160;", "&#xA0;", "&thinsp;", "&amp;nbsp;", "&NonBreakingSpace;", "%20", "%C2%A0", "%2520"),
    *(r"\u00a0", r"\\u00a0", r"\xa0", r"\xc2\xa0", r"\u202f", "=C2=A0", "=A0", r"\t", r"\n", r"\r\n", r"\\n", "%2D"),
    *("&nbsp;-&nbsp;", "&nbsp;&nbsp;&nbsp;", r"\u00a0\u2013\u00a0", "&ndash;", "&#8209;", r"\u2011", "&lpar;", "%28"),
)
DIGITS = (r"\u003{}", "&#x3{};", "%3{}", r"\x3{}", "&#xff1{};", r"\uff1{}", "%253{}")
HIDDEN = ("7776543", "777 6543")


def _as_read(text: str) -> str:
    read = unescaped(text)
    return text if read is None else read.text


def _hidden(shown: str) -> bool:
    left = "".join(char for char in _as_read(shown) if char.isalnum())
    return "\u2022\u2022\u20226543" in shown and "7776543" not in left


@pytest.mark.parametrize("plus", PLUSES)
def test_a_sign_that_is_written_as_an_escape_is_a_sign(plus: str) -> None:
    for text in (f"{plus}14167776543", f"{plus}1 416 777 6543", f'{{"to": "{plus}14167776543"}}'):
        for masks in (masked_in, masked_international, masked_all_possible):
            assert _hidden(masks(text)), masks(text)


@pytest.mark.parametrize("separator", SEPARATORS)
def test_a_blank_or_a_dash_that_is_written_as_an_escape_may_stand_between_the_digits(separator: str) -> None:
    for plus in ("+", "00", "tel ", "%2B", "&plus;", r"\u002B"):
        text = plus + separator.join(("1", "416", "777", "6543"))
        for masks in (masked_in, masked_international):
            assert _hidden(masks(text)), masks(text)
            assert masks(f"a {text} b").startswith("a ")
            assert masks(f"a {text} b").endswith("6543 b")


@pytest.mark.parametrize("digit", DIGITS)
def test_digits_that_are_written_as_escapes_are_digits(digit: str) -> None:
    for plus, mixed in product(("+", "tel ", "%2B", "&#43;"), (1, 2, 3)):
        digits = (digit.format(one) if not place % mixed else one for place, one in enumerate("14167776543"))
        text = plus + "".join(digits)
        assert _hidden(masked_international(text)), text


@pytest.mark.parametrize("text", ["+1%20%25%55%01%43 12", "+1=41=67=77=65=43", "tel=2041677765", "+49&#17&#15&#55&#77"])
def test_what_may_be_an_escape_or_digits_is_masked_as_either(text: str) -> None:
    assert masked_international(text) != text
    assert masked_in(text) == masked_international(text)


@pytest.mark.parametrize("text", [r"C:\tel 4167776543", r"\number: 4167776543", r"\rufnummer 4167776543"])
def test_a_backslash_before_a_word_of_a_telephone_does_not_take_its_letter(text: str) -> None:
    assert _hidden(masked_international(text))


@pytest.mark.parametrize(
    "text",
    [
        r"C:\new\table\2026\11\23, 12 %2B 13, &copy; 2026&nbsp;Ada",
        "due&nbsp;%2B 2026-11-23&nbsp;10:00",
        "https://a.test/?at=2026-11-23T10%3A00%3A00%2B01%3A00&to=2026-11-24T10%3A00%3A00%2B01%3A00",
        r"100%20of%20120, \u2022 2026-11-23\n\u2022 2026-11-24",
        "&#4;&#99999999;&none; %ff%41 \\u12 \\x =ZZ 2026",
        r"\ud83d\ude00 12 of 20, \U7fffffff, \u{999999}, \ud83d 2026",
    ],
)
def test_escapes_in_other_texts_stay_as_they_are_written(text: str) -> None:
    assert masked_in(text) == text
    assert masked_international(text) == text


def test_only_the_number_changes_and_the_organizations_own_stays_as_it_is_written() -> None:
    text = r"from &#43;1&nbsp;202&nbsp;5550199,\n to &plus;1%20416%20777%206543&nbsp;&amp;&nbsp;Ada"
    assert masked_international(text, but={"+12025550199"}) == (
        r"from &#43;1&nbsp;202&nbsp;5550199,\n to +1416" + "\u2022\u2022\u20226543&nbsp;&amp;&nbsp;Ada"
    )


@pytest.mark.parametrize("column", ["phone", "Handy"])
def test_a_cell_of_a_column_of_telephones_is_read_so_too(column: str) -> None:
    assert _hidden(masked_in("416&nbsp;777&nbsp;6543", column=column))
    assert _hidden(masked_in(r"\u002B14167776543", column=column))


@pytest.mark.parametrize(
    "text", ["(416)%20777-6543", "416%20777%206543", r"416\u0020777-6543", "(416)&#32;777&#45;6543"]
)
def test_where_every_run_of_digits_may_be_a_number_it_is_read_so_without_its_country(text: str) -> None:
    assert _hidden(masked_all_possible(f"Hello Ada, is {text} still yours?"))


@pytest.mark.parametrize("written", [r"\u002B14167776543", "&#43;1&nbsp;-&nbsp;416&nbsp;-&nbsp;777&nbsp;-&nbsp;6543"])
async def test_an_endpoints_answer_with_a_number_in_escapes_is_shown_without_its_middle(written: str) -> None:
    delivery: Any = samples.answers()["get_webhook_delivery"]
    attempts = [one.model_copy(update={"response_excerpt": f'{{"to": "{written}"}}'}) for one in delivery.attempts]
    assert attempts
    answer = delivery.model_copy(update={"attempts": attempts})
    caller = FakeCaller(answers=samples.answers() | {"get_webhook_delivery": answer})
    async with assistant(server(caller), "auto") as client:
        result = await client.call_tool("get_webhook_delivery", {"webhook_id": "whk_1", "delivery_id": "dlv_1"})
    assert not result.is_error
    shown = result.model_dump_json()
    assert "\u2022\u2022\u20226543" in shown
    assert "6543" not in shown.replace("\u2022\u2022\u20226543", "")
