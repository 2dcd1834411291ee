"""The registry of all tools.

Importing this module imports the whole contract, so the server does it when a tool first runs.
"""

from callwright.tools.catalogue import (
    agents,
    audience_rows,
    audiences,
    audit_log,
    call_tools,
    callers,
    compliance_reviews,
    deployments,
    dialling,
    do_not_call,
    exports,
    inbound_routing,
    overview,
    people,
    phone_numbers,
    providers,
    voices,
    wallet,
)
from callwright.tools.catalogue.calls import calls, conversations, evidence, findings
from callwright.tools.catalogue.events import event_log, webhook_deliveries, webhooks
from callwright.tools.runtime.tool import Tool

MODULES = (
    *(
        overview,
        wallet,
        agents,
        call_tools,
        voices,
        providers,
        audiences,
        audience_rows,
        phone_numbers,
        inbound_routing,
        callers,
        deployments,
        dialling,
        exports,
    ),
    *(calls, conversations, findings),
    *(webhooks, webhook_deliveries, event_log, audit_log),
    *(evidence, do_not_call, people, compliance_reviews),
)

TOOLS: tuple[Tool, ...] = tuple(tool for module in MODULES for tool in module.TOOLS)

_BY_NAME = {tool.name: tool for tool in TOOLS}


def tool_named(name: str) -> Tool:
    """The tool of this name. Raises KeyError if there is none."""
    return _BY_NAME[name]
