import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.rules.templates import (
    Columns,
    Rendered,
    nearest_column,
    numbered,
    placeholders_in,
    render,
    spoken_braces,
    values_of,
    variables_in,
)


@pytest.mark.requirement("CONV-28")
def test_places_are_filled_with_the_variables_of_their_names() -> None:
    assert render("Hello {{name}}, see you on {{ day }}.", {"name": "Ada", "day": "Friday"}) == Rendered(
        "Hello Ada, see you on Friday."
    )


@pytest.mark.requirement("CONV-29")
def test_an_unknown_variable_leaves_nothing_behind_and_is_named_once() -> None:
    assert render("{{b}}, {{a}} and {{b}}.", {"a": "x"}) == Rendered(", x and.", ("b",))


def test_an_empty_value_is_not_missing() -> None:
    assert render("[{{a}}]", {"a": ""}) == Rendered("[]")


def test_a_place_inside_a_value_is_not_filled_again() -> None:
    assert render("{{a}}", {"a": "{{b}}", "b": "no"}).text == "{{b}}"


@pytest.mark.requirement("CONV-28")
@pytest.mark.parametrize(
    ("written", "column"),
    [
        ("{{First Name}}", "First Name"),
        ("{{First Name}}", "first_name"),
        ("{{first_name}}", "FIRST NAME"),
        ("{{ Prénom }}", "prénom"),
        ("{{Prénom}}", "prenom"),
        ("{{telefono}}", "Teléfono"),
        ("{{E-Mail}}", "email"),
        ("{{Straße 1}}", "STRASSE_1"),
        ("{{नाम}}", "नाम"),
        ("{{1a}}", "1a"),
    ],
)
def test_a_place_is_filled_from_the_column_of_its_name_however_that_is_written(written: str, column: str) -> None:
    assert render(f"Hi {written}.", {column: "x", "other": "y"}) == Rendered("Hi x.")


def test_a_column_of_exactly_that_name_comes_first() -> None:
    assert render("{{first_name}}", {"First Name": "a", "first_name": "b"}).text == "b"


def test_accents_decide_where_columns_differ_by_them_alone() -> None:
    assert render("{{Prénom}}", {"prenom": "a", "prénom": "b"}).text == "b"
    assert render("{{Prenôm}}", {"prenom": "a", "prénom": "b"}) == Rendered("", ("Prenôm",))


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("Guten Tag {{a}}, hier ist Ada.", "Guten Tag, hier ist Ada."),
        ("Guten Tag {{a}} {{b}}, hier ist Ada.", "Guten Tag, hier ist Ada."),
        ("Hello {{a}} and welcome.", "Hello and welcome."),
        ("Bonjour {{a}}\u202f?", "Bonjour\u202f?"),
        ("Hello  there , {{a}}.", "Hello  there ,."),
        ("Two  blanks , {{x}} stay  there !", "Two  blanks , X stay  there !"),
        ("({{a}} )", "( )"),
        ("{{x}}{{a}}{{x}}", "XX"),
        ("Line one {{a}}\nLine two", "Line one \nLine two"),
        ("नमस्ते {{a}}। कैसे हैं?", "नमस्ते। कैसे हैं?"),
    ],
)
def test_an_empty_cell_leaves_one_blank_or_none_before_punctuation(template: str, said: str) -> None:
    for empty in ("", "  "):
        assert render(template, {"a": empty, "b": "", "x": "X"}).text == said


def test_a_value_keeps_its_blanks_beside_an_empty_cell() -> None:
    assert render("{{x}}{{a}}, yes", {"x": "so  ", "a": ""}).text == "so  , yes"


@pytest.mark.requirement("CONV-28")
@pytest.mark.parametrize(
    "written",
    [
        "{{name|there}}",
        "{{ name | there }}",
        "{{name | default:'there'}}",
        '{{name|default: "there"}}',
        "{{name|“there”}}",
    ],
)
def test_a_default_is_said_where_the_cell_is_empty_or_the_column_is_missing(written: str) -> None:
    template = f"Hello {written}."
    assert render(template, {"name": "Ada"}) == Rendered("Hello Ada.")
    for variables in ({"name": " "}, {"name": ""}, dict[str, str]()):
        assert render(template, variables) == Rendered("Hello there.")


@pytest.mark.parametrize("words", ["{{}}", "{{ }}", "{a}", "{{a", "a}}", "{{\n}}", "{{a\nb}}", '{{"a": 1}}', "{{-}}"])
def test_what_is_no_name_in_double_braces_stays_as_it_is(words: str) -> None:
    assert render(words, {"a": "x"}) == Rendered(words)
    assert variables_in(words) == ()


def test_the_names_of_a_template_come_once_and_in_order() -> None:
    assert variables_in("{{b}} {{ a }} {{b}} {{C_3}}") == ("b", "a", "C_3")


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_any_text_renders_and_misses_only_names_it_uses(template: str, variables: dict[str, str]) -> None:
    rendered = render(template, variables)
    without_default = {place.name for place in placeholders_in(template) if place.default is None}
    missing = {name for name in without_default if Columns(variables).find(name) is None}
    assert set(rendered.missing) == missing


@given(st.lists(st.sampled_from(["{{a}}", "{{b c|d.}}", "x. ", "{", "}}", "|", "?"])).map("".join))
def test_a_template_with_numbered_places_says_the_same(template: str) -> None:
    text, places = numbered(template, "p")
    variables = {"a": "1", "b c": ""}
    values = {f"p{index}": value or "" for index, value in enumerate(values_of(places, variables))}
    assert render(text, values).text == render(template, variables).text


@pytest.mark.parametrize(
    ("name", "near"),
    [("frist_name", "First Name"), ("Vorname", "name"), ("weather", None), ("emial", "E-Mail"), ("nam", "name")],
)
def test_the_nearest_column_is_the_one_of_a_like_name(name: str, near: str | None) -> None:
    assert nearest_column(name, ["phone_number", "First Name", "E-Mail", "name"]) == near


@pytest.mark.parametrize("unwritable", ["first{name", "first_name}", "first|name", "first\nname", "[first_name"])
def test_a_column_that_no_placeholder_can_name_is_never_suggested(unwritable: str) -> None:
    assert nearest_column("first_name", [unwritable]) is None
    assert nearest_column("first_name", [unwritable, "First Nam"]) == "First Nam"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Hello {first_name}, {{city}}", ["first_name"]),
        ("Hello {{first_name}, and {{city", ["first_name", "city"]),
        ("Hello {Erste Zeile}. {Erste Zeile}", ["Erste Zeile"]),
        ('Answer {"a": 1} and {} and {{name|there}}', []),
    ],
)
def test_braces_that_would_be_spoken_are_found(text: str, names: list[str]) -> None:
    assert list(spoken_braces(text)) == names


@given(st.text())
def test_a_template_without_places_is_its_own_text(template: str) -> None:
    if not variables_in(template):
        assert render(template, {}) == Rendered(template)
