"""Loads every handler. A test holds the list of handlers against the contract's operations."""

from . import (
    agents,
    audiences,
    calls,
    deployments,
    event_explanation,
    event_log,
    inbound,
    phone_numbers,
    transcripts,
    voices,
    wallet,
    webhook_deliveries,
    webhooks,
)

MODULES = (
    *(agents, audiences, calls, deployments, inbound, phone_numbers, transcripts, voices, wallet),
    *(webhooks, webhook_deliveries, event_log, event_explanation),
)


def load() -> None:
    """Importing this module has declared every handler; calling this says that the import is meant."""
