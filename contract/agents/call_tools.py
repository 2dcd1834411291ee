"""Call tools: what an agent can do on a call beside talking. They are a part of what it says, and of its versions."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, JsonValue

from callwright.contract.agents.transfer_destinations import MOST_DESTINATIONS, TransferDestination
from callwright.contract.checks.argument_schemas import checked_schema
from callwright.contract.checks.header_fields import header_name, header_value
from callwright.contract.checks.json_sizes import of_at_most
from callwright.contract.checks.time_zones import checked_zone
from callwright.contract.declaration.field_types import CountryCode, PlainText
from callwright.contract.declaration.marks import OWN, OwnScript, OwnText
from callwright.contract.declaration.model import Part, Resource

MOST_CALL_TOOLS = 20
"""Tools that an agent may have."""
TRANSFER = "transfer_call"
"""The name of every tool of the type `transfer`."""
RESERVED_NAMES = ("hang_up",)
"""Names that mean something else to an agent."""
_MOST_BYTES = 8_000

ToolName = Annotated[
    OwnText,
    Field(
        min_length=1,
        max_length=40,
        pattern=r"^[a-z][a-z0-9_]*$",
        description="By which the model calls it: lower-case letters, digits and _; unique for the agent.",
        examples=["free_times"],
    ),
]
ColumnName = Annotated[OwnText, Field(min_length=1, max_length=100), PlainText]
Sentence = Annotated[OwnScript, Field(max_length=500), PlainText]
HeaderName = Annotated[OwnText, Field(min_length=1, max_length=60), AfterValidator(header_name)]
HeaderText = Annotated[OwnScript, Field(max_length=500), AfterValidator(header_value)]
ToolDescription = Annotated[
    OwnScript,
    Field(
        min_length=1,
        max_length=1_000,
        description="What it does and when the model is to call it.",
        examples=["Free times for a repair. Call it before you offer any."],
    ),
    PlainText,
]
AnswerTemplate = Annotated[
    Sentence,
    Field(
        description=(
            "What is said then. {{argument}} and {{column}} stand for their values, {{answer.times.0}} for a part of "
            "the answer."
        ),
    ),
]
UseWords = Annotated[OwnText, Field(min_length=1, max_length=60), PlainText]


class UseWhen(Part):
    """When an agent without a model calls the tool, once in a call: without it, only a model calls it.

    It is called at the first turn of the contact in which one of the words stands. Arguments are taken from the
    contact's words, if those name one of the choices or one of the values of an earlier answer, then from earlier
    answers and audience columns of that name, then from `default` of the schema, with GET from `examples` too. With
    another method the contact has to name one of the words or values, without a no.
    """

    words: Annotated[
        list[UseWords],
        Field(max_length=20, description="Words of the contact, any of them. None: at any turn."),
    ] = []
    after: Annotated[ToolName | None, Field(description="Only after this tool was called with success.")] = None
    say: AnswerTemplate = ""
    say_if_failed: Annotated[
        Sentence, Field(description="What is said if it fails. Empty: that it has no answer to hand.")
    ] = ""


def _header_names(headers: dict[str, str]) -> dict[str, str]:
    for name in headers:
        header_name(name)
    return headers


def _zone_or_none(value: str | None) -> str | None:
    return None if value is None else checked_zone(value)


class _CallTool(Part):
    """What every tool has."""

    name: ToolName
    description: ToolDescription
    use_when: UseWhen | None = None


class HttpTool(_CallTool):
    """Asks an address of yours over HTTPS, and gives the model the answer."""

    type: Literal["http"]
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    url: Annotated[
        OwnScript,
        Field(
            min_length=1,
            max_length=2_000,
            description=(
                "HTTPS address; behind the host {{argument}} and {{column}} are replaced, encoded for their place. "
                "With GET and DELETE arguments that stand nowhere else are added to the query."
            ),
            examples=["https://calendar.example.com/free?day={{day}}"],
        ),
        PlainText,
    ]
    headers: Annotated[
        dict[str, HeaderText],
        Field(max_length=20, description="By name; values may have placeholders. No secrets."),
        AfterValidator(_header_names),
    ] = {}
    secret_headers: Annotated[
        list[HeaderName],
        Field(
            max_length=5,
            description="Headers whose values are secrets: `callwright agents secret` sets those; nothing shows them.",
        ),
    ] = []
    body: Annotated[
        dict[str, JsonValue] | None,
        OWN,
        Field(
            max_length=100,
            description=(
                "JSON to send; placeholders stand in its texts, and a text that is one placeholder becomes its value. "
                "Left out: the arguments, but for GET and DELETE."
            ),
        ),
        AfterValidator(of_at_most(_MOST_BYTES)),
    ] = None
    parameters: Annotated[
        dict[str, Any],
        OWN,
        Field(
            max_length=20,
            description=(
                "JSON Schema of the arguments, an object: type, description, enum, default, examples, required, "
                "sizes. Arguments that do not fit are not sent."
            ),
        ),
        AfterValidator(of_at_most(_MOST_BYTES)),
        AfterValidator(checked_schema),
    ] = {}
    columns: Annotated[
        list[ColumnName],
        Field(max_length=20, description="Audience columns that stand in placeholders; the audience must have them."),
    ] = []
    timeout_seconds: Annotated[int, Field(ge=1, le=30, description="For the whole answer.")] = 10
    meanwhile: Annotated[
        Sentence, Field(description="Said when it takes longer than a second. Empty: that the agent looks it up.")
    ] = ""
    rehearsal: Annotated[
        JsonValue,
        OWN,
        Field(
            description=(
                "The answer on the simulated network, which sends nothing; null: one is made up, and marked as such."
            )
        ),
        AfterValidator(of_at_most(_MOST_BYTES)),
    ] = None


class EndCallTool(_CallTool):
    """Ends the call, after a sentence."""

    type: Literal["end_call"]
    sentence: Annotated[
        Sentence, Field(description="Said last, unless the model has words of its own. Empty: a goodbye.")
    ] = ""


class PressKeysTool(_CallTool):
    """Presses keys of the telephone."""

    type: Literal["press_keys"]
    keys: Annotated[
        OwnText | None,
        Field(
            min_length=1,
            max_length=32,
            pattern=r"^[0-9*#]+$",
            description="Always these: digits, * and #. null: the model says which.",
            examples=["12#"],
        ),
    ] = None


class CallBackTool(_CallTool):
    """Notes when the person wants to be called back; the campaign calls then, within its calling hours."""

    type: Literal["call_back_at"]
    time_zone: Annotated[
        OwnText | None,
        Field(
            max_length=64,
            description="IANA zone of moments that are named without one. null: the model has to name it.",
            examples=["Europe/Berlin"],
        ),
        AfterValidator(_zone_or_none),
    ] = None


class TransferTool(_CallTool):
    """Hands the call over to a person. Its name is transfer_call. Without a model it does so when the contact asks for
    a person: to the first destination, and on a second try to the next."""

    type: Literal["transfer"]
    destinations: Annotated[list[TransferDestination], Field(min_length=1, max_length=MOST_DESTINATIONS)]
    countries: Annotated[
        list[CountryCode],
        Field(
            max_length=20,
            description="Countries that may be called, beside that of the number from which the agent calls.",
        ),
    ] = []


CallTool = HttpTool | EndCallTool | PressKeysTool | CallBackTool | TransferTool
CallTools = Annotated[
    list[Annotated[CallTool, Field(discriminator="type")]],
    Field(max_length=MOST_CALL_TOOLS, description="What it can do on a call beside talking."),
]


class CallToolSecret(Resource):
    """A header of a call tool whose value is a secret. The value is never shown."""

    tool: OwnText
    header: OwnText
    is_set: Annotated[bool, Field(description="False: the tool's calls fail until it is set.")]
    sent_to: Annotated[OwnText, Field(description="The only address it is sent to: scheme, host and port.")]


def http_tools(tools: Sequence[CallTool]) -> list[HttpTool]:
    """Those that ask an address."""
    return [tool for tool in tools if isinstance(tool, HttpTool)]
