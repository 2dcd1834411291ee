"""The state machine: campaigns, people, money and the do-not-call list, with drivers that die and clocks that jump.

Every step is carried out on each side, and its answer and the rows afterwards must be the same on all of them.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from anyio.from_thread import BlockingPortal
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule
from pydantic import BaseModel

from callwright.client import Client
from callwright.contract.compliance_reviews import Decision
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, RetryPolicy, Window
from callwright.contract.do_not_call import NewEntry
from callwright.service import accounts
from callwright.service.accounts.freezing import WalletStatus, set_wallet_status
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.money import money
from tests.state_machine.invariants import Known, Step, opted_out, overlaps, violations
from tests.state_machine.law import HOUR_MS, PEOPLE
from tests.state_machine.side import BEGIN_MS, Death, Rows, ScriptedTime, Side
from tests.support.campaigns import PROMPT, WELCOME, leave_in_wallet

_DAYS = list(WEEKDAYS)
HOURS: dict[str, CallingHours | None] = {
    "none": None,
    "always": CallingHours(windows=[Window(days=_DAYS, start="00:00", end="24:00")]),
    "mornings": CallingHours(windows=[Window(days=_DAYS[:5], start="08:00", end="11:30")]),
    "weekend": CallingHours(windows=[Window(days=_DAYS[5:], start="10:00", end="22:00")]),
    "in_berlin": CallingHours(
        timezone_mode="fixed",
        timezone="Europe/Berlin",
        windows=[Window(days=_DAYS[:6], start="07:00", end="21:00")],
        skip_public_holidays=False,
    ),
}
POLICIES: dict[str, RetryPolicy] = {
    "once": RetryPolicy(max_attempts=1),
    "default": RetryPolicy(),
    "often": RetryPolicy(
        max_attempts=10,
        max_attempts_per_day=10,
        interval_minutes=[10],
        busy_interval_minutes=5,
        retry_on=["no_answer", "busy", "failed", "voicemail", "rejected", "short_call"],
        different_time_of_day=False,
    ),
    "daily": RetryPolicy(max_attempts=4, max_attempts_per_day=1, interval_minutes=[10], retry_on=["no_answer", "busy"]),
}
PURPOSES: dict[str, dict[str, Any]] = {
    "informational": {"purpose": "informational"},
    "collections": {"purpose": "collections"},
    "survey": {"purpose": "survey", "consent_column": "consent"},
    "marketing": {"purpose": "marketing", "consent_column": "consent"},
    "attested": {"purpose": "marketing", "consent_attested": True, "consent_reference": "consents.xlsx"},
    "unproven": {"purpose": "marketing", "consent_attested": True},
}
_OUTCOMES: Sequence[tuple[str, str]] = (
    ("answered", "yes"),
    ("answered", "opt_out"),
    ("answered", "later"),
    ("answered", "silent"),
    *((outcome, "") for outcome in ("no_answer", "busy", "voicemail", "rejected", "unreachable", "failed")),
)
_CAPS_MICROS = (None, None, 150_000, 400_000, 2_000_000)
_LINES = st.sampled_from((1, 2, 5))
_PICKS = st.lists(
    st.tuples(st.integers(0, len(PEOPLE) - 1), st.sampled_from(_OUTCOMES), st.sampled_from((True, True, False))),
    min_size=2,
    max_size=10,
    unique_by=lambda pick: pick[0],
)
_JUMPS_H = (-72, -25, -3, -1, 1, 3, 8, 24, 72, 170)
Picks = list[tuple[int, tuple[str, str], bool]]
Action = Callable[[Side], Awaitable[Any]]


@dataclass(frozen=True)
class Play:
    """The sides, the time that they share, and the portal to the event loop on which they run."""

    portal: BlockingPortal
    sides: Sequence[Side]
    time: ScriptedTime
    figures: "Figures"


@dataclass
class Figures:
    """What was done, over all examples."""

    examples: int = 0
    steps: int = 0
    calls: int = 0
    deaths: int = 0
    overlaps: int = 0
    """Pairs of calls to one number that overlap on the clocks of two campaigns."""
    problems: dict[str, int] = field(default_factory=dict[str, int])
    """How often requests were refused, by code."""

    def refused(self, code: str) -> None:
        """Counts a refusal."""
        self.problems[code] = self.problems.get(code, 0) + 1


class CampaignMachine(RuleBasedStateMachine):
    """Plays on services that were opened for it; `close` ends them."""

    campaigns = Bundle("campaigns")
    entries = Bundle("entries")

    def __init__(self, play: Play, close: Callable[[], None]) -> None:
        super().__init__()
        self._play, self._close = play, close
        self._known = Known(BEGIN_MS)
        self._rows: Rows = {}
        self._count = 0
        self._agent = ""

    def teardown(self) -> None:
        """Compares all rows that the steps have left, and closes the services."""
        try:
            self._play.figures.examples += 1
            self._play.figures.calls += len(self._rows.get("calls", ()))
            self._play.figures.overlaps += overlaps(self._rows) if self._rows else 0
            found = [self._play.portal.call(side.everything) for side in self._play.sides]
            for side, other in zip(self._play.sides[1:], found[1:], strict=True):
                for name, rows in found[0].items():
                    alone = [*((rows - other[name]).elements()), *((other[name] - rows).elements())]
                    assert not alone, f"{side.name} has other rows of {name}: {alone[:4]}"
        finally:
            self._close()

    def _do(self, action: Action) -> Any:
        """Carries out a step on every side; the answer, which is the same on all of them."""
        play = self._play
        play.figures.steps += 1
        self._known.now_ms = play.time.now_ms
        answers = [play.portal.call(action, side) for side in play.sides]
        for side, answer in zip(play.sides[1:], answers[1:], strict=True):
            assert answer == answers[0], f"{side.name} answers {answer}, not {answers[0]}"
        if _is_problem(answers[0]):
            play.figures.refused(answers[0]["problem"])
        self._judge()
        play.time.jump(1)
        return answers[0]

    def _judge(self) -> None:
        """Looks at the rows that a step has left."""
        play = self._play
        rows = [play.portal.call(side.seen) for side in play.sides]
        for side, others in zip(play.sides[1:], rows[1:], strict=True):
            for name in others:
                assert others[name] == rows[0][name], f"{side.name} has other rows of {name}"
        for side in play.sides:
            problems = play.portal.call(side.ledger_problems)
            assert not problems, f"the ledger of {side.name} does not add up: {problems}"
        step = Step(self._rows, rows[0])
        found = violations(step, self._known)
        assert not found, "; ".join(found)
        self._known.listed |= dict.fromkeys(opted_out(step))
        self._rows = rows[0]

    def _ask(self, request: Callable[[Client], Awaitable[BaseModel | None]]) -> Any:
        return self._do(lambda side: side.ask(request))

    def _ask_about(self, request: Callable[[Client], Awaitable[BaseModel | None]]) -> Any:
        """Asks for a change of a deployment, and notes what it is then."""
        answer = self._ask(request)
        if "problem" not in answer:
            self._known.note(Deployment.model_validate(answer))
        return answer

    def _people(self, picks: Picks) -> list[dict[str, Any]]:
        return [
            {
                "phone_number": PEOPLE[place].number,
                "first_name": f"Person {place}",
                "consent": "yes" if consents else "no",
                "sim.outcome": outcome,
                "sim.intent": intent,
            }
            for place, (outcome, intent), consents in picks
        ]

    def _note_consents(self, audience_id: str, picks: Picks) -> None:
        """Somebody who is in the audience already stays as they are."""
        known = self._known.consents.setdefault(audience_id, {})
        for place, _, consents in picks:
            known.setdefault(PEOPLE[place].number, "yes" if consents else "no")

    @initialize()
    def furnish(self) -> None:
        """An agent and two numbers to call from."""
        given: dict[str, Any] = {
            "voice_id": "en-US-ada",
            "language": "en-US",
            "system_prompt": PROMPT,
            "welcome_message": WELCOME,
        }
        self._agent = self._ask(lambda client: client.agents.create(name="Ada", **given))["id"]
        for _ in range(2):
            number = self._ask(lambda client: client.phone_numbers.rent(country="US"))
            self._known.daily[number["id"]] = number["max_calls_per_day"]

    @rule(
        target=campaigns,
        picks=_PICKS,
        purpose=st.sampled_from(tuple(PURPOSES)),
        hours=st.sampled_from(tuple(HOURS)),
        policy=st.sampled_from(tuple(POLICIES)),
        lines=_LINES,
        cap=st.sampled_from(_CAPS_MICROS),
        rounds=st.sampled_from((3, 1, 2, 8, None)),
    )
    def make_campaign(
        self, picks: Picks, purpose: str, hours: str, policy: str, lines: int, cap: int | None, rounds: int | None
    ) -> Any:
        """A campaign of new people, which dials from one or both numbers; with `rounds` it is started and driven."""
        self._count += 1
        name, rows = f"People {self._count}", self._people(picks)
        audience = self._ask(lambda client: client.audiences.create(name=name, rows=rows))
        self._note_consents(audience["id"], picks)
        given: dict[str, Any] = {
            "name": f"Campaign {self._count}",
            "agent_id": self._agent,
            "audience_id": audience["id"],
            "phone_number_ids": list(self._known.daily)[self._count % 2 :],
            "compliance": PURPOSES[purpose],
            "calling_hours": HOURS[hours],
            "retry_policy": POLICIES[policy],
            "max_concurrency": lines,
            "calls_per_second": 2.0,
            **({} if cap is None else {"budget_cap": {"amount": money(cap).amount}}),
        }
        made = self._ask_about(lambda client: client.deployments.create(**given))
        if rounds is not None:
            self.act(made["id"], "start")
            self._drive(made["id"], rounds, None)
        return made["id"]

    @rule(target=campaigns, campaign=campaigns, rounds=st.sampled_from((3, 0, 1, 8)))
    def clone(self, campaign: str, rounds: int) -> str:
        """Another campaign for the same people, which calls them at the same time."""
        self._count += 1
        name = f"Campaign {self._count}"
        made = self._ask_about(lambda client: client.deployments.clone(id=campaign, name=name))
        self.act(made["id"], "start")
        self._drive(made["id"], rounds, None)
        return made["id"]

    @rule(campaign=campaigns, picks=_PICKS)
    def append_people(self, campaign: str, picks: Picks) -> None:
        audience = self._known.campaigns[campaign].audience_id or ""
        self._note_consents(audience, picks)
        self._ask(lambda client: client.audiences.add_rows(id=audience, rows=self._people(picks)))

    @rule(campaign=campaigns, action=st.sampled_from(("start", "resume", "resume", "pause")))
    def act(self, campaign: str, action: str) -> None:
        self._ask_about(lambda client: getattr(client.deployments, action)(id=campaign))

    @rule(campaign=consumes(campaigns))
    def cancel(self, campaign: str) -> None:
        self._ask_about(lambda client: client.deployments.cancel(id=campaign))
        self._drive(campaign, 1, None)

    @rule(
        campaign=campaigns,
        changes=st.one_of(
            st.sampled_from(tuple(HOURS)).map(lambda name: {"calling_hours": HOURS[name]}),
            st.sampled_from(tuple(POLICIES)).map(lambda name: {"retry_policy": POLICIES[name]}),
            st.sampled_from(_CAPS_MICROS).map(
                lambda cap: {"budget_cap": None if cap is None else {"amount": money(cap).amount}}
            ),
            _LINES.map(lambda lines: {"max_concurrency": lines}),
        ),
        pauses=st.booleans(),
    )
    def edit(self, campaign: str, changes: dict[str, Any], pauses: bool) -> None:
        if pauses:
            self.act(campaign, "pause")
        self._ask_about(lambda client: client.deployments.update(id=campaign, **changes))
        if pauses:
            self.act(campaign, "resume")

    @rule(campaign=campaigns)
    def preview(self, campaign: str) -> None:
        self._ask(lambda client: client.deployments.preview(id=campaign))

    @rule(campaign=campaigns, rounds=st.integers(2, 8))
    def drive(self, campaign: str, rounds: int) -> None:
        self._drive(campaign, rounds, None)

    @rule(campaign=campaigns)
    def drive_on(self, campaign: str) -> None:
        """To its end, as a rule."""
        self._drive(campaign, 40, None)

    @rule(campaign=campaigns, death=st.sampled_from(("before_dialling", "after_dialling", "overtaken")))
    def die(self, campaign: str, death: Death) -> None:
        self._play.figures.deaths += self._drive(campaign, 3, death) in ("died", "lost")

    def _drive(self, campaign: str, rounds: int, death: Death | None) -> Any:
        self._count += 1
        owner = f"wrk_{self._count}"
        return self._do(lambda side: side.drive(campaign, owner, rounds=rounds, death=death))

    @rule(target=entries, place=st.integers(0, len(PEOPLE) - 1), hours=st.sampled_from((None, 2, 30)))
    def list_number(self, place: int, hours: int | None) -> Any:
        number = PEOPLE[place].number
        until = None if hours is None else moment(self._play.time.now_ms + hours * HOUR_MS)
        given = [NewEntry(number=number, expires_at=until)]
        answer = self._ask(lambda client: client.do_not_call.add(entries=given, simulated=True))
        (row,) = [row for row in self._rows["do_not_call"] if row["number"] == number]
        wanted = None if until is None else round(until.timestamp() * 1_000)
        former = self._known.listed.get(number, 0)
        holds = None if wanted is None or former is None else max(wanted, former)
        assert row["expires_at"] == holds
        self._known.listed[number] = holds
        return (answer["entries"][0]["id"], number)

    @rule(entry=consumes(entries))
    def unlist_number(self, entry: tuple[str, str]) -> None:
        entry_id, number = entry
        answer = self._ask(lambda client: client.do_not_call.remove(id=entry_id, reason="they asked to be called"))
        if answer is None:
            self._known.listed.pop(number, None)

    @rule(place=st.integers(0, 1), most=st.sampled_from((1, 3, 200)))
    def cap_number(self, place: int, most: int) -> None:
        number = list(self._known.daily)[place]
        self._ask(lambda client: client.phone_numbers.update(id=number, max_calls_per_day=most))
        self._known.daily[number] = most

    @rule(micros=st.sampled_from((1_000_000, 20_000_000)))
    def fund(self, micros: int) -> None:
        self._do(partial(_fund, micros=micros))

    @rule(micros=st.sampled_from((0, 100_000, 500_000, 3_000_000)))
    def drain(self, micros: int) -> None:
        self._do(lambda side: leave_in_wallet(side.tenant, micros))

    @rule(status=st.sampled_from(("frozen", "active")))
    def freeze(self, status: WalletStatus) -> None:
        self._do(partial(_freeze, status=status))

    @rule(hours=st.sampled_from(_JUMPS_H))
    def jump(self, hours: int) -> None:
        self._play.time.jump(hours * 3_600)

    @rule(decision=st.sampled_from(("approve", "approve", "reject")))
    def decide_reviews(self, decision: Decision) -> None:
        listed = self._do(_open_reviews)
        for review in listed:
            self._ask(lambda client, each=review: client.compliance_reviews.decide(id=each, decision=decision))

    @invariant()
    def evidence_is_answered(self) -> None:
        """The newest call has its evidence on every side, and it is the same."""
        made = self._rows.get("calls", [])
        if made and made[-1]["ended_at"] is not None:
            newest = made[-1]["id"]

            async def asked(client: Client) -> BaseModel:
                return await client.calls.get_evidence(call_uuid=newest)

            answers = [self._play.portal.call(side.ask, asked) for side in self._play.sides]
            assert all("problem" not in answer and answer == answers[0] for answer in answers)


def _is_problem(answer: Any) -> bool:
    return isinstance(answer, dict) and "problem" in answer


async def _fund(side: Side, micros: int) -> int:
    services = side.tenant.services
    given = (services.ids, side.tenant.org_id, micros, services.clock.now_ms())
    return await services.database.write(accounts.fund, *given)


async def _freeze(side: Side, status: WalletStatus) -> bool:
    services = side.tenant.services
    now_ms = services.clock.now_ms()
    return await services.database.write(set_wallet_status, services.ids, side.tenant.org_id, status, now_ms)


async def _open_reviews(side: Side) -> list[str]:
    return [review.id async for review in side.tenant.client.compliance_reviews.list(status=["open", "expired"])]
