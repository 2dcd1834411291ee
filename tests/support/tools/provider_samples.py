"""Good answers about providers of speech and language models, and good arguments."""

from collections.abc import Callable, Mapping
from typing import Any

from callwright.contract.agents.call_tools import CallToolSecret
from callwright.contract.declaration.model import Resource
from callwright.contract.providers import Provider
from tests.support.tools.finding_samples import AT


def provider() -> Provider:
    """An account at a service that does everything."""
    return Provider(
        name="our-openai",
        kind="openai",
        roles=["hearing", "thinking", "speaking"],
        url="https://speech.example.com/v1",
        voice="alloy",
        has_key=True,
        key_ends_with="9f3a",
        default_for=["hearing"],
        created_at=AT,
        updated_at=AT,
    )


LISTED: Mapping[str, Callable[[], Resource]] = {"list_providers": provider}
ARGUMENTS: dict[str, dict[str, Any]] = {"remove_provider": {"name": "our-openai"}}


def singles() -> dict[str, Any]:
    """An answer for every operation that does not answer with a list."""
    secret = CallToolSecret(
        tool="free_times", header="Authorization", is_set=True, sent_to="https://calendar.example.com"
    )
    return {"set_provider": provider(), "remove_provider": None, "set_call_tool_secret": secret}
