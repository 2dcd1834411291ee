"""Claiming calls: the one transaction that decides that a contact is called now.

There is one call row for each contact and attempt. The database refuses a second one, and a call to a number that is
being called already. The same transaction reserves the money.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, update

from callwright.contract.events import DEPLOYMENT_STARTED, DeploymentStarted
from callwright.list_files.name_columns import name_of
from callwright.service.accounts.principals import SERVICE
from callwright.service.dialling.eligibility import reasons
from callwright.service.dialling.eligibility.gate import Deferred, Never, gate
from callwright.service.dialling.leases import mine, until
from callwright.service.dialling.queue import Rules, change_contacts
from callwright.service.dialling.schedule import Schedule
from callwright.service.platform.clock.clock import MINUTE, moment
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.platform.search_words import word_column
from callwright.service.rules.price_settings import PRICES
from callwright.service.tables import audit_log, counters, outbox
from callwright.service.tables.ledger import book, wallet_of
from callwright.service.tables.schema import calls, deployments
from callwright.service.telephony.engine import CallRequest

BUSY_ELSEWHERE_MS = MINUTE
"""How long a contact waits while another deployment of the organization calls the same number."""


@dataclass(frozen=True)
class Draft:
    """A call that may be claimed: the contact as it was read, the request, the caller id and when it is dialled."""

    contact: Row[Any]
    request: CallRequest
    number: Row[Any]
    dial_ms: int


@dataclass(frozen=True)
class Allowance:
    """How many calls may be claimed now. If none may be claimed until something changes, `reason` says why."""

    most: int
    reason: str | None = None


@dataclass(frozen=True)
class Claimed:
    """The ids of the calls to dial now, and how many drafts the gate refused at the claim."""

    calls: frozenset[str] = frozenset()
    refused: int = 0


def allowance(connection: Connection, row: Row[Any], *, lock: bool = False) -> Allowance:
    """How many calls the concurrency limit, budget and wallet allow. Each call reserves the price of two minutes.

    With `lock` the wallet cannot change before this transaction ends, so that no money is reserved twice.
    """
    room = row.max_concurrency - row.in_flight
    reservation = PRICES.reservation()
    if row.budget_cap_micros is not None:
        left = (row.budget_cap_micros - row.spend_micros - row.reserved_micros) // reservation
        if left <= 0 and not row.in_flight:
            return Allowance(0, "budget_reached")
        room = min(room, left)
    wallet = wallet_of(connection, row.org_id, lock=lock)
    covered = (wallet.balance_micros - wallet.reserved_micros) // reservation
    if covered <= 0 and not row.in_flight:
        return Allowance(0, "insufficient_credits")
    return Allowance(max(0, min(room, covered)))


def claim(
    connection: Connection,
    ids: Ids,
    rules: Rules,
    drafts: Sequence[Draft],
    schedule: Schedule,
    contacts: Mapping[str, Row[Any]],
    *,
    owner: str,
    now_ms: int,
    lease_until_ms: int,
) -> Claimed:
    """Claims the drafts that the gate still allows. The other contacts are deferred or suppressed, like those that the
    schedule names.

    `contacts` are those of the round, by id. The deployment is read again under its lock: unless it is still active,
    nothing is claimed, and the gate uses its current calling hours. The wallet stays locked until the end. Opt-outs
    are written under the same lock, so no call is claimed after an opt-out that was committed before.

    Raises:
        LeaseLost: another process drives the deployment.
    """
    row: Row[Any] = mine(connection, rules.row.id, owner)
    if row.status != "active":
        return Claimed()
    room = allowance(connection, row, lock=True).most
    allowed, deferred, never = _judged(connection, Rules.of(row, rules.agent), drafts, now_ms)
    allowed = allowed[:room]
    made = _make_calls(connection, row, allowed, owner)
    taken = [draft for draft in allowed if draft.request.call_id in made]
    others = [draft for draft in allowed if draft.request.call_id not in made]
    busy = [(draft.contact.id, draft.dial_ms + BUSY_ELSEWHERE_MS) for draft in others]
    later, suppressed = [*schedule.deferred, *deferred, *busy], [*schedule.never, *never]
    change_contacts(connection, row.id, {contact_id: {"next_at": due_ms} for contact_id, due_ms in later})
    gone = {"status": "suppressed", "next_at": None}
    change_contacts(connection, row.id, {contact_id: gone | {"status_reason": why} for contact_id, why in suppressed})
    change_contacts(connection, row.id, {draft.contact.id: _claimed(draft) for draft in taken})
    moves = [(draft.contact.status, "in_flight") for draft in taken]
    moves += [(contacts[contact_id].status, "suppressed") for contact_id, _ in suppressed]
    reserved = PRICES.reservation() * len(taken)
    last_dial = max((draft.dial_ms for draft in taken), default=row.last_dial_ms)
    connection.execute(
        update(deployments)
        .where(deployments.c.id == row.id)
        .values(
            states=counters.moved(row.states, moves),
            in_flight=row.in_flight + len(taken),
            attempts=row.attempts + len(taken),
            reserved_micros=row.reserved_micros + reserved,
            caller_id_index=row.caller_id_index + len(taken),
            last_dial_ms=last_dial,
            clock_ms=max(row.clock_ms, last_dial or 0),
            lease_until=until(connection, now_ms, lease_until_ms),
        )
    )
    if taken:
        book(connection, ids, row.org_id, [], now_ms=now_ms, reserved_micros=reserved)
        entries = [
            audit_log.entry_row(ids, row.org_id, "call.placed", draft.request.call_id, by=SERVICE, at_ms=now_ms)
            for draft in taken
        ]
        audit_log.add_entries(connection, entries)
    if taken and row.attempts == 0:
        data = DeploymentStarted(
            deployment_id=row.id,
            agent_id=row.agent_id,
            audience_id=row.audience_id,
            started_at=moment(row.started_at),
            contacts=row.contacts,
            simulated=row.simulated,
        )
        outbox.emit(
            connection, ids, row.org_id, DEPLOYMENT_STARTED, data, at_ms=taken[0].dial_ms, simulated=row.simulated
        )
    return Claimed(frozenset(made), len(deferred) + len(never))


def _judged(
    connection: Connection, rules: Rules, drafts: Sequence[Draft], now_ms: int
) -> tuple[list[Draft], list[tuple[str, int]], list[tuple[str, str]]]:
    """The drafts that the gate allows now, the contacts that it defers and until when, and those it refuses and why."""
    blocked = reasons.of_contacts(connection, rules.row, [draft.contact.id for draft in drafts], now_ms)
    allowed: list[Draft] = []
    deferred: list[tuple[str, int]] = []
    never: list[tuple[str, str]] = []
    for draft in drafts:
        contact = draft.contact
        decision = gate(rules.candidate(contact, blocked.get(contact.id)), rules.hours, draft.dial_ms)
        if isinstance(decision, Never):
            never.append((contact.id, decision.reason))
        elif isinstance(decision, Deferred):
            deferred.append((contact.id, decision.until_ms))
        else:
            allowed.append(draft)
    return allowed, deferred, never


def _make_calls(connection: Connection, row: Row[Any], drafts: Sequence[Draft], owner: str) -> set[str]:
    rows = [
        {
            "id": draft.request.call_id,
            "org_id": row.org_id,
            "call_type": "outbound",
            "simulated": row.simulated,
            "deployment_id": row.id,
            "agent_id": row.agent_id,
            "audience_id": row.audience_id,
            "contact_id": draft.contact.id,
            "contact_name": (name := name_of(draft.request.variables)),
            "name_words": word_column(name),
            "external_id": draft.contact.external_id,
            "phone_number_id": draft.number.id,
            "attempt_number": draft.request.attempt,
            "from_number": draft.number.number,
            "to_number": draft.request.to,
            "status": "queued",
            "created_at": draft.dial_ms,
            "reserved_micros": PRICES.reservation(),
            "language": draft.request.agent.language,
            "voice_id": draft.request.agent.voice_id,
            "variables": json_text(draft.request.variables),
            "driver": owner,
        }
        for draft in sorted(drafts, key=lambda draft: draft.request.to)  # one order, so that two claims cannot deadlock
    ]
    return insert_ignoring_conflicts(connection, calls, rows)


def _claimed(draft: Draft) -> dict[str, Any]:
    """The columns of a contact that is being called."""
    return {
        "status": "in_flight",
        "attempts": draft.request.attempt,
        "attempt_times": json_text([*json.loads(draft.contact.attempt_times), draft.dial_ms]),
        "caller_number_id": draft.number.id,
        "last_call_id": draft.request.call_id,
        "due_at": None,
        "next_at": None,
    }
