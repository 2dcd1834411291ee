import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.rules.templates import placeholders_in
from callwright.service.telephony.simulated.conversation.unknown_values import without_unknown


@pytest.mark.requirement("INSIM-02")
@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("Hello {{name}}, this is Ada. Is now a good time?", "Hello, this is Ada. Is now a good time?"),
        ("Hello {{first}} {{last}}, it is Ada.", "Hello, it is Ada."),
        ("Good morning, Mr {{last name}}. Your order {{order}} is ready.", "Good morning."),
        ("{{name}}, hello, this is Ada.", "Hello, this is Ada."),
        ("Thanks for calling, {{name}}. How can I help?", "Thanks for calling. How can I help?"),
        ("Hello {{name}} - Ada here.", "Hello - Ada here."),
        ("Hi {{name}}", "Hi."),
        ("Guten Tag, Herr {{Name}}, hier ist Ada.", "Guten Tag, hier ist Ada."),
        ("Buenas tardes, Señora {{apellido}}, soy Ada.", "Buenas tardes, soy Ada."),
        ("नमस्ते {{name}}, मैं आदा हूँ।", "नमस्ते, मैं आदा हूँ।"),
        ("Am I speaking with {{name}}?", ""),
        ("Is this {{name}}? How are you?", "How are you?"),
        ("This is {{agent}}. How can I help?", "How can I help?"),
        ("Your appointment is on {{day}}. We open at 9.", "We open at 9."),
        ("- Ask whether {{day}} suits\n- Confirm the address", "- Confirm the address"),
        ("1. Ask whether {{day}} suits\n\n2. Confirm", "\n2. Confirm"),
        ("Hello {{name|there}}, it is Ada.", "Hello {{name|there}}, it is Ada."),
        ("No variable.  At all.\n", "No variable.  At all.\n"),
    ],
)
def test_what_needs_an_unknown_variable_is_left_out(template: str, said: str) -> None:
    assert without_unknown(template, {}) == said
    assert without_unknown(template, {"name": " ", "day": ""}) == said


def test_what_is_known_stays_as_it_is_written() -> None:
    template = "Hello {{name}},  this is Ada.\nIs {{Day}} fine?"
    assert without_unknown(template, {"name": "Maria", "day": "Monday"}) == template
    assert without_unknown(template, {"name": "Maria"}) == "Hello {{name}},  this is Ada."


@given(st.text(alphabet="Hi {}name|,.?!\n-1", max_size=80), st.sampled_from([{}, {"name": ""}, {"n": "x"}]))
def test_nothing_is_left_that_needs_an_unknown_variable(template: str, variables: dict[str, str]) -> None:
    left = without_unknown(template, variables)
    assert without_unknown(left, variables) == left
    missing = [place for place in placeholders_in(left) if not (place.default or variables.get(place.name, "")).strip()]
    assert [place for place in missing if place.default is None] == []
