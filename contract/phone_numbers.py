"""Phone numbers: what the organization rents to call from and to be called on."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.checks.names import Label
from callwright.contract.declaration.changes import TO_NO_ENTRIES, TO_NO_TEXT, TO_NOTHING, Changes
from callwright.contract.declaration.field_types import (
    E164,
    CountryCode,
    Metadata,
    Money,
    PhoneNumberId,
    Spend,
    Stored,
    Timestamp,
)
from callwright.contract.declaration.filters import Choices, Filter, FilterText, MadeBetween, OneOrMore
from callwright.contract.declaration.marks import DERIVED, OWN, OwnNumber, OwnText
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import listing, operation
from callwright.contract.declaration.pagination import PageQuery
from callwright.contract.declaration.revisions import Expecting, Revision
from callwright.contract.inbound_routing import InboundRouting
from callwright.contract.problems import (
    INSUFFICIENT_CREDITS,
    NUMBER_NOT_AT_CARRIER,
    NUMBER_UNAVAILABLE,
    PHONE_NUMBER_IN_USE,
    PRICE_CHANGED,
    SPENDING_CAP_REACHED,
    WALLET_FROZEN,
)

NumberType = Literal["local", "mobile", "toll_free", "national"]
PhoneNumberStatus = Literal["pending", "active", "releasing", "released", "suspended", "failed"]
NumberLabel = Annotated[Label, OWN, Field(description="A name for people.")]
AreaCode = Annotated[
    OwnText,
    Field(max_length=6, pattern=r"^[0-9]{1,6}$", description="Only numbers with this area code.", examples=["212"]),
]
Contains = Annotated[
    OwnText,
    Field(
        max_length=15, pattern=r"^[0-9]{1,15}$", description="Only numbers that contain these digits.", examples=["555"]
    ),
]


class Capabilities(Resource):
    """What a number can do."""

    voice_inbound: bool
    voice_outbound: bool
    sms: bool


CallsPerDay = Annotated[int, Field(ge=1, le=100_000)]
_CAP = (
    "Calls that it may make within any 24 hours, over all deployments: carriers mark numbers that call much as spam. "
    "null: as many as are wanted."
)


RentalProvider = Literal["simulated", "twilio"]


class PhoneNumber(Stored):
    """A phone number: rented, or owned at a carrier."""

    number: Annotated[OwnNumber, Field(description="E.164.")]
    country: OwnText
    locality: OwnText | None = None
    number_type: NumberType
    capabilities: Capabilities
    status: PhoneNumberStatus
    label: OwnText
    provider: OwnText
    simulated: Annotated[bool, Field(description="True on the simulated network: no telephone can reach it.")]
    monthly_cost: Money
    renews_at: Timestamp | None = None
    auto_renew: bool
    max_calls_per_day: Annotated[
        int | None, Field(description="Calls that it may make within any 24 hours; null: as many as are wanted.")
    ] = None
    health: Annotated[
        Literal["good", "resting"],
        Field(
            description="resting: more than 40 % of its newest 20 answered calls of 24 hours were shorter than 6 "
            "seconds; campaigns use their other numbers."
        ),
        DERIVED,
    ] = "good"
    billing_status: Annotated[
        Literal["current", "past_due"],
        Field(description="past_due: a month is not paid; it is tried every day for a week, then released."),
        DERIVED,
    ] = "current"
    outbound_deployment_ids: Annotated[
        list[str], Field(description="Deployments that call from this number and are not finished."), DERIVED
    ]
    inbound_deployment_id: Annotated[
        str | None, Field(description="The deployment whose agent answers this number's callers."), DERIVED
    ] = None
    inbound_routing: Annotated[
        InboundRouting | None, Field(description="The address that decides what callers get; null: the deployment.")
    ] = None
    released_at: Timestamp | None = None
    revision: Revision | None = None
    metadata: dict[str, OwnText]


class AvailableNumber(Resource):
    """A number that can be rented now."""

    number: OwnNumber
    country: OwnText
    locality: OwnText | None = None
    number_type: NumberType
    capabilities: Capabilities
    monthly_cost: Money


class ListPhoneNumbers(MadeBetween, PageQuery):
    """Numbers of the organization, released ones too."""

    status: Annotated[Choices[PhoneNumberStatus], Field(description="Only these states, for example active.")] = None
    number: Annotated[FilterText | None, Field(description="Only this number, in E.164."), Filter()] = None
    country: Annotated[OneOrMore[FilterText], Field(description="Only these countries.")] = None
    number_type: Annotated[OneOrMore[NumberType], Field(description="Only these types.")] = None


class SearchAvailableNumbers(PageQuery):
    """What to look for."""

    country: Annotated[CountryCode, Filter()]
    number_type: Annotated[NumberType | None, Field(description="Only this type; local when left out."), Filter()] = (
        None
    )
    area_code: Annotated[AreaCode | None, Filter()] = None
    contains: Annotated[Contains | None, Filter()] = None
    provider: Annotated[
        RentalProvider,
        Field(description="Who has the numbers: the simulated network, or the service's Twilio account."),
        Filter(),
    ] = "simulated"


class RentPhoneNumber(Input):
    """The number to rent. The first month is charged to the wallet at once.

    At Twilio it is `pending` until Twilio has rented it; if Twilio refuses, it is `failed` and the month is paid back.
    """

    country: CountryCode
    number: Annotated[
        E164 | None, Field(description="Exactly this number, from search_available_numbers. Left out: any that fits.")
    ] = None
    area_code: AreaCode | None = None
    contains: Contains | None = None
    number_type: Annotated[NumberType, Field(description="The kind of number.")] = "local"
    provider: Annotated[
        RentalProvider,
        Field(description="twilio really rents, in the service's Twilio account; the number must be named."),
    ] = "simulated"
    label: NumberLabel = ""
    auto_renew: Annotated[bool, Field(description="Rent it again every month until it is released.")] = True
    max_calls_per_day: Annotated[CallsPerDay | None, Field(description=_CAP)] = 200
    expected_monthly_cost: Annotated[
        Spend | None, Field(description="What it costs a month: nothing is rented at another price.")
    ] = None
    metadata: Metadata = {}


class ImportPhoneNumber(Input):
    """A number that the organization owns at its carrier. It costs nothing here; the carrier bills for it."""

    number: Annotated[
        E164, Field(description="One of the Twilio account, or of those of the SIP trunk (CALLWRIGHT_SIP_NUMBERS).")
    ]
    provider: Annotated[
        Literal["sip", "twilio"] | None, Field(description="The carrier that has it. Left out: the one that is set up.")
    ] = None
    number_type: Annotated[NumberType, Field(description="The kind of number.")] = "local"
    label: NumberLabel = ""
    max_calls_per_day: Annotated[CallsPerDay | None, Field(description=_CAP)] = 200
    metadata: Metadata = {}


class GetPhoneNumber(Input):
    """One phone number."""

    id: PhoneNumberId


class UpdatePhoneNumber(Expecting, Changes):
    """Changes to a phone number."""

    id: PhoneNumberId
    label: Annotated[NumberLabel | None, TO_NO_TEXT] = None
    auto_renew: Annotated[bool | None, Field(description="Rent it again every month until it is released.")] = None
    max_calls_per_day: Annotated[CallsPerDay | None, Field(description=_CAP), TO_NOTHING] = None
    metadata: Annotated[Metadata | None, TO_NO_ENTRIES] = None


class ReleasePhoneNumber(Input):
    """The phone number to give back. It may not be had again.

    One that was rented at Twilio is `releasing` until Twilio has it back; one that was taken in stays at its carrier.
    """

    id: PhoneNumberId


list_phone_numbers = listing(
    "list_phone_numbers",
    "/phone_numbers",
    takes=ListPhoneNumbers,
    gives=PhoneNumber,
    sorts=("created_at", "updated_at", "number"),
    summary="List rented phone numbers.",
)
search_available_numbers = listing(
    "search_available_numbers",
    "/phone_numbers/available",
    takes=SearchAvailableNumbers,
    gives=AvailableNumber,
    sorts=("number",),
    problems=(NUMBER_NOT_AT_CARRIER,),
    summary="Search phone numbers that can be rented.",
)
rent_phone_number = operation(
    "rent_phone_number",
    "POST /phone_numbers",
    takes=RentPhoneNumber,
    gives=PhoneNumber,
    status=201,
    problems=(
        NUMBER_UNAVAILABLE,
        NUMBER_NOT_AT_CARRIER,
        PRICE_CHANGED,
        INSUFFICIENT_CREDITS,
        SPENDING_CAP_REACHED,
        WALLET_FROZEN,
    ),
    summary="Rent a phone number; charges the first month.",
    creator_bound="member_with_email",
)
import_phone_number = operation(
    "import_phone_number",
    "POST /phone_numbers/import",
    takes=ImportPhoneNumber,
    gives=PhoneNumber,
    status=201,
    problems=(NUMBER_UNAVAILABLE, NUMBER_NOT_AT_CARRIER),
    summary="Take in a phone number that the organization owns at its carrier: calls from it really ring.",
)
get_phone_number = operation(
    "get_phone_number",
    "GET /phone_numbers/{id}",
    takes=GetPhoneNumber,
    gives=PhoneNumber,
    summary="Get a phone number.",
)
update_phone_number = operation(
    "update_phone_number",
    "PATCH /phone_numbers/{id}",
    takes=UpdatePhoneNumber,
    gives=PhoneNumber,
    problems=(SPENDING_CAP_REACHED,),
    summary="Change a phone number.",
)
release_phone_number = operation(
    "release_phone_number",
    "DELETE /phone_numbers/{id}",
    takes=ReleasePhoneNumber,
    gives=PhoneNumber,
    problems=(PHONE_NUMBER_IN_USE,),
    summary="Release a phone number.",
)
