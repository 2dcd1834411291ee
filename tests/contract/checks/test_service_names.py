"""Ids of voices and names of models at other services: what may stand in one."""

import pytest

from callwright.contract.checks.service_names import checked_model, checked_voice


@pytest.mark.parametrize(
    "name", ["alloy", "21m00Tcm4TlvDq8ikWAM", "a0e99841-438c-4a64-b679-ae501e7d6091", "Ada v2 (en)"]
)
def test_ids_of_voices_are_taken_as_they_are(name: str) -> None:
    assert checked_voice(name) == name


@pytest.mark.parametrize("name", ["gpt-4.1-mini", "openai/whisper-large-v3", "llama3:8b", "nova-2", "Systran/f.w-s.en"])
def test_names_of_models_may_have_slashes_colons_and_dots(name: str) -> None:
    assert checked_model(name) == name


ANYWHERE = [
    "a\r\nb",
    "a\tb",
    "a\u200bb",
    "a\u202eb",
    " a",
    "a ",
    "a  b",
    "a?b",
    "a#b",
    "a&b",
    "a%2fb",
    "a\\b",
    "..",
    "",
]


@pytest.mark.parametrize("name", [*ANYWHERE, "../v", "a/b", "."])
def test_what_leads_elsewhere_in_an_address_is_no_voice(name: str) -> None:
    with pytest.raises(ValueError, match="must"):
        checked_voice(name)


@pytest.mark.parametrize("name", [*ANYWHERE, "../v", "a/../b", "/a", "a/", "a//b", "a/./b"])
def test_what_leads_elsewhere_in_an_address_is_no_model(name: str) -> None:
    with pytest.raises(ValueError, match="must"):
        checked_model(name)
