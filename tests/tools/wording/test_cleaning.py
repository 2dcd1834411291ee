"""Words from outside, cleaned."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callwright.tools.wording.cleaning import cleaned, cleaned_at
from tests.support.tools.hostile import CASES, Case, unseen

each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words, 1 + 1", "plain words, 1 + 1"),
        ("two\nlines\tand\u2028more", "two lines and more"),
        ("in\u200bvis\u2060ible\ufeff", "invisible"),
        ("left\u202eright\u2066x\u2069", "leftrightx"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("bell\x07null\x00escape\x1b[31m", "bellnullescape[31m"),
        ("bits\ufe00\ufe01\U000e0100", "bits"),
        ("fillers\u3164\u115f", "fillers"),
        ("joined\u200d\u200cletters", "joinedletters"),
        ("soft\u00adhyphen", "softhyphen"),
        ("dots\u2800less", "dots less"),
        ("\u2764\ufe0f", "\u2764"),
        ("a\u180bb", "ab"),
        ("not\U0001cfffyet", "not\ufffdyet"),
        ("never\uffff\ufdd0", "never"),
    ],
)
def test_characters_a_person_would_not_see_are_taken_out(text: str, expected: str) -> None:
    assert cleaned(text) == expected


def test_there_are_many_cases_each_with_a_name_of_its_own() -> None:
    assert len(CASES) > 60
    assert len({case.name for case in CASES}) == len(CASES)
    assert sum(case.kept for case in CASES) > 15


@each_case
def test_nothing_unseen_is_left_of_hostile_words(case: Case) -> None:
    assert unseen(cleaned(case.text)) == []


@pytest.mark.parametrize("case", [case for case in CASES if case.kept], ids=lambda case: case.name)
def test_what_languages_need_is_kept(case: Case) -> None:
    assert cleaned(case.text) == case.text


def test_arabic_number_signs_are_seen_and_kept() -> None:
    assert cleaned("\u0600١٢") == "\u0600١٢"


@given(st.text())
@example("\u0600")
@example("\U0001fa75")
def test_cleaning_twice_is_cleaning_once_and_nothing_unseen_is_left(text: str) -> None:
    once = cleaned(text)
    assert cleaned(once) == once
    assert unseen(once) == []


def test_a_pile_of_marks_is_cut_to_what_a_letter_can_need() -> None:
    assert cleaned("Z" + "\u0301" * 900 + "a") == "Z" + "\u0301" * 8 + "a"


def test_a_run_of_joiners_carries_no_message() -> None:
    assert cleaned("م\u200c\u200d\u200c\u200c\u200dن") == "م\u200cن"


def test_data_is_cleaned_where_a_path_leads() -> None:
    data = {
        "turns": [{"text": "a\u202eb", "role": "x\u202e"}],
        "words": ["c\u200b"],
        "one": "d\u2066",
        "in": {"x": "e\u200b"},
    }
    for path in ("turns.text", "words", "one", "absent.text", "in.x"):
        cleaned_at(data, path)
    assert data == {"turns": [{"text": "ab", "role": "x\u202e"}], "words": ["c"], "one": "d", "in": {"x": "e"}}


def test_cells_are_cleaned_by_name_and_value_and_none_is_lost() -> None:
    data = {"values": {"na\u200bme": "A\u202e", "name": "B", "count": 3}}
    cleaned_at(data, "values")
    assert data == {"values": {"name": "A", "name (2)": "B", "count": 3}}
