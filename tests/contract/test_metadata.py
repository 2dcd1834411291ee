"""The notes that a caller keeps with a resource."""

import pytest
from pydantic import ValidationError

from callwright.contract.agents.agents import CreateAgent


def test_half_a_character_in_the_name_of_a_note_is_refused() -> None:
    given = {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Be kind."}
    with pytest.raises(ValidationError, match="not valid Unicode"):
        CreateAgent.model_validate({**given, "metadata": {"\ud800": "x"}})
