"""Which providers an agent names: as columns of its row and of what a deployment keeps, and as the contract has it."""

from collections.abc import Mapping
from typing import Any

from callwright.contract.agents.agents import Model, Speech

CHOICE = ("hearing_provider", "speaking_provider", "speaking_voice", "model_provider", "model_name")
"""The columns, of which null is the organization's default."""


def columns_of(speech: Speech | None, model: Model | None) -> dict[str, str | None]:
    """The columns of a choice."""
    return speech_columns(speech) | model_columns(model)


def speech_columns(speech: Speech | None) -> dict[str, str | None]:
    """The columns of what hears and speaks."""
    chosen = speech or Speech()
    return {
        "hearing_provider": chosen.hearing,
        "speaking_provider": chosen.speaking,
        "speaking_voice": chosen.voice,
    }


def model_columns(model: Model | None) -> dict[str, str | None]:
    """The columns of what thinks."""
    chosen = model or Model()
    return {"model_provider": chosen.provider, "model_name": chosen.model}


def choice_of(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The contract's `speech` and `model` of columns, of which older rows have none; None where nothing is chosen."""
    hearing, speaking, voice, provider, name = (kept.get(column) for column in CHOICE)
    return {
        "speech": Speech(hearing=hearing, speaking=speaking, voice=voice) if hearing or speaking or voice else None,
        "model": Model(provider=provider, model=name) if provider or name else None,
    }
