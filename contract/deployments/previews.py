"""What a preview says: who would be called, by when, at what cost; and the plan that binds a start to exactly that."""

from typing import Annotated

from pydantic import Field

from callwright.contract.declaration.field_types import DeploymentId, Money, PlainText, Timestamp
from callwright.contract.declaration.marks import PERSONAL, OwnText, QuotedText
from callwright.contract.declaration.model import Input, Resource

PlanId = Annotated[str, Field(min_length=1, max_length=200), PlainText]
"""What stands for a preview (`pln_…`), as a start or resume sends it back."""


class PreviewDeployment(Input):
    """The deployment to look at, and a plan of it that was made before."""

    id: DeploymentId
    plan_id: Annotated[
        PlanId | None,
        Field(
            description=(
                "Plan id (pln_…) of an earlier preview: refused if it has expired or anything of it has changed since; "
                "else the answer is about this very plan, without those who opted out since. Left out: a new plan."
            )
        ),
    ] = None


class Blocked(Resource):
    """Contacts that would not be called, and why."""

    reason: Annotated[
        OwnText,
        Field(
            description=(
                "do_not_call: the number is on the organization's list, which its person or you put it on; "
                "no_consent: the consent column does not say yes, a row of the person says no, or there is no such "
                "column and the person's region needs it; "
                "calling_hours: no moment within 100 days is allowed (of the first 1,000 people); "
                "not_dialable, predial_declined, person_deleted, or suppressed (no reason was kept): left out since "
                "the start; "
                "invalid_row, duplicate: left out of the audience."
            )
        ),
    ]
    count: int


class Deferred(Resource):
    """People who cannot be called at the beginning, and the rule that defers them."""

    rule: Annotated[
        OwnText, Field(description="A rule of a region, such as US-FL.hours, or calling_hours: the campaign's own.")
    ]
    count: int
    until: Annotated[Timestamp, Field(description="When the last of them can be called, at the latest.")]


class MissingVariable(Resource):
    """A template variable that some contacts have no value for."""

    name: OwnText
    contacts: int


class CostRange(Resource):
    """What a run may cost."""

    low: Money
    high: Money
    available: Money
    covered: Annotated[bool, Field(description="Whether the wallet covers the high end.")]
    basis: Annotated[OwnText, Field(description="What the range assumes. It is an assumption, not a forecast.")]


class Preview(Resource):
    """Who would be called if the deployment started or went on now. Once it has started: who is left."""

    deployment_id: str
    simulated: bool
    plan_id: Annotated[str, Field(description="Binds a start or resume to what this preview shows.")]
    plan_valid_until: Annotated[Timestamp, Field(description="From this moment on the plan starts nothing.")]
    summary: Annotated[OwnText, Field(description="The whole plan in one sentence, for a person to say yes or no to.")]
    eligible: int
    blocked: list[Blocked]
    deferred: Annotated[
        list[Deferred],
        Field(description="Who of the first 1,000 people cannot be called at the beginning, by rule."),
    ] = []
    missing_variables: list[MissingVariable]
    greeting: Annotated[
        QuotedText | None,
        Field(
            description=(
                "The words that the first contact who is called hears first, the AI disclosure included where the "
                "welcome message lacks it; empty: the contact speaks first; null: nobody would be called."
            )
        ),
        PERSONAL,
    ]
    worst_greeting: Annotated[
        QuotedText | None,
        Field(
            description=(
                "The greeting of the person, among the first 100, for whom most of its columns are empty; null where "
                "none is. A default fills them: {{first_name|there}}."
            )
        ),
        PERSONAL,
    ] = None
    cost: CostRange
    max_attempts: int
    estimated_minutes: Annotated[
        float,
        Field(
            description=(
                "Minutes of calling it takes to call everybody once; waiting for the calling hours, for retries "
                "that are not due yet or for numbers that used up max_calls_per_day comes on top."
            )
        ),
    ]
    next_call_at: Annotated[
        Timestamp | None,
        Field(
            description=(
                "When the first call from now on would be made, inside the calling hours, by a number that may call; "
                "null: never."
            )
        ),
    ] = None
    finishes_at: Annotated[
        Timestamp | None,
        Field(
            description=(
                "About when everybody who can be called is called once, inside the calling hours and within the "
                "max_calls_per_day of its numbers, which other campaigns may use up too; of a deployment that has "
                "started: once more everybody who is left, nobody before their retry is due; null: nobody would be "
                "called, not before end_at, or in more than 100 days."
            )
        ),
    ] = None
    last_call_at: Annotated[
        Timestamp | None,
        Field(
            description=(
                "When the last of all can be called for the first time at the latest, by the pace, the calling hours, "
                "the rules and the max_calls_per_day of its numbers; null: nobody would be called, or in more than 100 "
                "days."
            )
        ),
    ] = None
    problems: Annotated[list[OwnText], Field(description="What start would refuse, in words.")]
    warnings: list[OwnText]
