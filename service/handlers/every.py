"""Loads every handler. A test holds the list of handlers against the contract's operations."""

from . import agents, audiences, calls, deployments, inbound, phone_numbers, transcripts, voices, wallet

MODULES = (agents, audiences, calls, deployments, inbound, phone_numbers, transcripts, voices, wallet)


def load() -> None:
    """Importing this module has declared every handler; calling this says that the import is meant."""
