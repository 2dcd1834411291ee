import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.telephony.simulated.conversation.imperatives import is_imperative, split_steps, spoken


@pytest.mark.parametrize(
    ("instruction", "said"),
    [
        ("Ask whether Thursday suits", "Does Thursday suit you?"),
        ("Ask if Thursday at ten still works for them.", "Does Thursday at ten still work for you?"),
        ("Ask if they have received the letter", "Have you received the letter?"),
        ("Ask whether they have any allergies", "Do you have any allergies?"),
        ("Ask if the customer is happy with the service", "Are you happy with the service?"),
        ("Ask the patient if they can come on {{day}}", "Can you come on {{day}}?"),
        ("Ask if she needs a ride", "Do you need a ride?"),
        (
            "Ask whether the parcel reached its destination",
            "Could you tell me whether the parcel reached its destination?",
        ),
        ("Find out how many people they expect", "How many people do you expect?"),
        ("Ask when they would like to come", "When would you like to come?"),
        ("Ask what their budget is", "What is your budget?"),
        ("Find out how high their monthly bill is", "How high is your monthly bill?"),
        ("Ask why they cancelled", "Could you tell me why you cancelled?"),
        ("Ask for their date of birth", "Could you give me your date of birth?"),
        ("Ask them to bring the insurance card", "Could you bring the insurance card?"),
        ("Ask about allergies", "Could I ask about allergies?"),
        ("Confirm the address", "Could you confirm the address?"),
        ("Confirm that they received the contract", "Could you confirm that you received the contract?"),
        ("Tell them the office is closed on Monday", "The office is closed on Monday."),
        ("Let them know that we moved", "We moved."),
        ("Remind them to bring the card", "Please remember to bring the card."),
        ("Explain the new price", "I'd like to tell you about the new price."),
        ("Offer a free inspection", "We can offer you a free inspection. Would you be interested?"),
        ("Invite them to the open day", "We'd like to invite you to the open day. Would you be interested?"),
        ("Apologise for the delay", "I'm sorry for the delay."),
        ('Ask: "Would you recommend us?"', "Would you recommend us?"),
    ],
)
def test_an_instruction_becomes_what_the_agent_says(instruction: str, said: str) -> None:
    assert spoken(instruction) == said


@pytest.mark.parametrize("sentence", ["Our office is open on Monday.", "Thank them.", "The asking price is low.", ""])
def test_what_is_no_instruction_to_say_something_is_left_alone(sentence: str) -> None:
    assert not is_imperative(sentence)
    assert spoken(sentence) is None


def test_two_instructions_in_one_sentence_are_two_steps() -> None:
    assert split_steps("Ask whether Thursday suits and confirm the address, then offer a reminder.") == [
        "Ask whether Thursday suits",
        "confirm the address",
        "offer a reminder.",
    ]


@given(
    st.sampled_from(["Ask ", "Ask if ", "Ask what ", "Tell them ", "Remind ", "Offer ", "Confirm ", "Let "]), st.text()
)
def test_any_words_behind_an_instruction_can_be_handled(instruction: str, rest: str) -> None:
    said = spoken(instruction + rest)
    assert said is None or said
