"""The whole surface: importing this module declares every operation and event."""

from . import agents, audiences, calls, deployments, events, phone_numbers, transcripts, voices, wallet
from .operation import OPERATIONS

MODULES = (agents, voices, audiences, phone_numbers, deployments, calls, transcripts, wallet, events)

__all__ = ["MODULES", "OPERATIONS"]
