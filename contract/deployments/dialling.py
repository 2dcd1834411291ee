"""The rules a deployment dials by: hours, retries, voicemail, compliance, the pre-dial check, recording."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from callwright.contract.checks.names import SeenLines
from callwright.contract.checks.time_zones import checked_zone
from callwright.contract.checks.yes_and_no import NO, YES
from callwright.contract.declaration.field_types import PlainText, Spend, Timestamp
from callwright.contract.declaration.marks import ColumnText, OwnScript, OwnText
from callwright.contract.declaration.model import Part

CallerIdStrategy = Literal["round_robin", "sticky", "local_presence", "random"]
Strategy = Annotated[
    CallerIdStrategy,
    Field(
        description=(
            "Which number calls: each in turn, always the same one for a contact, "
            "one with the contact's area code or country, or any."
        )
    ),
]
StartAt = Annotated[Timestamp, Field(description="Not before this moment.")]
EndAt = Annotated[Timestamp, Field(description="No new call from this moment on.")]
BudgetCap = Annotated[
    Spend,
    Field(description="No call is dialled beyond this; calls under way may cost a minute a line more."),
]
DailyBudgetCap = Annotated[
    Spend,
    Field(
        description=(
            "Within any 24 hours no call is dialled beyond this, and calling goes on when older costs no longer count; "
            "calls under way may cost a minute a line more."
        )
    ),
]
CallsPerSecond = Annotated[float, Field(ge=0.1, le=100, description="New calls a second.")]
RampUpSeconds = Annotated[
    int,
    Field(
        ge=0,
        le=3_600,
        description="After a start or resume the pace grows from one call a second to calls_per_second for so long.",
    ),
]
ReservedInboundConcurrency = Annotated[
    int,
    Field(
        ge=0,
        le=1_000,
        description="Lines of the plan's concurrent_calls that the campaign leaves free for callers.",
    ),
]
RingTimeout = Annotated[int, Field(ge=15, le=60, description="Seconds a telephone rings before giving up.")]
MaxCallDuration = Annotated[int, Field(ge=10, le=3_600, description="Seconds after which a call is ended.")]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


TimeZone = Annotated[
    OwnText,
    Field(description="IANA time zone.", examples=["America/New_York"], max_length=64),
    AfterValidator(checked_zone),
]
ClockTime = Annotated[
    OwnText,
    Field(
        max_length=5,
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$",
        description="Local time, HH:MM.",
        examples=["09:00"],
    ),
]


class Window(Part):
    """A stretch of the day, from `start` up to but not including `end`. It does not cross midnight."""

    days: Annotated[list[Weekday], Field(min_length=1, max_length=7, description="Days it holds on.")]
    start: ClockTime
    end: ClockTime

    @model_validator(mode="after")
    def _in_order(self) -> "Window":
        if self.start >= self.end:
            raise ValueError("end must be later than start; a window does not cross midnight")
        return self


class CallingHours(Part):
    """When people may be called, within what the rules of their region allow. Left out: the hours of those rules."""

    timezone_mode: Annotated[
        Literal["callee", "fixed"], Field(description="callee: in the contact's own time zone; fixed: in `timezone`.")
    ] = "callee"
    timezone: Annotated[
        TimeZone | None, Field(description="The zone for fixed; for callee the one used when none is known.")
    ] = None
    windows: Annotated[list[Window], Field(min_length=1, max_length=21, description="When calls may be made.")]
    skip_public_holidays: Annotated[bool, Field(description="Nobody is called on a public holiday where they are.")] = (
        True
    )

    def __hash__(self) -> int:
        return hash(self.model_dump_json())

    @model_validator(mode="after")
    def _has_zone(self) -> "CallingHours":
        if self.timezone_mode == "fixed" and self.timezone is None:
            raise ValueError("timezone is required when timezone_mode is fixed")
        return self


RetryReason = Literal["no_answer", "busy", "failed", "voicemail", "rejected", "short_call"]


IntervalMinutes = Annotated[
    list[Annotated[int, Field(ge=10, le=4_320)]],
    Field(min_length=1, max_length=9, description="Minutes before each retry; the last one repeats."),
]
PartOfDay = Literal["morning", "afternoon", "evening"]


class IntervalsByReason(Part):
    """Minutes before each retry after a call of this kind, in place of `interval_minutes`."""

    no_answer: IntervalMinutes | None = None
    voicemail: IntervalMinutes | None = None
    rejected: IntervalMinutes | None = None
    failed: IntervalMinutes | None = None
    short_call: IntervalMinutes | None = None


class RetryPolicy(Part):
    """When a contact who was not reached is called again."""

    max_attempts: Annotated[int, Field(ge=1, le=10, description="Calls per contact, the first included.")] = 3
    interval_minutes: IntervalMinutes = [240, 1_440]
    intervals_by_reason: Annotated[
        IntervalsByReason | None, Field(description="Other intervals after some outcomes; the rest keep theirs.")
    ] = None
    busy_interval_minutes: Annotated[int, Field(ge=5, le=4_320, description="Minutes before a retry after busy.")] = 15
    retry_on: Annotated[
        list[RetryReason], Field(max_length=6, description="What is tried again. unreachable counts as failed.")
    ] = ["no_answer", "busy", "failed"]
    short_call_seconds: Annotated[
        int, Field(ge=1, le=120, description="An answered call shorter than this is a short_call.")
    ] = 10
    max_attempts_per_day: Annotated[int, Field(ge=1, le=10, description="Calls per contact within 24 hours.")] = 2
    different_time_of_day: Annotated[
        bool, Field(description="Move a retry at the same time of day by up to four hours.")
    ] = True
    parts_of_day: Annotated[
        list[PartOfDay],
        Field(
            max_length=3,
            description=(
                "After no_answer the person is called in the first of these in which they were not tried yet: morning "
                "9-12, afternoon 12-17, evening 17-20, in their own time."
            ),
        ),
    ] = []

    @model_validator(mode="after")
    def _has_each_part_once(self) -> "RetryPolicy":
        if len(set(self.parts_of_day)) < len(self.parts_of_day):
            raise ValueError("parts_of_day names a part twice; name each once, in the order of trying")
        return self


class Voicemail(Part):
    """What to do when a machine answers."""

    detection: Annotated[bool, Field(description="Find out whether a machine answered.")] = True
    action: Annotated[
        Literal["hangup", "leave_message", "continue"],
        Field(description="Hang up, leave message_template after the beep, or talk on."),
    ] = "hangup"
    message_template: Annotated[
        OwnScript,
        Field(max_length=2_000, description="What to leave; {{column}} inserts an audience column."),
        PlainText,
    ] = ""

    @model_validator(mode="after")
    def _has_message(self) -> "Voicemail":
        if self.action == "leave_message" and not self.message_template.strip():
            raise ValueError("message_template is required when action is leave_message")
        return self


CONSENT_GIVEN = (*YES, "given", "opt-in", "opted in", "opt in", "opted-in")
"""What counts as yes in a consent column, in any case of letters."""
CONSENT_REFUSED = (
    *(*NO, "not given", "opt-out", "opted out", "opt out", "opted-out"),
    *("optout", "no.", "no!", "no thanks", "nein danke", "never", "stop", "do not call", "dnc", "unsubscribed"),
    *("refused", "declined", "denied", "withdrawn", "revoked", "abgelehnt", "widerrufen", "refusé"),
)
"""What counts as a clear no there; whoever's cell is neither is not called, and the preview tells of it."""
CONSENT_WORDS = ", ".join(CONSENT_GIVEN)
ConsentColumn = Annotated[ColumnText, Field(min_length=1, max_length=100), PlainText, SeenLines]

ConsentReference = Annotated[OwnText, Field(min_length=1, max_length=500), PlainText]


class Compliance(Part):
    """What the caller states about the campaign."""

    purpose: Annotated[
        Literal["marketing", "informational", "collections", "survey"],
        Field(description="What the calls are for. marketing needs consent: a consent_column, or consent_attested."),
    ] = "informational"
    consent_column: Annotated[
        ConsentColumn | None,
        Field(
            description=(
                "A column that says yes for each contact who agreed to be called; nobody else is called. These count "
                f"as yes, in any case of letters: {CONSENT_WORDS}."
            )
        ),
    ] = None
    consent_attested: Annotated[
        bool,
        Field(
            description=(
                "The caller states that everybody in the audience agreed to be called. Whoever has a clear no in a "
                "column named for consent (consent, opt-in, Einwilligung) is not called all the same."
            )
        ),
    ] = False
    consent_reference: Annotated[
        ConsentReference | None,
        Field(description="Where the consents are kept: a file name or URL. Without it a person reviews the start."),
    ] = None
    ai_disclosure: Annotated[
        bool, Field(description="The agent says that it is an automated assistant, if its welcome does not.")
    ] = True


PREDIAL_CHECK_SECONDS = 2
"""How long the answer to a pre-dial check may take."""
PREDIAL_FAILURES_UNTIL_PAUSED = 10
"""Pre-dial checks in a row without an answer that counts, after which the campaign is paused."""
PredialCheckUrl = Annotated[
    OwnText,
    Field(
        min_length=1,
        max_length=2_048,
        description=(
            "HTTPS address that is asked before each call whether the person may be called. Without its yes within "
            f"{PREDIAL_CHECK_SECONDS} seconds nobody is dialled. No credentials, no fragment, no private address."
        ),
        examples=["https://example.com/may-we-call"],
    ),
    PlainText,
]


class Recording(Part):
    """Whether calls are recorded, and whether the agent says so. It cannot change after the start."""

    enabled: Annotated[bool, Field(description="False: no recording of its calls is kept or can be fetched.")] = True
    announcement: Annotated[
        Literal["auto", "always", "never"],
        Field(description="The agent says that the call is recorded. auto: where the rules of the region ask for it."),
    ] = "auto"


class CircuitBreaker(Part):
    """Pauses a campaign when many of its calls fail: a fault of the network, the carrier or the service."""

    failure_ratio: Annotated[
        float, Field(ge=0.01, le=0.99, description="The share of calls that may fail; beyond it the campaign pauses.")
    ] = 0.5
    window_seconds: Annotated[int, Field(ge=10, le=3_600, description="Calls count for so long after their end.")] = 120
    min_calls: Annotated[int, Field(ge=1, le=500, description="Of fewer calls nothing follows.")] = 5
