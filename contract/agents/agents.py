"""Agents: who speaks on a call. A voice, a language, a system prompt and a welcome message."""

from typing import Annotated

from pydantic import Field

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


class Agent(Stored):
    """A voice agent."""

    name: OwnText
    voice_id: str
    language: OwnText
    system_prompt: OwnScript
    welcome_message: OwnScript
    speech: SpeechChoice = None
    model: ModelChoice = None
    variables: Annotated[
        list[OwnText], Field(description="Audience columns that prompt and welcome message need."), DERIVED
    ]
    warnings: Annotated[
        list[OwnText], Field(description="What to look at, for example a voice of another language."), DERIVED
    ] = []
    revision: Revision | None = None
    metadata: dict[str, OwnText]


class AgentSnapshot(Resource):
    """The agent as it was when the deployment started."""

    name: OwnText
    voice_id: str
    language: OwnText
    system_prompt: OwnScript
    welcome_message: OwnScript
    speech: SpeechChoice = None
    model: ModelChoice = None
    agent_updated_at: Timestamp


class ListAgents(MadeBetween, PageQuery):
    """Agents of the organization."""

    name: Annotated[FilterText | None, Field(description="Only the agent with exactly this name."), Filter()] = None
    language: Annotated[OneOrMore[FilterText], Field(description="Only these language tags.")] = None
    voice_id: Annotated[OneOrMore[FilterText], Field(description="Only these voices.")] = None


class GetAgent(Input):
    """One agent."""

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
    """Changes to an agent. Deployments that have started keep the agent as it was."""

    id: AgentId
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
get_agent = operation("get_agent", "GET /agents/{id}", takes=GetAgent, gives=Agent, summary="Get an agent.")
update_agent = operation(
    "update_agent",
    "PATCH /agents/{id}",
    takes=UpdateAgent,
    gives=Agent,
    problems=(DUPLICATE_NAME,),
    summary="Change an agent.",
)
delete_agent = removal(
    "delete_agent", "/agents/{id}", takes=DeleteAgent, problems=(AGENT_IN_USE,), summary="Delete an agent."
)
