"""A deployment's contacts: who is due, the requests of their calls, and the calls that a crash left open."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, func, literal_column, select, update

from callwright.contract.deployments.dialling import RetryPolicy
from callwright.contract.deployments.settings import CampaignSettings
from callwright.service.dialling.agent_snapshot import agent_of
from callwright.service.dialling.eligibility import reasons
from callwright.service.dialling.eligibility.attempts import NumberCalls
from callwright.service.dialling.eligibility.campaign_hours import CampaignHours
from callwright.service.dialling.eligibility.consent import ConsentColumns, consent_columns
from callwright.service.dialling.eligibility.gate import Candidate, NeverReason
from callwright.service.dialling.schedule import DialPace
from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.database.prepared import Prepared
from callwright.service.rules.contact_columns import HIGHEST_PRIORITY
from callwright.service.rules.open_hours import OpenHours
from callwright.service.rules.recording_announcement import announces
from callwright.service.rules.regions.region_rules import RegionRules
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.schema import (
    audience_rows,
    calls,
    deployment_contacts,
    deployment_numbers,
    deployments,
    phone_numbers,
)
from callwright.service.telephony.engine import AgentSnapshot, CallRequest, VoicemailPolicy

_D, _K, _R, _C = deployments.c, deployment_contacts.c, audience_rows.c, calls.c
WAITING: ColumnElement[bool] = literal_column("deployment_contacts.status IN ('pending', 'retry_waiting')")
"""The contacts that wait to be called. A literal, so that both databases use the partial index."""
FIND = select(deployments).where(_D.id == bindparam("id"))
LOCKED = FIND.with_for_update()
_JOINED: Select[*tuple[Any, ...]] = select(
    *(_K.id, _K.phone, _K.position, _K.status, _K.attempts, _K.due_at, _K.next_at, _K.attempt_times),
    *(_K.caller_number_id, _K.decided_by, _R.country, _R.timezone, _R.external_id, _R.cells, _R.steering, _R.language),
).outerjoin(audience_rows, _R.id == _K.id)
_HIGHEST = select(func.max(_K.priority)).where(
    _K.deployment_id == bindparam("id"), WAITING, _K.priority.is_not(None), _K.priority < bindparam("below")
)
_EVER = -1
_Whose = Literal["everybody", "one priority", "without priority"]
_SOONEST = select(func.min(_K.next_at)).where(_K.deployment_id == bindparam("id"), WAITING)
_OPEN = select(calls).where(_C.deployment_id == bindparam("id"), _C.ended_at.is_(None)).order_by(_C.created_at, _C.id)
_CONTACTS: Select[*tuple[Any, ...]] = _JOINED.where(
    _K.deployment_id == bindparam("id"), _K.id.in_(bindparam("ids", expanding=True))
)
_CALLED_BEFORE: Select[*tuple[Any, ...]] = select(_K.id, _K.attempt_times, _K.last_outcome).where(
    _K.deployment_id == bindparam("id"), _K.id.in_(bindparam("ids", expanding=True))
)
_CHANGE = Prepared(
    update(deployment_contacts).where(_K.deployment_id == bindparam("b_deployment"), _K.id == bindparam("b_id"))
)
_NUMBERS: Select[*tuple[Any, ...]] = (
    select(*(phone_numbers.c[name] for name in ("id", "number", "country", "provider", "max_calls_per_day")))
    .join(deployment_numbers, deployment_numbers.c.phone_number_id == phone_numbers.c.id)
    .where(deployment_numbers.c.deployment_id == bindparam("id"), phone_numbers.c.status == "active")
    .order_by(deployment_numbers.c.position)
)
_PROVIDERS = (
    select(phone_numbers.c.provider)
    .join(deployment_numbers, deployment_numbers.c.phone_number_id == phone_numbers.c.id)
    .where(deployment_numbers.c.deployment_id == bindparam("id"))
    .distinct()
    .order_by(phone_numbers.c.provider)
)


@dataclass(frozen=True)
class Rules:
    """The row of a deployment, with the agent and the settings in it, and the rules of regions that it dials by."""

    row: Row[Any]
    agent: AgentSnapshot
    settings: CampaignSettings
    campaign_hours: CampaignHours

    @classmethod
    def of(cls, connection: Connection, row: Row[Any], agent: AgentSnapshot | None = None) -> "Rules":
        """The rules of a deployment. `agent` is for one that has not started and so has no agent in its row."""
        return cls(row, agent or agent_of(row), settings_of(row), CampaignHours.of(connection, row))

    @property
    def policy(self) -> RetryPolicy:
        """When a contact that was not reached is called again."""
        return self.settings.retry_policy

    @property
    def pace(self) -> DialPace:
        """How fast its calls are dialled since its last start or resume."""
        ramp_up_ms = self.settings.ramp_up_seconds * SECOND
        return DialPace(self.settings.calls_per_second, ramp_up_ms, run_since(self.row) or 0)

    def request(self, contact: Row[Any], *, call_id: str, attempt: int, from_number: str, dial_ms: int) -> CallRequest:
        """The call to a contact, dialled at `dial_ms`: the rules of that day say whether its recording is announced."""
        recording = self.open_hours(contact).in_force(dial_ms).recording
        voicemail = self.settings.voicemail
        return CallRequest(
            call_id=call_id,
            org_id=self.row.org_id,
            deployment_id=self.row.id,
            contact_id=contact.id,
            attempt=attempt,
            to=contact.phone,
            from_=from_number,
            agent=replace(self.agent, language=contact.language) if contact.language else self.agent,
            variables=json.loads(contact.cells or "{}"),
            steering=json.loads(contact.steering or "{}"),
            seed=self.row.seed,
            ring_timeout_s=self.settings.ring_timeout_seconds,
            max_duration_s=self.settings.max_call_duration_seconds,
            voicemail=VoicemailPolicy(voicemail.detection, voicemail.action, voicemail.message_template),
            ai_disclosure=self.settings.compliance.ai_disclosure,
            recorded=self.settings.recording.enabled,
            may_call_back=attempt < self.policy.max_attempts,
            recording_announcement=announces(self.settings.recording, any(rule.announcement for rule in recording)),
        )

    @property
    def consents(self) -> bool:
        """Whether the campaign names a column of consent, or states that it has everybody's consent."""
        return self.settings.compliance.consent_column is not None or self.settings.compliance.consent_attested

    @property
    def regions(self) -> RegionRules:
        """The rules of regions that the deployment dials by."""
        return self.campaign_hours.regions

    def open_hours(self, contact: Row[Any]) -> OpenHours:
        """When a person may be called."""
        return self.campaign_hours.of_person(contact.phone, contact.timezone, contact.cells)

    def candidate(
        self, contact: Row[Any], blocked: NeverReason | None, past: NumberCalls, due_ms: int | None = None
    ) -> Candidate:
        """A contact in the form that the gate checks. `past` are the calls to the numbers of a round."""
        return Candidate(
            contact.id,
            contact.phone,
            contact.next_at if due_ms is None else due_ms,
            self.open_hours(contact),
            blocked,
            past.get(contact.phone, ()),
            self.consents,
        )


def run_since(row: Row[Any]) -> int | None:
    """Since when, on its clock, a deployment runs: its last start or resume, and from the first call on that call.

    None before its start.
    """
    return row.started_at if row.active_since_ms is None else row.active_since_ms


def needs_decision(contacts: Sequence[Row[Any]]) -> bool:
    """Whether a changed retry policy has yet to decide when one of the contacts is called again."""
    return any(contact.due_at is None for contact in contacts)


@lru_cache(maxsize=1_024)
def _due(asked: ConsentColumns, simulated: bool, whose: _Whose) -> Select[*tuple[Any, ...]]:
    found = (
        _JOINED.add_columns(reasons.why_not_by_params(asked, simulated).label("blocked"))
        .where(_K.deployment_id == bindparam("id"), WAITING)
        .where(_K.next_at > bindparam("after"), _K.next_at <= bindparam("until"))
        .order_by(_K.next_at, _K.position)
        .limit(bindparam("most"))
    )
    if whose == "everybody":
        return found
    return found.where(_K.priority.is_(None) if whose == "without priority" else _K.priority == bindparam("level"))


def due(
    connection: Connection, row: Row[Any], until_ms: int, most: int, *, clock_ms: int, now_ms: int
) -> Sequence[Row[Any]]:
    """Contacts due by a time of the deployment's clock, each with why it is `blocked`: of those due at `clock_ms` first
    those with the highest priority, then the others, and the earliest first.

    `now_ms` is the time of the service.
    """
    asked = consent_columns(connection, row)
    given = {"id": row.id, **reasons.why_not_params(row, now_ms)}
    contacts = list[Row[Any]]()

    def read(whose: _Whose, *, after_ms: int, until_ms: int, level: int | None = None) -> None:
        if after_ms < until_ms and len(contacts) < most:
            more = {"after": after_ms, "until": until_ms, "most": most - len(contacts), "level": level}
            contacts.extend(connection.execute(_due(asked, row.simulated, whose), {**given, **more}).all())

    levels = priorities(connection, row.id)
    level = next(levels)
    if level is None:
        read("everybody", after_ms=_EVER, until_ms=until_ms)
        return contacts
    while level is not None and len(contacts) < most:
        read("one priority", after_ms=_EVER, until_ms=clock_ms, level=level)
        level = next(levels)
    read("without priority", after_ms=_EVER, until_ms=clock_ms)
    read("everybody", after_ms=clock_ms, until_ms=until_ms)
    return contacts


def priorities(connection: Connection, of: str, highest: Select[Any] = _HIGHEST) -> Iterator[int | None]:
    """The priorities of the waiting contacts of a deployment, the highest first, and at last None for those without.

    `highest` finds the next one `below` another, of another `id` if it is of something else.
    """
    level = HIGHEST_PRIORITY + 1
    while (found := connection.execute(highest, {"id": of, "below": level}).scalar()) is not None:
        level = found
        yield level
    yield None


def soonest(connection: Connection, deployment_id: str) -> int | None:
    """When the next waiting contact falls due; `None` when nobody waits."""
    return connection.execute(_SOONEST, {"id": deployment_id}).scalar()


def numbers_of(connection: Connection, deployment_id: str) -> Sequence[Row[Any]]:
    """The active numbers of a deployment, in their order."""
    return connection.execute(_NUMBERS, {"id": deployment_id}).all()


def providers_of(connection: Connection, deployment_id: str) -> Sequence[str]:
    """The providers of a deployment's numbers, including numbers that are not active any more."""
    return connection.execute(_PROVIDERS, {"id": deployment_id}).scalars().all()


def contacts_by_id(connection: Connection, deployment_id: str, ids: Sequence[str]) -> dict[str, Row[Any]]:
    """Contacts of a deployment by their ids, with the columns of their audience rows."""
    found = connection.execute(_CONTACTS, {"id": deployment_id, "ids": list(ids)}).all()
    return {row.id: row for row in found}


@dataclass(frozen=True)
class CalledBefore:
    """When a contact was called, in milliseconds, and the outcome of the last of its calls that has ended."""

    times_ms: list[int]
    last_outcome: str | None


def called_before(connection: Connection, deployment_id: str, ids: Sequence[str]) -> dict[str, CalledBefore]:
    """The calls of contacts of a deployment, by their ids."""
    found = connection.execute(_CALLED_BEFORE, {"id": deployment_id, "ids": list(ids)}).all()
    return {row.id: CalledBefore(json.loads(row.attempt_times), row.last_outcome) for row in found}


def change_contacts(connection: Connection, deployment_id: str, changes: Mapping[str, Mapping[str, Any]]) -> None:
    """Updates contacts of a deployment. `changes` has by id the new values of columns, the same columns for each."""
    own = {"b_deployment": deployment_id}
    _CHANGE.run_many(connection, [{**own, "b_id": contact_id, **values} for contact_id, values in changes.items()])


def open_calls(connection: Connection, rules: Rules) -> list[tuple[CallRequest, Row[Any]]]:
    """The calls of a deployment that have not ended: the request of each and its row."""
    rows = connection.execute(_OPEN, {"id": rules.row.id}).all()
    contacts = contacts_by_id(connection, rules.row.id, [row.contact_id for row in rows])

    def request(row: Row[Any]) -> CallRequest:
        contact = contacts[row.contact_id]
        return rules.request(
            contact, call_id=row.id, attempt=row.attempt_number, from_number=row.from_number, dial_ms=row.created_at
        )

    return [(request(row), row) for row in rows if row.contact_id in contacts]
