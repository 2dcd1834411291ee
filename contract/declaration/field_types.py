"""Field types that several resources share, each with its unit, its bounds and an example."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, get_args

from pydantic import (
    AfterValidator,
    AwareDatetime,
    Field,
    GetCoreSchemaHandler,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from callwright.contract.checks.names import Name
from callwright.contract.declaration.marks import DERIVED, OWN, OwnNumber, OwnText
from callwright.contract.declaration.model import Part, Resource

_TEXT = TypeAdapter(datetime)


def _from_text(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return _TEXT.validate_strings(value, strict=True)
    except ValidationError:
        return value  # what is wrong is said by the type


class _WrittenAsText:
    """Marks a moment that is text wherever it is sent, so that JSON is checked strictly once it is parsed."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        parsed = core_schema.no_info_before_validator_function(_from_text, schema)
        return core_schema.json_or_python_schema(schema, parsed)


def _in_range(value: datetime) -> datetime:
    if not 1970 <= value.year < 9999:  # what every zone, every engine and the form below can show
        raise ValueError("must lie in the years 1970 to 9998")
    return value


def _instant(value: datetime) -> str:
    utc = value if value.tzinfo is UTC else value.astimezone(UTC)
    return utc.isoformat(timespec="seconds")[:19] + "Z"  # a page of calls has a thousand of them


def _exact_instant(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"


@dataclass(frozen=True)
class WholeSeconds:
    """Marks moments that are shown to the second, though the service knows them to the millisecond."""


Timestamp = Annotated[
    AwareDatetime,
    _WrittenAsText(),
    AfterValidator(_in_range),
    PlainSerializer(_instant, return_type=str),
    Field(json_schema_extra={"format": "date-time", "examples": ["2026-11-21T09:30:00Z"]}),
    WholeSeconds(),
]
"""A moment in UTC, to the second: `YYYY-MM-DDThh:mm:ssZ`. Other offsets are accepted on input."""

ExactTimestamp = Annotated[
    AwareDatetime,
    _WrittenAsText(),
    AfterValidator(_in_range),
    PlainSerializer(_exact_instant, return_type=str),
    Field(json_schema_extra={"format": "date-time", "examples": ["2026-11-21T09:30:00.123Z"]}),
]
"""A moment in UTC, to the millisecond."""


def in_whole_seconds(field: FieldInfo) -> bool:
    """Whether a field is a `Timestamp`, or may be one."""
    marks = [*field.metadata, *(mark for choice in get_args(field.annotation) for mark in get_args(choice)[1:])]
    return any(isinstance(mark, WholeSeconds) for mark in marks)


def _plain_text(value: str) -> str:
    if "\x00" in value:
        raise ValueError("must not contain the character NUL")
    return value


PlainText = AfterValidator(_plain_text)
"""Refuses what a database cannot hold in text."""

MAX_ID = 255
"""Characters of an id. The service's own are much shorter; another service may have others."""


def _id(description: str, example: str) -> Any:
    return Field(max_length=MAX_ID, description=description, examples=[example])


UniqueName = Annotated[Name, OWN, Field(description="Name, unique in the organization.")]
MaxConcurrency = Annotated[int, Field(ge=1, le=1_000, description="Calls at the same time; the plan may allow fewer.")]

AgentId = Annotated[str, _id("Agent id (agt_…), from list_agents.", "agt_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H"), PlainText]
VoiceId = Annotated[str, _id("Voice id, from list_voices.", "en-US-ada"), PlainText]
AudienceId = Annotated[str, _id("Audience id (aud_…), from list_audiences.", "aud_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H"), PlainText]
ImportId = Annotated[str, _id("Import id (imp_…), from import_audience.", "imp_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H"), PlainText]
PhoneNumberId = Annotated[
    str, _id("Phone number id (num_…), from list_phone_numbers.", "num_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H"), PlainText
]
DeploymentId = Annotated[
    str, _id("Deployment id (dep_…), from list_deployments.", "dep_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H"), PlainText
]
CallId = Annotated[str, _id("Call id (cal_…), from list_calls.", "cal_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H"), PlainText]
WebhookId = Annotated[
    str, _id("Subscription id (whk_…), from list_webhooks.", "whk_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H"), PlainText
]
DeliveryId = Annotated[
    str, _id("Delivery id (dlv_…), from list_webhook_deliveries.", "dlv_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H"), PlainText
]
EventId = Annotated[str, _id("Event id (evt_…), from list_events.", "evt_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H"), PlainText]
ContactId = Annotated[str, _id("Contact row id (ctc_…).", "ctc_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H")]

ProviderName = Annotated[
    OwnText,
    Field(
        min_length=1,
        max_length=40,
        pattern=r"^[a-z0-9][a-z0-9_-]*$",
        description="Name of a provider, from list_providers: lower-case letters, digits, - and _.",
        examples=["our-openai"],
    ),
]

E164 = Annotated[
    OwnNumber, Field(description="Phone number in E.164 form.", examples=["+12025550100"], max_length=40), PlainText
]
LANGUAGE_TAG = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$"
LONGEST_LANGUAGE_TAG = 35
LanguageTag = Annotated[
    OwnText,
    Field(
        description="BCP-47 language tag.",
        max_length=LONGEST_LANGUAGE_TAG,
        pattern=LANGUAGE_TAG,
        examples=["en-US"],
    ),
]
COUNTRY_PATTERN = r"^[A-Z]{2}$"
CountryCode = Annotated[
    OwnText,
    Field(description="ISO 3166-1 alpha-2 country code.", max_length=2, pattern=COUNTRY_PATTERN, examples=["US"]),
]


def check_unicode(*texts: str) -> None:
    """Raises ValueError for half a character. Of a key, and of a text without bounds, pydantic does not look at it."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise ValueError("holds a character that is not valid Unicode") from None


def _metadata(value: dict[str, str]) -> dict[str, str]:
    check_unicode(*value)
    for key, text in value.items():
        if not 1 <= len(key) <= 40:
            raise ValueError("keys must have 1 to 40 characters")
        if "\x00" in key or "\x00" in text:
            raise ValueError("must not contain the character NUL")
    return value


Metadata = Annotated[
    dict[str, Annotated[OwnText, Field(max_length=500)]],
    Field(max_length=50, description="Your own notes: up to 50 keys of up to 40 characters, values up to 500."),
    AfterValidator(_metadata),
]


def _amount(value: str) -> str:
    if Decimal(value) < 0:
        raise ValueError("must not be negative")
    return value


class Money(Resource):
    """An amount of money. `amount` is a decimal string with six places, because a minute costs less than a cent."""

    amount: Annotated[OwnText, Field(description="Decimal, six places.", examples=["0.042500"])]
    currency: Annotated[OwnText, Field(description="ISO 4217 code.", examples=["USD"])]


class Spend(Part):
    """An upper bound of money, given by a caller."""

    amount: Annotated[
        OwnText,
        Field(
            max_length=16,
            pattern=r"^[0-9]{1,9}(\.[0-9]{1,6})?$",
            description="Decimal with at most six places.",
            examples=["25.00"],
        ),
        AfterValidator(_amount),
    ]
    currency: Annotated[
        OwnText,
        Field(max_length=3, pattern="^USD$", description="ISO 4217 code; the wallet's currency.", examples=["USD"]),
    ] = "USD"


class Stored(Resource):
    """The fields of everything that is kept."""

    id: Annotated[str, Field(description="The resource's id: opaque, with a prefix that names its type."), DERIVED]
    created_at: Annotated[Timestamp, Field(description="When it was made.")]
    updated_at: Annotated[Timestamp, Field(description="When it was last changed."), DERIVED]
    created_by_key_id: Annotated[str | None, Field(description="The API key that made it; null when no key did.")] = (
        None
    )
