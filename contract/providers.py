"""Providers: the organization's accounts at services that hear, think and speak on live calls."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.checks.service_names import MODEL_TEXT, VOICE_TEXT
from callwright.contract.declaration.field_types import MAX_ID, PlainText, ProviderName, Timestamp
from callwright.contract.declaration.filters import OneOrMore
from callwright.contract.declaration.marks import DERIVED, SECRET, OwnText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import listing, operation, removal
from callwright.contract.declaration.pagination import PageQuery
from callwright.contract.problems import PLAN_LIMIT_REACHED, PROVIDER_IN_USE

Role = Literal["hearing", "thinking", "speaking"]
ProviderKind = Literal["openai", "deepgram", "elevenlabs", "cartesia"]

ROLES_OF: Mapping[ProviderKind, tuple[Role, ...]] = {
    "openai": ("hearing", "thinking", "speaking"),
    "deepgram": ("hearing",),
    "elevenlabs": ("speaking",),
    "cartesia": ("speaking",),
}
"""What each kind of service can do."""
MOST_PROVIDERS = 20
"""Providers an organization may have at a time."""
SHOWN_OF_KEY = 4
"""Last characters of a key by which it is recognised."""
SHORTEST_SHOWN_KEY = 16
"""Of a shorter key nothing is shown: four characters would be too much of it."""

Kind = Annotated[
    ProviderKind,
    Field(
        description=(
            "openai: OpenAI, or any service with its interface at your url (hears, thinks, speaks). deepgram hears. "
            "elevenlabs and cartesia speak."
        )
    ),
]
ProviderUrl = Annotated[
    OwnText,
    Field(
        min_length=1,
        max_length=2_048,
        description="HTTPS address of the interface, of kind openai alone. Left out: OpenAI's own.",
        examples=["https://speech.example.com/v1"],
    ),
    PlainText,
]
ModelName = Annotated[
    OwnText,
    Field(min_length=1, max_length=200, description="Its name of the model.", examples=["gpt-4.1-mini"]),
    MODEL_TEXT,
]
ServiceVoice = Annotated[
    OwnText,
    Field(min_length=1, max_length=200, description="Its id of the voice.", examples=["alloy"]),
    VOICE_TEXT,
]
ServiceKey = Annotated[
    OwnText,
    SECRET,
    Field(
        max_length=500,
        pattern=r"^[!-~]*$",
        description=(
            "Its key. It is stored encrypted and never shown again. Left out: the key stays, if kind and url stay. "
            "Empty: there is none."
        ),
        examples=["sk-0123456789abcdef"],
        json_schema_extra={"writeOnly": True},
    ),
]


class Provider(Resource):
    """An account at a service that hears, thinks or speaks. Its key is never shown."""

    name: OwnText
    kind: ProviderKind
    roles: Annotated[list[Role], Field(description="What it is used for.")]
    url: Annotated[OwnText | None, Field(description="Where it is; null: the service's own address.")] = None
    model: Annotated[OwnText | None, Field(description="null: the usual one for the role.")] = None
    voice: Annotated[OwnText | None, Field(description="The service's id of the voice it speaks with.")] = None
    has_key: bool
    key_ends_with: Annotated[
        OwnText | None, Field(description="Last 4 characters of the key; null for none, and for a short one.")
    ] = None
    default_for: Annotated[
        list[Role], Field(description="The roles in which agents use it that name no provider themselves.")
    ]
    created_at: Timestamp
    updated_at: Annotated[Timestamp, DERIVED]


class ListProviders(PageQuery):
    """Providers of the organization."""

    kind: Annotated[OneOrMore[ProviderKind], Field(description="Only these kinds.")] = None


class SetProvider(Input):
    """A provider as it is to be from now on: what is left out is empty, but for the key.

    Calls that are under way keep what they began with. Whoever hears, thinks or speaks charges for it on the account of
    the key; what is said on a call is sent there.
    """

    name: ProviderName
    kind: Kind
    roles: Annotated[
        list[Role] | None,
        Field(min_length=1, max_length=3, description="What it is used for. Left out: all that its kind can do."),
    ] = None
    url: ProviderUrl | None = None
    model: Annotated[
        ModelName | None,
        Field(description="The model. Left out: the usual one for the role. Only with one role: each needs another."),
    ] = None
    voice: Annotated[
        ServiceVoice | None,
        Field(description="The service's id of the voice. Required to speak with elevenlabs and cartesia."),
    ] = None
    key: Annotated[ServiceKey | None, Field(repr=False)] = None
    default_for: Annotated[
        list[Role],
        Field(
            max_length=3,
            description=(
                "Roles in which agents use it that name no provider themselves; whichever was it before is not any "
                "more."
            ),
        ),
    ] = []


class RemoveProvider(Input):
    """The provider to remove, with its key."""

    name: Annotated[
        OwnText, Field(max_length=MAX_ID, description="Name, from list_providers.", examples=["our-openai"]), PlainText
    ]


list_providers = listing(
    "list_providers",
    "/providers",
    takes=ListProviders,
    gives=Provider,
    sorts=("name",),
    summary="List providers of speech and language models.",
)
set_provider = operation(
    "set_provider",
    "PUT /providers/{name}",
    takes=SetProvider,
    gives=Provider,
    problems=(PLAN_LIMIT_REACHED, PROVIDER_IN_USE),
    summary="Set a provider of speech or a language model, with its key.",
    creator_bound="owner",
    no_tool="It takes a key, and a key in a conversation is a leaked key: `callwright providers set NAME` asks for it.",
)
remove_provider = removal(
    "remove_provider",
    "/providers/{name}",
    takes=RemoveProvider,
    problems=(PROVIDER_IN_USE,),
    summary="Remove a provider and its key.",
    creator_bound="owner",
)
