"""Tools for agents."""

from typing import Annotated

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from callwright.contract.agents import agents as contract
from callwright.contract.agents.agents import (
    Agent,
    AgentVersion,
    CreateAgent,
    GetAgent,
    Model,
    Speech,
    VersionDifference,
    get_agent,
)
from callwright.contract.agents.call_tools import CallTools, CallToolSecret
from callwright.contract.checks.names import quoted
from callwright.contract.declaration.field_types import LanguageTag, Timestamp, VoiceId
from callwright.contract.deployments.talks import Talk, talk_to_agent
from callwright.contract.voices import GetVoice, ListVoices, Voice, get_voice, list_voices
from callwright.tools.arguments.arguments import narrowed
from callwright.tools.replies.size_limit import truncated_text
from callwright.tools.runtime.tool import (
    ADDS,
    CHANGES,
    READS,
    Hints,
    Projection,
    Reply,
    Tool,
    data_of,
    deleted,
    projected,
)
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import json_bytes, line, lines, listed, moment

_PROMPT_BYTES = 6_000
"""Bytes of a prompt in one answer, in its text and in its data each."""
_TOOLS_BYTES = 6_000
"""Bytes of the settings of all call tools in the text of an answer."""
_LEAST_BYTES = 500
"""Bytes of a difference behind long ones."""
_CUT = "… cut: get_agent with version={} and prompt_from has the whole text of before"


class AgentSummary(Projection):
    """An agent after it was created or changed, without its texts."""

    id: str
    name: str
    voice_id: str
    language: str
    variables: list[str]
    warnings: list[str]
    speech: Speech | None = None
    model: Model | None = None
    version: int | None = None


class AgentDetails(AgentSummary):
    """An agent with its prompt and welcome message."""

    welcome_message: str
    system_prompt: str
    prompt_characters: int = 0
    prompt_goes_on_from: int | None = None
    updated_at: Timestamp
    call_tools: CallTools = []
    call_tool_secrets: list[CallToolSecret] = []
    differences: list[VersionDifference] | None = None


class GetAgentInParts(GetAgent):
    """The agent, and the character of its prompt to begin with."""

    prompt_from: Annotated[int, Field(ge=0, description="First character to give of a long prompt.")] = 0


class CreateAgentOfVoice(CreateAgent):
    """A new agent. Without a voice it gets the first voice of its language, without a language that of its voice."""

    voice_id: VoiceId | None = None  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues]  # filled in before it is asked
    language: Annotated[LanguageTag | None, Field(description="BCP-47 tag. Left out: the voice's own language.")] = None  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues]  # filled in before it is asked


def _entry(agent: Agent, _: ToolContext) -> str:
    return line(agent.id, agent.name, agent.language, f"voice {agent.voice_id}", _numbered(agent.version))


def _numbered(version: int | None) -> str | None:
    return f"version {version}" if version is not None and version > 1 else None


def _by(version: AgentVersion) -> str | None:
    """Who made a version: the name of the key, and the person for whom it acted."""
    key = quoted(version.actor_label) if version.actor_label else version.user_id or version.actor_id
    who = f"{key} for {version.user_id}" if version.actor_label and version.user_id else key
    return f"by {who}" if who else None


def _version(version: AgentVersion, _: ToolContext) -> str:
    return line(
        f"version {version.version}",
        moment(version.created_at),
        _by(version),
        f"restored from {version.restored_from}" if version.restored_from else None,
        f"changed {listed(version.changed)}" if version.changed else None,
    )


def _difference(one: VersionDifference) -> str:
    if one.diff is None:
        return f"{one.field}: {one.before or 'none'} -> {one.after or 'none'}"
    return f"{one.field}:\n{one.diff}"


def _compared(agent: Agent, since: int) -> Agent:
    """The agent with differences that fit into one answer."""
    left = _PROMPT_BYTES
    shown: list[VersionDifference] = []
    for one in agent.differences or ():
        diff = None if one.diff is None else truncated_text(one.diff, max(left, _LEAST_BYTES))
        shown.append(one.model_copy(update={"diff": diff if diff == one.diff else f"{diff}\n{_CUT.format(since)}"}))
        left -= len((diff or "").encode())
    return agent.model_copy(update={"differences": shown})


def summary(agent: Agent, context: ToolContext) -> str:
    """An agent in a few lines, without its texts."""
    return lines(
        _entry(agent, context),
        f"needs columns: {listed(agent.variables)}" if agent.variables else "needs no columns",
        _providers(agent),
        *(f"warning: {warning}" for warning in agent.warnings),
    )


def _call_tools(tools: CallTools) -> list[str]:
    """The tools whole, because set_call_tools replaces all of them: each as JSON, as far as they fit."""
    room = _TOOLS_BYTES
    shown: list[str] = []
    for tool in tools:
        settings = tool.model_dump_json(exclude_defaults=True, exclude={"type", "name", "description"})
        part = truncated_text(settings, max(room, 0))
        room -= json_bytes(settings)
        cut = "" if part == settings else "… cut: the data of this answer has it whole"
        more = "" if settings == "{}" else f" {part}{cut}"
        shown.append(line(f"tool {tool.name} ({tool.type}): {tool.description}{more}"))
    return shown


def _talk(talk: Talk, _: ToolContext) -> str:
    return lines(
        f"Open this within a minute to talk to the agent: {talk.url}",
        f"Note: {talk.notice}" if talk.notice else None,
        f"It is call {talk.call_id}; get_transcript shows what was said once it has ended.",
    )


def _providers(agent: Agent) -> str | None:
    """What hears, thinks and speaks on live calls, as far as the agent names it."""
    speech, model = agent.speech or Speech(), agent.model or Model()
    named = {
        "hearing": speech.hearing,
        "speaking": line(speech.speaking, f"voice {speech.voice}" if speech.voice else None),
        "thinking": line(model.provider, f"model {model.model}" if model.model else None),
    }
    said = [f"{role} {what}" for role, what in named.items() if what]
    return f"on live calls: {'; '.join(said)}" if said else None


async def _with_voice(context: ToolContext, asked: CreateAgentOfVoice) -> CreateAgentOfVoice:
    """The arguments with the language of the voice, or the first voice of the language, if only one was given."""
    if asked.language is not None and asked.voice_id is not None:
        return asked
    if asked.voice_id is not None:
        voice = await context.client.ask(get_voice, GetVoice(id=asked.voice_id))
        found = asked.model_copy(update={"language": voice.language})
    else:
        voice = await _first_voice(context, asked.language)
        found = asked.model_copy(update={"voice_id": voice.id, "language": asked.language or voice.language})
    found.model_fields_set.update(("language", "voice_id"))
    return found


async def _first_voice(context: ToolContext, language: str | None) -> Voice:
    """The first voice of a language, or of its kind: for de-AT any German one. ToolError if none speaks it."""
    if language is None:
        raise ToolError("Invalid arguments: language: required, unless voice_id is given; for example de-DE.")
    for wanted in dict.fromkeys((language, language.split("-")[0])):
        if found := (await context.client.ask(list_voices, ListVoices(language=wanted, per_page=1))).data:
            return found[0]
    raise ToolError(context.hint(f"Invalid arguments: language: no voice speaks {language}. list_voices shows them."))


async def _found(context: ToolContext, asked: GetAgentInParts) -> Reply:
    """The agent with its prompt, or with the part that begins where the arguments say."""
    agent = await context.client.ask(get_agent, narrowed(asked, GetAgent))
    whole, begin = agent.system_prompt, asked.prompt_from
    if asked.compare_to is not None:
        agent = _compared(agent, asked.compare_to)
        found = projected(AgentDetails, agent).model_copy(
            update={"system_prompt": "", "prompt_characters": len(whole), "prompt_goes_on_from": 0}
        )
        differences = [_difference(one) for one in agent.differences or ()]
        heading = (
            f"changed since version {asked.compare_to}:"
            if differences
            else f"nothing has changed since version {asked.compare_to}"
        )
        return Reply(text=lines(_entry(agent, context), heading, *differences), data=data_of(found))
    part = truncated_text(whole[begin:], _PROMPT_BYTES)
    end = begin + len(part)
    more = end < len(whole)
    text = lines(
        summary(agent, context),
        *_call_tools(agent.call_tools),
        f"welcome: {agent.welcome_message}" if agent.welcome_message else "welcome: none, the contact begins",
        f"prompt: {part}" if part == whole else f"prompt, characters {begin} to {end} of {len(whole)}: {part}",
        f"The prompt goes on: call again with prompt_from={end}, or read callwright://agents/{agent.id}/prompt"
        if more
        else None,
    )
    found = projected(AgentDetails, agent).model_copy(
        update={
            "system_prompt": part,
            "prompt_characters": len(whole),
            "prompt_goes_on_from": end if more else None,
        }
    )
    return Reply(text=text, data=data_of(found))


_MADE = {
    "name": "Unique in the organization.",
    "voice_id": "Left out: the first of language; one of both is needed.",
    "language": "BCP-47 tag, such as en-US. Left out: that of voice_id.",
    "system_prompt": "Up to 32,768 characters; {{column}} inserts an audience column.",
    "welcome_message": "What it says first; {{column}} as above. Empty: the contact begins.",
    "speech": "Live calls: providers {hearing, speaking}, and the latter's own {voice}.",
    "model": "Live calls: {provider, model}.",
}
_LIKE_MADE = "As new."
_CHANGED = {
    "restore_version": "Brings it back.",
    "name": "Unique.",
    "language": "BCP-47 tag.",
    "system_prompt": _LIKE_MADE,
    "welcome_message": _LIKE_MADE,
    "speech": "All of it; null: the defaults.",
    "model": "All of it; null: the default.",
}
_CHOICE = frozenset({"speech", "model"})
_SET = frozenset({"name", "voice_id", "language", "version", *_CHOICE})

TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.list_agents,
        toolset="agents",
        title="List agents",
        description=("Voice agents (who speaks on calls) and their ids, newest first. For one use get_agent. Free."),
        hints=READS,
        reply=_entry,
        empty="No agent fits. create_agent makes one.",
        default_fields=("id", "name", "language", "voice_id"),
        hidden=frozenset({"created_from", "created_before", "sort", "voice_id", "fields"}),
        argument_descriptions={"language": "With this language tag."},
    ),
    Tool(
        operation=contract.create_agent,
        toolset="agents",
        title="Create an agent",
        description=(
            "Makes a voice agent: who speaks on calls, and what it knows and wants. Free; calls nobody. It answers "
            "from system_prompt alone, so put every fact there. To change one use update_agent."
        ),
        hints=ADDS,
        reply=summary,
        input_model=CreateAgentOfVoice,
        output_model=AgentSummary,
        complete_input=_with_voice,
        omitted_fields=_SET,
        argument_descriptions=_MADE,
        collapsed=_CHOICE,
        hidden=frozenset({"metadata"}),
    ),
    Tool(
        operation=contract.get_agent,
        toolset="agents",
        title="Get an agent",
        description=(
            "One agent whole, as it is or was, and the columns it needs. Read it before changing a prompt. To find "
            "agents use list_agents. Free."
        ),
        hints=READS,
        reply=summary,
        input_model=GetAgentInParts,
        output_model=AgentDetails,
        omitted_fields=frozenset(
            {
                *("voice_id", "language", *_CHOICE, "prompt_characters", "prompt_goes_on_from", "updated_at"),
                *("warnings", "version", "differences", "call_tools", "call_tool_secrets"),
            }
        ),
        argument_descriptions={
            "prompt_from": "First character to give.",
            "version": "As it was.",
            "compare_to": "What changed since.",
        },
        handler=_found,
        truncation_hint="The whole prompt is at callwright://agents/{id}/prompt",
    ),
    Tool(
        operation=contract.update_agent,
        toolset="agents",
        title="Change an agent",
        description=(
            "Overwrites fields, which makes a new version; or brings one back. Started campaigns keep theirs, drafts "
            "get the new one. For another role use create_agent. Free."
        ),
        hints=CHANGES,
        reply=summary,
        output_model=AgentSummary,
        omitted_fields=_SET,
        argument_descriptions=_CHANGED,
        collapsed=_CHOICE,
        hidden=frozenset({"metadata"}),
    ),
    Tool(
        operation=contract.list_agent_versions,
        toolset="upkeep",
        title="List an agent's versions",
        description=(
            "The versions of one agent, newest first: when, by whom, what changed. get_agent compares two, "
            "update_agent brings one back. Free."
        ),
        hints=READS,
        reply=_version,
        empty="None.",
        default_fields=("version", "created_at", "actor_label", "actor_id", "user_id", "restored_from", "changed"),
        hidden=frozenset({"sort"}),
        example="system_prompt",
    ),
    Tool(
        operation=talk_to_agent,
        toolset="agents",
        title="Talk to an agent",
        description=(
            "Makes a link on which the person talks to an agent in the browser, to try it. Give it at once: it opens "
            "once, within a minute. No telephone rings. Its call tools act for real. Free here; set providers bill. "
            "Then get_transcript has what was said."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=True),
        reply=_talk,
        argument_descriptions={"variables": "Values for the placeholders of its words."},
        hidden=frozenset({"max_call_duration_seconds"}),
    ),
    Tool(
        operation=contract.delete_agent,
        toolset="removal",
        title="Delete an agent",
        description=(
            "Deletes an agent for good; it cannot be brought back. Costs nothing. Refused while a campaign that is not "
            "finished uses it. To change an agent instead use update_agent. Ask the person before deleting."
        ),
        hints=CHANGES,
        reply=deleted("Deleted agent {id}."),
    ),
)
