"""One good answer for every operation, built from the contract's own models."""

from collections.abc import Mapping, Sequence
from typing import Any

from callwright.contract.agents.agents import Agent, AgentVersion, Spoken
from callwright.contract.audiences import Audience, AudienceImport, AudienceRow, Column, RowError, RowsAdded
from callwright.contract.calls.calls import Call, RecordingState, Transcript, TranscriptTurn
from callwright.contract.calls.costs import CallCost, CostItem
from callwright.contract.declaration.field_types import Money
from callwright.contract.declaration.model import Resource
from callwright.contract.declaration.pagination import Page, Pagination
from callwright.contract.deployments.contacts import Contact, Stats
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import Compliance, RetryPolicy, Voicemail
from callwright.contract.deployments.previews import Blocked, CostRange, MissingVariable, Preview
from callwright.contract.phone_numbers import AvailableNumber, Capabilities, PhoneNumber
from callwright.contract.voices import Voice
from callwright.contract.wallet import Price, Reference, Transaction, Wallet
from tests.support.tools import (
    do_not_call_samples,
    event_samples,
    evidence_samples,
    finding_samples,
    overview_samples,
    people_samples,
    provider_samples,
    review_samples,
    routing_samples,
)
from tests.support.tools.finding_samples import AT
from tests.support.tools.inbound import inbound_of

CALLEE = "+12025550100"


LISTS = (event_samples, do_not_call_samples, evidence_samples, review_samples, provider_samples, routing_samples)


def usd(amount: str) -> Money:
    return Money(amount=amount, currency="USD")


def page(items: Sequence[Resource], *, total: int | None = None, cursor: str | None = None) -> Page[Any]:
    count = len(items) if total is None else total
    paging = Pagination(
        page=1, per_page=max(1, len(items)), total=count, has_more=count > len(items), next_cursor=cursor
    )
    return Page[Any](data=list(items), pagination=paging)


def agent(**changes: Any) -> Agent:
    sample = Agent(
        id="agt_1",
        created_at=AT,
        updated_at=AT,
        name="Clinic reminders",
        voice_id="en-US-ada",
        language="en-US",
        system_prompt="Remind {{first_name}} of the appointment.",
        welcome_message="Hello {{first_name}}.",
        variables=["first_name"],
        metadata={},
    )
    return sample.model_copy(update=changes)


def agent_version(**changes: Any) -> AgentVersion:
    said = agent().model_dump(include=set(Spoken.model_fields))
    return AgentVersion(agent_id="agt_1", version=2, created_at=AT, changed=["language"], **{**said, **changes})


def audience(**changes: Any) -> Audience:
    sample = Audience(
        id="aud_1",
        created_at=AT,
        updated_at=AT,
        name="March patients",
        description="",
        status="ready",
        source="csv",
        phone_column="phone_number",
        dedupe="phone",
        columns=[Column(name="first_name", type="string", sample="Ada", fill_rate=0.97)],
        row_count=300,
        valid_count=280,
        invalid_count=15,
        duplicate_count=5,
        metadata={},
    )
    return sample.model_copy(update=changes)


def refused_row(**changes: Any) -> RowError:
    sample = RowError(
        row_number=7, column="phone_number", code="invalid_phone", message="too short", value_redacted="12•"
    )
    return sample.model_copy(update=changes)


def imported(**changes: Any) -> AudienceImport:
    sample = AudienceImport(
        id="imp_1",
        audience_id="aud_1",
        status="completed_with_errors",
        total_rows=300,
        processed=300,
        percent=100,
        added=280,
        invalid=15,
        duplicates=5,
        created_at=AT,
    )
    return sample.model_copy(update=changes)


def row() -> AudienceRow:
    return AudienceRow(
        id="row_1", audience_id="aud_1", phone_number=CALLEE, country="US", values={"first_name": "Ada"}, created_at=AT
    )


def number(**changes: Any) -> PhoneNumber:
    sample = PhoneNumber(
        id="num_1",
        created_at=AT,
        updated_at=AT,
        number="+12025550199",
        country="US",
        number_type="local",
        capabilities=Capabilities(voice_inbound=True, voice_outbound=True, sms=False),
        status="active",
        label="Front desk",
        provider="simulated",
        simulated=True,
        monthly_cost=usd("1.000000"),
        renews_at=AT,
        auto_renew=True,
        outbound_deployment_ids=["dep_1"],
        metadata={},
    )
    return sample.model_copy(update=changes)


def available_number() -> AvailableNumber:
    return AvailableNumber(
        number="+12025550198",
        country="US",
        locality="Washington",
        number_type="local",
        capabilities=Capabilities(voice_inbound=True, voice_outbound=True, sms=False),
        monthly_cost=usd("1.000000"),
    )


def stats(**changes: Any) -> Stats:
    sample = Stats(
        contacts=300,
        pending=100,
        in_flight=8,
        retry_waiting=10,
        completed=170,
        exhausted=12,
        suppressed=0,
        expired=0,
        cancelled=0,
        attempts=210,
        answered=150,
        voicemail=20,
        outcomes={"answered": 150, "busy": 30},
        dispositions={"goal_met": 120},
        last_outcomes={"answered": 150, "busy": 12},
        spend=usd("4.250000"),
    )
    return sample.model_copy(update=changes)


def deployment(**changes: Any) -> Deployment:
    sample = Deployment(
        id="dep_1",
        created_at=AT,
        updated_at=AT,
        name="March reminders",
        call_type="outbound",
        status="active",
        status_changed_at=AT,
        simulated=True,
        agent_id="agt_1",
        audience_id="aud_1",
        phone_number_ids=["num_1"],
        caller_id_strategy="round_robin",
        max_concurrency=10,
        calls_per_second=1.0,
        retry_policy=RetryPolicy(),
        voicemail=Voicemail(),
        ring_timeout_seconds=30,
        max_call_duration_seconds=600,
        budget_cap=usd("25.000000"),
        compliance=Compliance(),
        stats=stats(),
        metadata={},
    )
    return sample.model_copy(update=changes)


def preview() -> Preview:
    cost = CostRange(
        low=usd("2.000000"), high=usd("9.500000"), available=usd("5.000000"), covered=False, basis="list prices"
    )
    return Preview(
        deployment_id="dep_1",
        simulated=True,
        plan_id="pln_1",
        plan_valid_until=AT,
        summary='SIMULATED: Call 280 people for "Reminders" with agent Ada, for at most 9.50 USD.',
        eligible=280,
        blocked=[Blocked(reason="invalid_number", count=15)],
        missing_variables=[MissingVariable(name="first_name", contacts=9)],
        greeting="Hello Ada.",
        cost=cost,
        max_attempts=3,
        estimated_minutes=4.7,
        finishes_at=AT,
        problems=["The wallet does not cover the high end."],
        warnings=["9 contacts have no first_name."],
    )


def contact() -> Contact:
    return Contact(
        id="ctc_1",
        deployment_id="dep_1",
        phone_number=CALLEE,
        status="retry_waiting",
        attempts=1,
        last_outcome="busy",
        next_attempt_at=AT,
        values={"first_name": "Ada"},
    )


def call(**changes: Any) -> Call:
    sample = Call(
        id="cal_1",
        call_id="cal_1",
        call_type="outbound",
        simulated=True,
        deployment_id="dep_1",
        agent_id="agt_1",
        audience_id="aud_1",
        contact_id="ctc_1",
        attempt_number=2,
        from_number="+12025550199",
        to=CALLEE,
        status="completed",
        outcome="answered",
        disposition="goal_met",
        ended_by="agent",
        created_at=AT,
        started_at=AT,
        answered_at=AT,
        ended_at=AT,
        duration_seconds=65,
        billed_seconds=65,
        cost=CallCost(
            amount="0.042500",
            currency="USD",
            breakdown=[CostItem(item="outbound_call", quantity=1.1, unit="minute", amount="0.042500")],
        ),
        recording=RecordingState(status="available", duration_seconds=65),
        turn_count=3,
        unanswered_questions=["Is there parking?"],
    )
    return sample.model_copy(update=changes)


def turn(index: int, text: str, role: str = "contact") -> TranscriptTurn:
    return TranscriptTurn.model_validate(
        {
            "index": index,
            "role": role,
            "text": text,
            "start_seconds": index * 4.0,
            "end_seconds": index * 4.0 + 3.25,
            "language": "en-US",
            "source": "policy",
        }
    )


def transcript(*turns: TranscriptTurn, **changes: Any) -> Transcript:
    said = turns or (
        turn(0, "Hello Ada.", "agent"),
        turn(1, "Yes, that is me."),
        turn(2, "See you on Monday.", "agent"),
    )
    sample = Transcript(
        call_id="cal_1",
        simulated=True,
        language="en-US",
        status="available",
        duration_seconds=65.0,
        turn_count=len(said),
        turns=list(said),
    )
    return sample.model_copy(update=changes)


def wallet() -> Wallet:
    return Wallet(
        balance=usd("100.000000"),
        reserved=usd("1.500000"),
        available=usd("98.500000"),
        low_balance_threshold=usd("10.000000"),
        low_balance=False,
        play_money=True,
        prices=[Price(item="outbound_call", unit="minute", price=usd("0.042500"))],
        updated_at=AT,
    )


def transaction() -> Transaction:
    return Transaction(
        id="txn_1",
        type="call_charge",
        amount=usd("-0.042500"),
        balance_after=usd("99.957500"),
        reference=Reference(type="call", id="cal_1"),
        description="Call",
        play_money=True,
        created_at=AT,
    )


def voice() -> Voice:
    return Voice(id="en-US-ada", name="Ada", provider="espeak", gender="female", language="en-US")


def answers() -> dict[str, Any]:
    """An answer for every operation but the recording, whose answer is bytes."""
    single: Mapping[str, Resource] = {
        "agent": agent(),
        "audience": audience(),
        "phone_number": number(),
        "deployment": deployment(),
        "call": call(),
    }
    found: dict[str, Any] = {
        **dict.fromkeys(("get_wallet", "update_wallet"), wallet()),
        "get_overview": overview_samples.overview(),
        "list_audit_log": page([overview_samples.audit_entry()]),
        "place_call": deployment(status="draft"),
        "list_transactions": page([transaction()]),
        "list_agent_versions": page([agent_version()]),
        "set_call_tools": agent(),
        "list_voices": page([voice()]),
        "get_voice": voice(),
        "list_audience_rows": page([row()]),
        "add_audience_rows": RowsAdded(
            audience_id="aud_1", received=3, added=2, invalid=1, duplicates=0, errors=[refused_row()]
        ),
        "import_audience": imported(status="importing"),
        "get_audience_import": imported(),
        "list_import_errors": page([refused_row()]),
        "search_available_numbers": page([available_number()]),
        "rent_phone_number": number(),
        "import_phone_number": number(simulated=False),
        "talk_to_agent": routing_samples.LINK,
        "release_phone_number": number(status="released"),
        "clone_deployment": deployment(),
        "create_inbound_deployment": inbound_of(deployment()),
        "preview_deployment": preview(),
        "list_contacts": page([contact()]),
        "get_transcript": transcript(),
        "search_transcripts": page([finding_samples.match()]),
        "get_call_stats": finding_samples.stats(),
        "read_conversations": finding_samples.conversations(),
        "hang_up_call": call(),
        "resolve_call": call(),
        "correct_disposition": call(),
        **people_samples.answers(call(), transcript().turns),
        **{name: sample for part in LISTS for name, sample in part.singles().items()},
        **{name: page([sample()]) for part in LISTS for name, sample in part.LISTED.items()},
    }
    for noun, sample in single.items():
        found[f"list_{noun}s"] = page([sample])
        found |= {f"{verb}_{noun}": sample for verb in ("get", "create", "update")}
        found[f"delete_{noun}"] = None
    for verb in ("start", "pause", "resume", "cancel"):
        found[f"{verb}_deployment"] = deployment()
    return found
