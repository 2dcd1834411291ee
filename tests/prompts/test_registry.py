"""Prompts: their texts and their arguments."""

from string import Template

import pytest

from callwright.prompts.registry import PROMPTS, Prompt, PromptArgumentError, prompt_named

each_prompt = pytest.mark.parametrize("prompt", PROMPTS, ids=[prompt.name for prompt in PROMPTS])


def filled(prompt: Prompt) -> dict[str, str]:
    return {argument.name: f"the {argument.name}" for argument in prompt.arguments if argument.required}


def test_there_are_prompts_for_planning_analysing_answering_and_reviewing() -> None:
    assert [prompt.name for prompt in PROMPTS] == [
        "plan_campaign",
        "analyse_campaign",
        "answer_from_transcripts",
        "review_call",
    ]


@each_prompt
def test_a_text_uses_exactly_the_arguments_of_its_prompt(prompt: Prompt) -> None:
    assert set(Template(prompt.template()).get_identifiers()) == {argument.name for argument in prompt.arguments}


@each_prompt
def test_a_prompt_and_its_arguments_are_described(prompt: Prompt) -> None:
    assert prompt.title
    assert prompt.description
    assert all(argument.description for argument in prompt.arguments)
    assert all(argument.required or argument.absent for argument in prompt.arguments)


@each_prompt
def test_arguments_stand_in_the_text(prompt: Prompt) -> None:
    text = prompt.text(filled(prompt))
    assert all(value in text for value in filled(prompt).values())
    assert all(argument.absent in text for argument in prompt.arguments if not argument.required)
    assert "$" not in text


@each_prompt
@pytest.mark.parametrize("blank", ["", "  \n"])
def test_a_missing_argument_is_named(prompt: Prompt, blank: str) -> None:
    first = prompt.arguments[0].name
    with pytest.raises(PromptArgumentError, match=f"^{first} is required"):
        prompt.text(filled(prompt) | {first: blank})


@each_prompt
def test_an_unknown_argument_is_refused_with_the_known_ones(prompt: Prompt) -> None:
    with pytest.raises(PromptArgumentError, match=f"no argument colour; it takes {prompt.arguments[0].name}"):
        prompt.text(filled(prompt) | {"colour": "red"})


def test_an_argument_that_is_too_long_is_refused_without_repeating_it() -> None:
    with pytest.raises(PromptArgumentError) as caught:
        PROMPTS[0].text({"goal": "x" * 4_001})
    assert str(caught.value) == "goal must have at most 4000 characters"


def test_dollar_signs_of_a_person_stay_as_they_are() -> None:
    assert "spend $audience or $50" in PROMPTS[0].text({"goal": "spend $audience or $50"})


def test_an_unknown_name_has_no_prompt() -> None:
    assert prompt_named("launch_rocket") is None
