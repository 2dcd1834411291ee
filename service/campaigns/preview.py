"""The preview of a start. It only reads: nobody is dialled and nothing is charged."""

import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from callwright.contract.deployments import previews as contract
from callwright.contract.transfers import MOST_TRANSFERS
from callwright.service.campaigns.compliance_checks import HOW_TO_CONSENT, advice_on_consent
from callwright.service.campaigns.daily_spending import daily_spending, most_until_end
from callwright.service.campaigns.dial_order import SAMPLE
from callwright.service.campaigns.estimate import estimate
from callwright.service.campaigns.maximum_cost import maximum_cost
from callwright.service.campaigns.outlook import FirstCall, Outlook, begins_ms, outlook
from callwright.service.campaigns.plan_sentence import MOST_NAMED, Proposal, sentence
from callwright.service.campaigns.start_guards import audience_of, start_refusals
from callwright.service.campaigns.start_plan import check_plan, numbers_in_order, parts_of, plan_of
from callwright.service.campaigns.unclear_states import advice_on_states
from callwright.service.campaigns.uncounted_costs import uncounted
from callwright.service.campaigns.unknown_countries import advice_on_countries
from callwright.service.dialling.agent_snapshot import agent_of
from callwright.service.dialling.eligibility.consent import advice_on_answers, advice_on_unasked_columns
from callwright.service.dialling.eligibility.do_not_call import is_of_simulated_opt_outs
from callwright.service.dialling.eligibility.gate import DO_NOT_CALL, NO_CONSENT
from callwright.service.dialling.eligibility.reasons import (
    are_listed_in_earnest,
    of_audience,
    of_suppressed,
    of_waiting,
)
from callwright.service.dialling.queue import Rules
from callwright.service.dialling.schedule import DialPace
from callwright.service.platform.clock.clock import MINUTE, SECOND, moment, moment_or_none
from callwright.service.platform.money import amount, money
from callwright.service.platform.phone import redacted
from callwright.service.rules.call_tools import columns_in, tools_in
from callwright.service.rules.organization_plans import PricePlan
from callwright.service.rules.plan_id import StartPlanSeal
from callwright.service.rules.templates import Columns, placeholders_in, values_of, variables_in
from callwright.service.rules.transfer_destinations import advice_on_destinations, transfers_in
from callwright.service.settings import ServiceSettings
from callwright.service.tables.audience_prices import AudiencePrices, prices_of
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.ledger import wallet_of
from callwright.service.tables.schema import organizations
from callwright.service.telephony.engine import AgentSnapshot
from callwright.service.telephony.simulated.conversation.welcome import greeting_of

_TYPICAL_CALL_S = 40
_NO_WELCOME = "the agent has no welcome message: the contact speaks first"
_BASIS = (
    "low: one contact in five talks for half a minute; high: every attempt is answered and lasts as long as a call "
    "may, at the highest price of the audience's countries and the most that services may cost in a minute, up to the "
    "budget cap and a minute on each line beyond it"
)
_TRANSFERS = (
    f"; high counts {MOST_TRANSFERS} tries to transfer each call and a person as long on the line, low no transfer"
)
_LEFT_OUT = (
    "numbers are left out because their people asked not to be called again in a simulated campaign; "
    "`callwright do-not-call clear --simulated{org}` on the machine of the service lets them be called again"
)
_LISTED = (
    "numbers are left out because they are on the do-not-call list; list_do_not_call says of each why, and since when"
)
_UNCOVERED = (
    "the wallet has {available} USD and this may cost {high} USD: the campaign pauses when the money is used up; "
    "`callwright orgs {command} {org} --amount N` on the machine of the service tops up the wallet, or lower budget_cap"
)
_EMPTY_CELLS = (
    "the welcome message has gaps where cells are empty: column {cells} in the audience; a default fills a gap: "
    "{{{{column|words}}}}"
)
_SAMPLED = f"the figures by rule are of the first {SAMPLE:,} people"
_GREETED = 100
"""How many people are looked at for the greeting with the most empty columns."""
_LATEST = 2**62
"""Later than any end, in milliseconds."""
_MOST_COLUMNS = 5
_DEFAULT_ORGANIZATION = "default"
"""The organization that commands use when none is named."""
_AT_ONCE = (
    "it is scheduled and begins by itself at start_at, so that nothing is left to do; a start with this plan does not "
    "wait for start_at and calls people at once"
)
_WAITS = "a start waits for start_at; with jump_clock it begins at once, and the deployment's own clock at start_at"


def preview(
    connection: Connection,
    plan: PricePlan,
    row: Row[Any],
    agent: Mapping[str, Any],
    *,
    seal: StartPlanSeal,
    service: ServiceSettings,
    now_ms: int,
    plan_id: str | None = None,
) -> contract.Preview:
    """Who would be called, the greeting, the cost, and the plan with which a start can be made.

    `plan` is the organization's price plan, `service` the settings of the service, `agent` the fields of the agent that
    the deployment keeps or would keep. Of a deployment that has started, only the remaining people and the remaining
    budget count. With `plan_id` the preview is about that plan.

    Raises:
        Refusal: the plan `plan_id` is of another deployment, too old, or not up to date any more.
    """
    audience = audience_of(connection, row.audience_id)
    numbers = numbers_in_order(connection, row)
    sealed = plan_of(parts_of(connection, row, audience=audience, agent=agent, numbers=numbers), now_ms)
    if plan_id is not None:
        now, sealed = sealed.parts, seal.open(plan_id, org_id=row.org_id, deployment_id=row.id)
        check_plan(sealed, now, now_ms)
    speaker = agent_of(row, agent)
    rules = Rules.of(connection, row, speaker)
    settings = settings_of(row)
    policy = settings.retry_policy
    view = outlook(connection, rules, now_ms=now_ms)
    eligible, blocked = _people(connection, row, audience, view, now_ms)
    counts = {group.reason: group.count for group in blocked}
    left_out = counts.get(DO_NOT_CALL, 0)
    unsaid = advice_on_answers(connection, row, nobody_left=not eligible) if NO_CONSENT in counts else []
    prices = prices_of(connection, row, agent)
    maximum = maximum_cost(row, prices, eligible, policy.max_attempts)
    low, high = min(eligible // 5 * prices.untransferred.call(30), maximum.micros), maximum.micros
    daily = daily_spending(row, prices, eligible, typical_s=_TYPICAL_CALL_S)
    wallet = wallet_of(connection, row.org_id)
    available = wallet.balance_micros - wallet.reserved_micros
    pace = DialPace(settings.calls_per_second, settings.ramp_up_seconds * SECOND)
    calling_s = pace.lasts_s(eligible, most_per_second=row.max_concurrency / _TYPICAL_CALL_S)
    begin_ms = begins_ms(row, now_ms)
    high = most_until_end(row, prices, begin_ms, high)
    low = min(low, high)
    early = row.status == "scheduled" and row.start_at > now_ms
    given_now: dict[str, Any] = {"settings": service, "now_ms": now_ms}
    problems = start_refusals(connection, plan, row, speaker, asked=True, view=view, **given_now)
    first = view.first(row.end_at)
    active = [number for number in numbers if number.status == "active"]
    given: dict[str, Any] = {"numbers": active, "daily": daily, "begin_ms": begin_ms, "now_ms": now_ms}
    estimated = estimate(connection, row, view, eligible, calling_ms=round(calling_s * SECOND), **given)
    over_ms = estimated.over_ms
    never = bool(view.people) and first is None
    forbidden = view.forbids_all
    unconsented = forbidden is not None and forbidden.reason == NO_CONSENT
    transfers = transfers_in(tools_in(agent.get("call_tools")))
    proposal = Proposal(
        simulated=row.simulated,
        goes_on=row.started_at is not None,
        people=eligible,
        called=_few(view, eligible),
        left_out=left_out,
        name=row.name,
        agent=agent["name"],
        numbers=[number.number for number in active],
        attempts=policy.max_attempts,
        hours=settings.calling_hours,
        week=view.week(rules.regions, begin_ms),
        start_ms=begin_ms if row.started_at is None and begin_ms > now_ms else None,
        instead_of_ms=row.start_at if early else None,
        first_call_ms=_put_off_to(row, first, begin_ms),
        end_ms=row.end_at,
        never=never and view.whole,
        without_consent=unconsented,
        cap_micros=maximum.cap,
        overrun_micros=maximum.overrun,
        high_micros=high,
        uncounted=uncounted(connection, row, agent),
        transfers_to=[(one.name, one.to) for tool in transfers for one in tool.destinations],
    )
    return contract.Preview(
        deployment_id=row.id,
        simulated=row.simulated,
        plan_id=seal.seal(sealed, org_id=row.org_id, deployment_id=row.id),
        plan_valid_until=moment(sealed.valid_until_s * SECOND),
        summary=sentence(proposal),
        eligible=eligible,
        blocked=blocked,
        deferred=[contract.Deferred(rule=by.rule, count=by.count, until=moment(by.until_ms)) for by in view.deferred],
        missing_variables=_missing(speaker, audience),
        greeting=_greeting(rules, first, begin_ms),
        worst_greeting=_worst_greeting(rules, view.people[:_GREETED], begin_ms),
        cost=contract.CostRange(
            low=money(low),
            high=money(high),
            available=money(available),
            covered=available >= high,
            basis=_basis(prices),
        ),
        max_attempts=policy.max_attempts,
        estimated_minutes=round(calling_s / 60, 1),
        next_call_at=moment_or_none(None if first is None else first.at_ms),
        finishes_at=moment_or_none(None if over_ms is None or over_ms >= (row.end_at or _LATEST) else over_ms),
        last_call_at=moment_or_none(None if over_ms is None else min(over_ms, row.end_at or _LATEST)),
        problems=[problem.message for problem in problems],
        warnings=[
            *([] if speaker.welcome_message.strip() else [_NO_WELCOME]),
            *_advice_on_empty_cells(speaker, audience),
            *unsaid,
            *advice_on_unasked_columns(connection, row),
            *advice_on_consent(connection, row),
            *advice_on_countries(connection, row),
            *advice_on_states(rules.campaign_hours, view.people),
            *([_never(row, view)] if never else []),
            *([] if view.whole else [_SAMPLED]),
            *advice_on_destinations(transfers, [number.number for number in active]),
            *estimated.warnings,
            *([_advice_on_money(connection, row, available, high)] if available < high else []),
            *([_advice_on_the_list(connection, row, now_ms)] if row.simulated and left_out else []),
            *([daily.advice] if daily is not None and daily.advice else []),
            *([_AT_ONCE] if early else []),
            *([_WAITS] if row.simulated and row.started_at is None and begin_ms > now_ms else []),
        ],
    )


def _basis(prices: AudiencePrices) -> str:
    return f"{_BASIS}{_TRANSFERS}" if prices.dearest.transfers_cost else _BASIS


def _people(
    connection: Connection, row: Row[Any], audience: Row[Any], view: Outlook, now_ms: int
) -> tuple[int, list[contract.Blocked]]:
    """How many people would be called, and how many would not, by reason."""
    counts: Counter[str | None] = Counter()
    if row.started_at is not None:
        counts += of_suppressed(connection, row)
        counts += of_waiting(connection, row, now_ms)
    else:
        counts += of_audience(connection, row, now_ms)
    never = view.never_by_reason()
    eligible = max(0, counts.pop(None, 0) - never.total())
    counts.update(never)
    counts += Counter(invalid_row=audience.invalid_count, duplicate=audience.duplicate_count)
    return eligible, [contract.Blocked(reason=str(reason), count=count) for reason, count in counts.items()]


def _few(view: Outlook, eligible: int) -> list[str]:
    """The numbers of those who would be called; none if they are many."""
    able = [one.phone for one, at_ms in zip(view.people, view.calls_ms, strict=True) if at_ms is not None]
    return able if len(able) == eligible <= MOST_NAMED else []


def _put_off_to(row: Row[Any], first: FirstCall | None, begin_ms: int) -> int | None:
    """When the first call is made, if that is not soon after calls begin; None else, and where no time has to pass."""
    if row.simulated or first is None or first.at_ms < begin_ms + MINUTE:
        return None
    return first.at_ms


def _never(row: Row[Any], view: Outlook) -> str:
    who = "nobody" if view.whole else f"nobody of the first {SAMPLE:,} people"
    why = view.forbids_all
    if why is not None and why.reason == NO_CONSENT:
        return f"{who} can be called: the consent that the rule {why.rule} needs is missing; {HOW_TO_CONSENT}"
    end = "" if row.end_at is None else " before end_at"
    hours = "the calling hours and the rules of the regions"
    return f"{who} can be called: {hours} leave no moment{end}; change calling_hours or end_at"


def _advice_on_money(connection: Connection, row: Row[Any], available: int, high: int) -> str:
    command = "fund" if wallet_of(connection, row.org_id).play_money else "topup"
    org = _org_name(connection, row)
    return _UNCOVERED.format(available=amount(available), high=amount(high), command=command, org=org)


def _advice_on_the_list(connection: Connection, row: Row[Any], now_ms: int) -> str:
    """Why numbers are left out of a simulated campaign. Emptying a list is advised for simulated opt-outs alone."""
    if not is_of_simulated_opt_outs(connection, row.org_id, now_ms) or are_listed_in_earnest(connection, row, now_ms):
        return _LISTED
    name = _org_name(connection, row)
    return _LEFT_OUT.format(org="" if name == _DEFAULT_ORGANIZATION else f" --org {name}")


def _org_name(connection: Connection, row: Row[Any]) -> str:
    """The name of the organization, quoted for a shell."""
    name = connection.execute(select(organizations.c.name).where(organizations.c.id == row.org_id)).scalar_one()
    return shlex.quote(name)


def _missing(agent: AgentSnapshot, audience: Row[Any]) -> list[contract.MissingVariable]:
    filled = {column["name"]: column["filled"] for column in json.loads(audience.columns)}
    words = (*variables_in(agent.welcome_message), *variables_in(agent.system_prompt))
    wanted: Sequence[str] = (*words, *columns_in(agent.call_tools))
    columns = Columns(filled)
    counts = ((name, audience.valid_count - filled.get(columns.find(name) or "", 0)) for name in dict.fromkeys(wanted))
    return [contract.MissingVariable(name=name, contacts=count) for name, count in counts if count]


def _advice_on_empty_cells(agent: AgentSnapshot, audience: Row[Any]) -> list[str]:
    """The columns of the welcome message that have empty cells and no default, with how many people they concern."""
    places = placeholders_in(agent.welcome_message)
    filled = {column["name"]: column["filled"] for column in json.loads(audience.columns)} if places else {}
    columns = Columns(filled)
    used = dict.fromkeys(columns.find(place.name) for place in places if place.default is None)
    everybody: int = audience.valid_count
    gaps = [(column, everybody - filled[column]) for column in used if column and filled[column] < everybody]
    if not gaps:
        return []
    cells = ", ".join(f"{redacted(name)!r} of {count} of {everybody} people" for name, count in gaps[:_MOST_COLUMNS])
    more = f" and {len(gaps) - _MOST_COLUMNS} more columns" if len(gaps) > _MOST_COLUMNS else ""
    return [_EMPTY_CELLS.format(cells=f"{cells}{more}")]


def _greeting(rules: Rules, first: FirstCall | None, begin_ms: int) -> str | None:
    """What the first person who is called hears first; None if nobody is called."""
    if first is None:
        return None
    return _heard(rules, first.contact, begin_ms)


def _worst_greeting(rules: Rules, people: Sequence[Row[Any]], begin_ms: int) -> str | None:
    """What the person hears for whom most columns of the greeting are empty; None if it is whole for everybody."""
    places = placeholders_in(rules.agent.welcome_message)
    if not places or not people:
        return None

    def empty(person: Row[Any]) -> int:
        return sum(not (value or "").strip() for value in values_of(places, json.loads(person.cells or "{}")))

    worst = max(people, key=empty)
    return _heard(rules, worst, begin_ms) if empty(worst) else None


def _heard(rules: Rules, person: Row[Any], begin_ms: int) -> str:
    """What a person hears first at the next call."""
    return greeting_of(rules.request(person, call_id="", attempt=person.attempts + 1, from_number="", dial_ms=begin_ms))
