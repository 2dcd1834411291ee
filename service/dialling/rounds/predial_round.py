"""The pre-dial check of a round: asks about every call that is due, before any is claimed.

No transaction is open meanwhile. A deployment asks about at most `MOST_ASKED` calls at a time, so an address that does
not answer holds up its own campaign for one time limit, and no other.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio
from sqlalchemy import Connection

from callwright.contract.deployments.dialling import PREDIAL_FAILURES_UNTIL_PAUSED
from callwright.service.accounts.principals import SERVICE
from callwright.service.dialling.claims import Draft
from callwright.service.dialling.eligibility.gate import Allowed, Deferred, Never
from callwright.service.dialling.eligibility.predial import (
    AGAIN_MS,
    PREDIAL_DECLINED,
    PREDIAL_LATER,
    PREDIAL_UNAVAILABLE,
    VALID_MS,
    Declined,
    Later,
    PredialAnswer,
    PredialCheck,
    Question,
    Unanswered,
)
from callwright.service.dialling.queue import Rules
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.schedule import Schedule
from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.ids import Ids
from callwright.service.platform.phone import redacted
from callwright.service.tables import audit_log

log = logging.getLogger(__name__)
_Key = tuple[str, str, int]


@dataclass(frozen=True)
class Checked:
    """The calls that may be claimed, the schedule with those deferred and suppressed, and how many were deferred.

    `is_unavailable`: so many questions in a row had no answer that the campaign has to be paused.
    """

    drafts: Sequence[Draft]
    schedule: Schedule
    deferred: int = 0
    is_unavailable: bool = False

    @property
    def is_put_off(self) -> bool:
        """Whether the round was put off whole."""
        return bool(self.deferred) and not self.drafts


@dataclass(frozen=True)
class _Yes:
    """A yes: when it came, by the running time of the service, and for which time of dialling."""

    heard_ms: int
    dial_ms: int


class PredialRound:
    """The pre-dial checks of one deployment while this process drives it."""

    def __init__(self, check: PredialCheck, writes: DriverWrites) -> None:
        self._check, self._writes = check, writes
        self._allowed: dict[_Key, _Yes] = {}
        """Answers that still hold; those of calls that were claimed are forgotten."""
        self._failures = 0
        """Questions in a row without an answer that counts."""

    async def passed(self, rules: Rules, drafts: Sequence[Draft], schedule: Schedule) -> Checked:
        """The drafts whose people may be called now. Without an address to ask, all of them."""
        url = rules.settings.predial_check_url
        if url is None or not drafts:
            return Checked(drafts, schedule)
        answers = await self._answers(rules, url, drafts)
        allowed: list[Draft] = []
        deferred: list[tuple[str, Deferred]] = []
        declined: list[tuple[str, str]] = []
        for draft, answer in zip(drafts, answers, strict=True):
            contact_id: str = draft.contact.id
            if isinstance(answer, Allowed):
                allowed.append(draft)
            elif isinstance(answer, Declined):
                declined.append((contact_id, answer.reason))
            elif isinstance(answer, Later):
                deferred.append((contact_id, Deferred(draft.dial_ms + answer.after_s * SECOND, PREDIAL_LATER)))
            else:
                deferred.append((contact_id, Deferred(draft.dial_ms + AGAIN_MS, PREDIAL_UNAVAILABLE)))
        if declined:
            await self._writes.database.write(
                _note_declined, self._writes.ids, rules.row.org_id, declined, now_ms=self._writes.clock.now_ms()
            )
        later = (*schedule.deferred, *deferred)
        never = (
            *schedule.never,
            *((contact_id, Never(PREDIAL_DECLINED, PREDIAL_DECLINED)) for contact_id, _ in declined),
        )
        is_unavailable = self._failures >= PREDIAL_FAILURES_UNTIL_PAUSED
        if is_unavailable:
            self._failures = 0  # somebody who resumes the campaign begins anew
        return Checked(allowed, replace(schedule, deferred=later, never=never), len(deferred), is_unavailable)

    def forget(self, dialled: Collection[Draft]) -> None:
        """Forgets the answers about calls that were claimed."""
        made = {(draft.contact.id, draft.request.attempt) for draft in dialled}
        self._allowed = {key: yes for key, yes in self._allowed.items() if key[1:] not in made}

    async def _answers(self, rules: Rules, url: str, drafts: Sequence[Draft]) -> list[PredialAnswer]:
        now_ms = self._writes.clock.running_ms()
        self._allowed = {key: yes for key, yes in self._allowed.items() if now_ms - yes.heard_ms <= VALID_MS}
        answers: dict[int, PredialAnswer] = {}

        async def ask(index: int, draft: Draft) -> None:
            key = (url, draft.contact.id, draft.request.attempt)
            kept = self._allowed.get(key)
            if kept is not None and abs(draft.dial_ms - kept.dial_ms) <= VALID_MS:
                answers[index] = Allowed()
                return
            answer = answers[index] = await self._check.ask(_question(rules, url, draft))
            if isinstance(answer, Unanswered):
                self._failures += 1
                given = {"deployment_id": rules.row.id}
                log.warning("a pre-dial check had no answer that counts: %s", answer.why, extra=given)
                return
            self._failures = 0
            if isinstance(answer, Allowed):
                self._allowed[key] = _Yes(self._writes.clock.running_ms(), draft.dial_ms)

        async with anyio.create_task_group() as tasks:
            for index, draft in enumerate(drafts):
                tasks.start_soon(ask, index, draft)
        return [answers[index] for index in range(len(drafts))]


def _question(rules: Rules, url: str, draft: Draft) -> Question:
    return Question(
        url=url,
        org_id=rules.row.org_id,
        deployment_id=rules.row.id,
        contact_id=draft.contact.id,
        attempt=draft.request.attempt,
        to=draft.request.to,
        from_=draft.request.from_,
        simulated=rules.row.simulated,
        dial_ms=draft.dial_ms,
    )


def _note_declined(
    connection: Connection, ids: Ids, org_id: str, declined: Sequence[tuple[str, str]], *, now_ms: int
) -> None:
    """Enters into the audit log what the address said of each person who is not called, without longer numbers."""

    def entry(contact_id: str, reason: str) -> dict[str, Any]:
        changes = {"reason": PREDIAL_DECLINED, "said": redacted(reason)}
        return audit_log.entry_row(
            ids, org_id, "contact.declined", contact_id, by=SERVICE, at_ms=now_ms, changes=changes
        )

    audit_log.add_entries(connection, [entry(contact_id, reason) for contact_id, reason in declined])
