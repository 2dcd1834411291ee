"""A model of hosts, a carrier and the legs: every order in which their steps can happen, on the real rows.

Two hosts take, place and settle one leg. Each may stop for ever or freeze before each of its steps, which is any order
of the steps of the others. The carrier may accept a request and lose its answer, tell of a call late or twice, and show
it in its list late or never.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, create_engine, delete, insert, select

from callwright.service.platform.clock.clock import SECOND
from callwright.service.tables.schema import legs
from callwright.service.telephony.engine import AgentSnapshot, CallRequest, CallResult, EarlyEnd
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.legs.leg_results import PlacingTimes, not_dialled, unconfirmed

LEASE_MS = 15_000
TIMES = PlacingTimes()
REQUEST = CallRequest(
    call_id="cal_1",
    org_id="org_1",
    deployment_id="dep_1",
    contact_id="row_1",
    attempt=1,
    to="+12125550156",
    from_="+12125550157",
    agent=AgentSnapshot("agt_1", "", "", "en-US", "en-US-ada"),
    variables={},
)
_OVER_S = TIMES.over_after_s(REQUEST) + 30
MOMENTS_MS = tuple(
    round(seconds * SECOND)
    for seconds in (0, TIMES.place_s + 1, 20, TIMES.is_listed_after_s() + 25, _OVER_S, 3 * _OVER_S)
)
"""The times of the model: the start, after the last moment to place, after the leases, after the lag of the list, after
any call is over, and long after that."""
ENDED = CallResult(call_id="cal_1", outcome="no_answer", hangup_cause="no_answer", ended_by="carrier")
LOST = CallResult(call_id="cal_1", outcome="failed", hangup_cause="platform_error", ended_by="platform")
Fence = Callable[[Connection, str, str, int], bool]
Transaction = Callable[[Connection, str, int], object]
At = Literal["idle", "taken", "fenced", "in_time", "answered", "unknown", "lost"]
Row = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Host:
    """Where a host stands. `name` changes when its process is started again."""

    name: str
    at: At = "idle"
    place_before_ms: int = 0
    restarts: int = 0


@dataclass(frozen=True)
class State:
    """Everything that decides what can happen next."""

    leg: Row | None
    hosts: tuple[Host, ...]
    time: int = 0
    accepted: int = 0
    """Requests that the carrier has accepted: each rings."""
    is_hung_up: bool = False


@dataclass
class Explored:
    """What was found: how many states, the most requests accepted, and states from which the leg cannot end."""

    states: int = 0
    most_accepted: int = 0
    rung_after_undialled: int = 0
    stuck: list[State] = field(default_factory=list[State])


class Model:
    """The steps. `fence`, `has_deadline` and `places_lost` can be what a queue does, to see that it rings twice."""

    def __init__(
        self,
        connection: Connection,
        *,
        fence: Fence = leg_rows.begin_placing,
        has_deadline: bool = True,
        places_lost: bool = False,
    ) -> None:
        self._connection, self._fence = connection, fence
        self._has_deadline, self._places_lost = has_deadline, places_lost
        self._known: dict[tuple[Row | None, str, str, int], tuple[Row | None, bool]] = {}
        """What each transaction does with each leg."""
        self._transactions: Mapping[str, Transaction] = {
            "add": lambda c, _, now_ms: leg_rows.add(c, "modelled", REQUEST, now_ms),
            "take": lambda c, host, now_ms: leg_rows.take(
                c, host, leg_rows.Wanted(["modelled"]), 1, now_ms=now_ms, until_ms=now_ms + LEASE_MS
            ),
            "take lost": lambda c, host, now_ms: leg_rows.take_lost(
                c, host, 1, now_ms=now_ms, until_ms=now_ms + LEASE_MS
            ),
            "fence": lambda c, host, now_ms: self._fence(c, "cal_1", host, now_ms),
            "rings": lambda c, _, now_ms: leg_rows.reached(c, "cal_1", "ringing", now_ms, provider_call_id="CA1"),
            "not sent": lambda c, _, now_ms: leg_rows.end(c, not_dialled(REQUEST), now_ms, only_in=("placing",)),
            "ended": lambda c, _, now_ms: leg_rows.end(c, ENDED, now_ms),
            "lost": lambda c, _, now_ms: leg_rows.end(c, LOST, now_ms),
            "not confirmed": lambda c, _, now_ms: leg_rows.not_confirmed(c, "cal_1"),
            "over": lambda c, _, now_ms: leg_rows.end(
                c, unconfirmed(REQUEST), now_ms, only_in=("placing", "unconfirmed")
            ),
            "hang up": lambda c, _, now_ms: leg_rows.ask_to_hang_up(c, "cal_1", EarlyEnd(), now_ms),
        }

    def steps(self, state: State) -> Iterator[State]:
        """The states that can follow."""
        if state.time + 1 < len(MOMENTS_MS):
            yield replace(state, time=state.time + 1)
        if state.accepted:
            yield self._after(state, "rings")
        if not state.is_hung_up and state.leg is not None:
            yield replace(self._after(state, "hang up"), is_hung_up=True)
        yield self._after(state, "add")
        for place, host in enumerate(state.hosts):
            others = (state.hosts[:place], state.hosts[place + 1 :])
            for following, moved in self._of_host(state, host):
                yield replace(following, hosts=(*others[0], moved, *others[1]))
            if host.restarts == 0:
                yield replace(state, hosts=(*others[0], Host(f"{host.name}'", restarts=1), *others[1]))

    def _of_host(self, state: State, host: Host) -> Iterator[tuple[State, Host]]:
        now_ms, idle = MOMENTS_MS[state.time], replace(host, at="idle", place_before_ms=0)
        if host.at == "idle":
            to_place = replace(host, at="taken", place_before_ms=now_ms + round(TIMES.place_s * SECOND))
            taken, is_taken = self._do(state, "take", host)
            if is_taken:
                yield taken, to_place
            lost, is_lost = self._do(state, "take lost", host)
            if is_lost:
                yield lost, to_place if self._places_lost else replace(host, at="lost")
        elif host.at == "taken":
            fenced, has_passed = self._do(state, "fence", host)
            yield fenced, replace(host, at="fenced") if has_passed else idle
        elif host.at == "fenced":
            is_in_time = now_ms < host.place_before_ms or not self._has_deadline
            yield (state, replace(host, at="in_time")) if is_in_time else (self._after(state, "not sent"), idle)
        elif host.at == "in_time":
            rings = replace(state, accepted=min(state.accepted + 1, 3))
            yield rings, replace(host, at="answered")
            yield rings, replace(host, at="unknown")
            yield state, replace(host, at="unknown")
            yield self._after(state, "not sent"), idle
        elif host.at == "answered":
            yield self._after(self._after(state, "rings"), "ended"), idle
        else:
            yield from self._settle(state, host, now_ms)

    def _settle(self, state: State, host: Host, now_ms: int) -> Iterator[tuple[State, Host]]:
        """What a host does with a leg of which it does not know whether it was placed, or whose host is gone."""
        idle, leg = replace(host, at="idle", place_before_ms=0), dict(state.leg or ())
        if not leg or leg["state"] in ("ended", "new"):
            yield state, idle
            return
        if leg["state"] == "placed":
            yield self._after(state, "lost" if host.at == "lost" else "ended"), idle
            return
        if state.accepted:  # the carrier's list shows it, or not yet
            yield self._after(state, "rings"), host
        age_ms = now_ms - leg["placing_at"]
        if leg["state"] == "placing" and age_ms > TIMES.is_listed_after_s() * SECOND:
            yield self._after(state, "not confirmed"), host
        if age_ms > TIMES.over_after_s(REQUEST) * SECOND:
            yield self._after(state, "over"), idle

    def _after(self, state: State, name: str) -> State:
        return self._do(state, name)[0]

    def _do(self, state: State, name: str, host: Host | None = None) -> tuple[State, bool]:
        """The state after a transaction, and whether that transaction found what it looked for."""
        by, now_ms = host.name if host else "", MOMENTS_MS[state.time]
        key = (state.leg, name, by, now_ms)
        if key not in self._known:
            self._connection.execute(delete(legs))
            if state.leg is not None:
                self._connection.execute(insert(legs), dict(state.leg))
            found = bool(self._transactions[name](self._connection, by, now_ms))
            row = self._connection.execute(select(legs)).mappings().one_or_none()
            self._known[key] = (None if row is None else _what_matters(row), found)
        leg, found = self._known[key]
        return replace(state, leg=leg), found


def _what_matters(row: RowMapping) -> Row:
    """A leg without the moments by which nothing is decided, so that states are equal if they behave alike."""
    kept = dict(row) | {name: 0 for name in ("created_at", "initiated_at", "ringing_at") if row[name] is not None}
    if row["state"] == "ended":
        kept |= {"ended_at": 0, "lease_owner": None, "lease_until": None, "placing_at": 0, "hang_up": None}
    return tuple(kept.items())


def places_twice(model: Model) -> bool:
    """Whether some state can be reached in which the carrier has accepted two requests: looks no further then."""
    first = State(None, (Host("A"), Host("B")))
    waiting, seen = [first], {first}
    while waiting:
        state = waiting.pop()
        if state.accepted > 1:
            return True
        for following in model.steps(state):
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return False


def explore(model: Model, *, hosts: int = 2) -> Explored:
    """Every state that can be reached from a call that was claimed."""
    explored = Explored()
    first = State(None, tuple(Host("AB"[place]) for place in range(hosts)))
    waiting, before = deque([first]), {first: list[State]()}
    ended: list[State] = []
    while waiting:
        state = waiting.popleft()
        explored.states += 1
        explored.most_accepted = max(explored.most_accepted, state.accepted)
        leg = dict(state.leg or ())
        if leg and leg["state"] == "ended":
            ended.append(state)
            explored.rung_after_undialled += bool(state.accepted) and '"was_dialled":false' in leg["result"]
        for following in model.steps(state):
            if following not in before:
                before[following] = []
                waiting.append(following)
            before[following].append(state)
    can_end = set(ended)
    while ended:
        for previous in before[ended.pop()]:
            if previous not in can_end:
                can_end.add(previous)
                ended.append(previous)
    explored.stuck = [state for state in before if state not in can_end and _has_time(state)]
    return explored


def _has_time(state: State) -> bool:
    """Whether its lease and the call, if it was placed, are over before the last moment of the model."""
    leg = dict(state.leg or ())
    placing_ms, leased_ms = leg.get("placing_at") or 0, leg.get("lease_until") or 0
    return placing_ms + _OVER_S * SECOND < MOMENTS_MS[-1] and leased_ms < MOMENTS_MS[-1]


def modelled_rows() -> Connection:
    """A database with the table of legs alone."""
    engine = create_engine("sqlite://")
    connection = engine.connect()
    connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
    legs.create(connection)
    return connection
