"""What agents can do on a call beside talking: their tools, and the secrets of those."""

from sqlalchemy import update

from callwright.contract.agents import call_tool_settings as contract
from callwright.contract.agents.agents import Agent
from callwright.contract.agents.call_tools import CallToolSecret, http_tools
from callwright.service.handlers.agents import agents, kept_versions, transfers
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.platform import secret_box
from callwright.service.platform.refusals import invalid
from callwright.service.platform.secret_box import SecretBox, SecretUnreadable
from callwright.service.rules import call_tools as rules
from callwright.service.rules.unfit_tools import Unfit
from callwright.service.tables import call_tool_secrets as secrets
from callwright.service.tables import schema

_C = schema.agents.c


@handles(contract.set_call_tools)
def set_call_tools(asked: contract.SetCallTools, context: RequestContext) -> Agent:
    """The agent with these tools and no others, and warnings of destinations that not all numbers may call.

    Secrets that were set stay, for tools of the same name and address.
    """
    row = agents.find(context, asked.id, lock=True)
    try:
        rules.check(asked.call_tools, opened=context.settings.webhook_networks)
        transfers.check(asked.call_tools, context)
    except Unfit as error:
        raise invalid(error.field, str(error)) from error
    changes = {"call_tools": rules.stored_tools(asked.call_tools)}
    context.connection.execute(
        update(schema.agents)
        .where(_C.id == asked.id, _C.org_id == context.org_id)
        .values(**changes, **kept_versions.add_if_changed(context, row, changes), updated_at=context.now_ms)
    )
    found = agents.to_resource(agents.find(context, asked.id))
    return found.model_copy(update={"warnings": [*found.warnings, *transfers.advice(asked.call_tools, context)]})


def _load_encryption(_: contract.SetCallToolSecret) -> None:
    secret_box.load()


@handles(contract.set_call_tool_secret, prepare=_load_encryption)
def set_call_tool_secret(asked: contract.SetCallToolSecret, context: RequestContext) -> CallToolSecret:
    """A secret header, which calls that begin from now on send."""
    row = agents.find(context, asked.id, lock=True)
    tools = rules.tools_in(row.call_tools)
    tool = next((one for one in http_tools(tools) if one.name == asked.tool), None)
    if tool is None:
        there = ", ".join(one.name for one in http_tools(tools)) or "none"
        raise invalid("tool", f"is no tool of the agent that asks an address; there are {there}")
    if asked.header.lower() not in [name.lower() for name in tool.secret_headers]:
        there = ", ".join(tool.secret_headers) or "none"
        raise invalid(
            "header", f"is not in secret_headers of {tool.name}, where there are {there}; set_call_tools adds it"
        )
    try:
        stored = secrets.with_secret(
            row.call_tool_secrets,
            tool,
            asked.header,
            asked.value,
            SecretBox(context.settings),
            (context.org_id, asked.id),
        )
    except SecretUnreadable as error:
        raise invalid(
            "value", f"cannot be encrypted: {error}; whoever runs the service sets the secrets key"
        ) from error
    mine = (_C.id == asked.id) & (_C.org_id == context.org_id)
    context.connection.execute(update(schema.agents).where(mine).values(call_tool_secrets=stored))
    return next(one for one in secrets.shown(stored, [tool]) if one.header.lower() == asked.header.lower())
