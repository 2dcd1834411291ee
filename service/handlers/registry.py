"""Loads every handler. A test compares the list of handlers with the contract's operations."""

from callwright.service.handlers import (
    audiences,
    audit_log,
    compliance_reviews,
    confirmations,
    do_not_call,
    overview,
    owned_numbers,
    phone_numbers,
    providers,
    simulated_callers,
    voices,
    wallet,
)
from callwright.service.handlers.agents import agents, call_tools, versions
from callwright.service.handlers.calls import (
    calls,
    conversations,
    corrections,
    evidence,
    statistics,
    transcripts,
    unconfirmed,
)
from callwright.service.handlers.deployments import deployments, inbound, placing, talks, talks_with_numbers
from callwright.service.handlers.events import explanation, log
from callwright.service.handlers.exports import exports
from callwright.service.handlers.inbound_routing import requests, settings
from callwright.service.handlers.people import deletion, export
from callwright.service.handlers.webhooks import deliveries, subscriptions

MODULES = (
    *(
        agents,
        call_tools,
        versions,
        audiences,
        calls,
        unconfirmed,
        corrections,
        talks,
        talks_with_numbers,
        conversations,
    ),
    *(deployments, exports, inbound, placing, statistics),
    *(owned_numbers, phone_numbers, settings, requests, simulated_callers, providers, transcripts, voices, wallet),
    *(subscriptions, deliveries, log, explanation),
    *(overview, audit_log, evidence, do_not_call, export, deletion, compliance_reviews, confirmations),
)


def load() -> None:
    """Does nothing: importing this module declares every handler, and the call shows that the import is intended."""
