"""What holds after every step, whatever the steps are. Each check reads the rows before and after the step."""

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from callwright.contract.deployments.deployments import Deployment
from tests.state_machine.law import BY_NUMBER, HOUR_MS, caps_of, forbidden_hour, pauses_of
from tests.state_machine.side import Rows
from tests.support.campaign_invariants import wait_ms

DAY_MS = 24 * HOUR_MS
DEAREST_MINUTE = 60_000
"""No minute to anybody of the machine costs more, in micros."""
Call = dict[str, Any]


@dataclass
class Known:
    """What the machine was answered: it says what is allowed in the step that follows."""

    now_ms: int
    campaigns: dict[str, Deployment] = field(default_factory=dict[str, Deployment])
    daily: dict[str, int] = field(default_factory=dict[str, int])
    """The most calls of each of the organization's numbers within 24 hours."""
    listed: dict[str, int | None] = field(default_factory=dict[str, int | None])
    """The numbers on the do-not-call list, and when each ends."""
    consents: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """What the column of consent says of each number, by audience."""
    lines: dict[str, int] = field(default_factory=dict[str, int])
    """The most lines that each campaign has had."""

    def note(self, campaign: Deployment) -> None:
        """Notes what a campaign is now."""
        self.campaigns[campaign.id] = campaign
        self.lines[campaign.id] = max(campaign.max_concurrency, self.lines.get(campaign.id, 0))

    def is_listed(self, number: str) -> bool:
        """Whether a number is on the list now."""
        if number not in self.listed:
            return False
        until_ms = self.listed[number]
        return until_ms is None or until_ms > self.now_ms


@dataclass(frozen=True)
class Step:
    """The rows before and after a step."""

    before: Rows
    after: Rows

    @property
    def claimed(self) -> list[Call]:
        """The calls that the step claimed, in the order of their ids, which is that of the claims."""
        old = {call["id"] for call in self.before.get("calls", ())}
        return [call for call in self.after["calls"] if call["id"] not in old]

    @property
    def dialled(self) -> list[Call]:
        """The calls that the step dialled."""
        old = {dial["call_id"] for dial in self.before.get("simulated_dials", ())}
        new = {dial["call_id"] for dial in self.after["simulated_dials"]} - old
        return [call for call in self.after["calls"] if call["id"] in new]

    def row(self, table: str, row_id: str, *, before: bool = False) -> dict[str, Any]:
        """A row by its id."""
        rows = self.before if before else self.after
        return next(row for row in rows[table] if row["id"] == row_id)


def violations(step: Step, known: Known) -> list[str]:
    """What the step did that it must not; empty when all is well. No number is in it."""
    earlier = [call for call in step.after["calls"] if call not in step.claimed]
    found: list[str] = []
    for call in step.claimed:
        found += _of_call(call, earlier, step, known)
        earlier.append(call)
    for call in step.dialled:
        found += _of_dial(call, step, known)
    return [*found, *_of_lines(step, known), *_of_rows(step), *_of_counters(step), *_of_money(step, known)]


def opted_out(step: Step) -> Iterator[str]:
    """The numbers whose people asked in this step not to be called again."""
    old = {call["id"] for call in step.before.get("calls", ()) if call["ended_at"] is not None}
    for call in step.after["calls"]:
        if call["id"] not in old and call["disposition"] == "do_not_call":
            yield call["to_number"]


def _of_call(call: Call, earlier: list[Call], step: Step, known: Known) -> Iterator[str]:
    name, at_ms = call["id"], call["created_at"]
    person, campaign = BY_NUMBER[call["to_number"]], known.campaigns[call["deployment_id"]]
    assert campaign.compliance is not None
    assert campaign.retry_policy is not None
    purpose = campaign.compliance.purpose
    status = step.row("deployments", campaign.id, before=True)["status"]
    if status != "active":
        yield f"{name} was claimed for a campaign that was {status}"
    if why := forbidden_hour(person, purpose, campaign.calling_hours, at_ms):
        yield f"{name} was claimed outside the hours: {why}"
    if not json.loads(call["evidence"] or "{}").get("rules_version"):
        yield f"{name} has no evidence"
    if campaign.compliance.consent_column and known.consents[campaign.audience_id or ""][person.number] != "yes":
        yield f"{name} was claimed without consent"
    to_number = [one for one in earlier if one["to_number"] == person.number]
    times = [one["created_at"] for one in to_number]
    for most, length_ms in caps_of(person, purpose):
        if (together := _most_together(times, at_ms, length_ms)) > most:
            yield f"{name} is one of {together} calls to its number in {length_ms // HOUR_MS} hours"
    for outcomes, length_ms in pauses_of(person, purpose):
        if any(one["outcome"] in outcomes and 0 <= at_ms - one["created_at"] < length_ms for one in to_number):
            yield f"{name} follows within {length_ms // HOUR_MS} hours on a call that was {' or '.join(outcomes)}"
    if any(one["disposition"] == "do_not_call" for one in to_number if one in step.claimed):
        yield f"{name} follows on an opt-out of the same step"
    from_number = [one["created_at"] for one in earlier if one["phone_number_id"] == call["phone_number_id"]]
    most = known.daily[call["phone_number_id"]]
    if (together := _most_together(from_number, at_ms, DAY_MS)) > most:
        yield f"{name} is one of {together} calls from its number in 24 hours, of which {most} are allowed"
    of_campaign = [one for one in earlier if one["deployment_id"] == campaign.id]
    yield from _of_policy(call, [one for one in of_campaign if one["contact_id"] == call["contact_id"]], campaign)
    yield from _of_pace(call, of_campaign, campaign, step)


def _most_together(times: list[int], at_ms: int, length_ms: int) -> int:
    """The most calls in any stretch of this length with the call at `at_ms` in it."""
    every = sorted([*times, at_ms])
    begins = [one for one in every if at_ms - length_ms < one <= at_ms]
    return max(sum(begin <= one < begin + length_ms for one in every) for begin in begins)


def _of_policy(call: Call, attempts: list[Call], campaign: Deployment) -> Iterator[str]:
    policy, name = campaign.retry_policy, call["id"]
    assert policy is not None
    if call["attempt_number"] != len(attempts) + 1:
        yield f"{name} is attempt {call['attempt_number']} after {len(attempts)} calls"
    attempts = [one for one in attempts if one.get("started_at", 0) is not None or one["ended_at"] is None]
    if len(attempts) >= policy.max_attempts:
        yield f"{name} is one more than {policy.max_attempts} attempts"
    times = [one["created_at"] for one in attempts]
    if _most_together(times, call["created_at"], DAY_MS) > policy.max_attempts_per_day:
        yield f"{name} is one more than {policy.max_attempts_per_day} attempts within 24 hours"
    if attempts:
        last = attempts[-1]
        ended_ms: int | None = last["ended_at"]
        wait = None if ended_ms is None else wait_ms(SimpleNamespace(**last), policy, len(attempts))
        if ended_ms is None or wait is None:
            yield f"{name} follows on a call that was {last['outcome']}"
        elif call["created_at"] < ended_ms + wait:
            yield f"{name} begins {call['created_at'] - ended_ms} ms after the last attempt, not {wait} ms"


def _of_pace(call: Call, earlier: list[Call], campaign: Deployment, step: Step) -> Iterator[str]:
    """A call that a dead driver has claimed in the same step has no end yet: `_of_lines` looks at it once it has."""
    at_ms, undecided = call["created_at"], {one["id"] for one in step.claimed if one["ended_at"] is None}
    known = [one for one in earlier if one["id"] not in undecided]
    running = 1 + sum(one["created_at"] <= at_ms < (one["ended_at"] or at_ms + 1) for one in known)
    if running > campaign.max_concurrency:
        yield f"{call['id']} is one of {running} calls at once on {campaign.max_concurrency} lines"
    last_ms = max((one["created_at"] for one in earlier), default=None)
    if last_ms is not None and at_ms - last_ms < 1_000 / (campaign.calls_per_second or 1.0):
        yield f"{call['id']} begins {at_ms - last_ms} ms after the last one of its campaign"


def _of_lines(step: Step, known: Known) -> Iterator[str]:
    """Calls that were claimed in an earlier step and ended in this one, beside the others of their campaigns."""
    open_before = {call["id"] for call in step.before.get("calls", ()) if call["ended_at"] is None}
    ended = [call for call in step.after["calls"] if call["ended_at"] is not None]
    for call in ended:
        if call["id"] not in open_before:
            continue
        own = [one for one in ended if one["deployment_id"] == call["deployment_id"]]
        begins = [one["created_at"] for one in own if call["created_at"] <= one["created_at"] < call["ended_at"]]
        running = max((sum(one["created_at"] <= at_ms < one["ended_at"] for one in own) for at_ms in begins), default=0)
        if running > known.lines[call["deployment_id"]]:
            yield f"{call['id']} was one of {running} calls at once on {known.lines[call['deployment_id']]} lines"


def _of_dial(call: Call, step: Step, known: Known) -> Iterator[str]:
    status = step.row("deployments", call["deployment_id"], before=True)["status"]
    if status != "active":
        yield f"{call['id']} was dialled for a campaign that was {status}"
    if known.is_listed(call["to_number"]):
        claimed = "claimed before the step and " if call not in step.claimed else ""
        yield f"{call['id']} was {claimed}dialled although its number was on the do-not-call list"


def _of_rows(step: Step) -> Iterator[str]:
    by_id = {call["id"]: call for call in step.after["calls"]}
    dialled = {dial["call_id"]: dial["times"] for dial in step.after["simulated_dials"]}
    for call_id, times in dialled.items():
        if times != 1:
            yield f"{call_id} was dialled {times} times"
        if call_id not in by_id:
            yield f"{call_id} was dialled and has no record"
    open_to = Counter(call["to_number"] for call in by_id.values() if call["ended_at"] is None)
    if any(calls > 1 for calls in open_to.values()):
        yield "two calls to one number are under way"
    attempts = Counter((call["deployment_id"], call["contact_id"], call["attempt_number"]) for call in by_id.values())
    yield from (f"{contact}: attempt {number} was made twice" for (_, contact, number), n in attempts.items() if n > 1)


def _of_counters(step: Step) -> Iterator[str]:
    states: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for contact in step.after["deployment_contacts"]:
        states[contact["deployment_id"]][contact["status"]] += 1
    for row in step.after["deployments"]:
        own = [call for call in step.after["calls"] if call["deployment_id"] == row["id"]]
        under_way = [call for call in own if call["ended_at"] is None]
        counted = {name: count for name, count in json.loads(row["states"] or "{}").items() if count}
        for what, said, found in (
            ("contacts by state", counted, dict(states[row["id"]])),
            ("calls under way", row["in_flight"], len(under_way)),
            ("contacts in a call", counted.get("in_flight", 0), len(under_way)),
            ("attempts", row["attempts"], len(own)),
            ("spent", row["spend_micros"], sum(call["cost_micros"] or 0 for call in own)),
            ("held back", row["reserved_micros"], sum(call["reserved_micros"] for call in under_way)),
        ):
            if said != found:
                yield f"{row['id']} says of {what} {said}, and there is {found}"


def _of_money(step: Step, known: Known) -> Iterator[str]:
    (wallet,), old = step.after["wallets"], step.before.get("wallets") or step.after["wallets"]
    held = sum(row["reserved_micros"] for row in step.after["deployments"])
    if wallet["reserved_micros"] != held:
        yield f"the wallet holds back {wallet['reserved_micros']}, and campaigns {held}"
    lines = sum(campaign.max_concurrency for campaign in known.campaigns.values())
    floor = min(0, old[0]["balance_micros"] - old[0]["reserved_micros"]) - lines * DEAREST_MINUTE
    if wallet["balance_micros"] < floor:
        yield f"the wallet fell to {wallet['balance_micros']}, below {floor}"
    for row in step.after["deployments"]:
        cap = row["budget_cap_micros"]
        if cap is None or not step.before:
            continue
        was = next((old for old in step.before["deployments"] if old["id"] == row["id"]), row)
        most = max(cap, was["spend_micros"] + was["reserved_micros"]) + row["max_concurrency"] * DEAREST_MINUTE
        if row["spend_micros"] > most:
            yield f"{row['id']} spent {row['spend_micros']} of {cap}"


def overlaps(rows: Rows) -> int:
    """Pairs of calls to one number that overlap on the clocks of their campaigns, each of which has its own."""
    by_number: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for call in rows["calls"]:
        if call["ended_at"] is not None:
            by_number[call["to_number"]].append((call["created_at"], call["ended_at"]))
    found = 0
    for spans in by_number.values():
        spans.sort()
        begins = [begin for begin, _ in spans]
        found += sum(bisect_right(begins, end - 1) - place - 1 for place, (_, end) in enumerate(spans))
    return found
