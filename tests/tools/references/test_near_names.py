"""Names that may have been meant."""

import pytest

from callwright.tools.references.near_names import MOST_NEAR, nearest


def near(wanted: str, *names: str) -> list[str]:
    return nearest(wanted, [(name, (name,)) for name in names])


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("anna", "Anna"),
        (" Anna ", "Anna"),
        ("Jose\u0301", "Jos\u00e9"),
        ("STRASSE", "Straße"),
        ("Clinic", "Clinic reminders"),
        ("reminders", "Clinic reminders"),
        ("Anan", "Anna"),
        ("Clinic reminders 2026", "Clinic reminders"),
    ],
)
def test_a_name_that_is_nearly_right_finds_what_was_meant(wanted: str, meant: str) -> None:
    assert near(wanted, "Walter", meant, "Zzz") == [meant]


def test_the_same_name_in_another_case_comes_before_longer_and_before_similar_ones() -> None:
    assert near("anna", "Anne", "Anna Maria", "ANNA") == ["ANNA", "Anna Maria", "Anne"]


def test_five_are_shown_at_most_and_the_newest_of_equals_first() -> None:
    found = near("team", *(f"Team {number}" for number in range(9)))
    assert found == [f"Team {number}" for number in range(MOST_NEAR)]


@pytest.mark.parametrize("wanted", ["Quentin", "", "   ", "\u200b"])
def test_what_is_like_nothing_finds_nothing(wanted: str) -> None:
    assert near(wanted, "Anna", "Walter", "") == []


def test_each_of_several_names_of_a_thing_counts() -> None:
    assert nearest("front", [("num_1", ("+12025550100", "Front desk")), ("num_2", ("+12025550101", ""))]) == ["num_1"]


def test_very_long_names_are_compared_by_their_beginning() -> None:
    assert near("x" * 5_000, "x" * 200) == ["x" * 200]
