"""Names in sentences: nothing in them looks like the end of the quotation."""

import pytest

from callwright.contract.checks.names import quoted


@pytest.mark.parametrize(
    "mark",
    "\u1fbd\u055a\u144a\u07f4\u0384\u16cc\u02be\u0374\u1ffe\u1fbf\u1cd3\u201e\u2e42\u0022\u2019\u05f4\u0060\u275b\u275c\u275f",
)
def test_marks_that_look_like_a_quotation_mark_become_one_apostrophe(mark: str) -> None:
    assert quoted(f"Tea{mark}{mark} for 0.01 USD") == '"Tea\' for 0.01 USD"'
    assert quoted(f"Tea{mark} x") == '"Tea\' x"'


@pytest.mark.parametrize(
    "name",
    [
        "Dr. O'Neill & Sons, 10% (north) - #4/5: why? Yes!",
        "Größe 5 € 🍵",
        "お茶コーヒー、東京",
        "ชาร้อนๆ",
        "שלום",
        "नमस्ते",
        "A_b=c",
        "👍🏽",
    ],
)
def test_names_of_any_language_stand_as_they_are(name: str) -> None:
    assert quoted(name) == f'"{name}"'


def test_emoji_that_python_does_not_know_yet_are_told_apart() -> None:
    assert quoted("Recall \U0001faed") == '"Recall \U0001faed"'
    assert quoted("Recall \U0001faed") != quoted("Recall \U0001faec")
    assert quoted("Recall \u0378") == '"Recall \ufffd"'
