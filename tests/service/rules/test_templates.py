import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.rules.templates import Rendered, render, variables_in


@pytest.mark.requirement("CONV-28")
def test_places_are_filled_with_the_variables_of_their_names() -> None:
    assert render("Hello {{name}}, see you on {{ day }}.", {"name": "Ada", "day": "Friday"}) == Rendered(
        "Hello Ada, see you on Friday."
    )


@pytest.mark.requirement("CONV-29")
def test_an_unknown_variable_leaves_nothing_behind_and_is_named_once() -> None:
    assert render("{{b}}, {{a}} and {{b}}.", {"a": "x"}) == Rendered(", x and .", ("b",))


def test_an_empty_value_is_not_missing() -> None:
    assert render("[{{a}}]", {"a": ""}) == Rendered("[]")


def test_a_place_inside_a_value_is_not_filled_again() -> None:
    assert render("{{a}}", {"a": "{{b}}", "b": "no"}).text == "{{b}}"


@pytest.mark.requirement("CONV-28")
@pytest.mark.parametrize(
    "words", ["{{1a}}", "{{a-b}}", "{{}}", "{{ }}", "{a}", "{{a", "a}}", "{{a b}}", "{{_a}}", "{{\n}}"]
)
def test_what_is_no_name_in_double_braces_stays_as_it_is(words: str) -> None:
    assert render(words, {"a": "x"}) == Rendered(words)
    assert variables_in(words) == ()


def test_the_names_of_a_template_come_once_and_in_order() -> None:
    assert variables_in("{{b}} {{ a }} {{b}} {{C_3}}") == ("b", "a", "C_3")


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_any_text_renders_and_misses_only_names_it_uses(template: str, variables: dict[str, str]) -> None:
    rendered = render(template, variables)
    assert set(rendered.missing) == set(variables_in(template)) - set(variables)


@given(st.text())
def test_a_template_without_places_is_its_own_text(template: str) -> None:
    if not variables_in(template):
        assert render(template, {}) == Rendered(template)
