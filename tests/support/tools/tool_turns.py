"""Turns in which an agent calls a tool."""

from callwright.contract.calls.calls import CalledTool, TranscriptTurn
from tests.support.tools import samples


def tool_turn(index: int, *, ok: bool = True, result: str = '{"times": ["ten"]}') -> TranscriptTurn:
    """A turn in which the agent asks for free times."""
    called = CalledTool(name="free_times", arguments='{"day": "Tuesday"}', result=result, ok=ok, latency_ms=120)
    return samples.turn(index, "").model_copy(update={"role": "system", "tool_call": called})
