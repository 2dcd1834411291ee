"""Tools for what agents can do on a call beside talking."""

from callwright.contract.agents import call_tool_settings as contract
from callwright.contract.agents.agents import Agent
from callwright.tools.catalogue.agents import AgentSummary, summary
from callwright.tools.runtime.tool import CHANGES, Tool
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import lines, listed

_SHAPE = (
    "All of them; [] for none. Each has type, name (lower case), description (for the agent's model) and perhaps "
    "use_when: {words, after, say, say_if_failed}, by which an agent without a model calls it too, once: the contact's "
    "words, a tool before it, what it then says, with {{answer.times.0}} for parts of the answer. "
    "http: url (HTTPS), method, parameters (JSON Schema of an object), headers, secret_headers (names alone), body, "
    "columns, timeout_seconds, meanwhile (said while one waits), rehearsal (the answer on the simulated network). "
    "{{argument}} and {{column}} stand in url, headers and body. end_call: sentence. press_keys: keys. call_back_at: "
    "time_zone. transfer (named transfer_call, without use_when): destinations, each {name, to (E.164), kind (warm or "
    "cold), ring_timeout_seconds, summary, say_before, confirm_key}, and countries that may be called, such as DE, "
    "beside that of the calling number."
)


def _set(agent: Agent, context: ToolContext) -> str:
    return lines(
        summary(agent, context),
        f"can call: {listed([f'{tool.name} ({tool.type})' for tool in agent.call_tools])}"
        if agent.call_tools
        else "has no tools",
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.set_call_tools,
        toolset="call_tools",
        title="Set an agent's call tools",
        description=(
            "Sets what an agent can do on a call beside talking: ask an HTTP address, hand over to a person, end the "
            "call, press keys, note a callback. Replaces all of them, and makes a version. get_agent shows those there "
            "are. No secrets here: a person sets them with `callwright agents secret`. Free."
        ),
        hints=CHANGES,
        reply=_set,
        output_model=AgentSummary,
        omitted_fields=frozenset({"name", "voice_id", "language", "speech", "model", "version"}),
        argument_descriptions={"call_tools": _SHAPE},
        collapsed=frozenset({"call_tools"}),
    ),
)
