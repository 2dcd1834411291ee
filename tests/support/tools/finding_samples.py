"""Good answers of the tools that look over many calls."""

from datetime import UTC, datetime
from typing import Any

from callwright.contract.calls.conversations import Conversation, Conversations, DistinctTurn, SaidOn, SpokenTurn
from callwright.contract.calls.transcripts import (
    CallGroup,
    CallStats,
    MoneyAverage,
    MoneySpread,
    Snippet,
    Spread,
    TranscriptMatch,
)
from callwright.contract.declaration.field_types import Money

AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def match(**changes: Any) -> TranscriptMatch:
    sample = TranscriptMatch(
        call_id="cal_1",
        deployment_id="dep_1",
        agent_id="agt_1",
        simulated=True,
        outcome="answered",
        disposition="not_interested",
        created_at=AT,
        duration_seconds=65,
        turn_count=9,
        match_count=2,
        snippets=[Snippet(turn_index=3, role="contact", start_seconds=12.0, text="That is too expensive.")],
    )
    return sample.model_copy(update=changes)


def conversations() -> Conversations:
    one = Conversation(
        call_id="cal_1",
        contact_name="Ada",
        external_id="K-1",
        deployment_id="dep_1",
        deployment_name="March reminders",
        outcome="answered",
        disposition="not_interested",
        created_at=AT,
        duration_seconds=65,
        turns=[SpokenTurn(index=3, role="contact", text="That is too expensive.")],
        turns_left=6,
    )
    on = SaidOn(call_id="cal_1", contact_name="Ada Byron", external_id="C-1")
    said = DistinctTurn(text="That is too expensive.", role="contact", count=2, calls=1, said_on=[on])
    return Conversations(view="conversations", calls=1, conversations=[one], distinct_turns=[said])


def stats() -> CallStats:
    group = CallGroup(
        key={"outcome": "answered"},
        calls=3,
        share=0.75,
        answered=3,
        goal_met=2,
        goal_met_share=0.666667,
        hang_ups=1,
        duration_seconds=Spread(p50=30.0, p90=65.0, total=125.0, mean=41.67),
        cost=MoneySpread(
            p50=Money(amount="0.006000", currency="USD"),
            p90=Money(amount="0.013000", currency="USD"),
            mean=Money(amount="0.008333", currency="USD"),
            total=Money(amount="0.025000", currency="USD"),
        ),
        answered_cost=MoneyAverage(
            mean=Money(amount="0.006333", currency="USD"), total=Money(amount="0.019000", currency="USD")
        ),
    )
    return CallStats(calls=4, answered=3, hang_ups=1, groups=[group], groups_left_out=2, currency="USD")
