"""Agents over the typed client, on both engines."""

from pathlib import Path

import pytest

from callwright.client import InvalidArguments
from tests.service import samples
from tests.service.doors import open_service
from tests.service.samples import refusal
from tests.service.wire import by_hand, refused


async def test_an_agent_is_made_with_its_defaults_and_read_back_the_same(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as door:
        made = await samples.agent(door, welcome_message="Hello {{first_name}}, about {{day}}")
        assert made.id.startswith("agt_")
        assert made.variables == ["first_name", "day"]
        assert (made.metadata, made.warnings) == ({}, [])
        assert made.created_at == made.updated_at
        assert made.created_by_key_id is not None
        assert await door.client.agents.get(id=made.id) == made
        plain = await samples.agent(door, "Plain", system_prompt="Say hello.")
        assert (plain.welcome_message, plain.variables) == ("", [])
