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
from callwright.service.dialling.eligibility.attempts import calls_to, longest_memory_ms
from callwright.service.dialling.eligibility.evidence import ALLOWED, Decided, consent_of, evidence_of, keep_history
from callwright.service.dialling.eligibility.gate import Deferred, Never, NeverReason, gate
from callwright.service.dialling.leases import mine, until
from callwright.service.dialling.limits import daily_budget
from callwright.service.dialling.limits.caller_id import DAILY_CAP, CallerIds
from callwright.service.dialling.limits.concurrency import read_lines
from callwright.service.dialling.queue import Rules, change_contacts, run_since
from callwright.service.dialling.schedule import Schedule
from callwright.service.platform.clock.clock import MINUTE, moment
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.platform.search_words import word_column
from callwright.service.rules.prices.installation_prices import InstallationPrices
from callwright.service.rules.prices.price_list import Price, price_of, stored_price
from callwright.service.rules.prices.transfer_prices import with_transfers
from callwright.service.tables import audit_log, calls_by_name, counters, outbox, price_lists, rules_files
from callwright.service.tables.audience_prices import prices_of
from callwright.service.tables.ledger import FROZEN, book, wallet_of
from callwright.service.tables.schema import calls, deployments
from callwright.service.telephony.engine import CallRequest

BUSY_ELSEWHERE_MS = MINUTE
"""How long a contact waits while another deployment of the organization calls the same number."""
BUSY_ELSEWHERE = "called_elsewhere"
"""The rule that defers such a contact."""


@dataclass(frozen=True)
class Draft:
    """A call that may be claimed: the contact as it was read, the request, the caller id and when it is dialled."""

    contact: Row[Any]
    request: CallRequest
    number: Row[Any]
    dial_ms: int


@dataclass(frozen=True)
class Allowance:
    """How many calls may be claimed now. If none may be claimed until something changes, `reason` says why.

    `lines` is how many the campaign may have under way at once. `is_waiting`: other campaigns have the lines.
    """

    most: int
    reason: str | None = None
    lines: int = 0
    is_waiting: bool = False
    dial_from_ms: int | None = None
    """When the daily budget cap allows a call again; None if it does now."""


@dataclass(frozen=True)
class Claimed:
    """The ids of the calls to dial now, and how many drafts were refused at the claim."""

    calls: frozenset[str] = frozenset()
    refused: int = 0


def allowance(
    connection: Connection, row: Row[Any], *, jumps: bool, at_ms: int | None = None, lock: bool = False
) -> Allowance:
    """How many calls the lines, budgets and wallet allow, at a moment of the deployment's clock.

    Each call reserves at most the highest price of two minutes among the countries of the audience.

    With `lock` the wallet cannot change before this transaction ends, so that no money is reserved twice, and no line
    of the organization is taken twice.
    """
    wallet = wallet_of(connection, row.org_id, lock=lock)
    lines = read_lines(connection, row, jumps=jumps)
    # A line is the slot of an agent: it is taken here, before the dial, and kept until the call is recorded. So no
    # telephone rings without an agent for who answers.
    room = lines.room
    reservation = max(1, prices_of(connection, row).dearest.held_back)  # a list may charge nothing
    if row.budget_cap_micros is not None:
        left = (row.budget_cap_micros - row.spend_micros - row.reserved_micros) // reservation
        if left <= 0 and not row.in_flight:
            return Allowance(0, "budget_reached")
        room = min(room, left)
    daily = daily_budget.left(connection, row, row.clock_ms if at_ms is None else at_ms, reservation)
    if daily.is_too_low:
        return Allowance(0, None if row.in_flight else "budget_reached")
    room = room if daily.calls is None else min(room, daily.calls)
    if wallet.status == FROZEN:
        return Allowance(0, None if row.in_flight else "wallet_frozen")
    covered = (wallet.balance_micros - wallet.reserved_micros) // reservation
    if covered <= 0 and not row.in_flight:
        return Allowance(0, "insufficient_credits")
    return Allowance(
        max(0, min(room, covered)), lines=lines.most, is_waiting=lines.is_waiting, dial_from_ms=daily.from_ms
    )


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
    jumps: bool = False,
) -> Claimed:
    """Claims the drafts that the gate still allows. The other contacts are deferred or suppressed, like those that the
    schedule names.

    `contacts` are those of the round, by id; `jumps` as in `Pace`. The deployment is read again under its lock: unless
    it is still active, dials by the newest rules and all contacts follow its own, nothing is claimed, and the gate uses
    its current calling hours.
    The wallet stays locked until the end. Opt-outs are written under the same lock, so no call is claimed after an
    opt-out that was committed before.

    Raises:
        LeaseLost: another process drives the deployment.
    """
    row: Row[Any] = mine(connection, rules.row.id, owner)
    if row.status != "active" or row.contact_changes or rules_files.are_older(connection, row.rules_version):
        return Claimed()
    first_ms = min((draft.dial_ms for draft in drafts), default=None)
    allowed_now = allowance(connection, row, jumps=jumps, at_ms=first_ms, lock=True)
    room = allowed_now.most if allowed_now.dial_from_ms is None else 0
    current = Rules.of(connection, row, rules.agent)
    meant = [*(draft.contact.id for draft in drafts), *(one for one, _ in (*schedule.deferred, *schedule.never))]
    waiting = reasons.of_contacts(connection, row, meant, now_ms)
    # Since the round began a person may have been deleted: such a contact does not wait any more.
    still = [draft for draft in drafts if draft.contact.id in waiting]
    judged = _judged(connection, current, still, waiting, now_ms)
    refused = len(drafts) - len(judged.allowed)
    allowed = judged.allowed[:room]
    listed = price_lists.list_of_deployment(connection, row)
    prices = {draft.request.call_id: _price(listed, draft) for draft, _ in allowed}
    made = _make_calls(connection, row, allowed, prices, owner)
    taken = [draft for draft, _ in allowed if draft.request.call_id in made]
    others = [draft for draft, _ in allowed if draft.request.call_id not in made]
    busy = [(draft.contact.id, Deferred(draft.dial_ms + BUSY_ELSEWHERE_MS, BUSY_ELSEWHERE)) for draft in others]
    later = [*(one for one in schedule.deferred if one[0] in waiting), *judged.deferred, *busy]
    suppressed = [*(one for one in schedule.never if one[0] in waiting), *judged.never]
    at_ms = max(row.clock_ms, *(draft.dial_ms for draft in taken)) if taken else row.clock_ms
    change_contacts(
        connection,
        row.id,
        {
            contact_id: {"next_at": one.until_ms, "decided_by": one.rule, "decided_at": at_ms}
            for contact_id, one in later
        },
    )
    gone = {"status": "suppressed", "next_at": None}
    change_contacts(
        connection,
        row.id,
        {
            contact_id: gone | {"status_reason": one.reason, "decided_by": one.rule, "decided_at": at_ms}
            for contact_id, one in suppressed
        },
    )
    change_contacts(connection, row.id, {draft.contact.id: _claimed(draft) for draft in taken})
    decided = [Decided(name, decision, contacts[name].decided_by) for name, decision in (*later, *suppressed)]
    keep_history(connection, ids, row.id, decided, at_ms=at_ms, rules_version=current.regions.version)
    moves = [(draft.contact.status, "in_flight") for draft in taken]
    moves += [(contacts[contact_id].status, "suppressed") for contact_id, _ in suppressed]
    reserved = sum(prices[draft.request.call_id].held_back for draft in taken)
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
            active_since_ms=_grows_from(row, taken),
            claimed_at=now_ms if taken else row.claimed_at,
            clock_ms=max(row.clock_ms, last_dial or 0),
            lease_until=until(connection, now_ms, lease_until_ms),
        )
    )
    if taken:
        about: dict[str, Any] = {"calls": len(taken), "deployment_id": row.id}
        book(connection, ids, row.org_id, [], now_ms=now_ms, reserved_micros=reserved, **about)
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
    return Claimed(frozenset(made), refused)


@dataclass(frozen=True)
class _Judged:
    """What the gate decided in the claim: drafts with the evidence of each, and contacts that are not called now."""

    allowed: list[tuple[Draft, str]]
    deferred: list[tuple[str, Deferred]]
    never: list[tuple[str, Never]]


def _judged(
    connection: Connection,
    rules: Rules,
    drafts: Sequence[Draft],
    blocked: Mapping[str, NeverReason | None],
    now_ms: int,
) -> _Judged:
    """Asks the gate again about each draft, with what is in the database now. `blocked` has why it is never called."""
    judged = _Judged([], [], [])
    if not drafts:
        return judged
    row, first_ms = rules.row, min(draft.dial_ms for draft in drafts)
    past = calls_to(
        connection,
        row.org_id,
        [draft.contact.phone for draft in drafts],
        simulated=row.simulated,
        since_ms=first_ms - longest_memory_ms(rules.regions),
    )
    numbers = {draft.number.id: draft.number for draft in drafts}
    caller_ids = CallerIds.read(connection, list(numbers.values()), first_ms, len(drafts))
    for draft in drafts:
        contact = draft.contact
        candidate = rules.candidate(contact, blocked.get(contact.id), past)
        decision = gate(candidate, draft.dial_ms)
        if isinstance(decision, Never):
            judged.never.append((contact.id, decision))
        elif isinstance(decision, Deferred):
            judged.deferred.append((contact.id, decision))
        elif not caller_ids.may_call(draft.number, draft.dial_ms):
            later = Deferred(caller_ids.first_free(draft.dial_ms + 1), DAILY_CAP)
            judged.deferred.append((contact.id, later))
        else:
            caller_ids.called(draft.number, draft.dial_ms)
            evidence = evidence_of(
                candidate,
                draft.dial_ms,
                rules_version=rules.regions.version,
                consent=consent_of(rules.settings.compliance, draft.request.variables),
                checked_ms=now_ms,
            )
            judged.allowed.append((draft, evidence))
    return judged


def _grows_from(row: Row[Any], taken: Sequence[Draft]) -> int | None:
    """From when the pace of a run grows: from the first call after its start or resume."""
    since_ms = run_since(row)
    if not taken or since_ms is None or (row.last_dial_ms is not None and row.last_dial_ms >= since_ms):
        return row.active_since_ms
    return min(draft.dial_ms for draft in taken)


def _price(listed: InstallationPrices | None, draft: Draft) -> Price:
    provider, number = draft.number.provider, draft.request.to
    price = price_of(provider, number) if listed is None else listed.price_of(provider, number)
    return with_transfers(price, listed, provider, draft.request.agent.call_tools)


def _make_calls(
    connection: Connection,
    row: Row[Any],
    drafts: Sequence[tuple[Draft, str]],
    prices: Mapping[str, Price],
    owner: str,
) -> set[str]:
    rows = [
        {
            "id": draft.request.call_id,
            "org_id": row.org_id,
            "call_type": "outbound",
            "simulated": row.simulated,
            "deployment_id": row.id,
            "agent_id": row.agent_id,
            "agent_version": draft.request.agent.version,
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
            "reserved_micros": prices[draft.request.call_id].held_back,
            "price": stored_price(prices[draft.request.call_id]),
            "language": draft.request.agent.language,
            "voice_id": draft.request.agent.voice_id,
            "variables": json_text(draft.request.variables),
            "driver": owner,
            "evidence": evidence,
        }
        for draft, evidence in sorted(drafts, key=lambda one: one[0].request.to)  # one order: no two claims deadlock
    ]
    made = insert_ignoring_conflicts(connection, calls, rows)
    calls_by_name.add(connection, [one for one in rows if one["id"] in made])
    return made


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
        "decided_by": ALLOWED,
        "decided_at": draft.dial_ms,
    }
