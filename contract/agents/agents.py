"""Agents: who speaks on a call. A voice, a language, a system prompt and a welcome message."""

from typing import Annotated

from pydantic import Field

from callwright.contract.agents.call_tools import CallTools, CallToolSecret
from callwright.contract.checks.service_names import MODEL_TEXT, VOICE_TEXT
from callwright.contract.declaration.changes import TO_NO_ENTRIES, TO_NO_TEXT, TO_NOTHING, Changes
from callwright.contract.declaration.field_types import (
    AgentId,
    LanguageTag,
    Metadata,
    PlainText,
    ProviderName,
    Stored,
    Timestamp,
    UniqueName,
    VoiceId,
)
from callwright.contract.declaration.filters import Filter, FilterText, MadeBetween, OneOrMore
from callwright.contract.declaration.marks import DERIVED, OwnScript, OwnText
from callwright.contract.declaration.model import Input, Part, Resource
from callwright.contract.declaration.operation import listing, operation, removal
from callwright.contract.declaration.pagination import PageQuery
from callwright.contract.declaration.revisions import Revision
from callwright.contract.problems import AGENT_IN_USE, DUPLICATE_NAME

SystemPrompt = Annotated[
    OwnScript,
    Field(
        min_length=1,
        max_length=32_768,
        description=(
            "What the agent is to do and what it knows. {{column}} inserts an audience column by its name, such as "
            "{{First Name}}; {{column|words}} says the words where the cell is empty."
        ),
    ),
    PlainText,
]
WelcomeMessage = Annotated[
    OwnScript,
    Field(
        max_length=2_000,
        description=(
            "What the agent says first; {{column}} inserts an audience column, as in system_prompt. "
            "Empty: the contact begins."
        ),
    ),
    PlainText,
]


ProvidersVoice = Annotated[
    OwnText,
    Field(min_length=1, max_length=200, description="The speaking provider's own id of a voice; not voice_id."),
    VOICE_TEXT,
]
ProvidersModel = Annotated[
    OwnText, Field(min_length=1, max_length=200, description="That provider's name of the model."), MODEL_TEXT
]


class Speech(Part):
    """What hears and speaks for an agent on live calls. What is left out is the organization's default."""

    hearing: Annotated[ProviderName | None, Field(description="Provider that hears.")] = None
    speaking: Annotated[ProviderName | None, Field(description="Provider that speaks.")] = None
    voice: ProvidersVoice | None = None


class Model(Part):
    """What thinks for an agent on live calls. What is left out is the organization's default."""

    provider: Annotated[ProviderName | None, Field(description="Provider of the language model.")] = None
    model: ProvidersModel | None = None


SpeechChoice = Annotated[
    Speech | None,
    Field(description="Providers that hear and speak on live calls. null: the organization's defaults."),
]
ModelChoice = Annotated[
    Model | None, Field(description="The language model on live calls. null: the organization's default.")
]


VersionNumber = Annotated[int, Field(ge=1, le=2_000_000_000, description="Number of a version of the agent, from 1.")]


KeptVersion = Annotated[
    int | None, Field(description="The version of the agent that it keeps; null: not started."), DERIVED
]


class VersionDifference(Resource):
    """What one field was and is. A text of several lines or sentences is shown as a diff instead."""

    field: Annotated[OwnText, Field(examples=["system_prompt", "speech.hearing"])]
    before: Annotated[OwnScript | None, Field(description="Null: nothing, or see diff.")] = None
    after: Annotated[OwnScript | None, Field(description="Null: nothing, or see diff.")] = None
    diff: Annotated[
        OwnScript | None,
        Field(
            description=(
                "Line by line, long lines sentence by sentence: `- ` was taken out, `+ ` was put in, two spaces: both "
                "have it, `…`: equal lines left out."
            )
        ),
    ] = None


class Agent(Stored):
    """A voice agent."""

    name: OwnText
    voice_id: str
    language: OwnText
    system_prompt: OwnScript
    welcome_message: OwnScript
    speech: SpeechChoice = None
    model: ModelChoice = None
    call_tools: CallTools = []
    call_tool_secrets: Annotated[
        list[CallToolSecret], Field(description="The secret headers of its tools, and whether they are set."), DERIVED
    ] = []
    variables: Annotated[list[OwnText], Field(description="Audience columns that its words and tools need."), DERIVED]
    warnings: Annotated[
        list[OwnText], Field(description="What to look at, for example a voice of another language."), DERIVED
    ] = []
    version: Annotated[
        int | None,
        Field(description="Counts the changes of what it says and how; name and metadata do not count."),
        DERIVED,
    ] = None
    differences: Annotated[
        list[VersionDifference] | None,
        Field(description="What has changed since the version that was asked for; null if none was."),
        DERIVED,
    ] = None
    revision: Revision | None = None
    metadata: dict[str, OwnText]


class Spoken(Resource):
    """What an agent says and how it is spoken. A change of it makes a version."""

    voice_id: str
    language: OwnText
    system_prompt: OwnScript
    welcome_message: OwnScript
    speech: SpeechChoice = None
    model: ModelChoice = None
    call_tools: CallTools = []


class AgentSnapshot(Spoken):
    """The agent as it was when the deployment started."""

    name: OwnText
    agent_updated_at: Timestamp


class AgentVersion(Spoken):
    """What an agent said from one change to the next."""

    agent_id: str
    version: Annotated[int, Field(description="From 1; each change of what it says or how has the next number.")]
    created_at: Annotated[Timestamp, Field(description="When it was made.")]
    actor_id: Annotated[
        OwnText | None,
        Field(
            description=(
                "Who made it, as the audit log has it: a key, a user of the dashboard, or operator for the command "
                "line; null where that is not known."
            )
        ),
    ] = None
    actor_label: Annotated[
        OwnText | None, Field(description="The name of the key, or of the user of the dashboard; null without one.")
    ] = None
    user_id: Annotated[str | None, Field(description="The person for whom a personal key acted.")] = None
    restored_from: Annotated[int | None, Field(description="The version it was taken from; null: written anew.")] = None
    changed: Annotated[list[OwnText], Field(description="The fields that differ from the version before.")] = []


class ListAgents(MadeBetween, PageQuery):
    """Agents of the organization."""

    name: Annotated[FilterText | None, Field(description="Only the agent with exactly this name."), Filter()] = None
    language: Annotated[OneOrMore[FilterText], Field(description="Only these language tags.")] = None
    voice_id: Annotated[OneOrMore[FilterText], Field(description="Only these voices.")] = None


class GetAgent(Input):
    """One agent, as it is now or as it was in a version."""

    id: AgentId
    version: Annotated[
        VersionNumber | None, Field(description="As in this version; name and metadata as they are now.")
    ] = None
    compare_to: Annotated[VersionNumber | None, Field(description="Also give what has changed since this version.")] = (
        None
    )


class ListAgentVersions(PageQuery):
    """The versions of an agent."""

    id: AgentId


class CreateAgent(Input):
    """A new agent. It calls nobody until a deployment uses it."""

    name: UniqueName
    voice_id: VoiceId
    language: LanguageTag
    system_prompt: SystemPrompt
    welcome_message: WelcomeMessage = ""
    speech: SpeechChoice = None
    model: ModelChoice = None
    metadata: Metadata = {}


class UpdateAgent(Changes):
    """Changes to an agent. Deployments that have started keep the agent as it was, and so do its versions."""

    id: AgentId
    restore_version: Annotated[
        VersionNumber | None,
        Field(
            description=(
                "Take what it said in this version, and how, as a new version; other fields that are given go before."
            )
        ),
    ] = None
    name: UniqueName | None = None
    voice_id: VoiceId | None = None
    language: LanguageTag | None = None
    system_prompt: SystemPrompt | None = None
    welcome_message: Annotated[WelcomeMessage | None, TO_NO_TEXT] = None
    speech: Annotated[SpeechChoice, TO_NOTHING] = None
    model: Annotated[ModelChoice, TO_NOTHING] = None
    metadata: Annotated[Metadata | None, TO_NO_ENTRIES] = None


class DeleteAgent(Input):
    """The agent to delete."""

    id: AgentId


list_agents = listing(
    "list_agents",
    "/agents",
    takes=ListAgents,
    gives=Agent,
    sorts=("created_at", "updated_at", "name"),
    summary="List agents.",
)
create_agent = operation(
    "create_agent",
    "POST /agents",
    takes=CreateAgent,
    gives=Agent,
    status=201,
    problems=(DUPLICATE_NAME,),
    summary="Create an agent.",
    creator_bound="member",
)
get_agent = operation(
    "get_agent",
    "GET /agents/{id}",
    takes=GetAgent,
    gives=Agent,
    summary="Get an agent, as it is or as it was, and what has changed between two versions.",
)
list_agent_versions = listing(
    "list_agent_versions",
    "/agents/{id}/versions",
    takes=ListAgentVersions,
    gives=AgentVersion,
    sorts=("version",),
    summary="List the versions of an agent.",
)
update_agent = operation(
    "update_agent",
    "PATCH /agents/{id}",
    takes=UpdateAgent,
    gives=Agent,
    problems=(DUPLICATE_NAME,),
    summary="Change an agent, or bring back what it said in an earlier version.",
)
delete_agent = removal(
    "delete_agent", "/agents/{id}", takes=DeleteAgent, problems=(AGENT_IN_USE,), summary="Delete an agent."
)
