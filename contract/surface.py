"""The whole surface: importing this module declares every operation and event."""

from callwright.contract import (
    audiences,
    audit_log,
    compliance_reviews,
    confirmations,
    do_not_call,
    event_log,
    inbound_routing,
    overview,
    people,
    phone_numbers,
    providers,
    simulated_callers,
    voices,
    wallet,
    webhooks,
)
from callwright.contract.agents import agents, call_tool_settings
from callwright.contract.calls import calls, conversations, corrections, evidence, transcripts, unconfirmed
from callwright.contract.declaration.operation import OPERATIONS, Operation
from callwright.contract.deployments import deployments, exports, placing, talks

MODULES = (
    *(agents, call_tool_settings, voices, providers, audiences, phone_numbers, inbound_routing, simulated_callers),
    *(deployments, exports, placing),
    *(calls, unconfirmed, corrections, talks, transcripts, conversations, wallet, webhooks, event_log),
    *(overview, audit_log, evidence, do_not_call, people, compliance_reviews, confirmations),
)

# Modules are imported in an order that depends on who needs which first. What is made of the operations must not.
_DECLARED = [value.name for module in MODULES for value in vars(module).values() if isinstance(value, Operation)]
for _name in dict.fromkeys(_DECLARED):
    OPERATIONS[_name] = OPERATIONS.pop(_name)

__all__ = ["MODULES", "OPERATIONS"]
