"""Tools for agents."""

from callwright.contract import agents as contract
from callwright.contract.agents import Agent

from .text import line, lines, listed, shortened
from .tool import ADDS, CHANGES, READS, Gone, Tool, one_a_line
from .use import Use

_LONGEST_PROMPT = 4_000


def _entry(agent: Agent, _: Use) -> str:
    return line(agent.id, agent.name, agent.language, f"voice {agent.voice_id}")


def _summary(agent: Agent, use: Use) -> str:
    return lines(
        _entry(agent, use),
        f"needs columns: {listed(agent.variables)}" if agent.variables else "needs no columns",
        *(f"warning: {warning}" for warning in agent.warnings),
    )


def _whole(agent: Agent, use: Use) -> str:
    cut = len(agent.system_prompt) > _LONGEST_PROMPT
    return lines(
        _summary(agent, use),
        f"welcome: {agent.welcome_message}" if agent.welcome_message else "welcome: none, the contact begins",
        f"prompt: {shortened(agent.system_prompt, _LONGEST_PROMPT)}",
        f"The whole prompt is at callwright://agents/{agent.id}/prompt" if cut else None,
    )


def _gone(gone: Gone, _: Use) -> str:
    return f"Deleted agent {gone.id}."


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.list_agents,
        toolset="agents",
        title="List agents",
        description=(
            "Voice agents of the organization, newest first. Use it to find an agent_id or to see whether a name "
            "is taken; for one agent with its prompt use get_agent. Free, changes nothing. Gives id, name, "
            "language and voice of each."
        ),
        hints=READS,
        reply=one_a_line(_entry, empty="No agent fits. create_agent makes one."),
    ),
    Tool(
        operation=contract.create_agent,
        toolset="agents",
        title="Create an agent",
        description=(
            "Makes a voice agent: who speaks on the calls, with what voice, and what it knows and wants. Costs "
            "nothing and calls nobody; create_deployment puts it to work. Put every fact it may need into "
            "system_prompt, since it answers from that alone; {{column}} inserts a column of the audience, for "
            "example {{first_name}}. Choose voice_id with list_voices, in the agent's language. To change one that"
            " exists use update_agent. Gives the new id, the columns the prompt needs and warnings."
        ),
        hints=ADDS,
        reply=_summary,
    ),
    Tool(
        operation=contract.get_agent,
        toolset="agents",
        title="Get an agent",
        description=(
            "One agent with its whole configuration: system prompt, welcome message, voice, language, and the "
            "audience columns it needs. Use list_agents to find the id. Free, changes nothing."
        ),
        hints=READS,
        reply=_whole,
    ),
    Tool(
        operation=contract.update_agent,
        toolset="agents",
        title="Change an agent",
        description=(
            "Changes the fields that are given and leaves the others. The old text is overwritten and not kept, so"
            " read it with get_agent first. Costs nothing. Deployments that have started keep the agent as it was;"
            " drafts get the new one. For a different role make a new one with create_agent. Gives the agent after"
            " the change."
        ),
        hints=CHANGES,
        reply=_summary,
    ),
    Tool(
        operation=contract.delete_agent,
        toolset="agents",
        title="Delete an agent",
        description=(
            "Deletes an agent for good; it cannot be brought back. Costs nothing. Refused while a deployment that "
            "is not finished uses it: cancel_deployment first. To change an agent use update_agent instead. Ask "
            "the person before deleting. Gives the id that is gone."
        ),
        hints=CHANGES,
        reply=_gone,
    ),
)
