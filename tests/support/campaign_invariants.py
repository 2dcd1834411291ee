"""What a campaign left in the database, and the rules that hold for every campaign whatever its outcomes."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, Row, func, select

from callwright.contract.deployments.call_price import MICROS
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.platform.clock.clock import DAY, MINUTE
from callwright.service.platform.database.database import Database
from callwright.service.platform.money import OPENING_BALANCE
from callwright.service.rules.prices.price_list import SIMULATED, price_of
from callwright.service.tables.ledger import HELD
from callwright.service.tables.schema import (
    audit_log,
    calls,
    deployment_contacts,
    deployments,
    outbox,
    simulated_dials,
    transactions,
    wallets,
)

REASONS = {
    "no_answer": "no_answer",
    "busy": "busy",
    "rejected": "rejected",
    "voicemail": "voicemail",
    "failed": "failed",
    "unreachable": "failed",
    "abandoned": "failed",
}
SOONEST_CALLBACK_MS = 10 * MINUTE


class CampaignRecords:
    """The rows of one deployment, read at one moment."""

    def __init__(self, connection: Connection, deployment_id: str) -> None:
        def rows(table: Any, column: Any, *order: Any) -> Sequence[Row[Any]]:
            return connection.execute(select(table).where(column == deployment_id).order_by(*order)).all()

        self.deployment: Row[Any] = rows(deployments, deployments.c.id)[0]
        self.calls = rows(calls, calls.c.deployment_id, calls.c.created_at, calls.c.id)
        self.contacts = rows(deployment_contacts, deployment_contacts.c.deployment_id, deployment_contacts.c.position)
        self.dials = rows(simulated_dials, simulated_dials.c.deployment_id, simulated_dials.c.call_id)
        org_id = self.deployment.org_id
        self.wallet: Row[Any] = connection.execute(select(wallets).where(wallets.c.org_id == org_id)).one()
        self.transactions = connection.execute(
            select(transactions)
            .where(transactions.c.org_id == org_id, transactions.c.type.not_in(HELD))
            .order_by(transactions.c.id)
        ).all()
        self.events = [
            (row, json.loads(row.data))
            for row in connection.execute(select(outbox).where(outbox.c.org_id == org_id).order_by(outbox.c.id))
        ]
        self.audit = Counter(
            {
                (row.action, row.subject): row.times
                for row in connection.execute(
                    select(audit_log.c.action, audit_log.c.subject, func.count().label("times"))
                    .where(audit_log.c.org_id == org_id)
                    .group_by(audit_log.c.action, audit_log.c.subject)
                )
            }
        )

    @property
    def by_contact(self) -> dict[str, list[Row[Any]]]:
        """The calls to each contact in the order of their attempts."""
        found: dict[str, list[Row[Any]]] = defaultdict(list)
        for call in sorted(self.calls, key=lambda call: call.attempt_number):
            found[call.contact_id].append(call)
        return found

    def names(self, *, of: str | None = None) -> list[str]:
        """The types of the deployment's events, or of those about one call, in the order they were written."""
        wanted = of or self.deployment.id
        key = "deployment_id" if of is None else "call_id"
        return [row.type for row, data in self.events if data.get(key) == wanted and (of or "call_id" not in data)]


async def campaign_records(database: Database, deployment_id: str) -> CampaignRecords:
    """What there is of a deployment now."""
    return await database.read(CampaignRecords, deployment_id)


def check_dialled_once(found: CampaignRecords) -> None:
    """No call is open, and the network made exactly the calls of the records, each of them once."""
    assert [call.id for call in found.calls if call.ended_at is None] == []
    assert Counter(dial.times for dial in found.dials) == Counter({1: len(found.dials)})
    assert {(dial.call_id, dial.contact_id, dial.attempt, dial.dialled_at) for dial in found.dials} == {
        (call.id, call.contact_id, call.attempt_number, call.created_at) for call in found.calls
    }
    assert len(found.dials) == len(found.calls) == len({(d.contact_id, d.attempt) for d in found.dials})


def check_pace(found: CampaignRecords, *, lines: int, calls_per_second: float) -> None:
    """Calls begin at least 1/cps apart, and never more of them run at once than there are lines."""
    moments = [call.created_at for call in found.calls]
    assert all(after - before >= 1_000 / calls_per_second for before, after in pairwise(moments))
    edges = [(call.ended_at, -1) for call in found.calls] + [(call.created_at, 1) for call in found.calls]
    running = most = 0
    for _, step in sorted(edges):
        running += step
        most = max(most, running)
    assert most <= lines


def check_policy(found: CampaignRecords, policy: RetryPolicy) -> None:
    """Every contact had the attempts that the policy allows, at the earliest when it allows them."""
    by_contact = found.by_contact
    for contact in found.contacts:
        made = by_contact.get(contact.id, [])
        assert [call.attempt_number for call in made] == list(range(1, contact.attempts + 1))
        assert json.loads(contact.attempt_times) == [call.created_at for call in made]
        assert len(made) <= policy.max_attempts
        for number, (before, after) in enumerate(pairwise(made), 1):
            wait = wait_ms(before, policy, number)
            assert wait is not None, f"{before.outcome} was tried again"
            assert after.created_at >= before.ended_at + wait
        moments = [call.created_at for call in made]
        for index, begin in enumerate(moments):
            assert sum(begin <= moment < begin + DAY for moment in moments[index:]) <= policy.max_attempts_per_day
        if contact.status in ("completed", "exhausted") and made:
            last = made[-1]
            over = len(made) == policy.max_attempts or wait_ms(last, policy, len(made)) is None
            assert over, f"after {last.outcome} another attempt was allowed"


def wait_ms(call: Any, policy: RetryPolicy, number: int) -> int | None:
    """The least time from the end of a call, given as its row, to the next attempt; `None` when there is to be none."""
    if call.disposition == "do_not_call":
        return None
    if call.callback_at is not None:
        return max(call.callback_at - call.ended_at, SOONEST_CALLBACK_MS)
    reason = REASONS.get(call.outcome)
    if call.outcome == "answered" and call.duration_ms < policy.short_call_seconds * 1_000:
        reason = "short_call" if call.disposition in (None, "incomplete") else None
    if reason is None or reason not in policy.retry_on:
        return None
    if reason == "busy":
        return policy.busy_interval_minutes * MINUTE
    intervals = policy.interval_minutes
    return intervals[min(number, len(intervals)) - 1] * MINUTE


def check_counters(found: CampaignRecords) -> None:
    """The deployment's own counters say what contacts and calls say."""
    row = found.deployment
    states = Counter(contact.status for contact in found.contacts)
    assert json.loads(row.states) == dict(states)
    assert row.contacts == len(found.contacts)
    assert row.attempts == len(found.calls) == sum(contact.attempts for contact in found.contacts)
    assert json.loads(row.outcomes) == dict(Counter(call.outcome for call in found.calls))
    assert json.loads(row.dispositions) == dict(Counter(call.disposition for call in found.calls if call.disposition))
    last = Counter(contact.last_outcome for contact in found.contacts if contact.last_outcome)
    assert json.loads(row.last_outcomes) == dict(last)
    assert row.answered == sum(call.outcome in ("answered", "transferred") for call in found.calls)
    assert row.voicemails == sum(call.outcome in ("voicemail", "voicemail_left") for call in found.calls)
    assert row.in_flight == states["in_flight"] == 0
    assert row.spend_micros == sum(call.cost_micros for call in found.calls)
    assert row.reserved_micros == 0


def check_money(found: CampaignRecords, *, extra_dollars: int = 0) -> None:
    """Nothing is held back; the balance is what was paid in less rents and charges, and each charge is one call's."""
    sums: Counter[str] = Counter()
    for movement in found.transactions:
        sums[movement.type] += movement.amount_micros
    assert sums["topup"] == OPENING_BALANCE + extra_dollars * MICROS
    assert found.wallet.reserved_micros == 0
    assert found.wallet.balance_micros == sums.total()
    charges = [movement for movement in found.transactions if movement.type == "call_charge"]
    by_call = {movement.reference_id: -movement.amount_micros for movement in charges}
    assert len(by_call) == len(charges)
    for call in found.calls:
        answered_ms = 0 if call.answered_at is None else call.ended_at - call.answered_at
        assert call.duration_ms == answered_ms
        assert call.billed_seconds == -(-answered_ms // 1_000)
        assert call.cost_micros == price_of(SIMULATED, call.to_number).call(call.billed_seconds)
        assert by_call.get(call.id, 0) == call.cost_micros
    balance = 0
    for movement in sorted(found.transactions, key=lambda movement: (movement.created_at, movement.id)):
        balance += movement.amount_micros
    assert balance == found.wallet.balance_micros


def check_records(found: CampaignRecords) -> None:
    """Each call is told once: its start, its end, its transfer if there was one; and has one audit row of each kind."""
    told: dict[str, list[str]] = defaultdict(list)
    for row, data in found.events:
        if data.get("deployment_id") == found.deployment.id and "call_id" in data:
            told[data["call_id"]].append(row.type)
    assert {call.id for call in found.calls} == set(told)
    for call in found.calls:
        transfers = ["call.transferred"] if call.outcome == "transferred" else []
        assert sorted(told[call.id]) == ["call.completed", "call.started", *transfers]
        assert found.audit["call.placed", call.id] == 1
        assert found.audit["call.ended", call.id] == 1
    assert found.names().count("deployment.started") == (1 if found.calls else 0)


def check_everything(
    found: CampaignRecords,
    policy: RetryPolicy,
    *,
    lines: int = 10,
    calls_per_second: float = 10.0,
    extra_dollars: int = 0,
) -> None:
    """All the rules above, for a wallet that this deployment alone used."""
    check_dialled_once(found)
    check_pace(found, lines=lines, calls_per_second=calls_per_second)
    check_policy(found, policy)
    check_counters(found)
    check_money(found, extra_dollars=extra_dollars)
    check_records(found)
