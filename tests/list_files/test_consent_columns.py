"""Columns that say who agreed to be called and when, found by their names."""

import pytest

from callwright.list_files.consent_columns import consent_columns_among, consent_date_column_among


@pytest.mark.parametrize(
    "name",
    [
        *("consent", "Opt-In", "opt_in", "Marketing Consent", "Permission to call", "may we call?", "TCPA consent"),
        *("Einwilligung", "Consentement", "Consentimiento", "Toestemming", "सहमति"),
    ],
)
def test_a_column_is_found_by_its_name_in_many_languages(name: str) -> None:
    assert consent_columns_among(("first_name", name)) == (name,)


@pytest.mark.parametrize("name", ["email consent", "sms opt in", "consent date", "consent by", "opt out", "agreed"])
def test_a_column_of_something_else_is_not_found(name: str) -> None:
    assert consent_columns_among((name,)) == ()


@pytest.mark.parametrize("name", ["consent_date", "Consented At", "Opt-in date", "Datum der Einwilligung"])
def test_the_column_of_the_date_is_found(name: str) -> None:
    assert consent_date_column_among(["first_name", name, "consent"]) == name


def test_the_date_of_the_column_that_is_asked_comes_before_others() -> None:
    assert consent_date_column_among(["consent date", "Agreed_at"], "agreed") == "Agreed_at"
    assert consent_date_column_among(["created_at"], "agreed") is None
    assert consent_date_column_among([]) is None
