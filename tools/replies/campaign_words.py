"""The text of a deployment and of a campaign's preview. Text about inbound ones only is in `inbound_words`."""

from callwright.contract.checks.counts import count_of
from callwright.contract.deployments.contacts import Stats
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.contract.deployments.previews import Preview
from callwright.tools.replies import inbound_words
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.untrusted.fence import fenced
from callwright.tools.wording.text import amount, counted, line, lines, listed, moment, shortened

_NEXT = {
    "draft": "Next: preview_deployment shows who would be called and at what cost. start_deployment dials, once the "
    "person agrees.",
    "scheduled": "Next: nothing, it begins by itself at {start_at}. If it does not fit its plan by then, it pauses. "
    "cancel_deployment ends it. To begin at once "
    "instead: preview_deployment, then start_deployment with its plan_id, once the person agrees.",
    "active": "Next: get_deployment with wait_seconds=45 follows it. pause_deployment stops it.",
    "paused": "Next: resume_deployment goes on, once the person agrees. cancel_deployment ends it.",
    "completed": "Next: get_call_stats counts its calls. list_calls with this deployment_id shows them.",
}
_IN_REVIEW = (
    "Next: a person decides its compliance review. list_compliance_reviews shows it. Once it is approved, "
    "resume_deployment goes on."
)
"""Instead, for a campaign that a review paused."""
_HELD = (
    "Held: nobody knows whether the telephones of these people rang. list_contacts with status held shows them and "
    "their last calls. Ask the person you work for whether each rang: the carrier's own list of calls shows it. "
    "resolve_call says what the person found."
)
_UNCONFIRMED = (
    "Next: nobody else is left to call. resume_deployment goes on once the held contacts are resolved, if the person "
    "agrees. cancel_deployment ends it."
)
"""Instead, for a campaign that is paused because all who are left are held."""
WITHOUT_CALLING_HOURS = (
    "in the hours of the rules of each contact's region (mostly Mon-Sat 09:00-20:00), not on public holidays"
)
"""When people are called where a campaign has no hours of its own. The preview says which hours are in force."""
_NAMES_SHOWN = 12
_MOST_RULES = 3
"""Rules that are named of those that defer people."""
_BLOCKED = {"do_not_call": "do_not_call (on the do-not-call list)"}


def settled(stats: Stats) -> int:
    """The number of contacts that get no further call, whether they were called or not."""
    return stats.contacts - stats.pending - stats.in_flight - stats.retry_waiting - stats.held


def progress(stats: Stats) -> str:
    """For example `182 of 300 contacts done (170 reached, 12 not), 34 dropped`: done are those whose calls are over,
    dropped those that were cancelled or expired. Whom a rule forbids to call, or to call again, is suppressed.
    """
    done, dropped = stats.completed + stats.exhausted, stats.cancelled + stats.expired
    reached = f" ({stats.completed} reached, {stats.exhausted} not)" if done else ""
    parts = (
        f"{done} of {count_of(stats.contacts, 'contact')} done{reached}",
        f"{dropped} dropped" if dropped else None,
        f"{stats.suppressed} suppressed" if stats.suppressed else None,
    )
    return ", ".join(part for part in parts if part)


def entry(deployment: Deployment, _: ToolContext) -> str:
    """A deployment on one line."""
    return line(
        deployment.id,
        deployment.name,
        deployment.status,
        "inbound" if deployment.call_type == "inbound" else None,
        progress(deployment.stats) if deployment.stats.contacts else None,
        f"spent {amount(deployment.stats.spend)}",
        "simulated" if deployment.simulated else None,
    )


def whole(deployment: Deployment, context: ToolContext) -> str:
    """A deployment with its settings and the next step."""
    stats = deployment.stats
    return lines(
        _state(deployment, context),
        _settings(deployment),
        *_counts(stats),
        _words_at_start(deployment),
        context.hint(_HELD) if stats.held else None,
        _next(deployment, context),
    )


def _counts(stats: Stats) -> tuple[str | None, ...]:
    """People and calls are counted apart: a person who is called twice is one of the people and two of the calls."""
    known = (
        ("people by the outcome of their last call", stats.last_outcomes),
        (f"{count_of(stats.attempts, 'call')} by outcome", stats.outcomes),
        ("conversations by disposition (goal_met: yes to all that was asked)", stats.dispositions),
    )
    return tuple(f"{name}: {counted(counts, most=_NAMES_SHOWN)}" if counts else None for name, counts in known)


def _settings(deployment: Deployment) -> str:
    inbound = deployment.inbound
    return inbound_words.settings(deployment, inbound) if inbound else _campaign(deployment)


def _campaign(deployment: Deployment) -> str:
    numbers, pace, retries = deployment.phone_number_ids, deployment.calls_per_second, deployment.retry_policy
    return lines(
        line(
            f"agent {deployment.agent_id}"
            + (f' "{deployment.agent_snapshot.name}"' if deployment.agent_snapshot else ""),
            f"audience {deployment.audience_id}",
            f"from {listed(numbers, most=5)}" if numbers else "no number to call from yet",
        ),
        line(
            f"up to {count_of(deployment.max_concurrency, 'call')} at once"
            + ("" if pace is None else f", {pace:g} a second"),
            _retries(retries) if retries else None,
            f"budget cap {amount(deployment.budget_cap)}" if deployment.budget_cap else "no budget cap",
        ),
        _hours(deployment),
    )


def _retries(policy: RetryPolicy) -> str:
    """For example `up to 3 attempts a contact (after 240, 1440 minutes, busy 15; on no_answer, busy)`."""
    said = f"up to {count_of(policy.max_attempts, 'attempt')} a contact"
    if policy.max_attempts < 2:
        return said
    after = ", ".join(map(str, policy.interval_minutes))
    return f"{said} (after {after} minutes, busy {policy.busy_interval_minutes}; on {', '.join(policy.retry_on)})"


def started(deployment: Deployment, context: ToolContext) -> str:
    """The state after a start or resume."""
    network = "Simulated network: no telephone rings, the money is play money."
    if deployment.call_type == "inbound":
        network = inbound_words.SIMULATED
    waits = deployment.status == "scheduled"
    return lines(
        _state(deployment, context),
        f"It waits for its start at {moment(deployment.start_at)}: nobody is called before." if waits else None,
        f"Its own clock is at {moment(deployment.clock)}." if deployment.simulated and deployment.clock else None,
        network if deployment.simulated else None,
        _next(deployment, context),
    )


def stopped(deployment: Deployment, context: ToolContext, others: int | None) -> str:
    """The state and the settings after a pause or cancellation, and how many others go on."""
    in_flight = deployment.stats.in_flight
    finishing = f"{count_of(in_flight, 'call is', 'calls are')} still under way and will finish." if in_flight else None
    rest = None if others is None else "Nothing else is active or scheduled."
    if others:
        rest = f"{count_of(others, 'other deployment is', 'other deployments are')} active or scheduled."
    return lines(_state(deployment, context), finishing, rest, _settings(deployment), _next(deployment, context))


def preview(found: Preview, context: ToolContext) -> str:
    """Who would be called, at what cost, what prevents a start, and the plan to start with."""
    cost, finish = found.cost, moment(found.finishes_at)
    blocked = [f"{block.count} {_BLOCKED.get(block.reason, block.reason)}" for block in found.blocked]
    missing = [f"{gap.name} for {count_of(gap.contacts, 'contact')}" for gap in found.missing_variables]
    return lines(
        found.summary,
        line(f"plan {found.plan_id}", f"valid until {moment(found.plan_valid_until)}"),
        line(
            f"{count_of(found.eligible, 'person', 'people')} would be called",
            "simulated" if found.simulated else "REAL CALLS",
        ),
        f"not called: {listed(blocked)}" if blocked else None,
        _deferred(found),
        f"no value: {listed(missing)}" if missing else None,
        _greeting(found, context),
        fenced(
            [shortened(found.worst_greeting, 500)],
            tag=context.session.ids(),
            what="Greeting where most columns are empty; {{column|word}} gives a word for these.",
        )
        if found.worst_greeting
        else None,
        line(
            f"cost {amount(cost.low)} to {amount(cost.high)}",
            f"available {amount(cost.available)}",
            None if cost.covered else "THE WALLET DOES NOT COVER THE HIGH END",
        ),
        f"basis: {cost.basis}",
        line(
            f"up to {count_of(found.max_attempts, 'attempt')} each",
            f"first call {moment(found.next_call_at)}" if found.next_call_at else None,
            f"about {found.estimated_minutes:.1f} minutes of calling for one round",
            f"everybody called once by about {finish}" if finish else None,
            f"the last at the latest {moment(found.last_call_at)}" if found.last_call_at and not finish else None,
        ),
        *(f"start would refuse: {problem}" for problem in found.problems),
        *(f"warning: {warning}" for warning in found.warnings),
    )


def _deferred(found: Preview) -> str | None:
    """Who cannot be called at the beginning, by the most frequent rules, in one line."""
    most = sorted(found.deferred, key=lambda by: -by.count)[:_MOST_RULES]
    said = [f"{by.count} by {by.rule} until {moment(by.until)} at the latest" for by in most]
    more = len(found.deferred) - len(most)
    return f"not at the beginning: {'; '.join(said)}{f'; {more} more rules' if more else ''}" if said else None


def _greeting(found: Preview, context: ToolContext) -> str:
    """The greeting of the first contact, fenced, because it holds values of their row."""
    if found.greeting is None:
        return "greeting: none, nobody would be called"
    if not found.greeting:
        return "greeting: none, the contact begins"
    return fenced([shortened(found.greeting, 500)], tag=context.session.ids(), what="Greeting of the first contact.")


def _next(deployment: Deployment, context: ToolContext) -> str:
    known = inbound_words.NEXT if deployment.call_type == "inbound" else _NEXT
    words = known.get(deployment.status, "")
    if deployment.status == "paused" and deployment.status_reason in ("compliance", "compliance_rejected"):
        words = _IN_REVIEW
    elif deployment.status == "paused" and deployment.status_reason == "unconfirmed_calls":
        words = _UNCONFIRMED
    return context.hint(words.replace("{start_at}", moment(deployment.start_at) or "its start_at"))


def _state(deployment: Deployment, context: ToolContext) -> str:
    return lines(
        entry(deployment, context),
        f"reason: {deployment.status_reason}" if deployment.status_reason else None,
        _waiting(deployment),
    )


def _words_at_start(deployment: Deployment) -> str | None:
    """Where to read the prompt that a started campaign uses, even if the agent was changed since."""
    if deployment.agent_snapshot is None:
        return None
    length = len(deployment.agent_snapshot.system_prompt)
    return f"The prompt it speaks by ({length} characters) is in callwright://deployments/{deployment.id}"


_CHANGES = {
    "adding": "contacts are still being added; nobody is called before all are there",
    "cancelling": "contacts are still being marked as cancelled; none of them is called",
    "expiring": "contacts are still being marked as expired; none of them is called",
    "rescheduling": "contacts are still being rescheduled by the changed rules; nobody is called before all are",
}


def _waiting(deployment: Deployment) -> str | None:
    stats = deployment.stats
    counts = {"pending": stats.pending, "under way": stats.in_flight, "waiting for a retry": stats.retry_waiting}
    counts["held"] = stats.held
    left = {name: count for name, count in counts.items() if count}
    next_dial = moment(deployment.next_dial_at)
    none_now = deployment.status == "paused" and not stats.in_flight
    return (
        line(
            counted(left) or None,
            _CHANGES[deployment.contact_changes] if deployment.contact_changes else None,
            "no call under way" if none_now else None,
            f"next call {next_dial}" if next_dial else None,
            f"held back by {deployment.waits_for}" if deployment.waits_for else None,
        )
        or None
    )


def _hours(deployment: Deployment) -> str:
    hours = deployment.calling_hours
    if hours is None:
        return f"calls {WITHOUT_CALLING_HOURS}"
    zone = "the contact's own time zone" if hours.timezone_mode == "callee" else str(hours.timezone)
    windows = [f"{','.join(window.days)} {window.start}-{window.end}" for window in hours.windows]
    return f"calls {'; '.join(windows)} in {zone}"
