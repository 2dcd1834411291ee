from collections.abc import Iterator
from functools import partial
from itertools import product
from random import Random
from typing import Any

from sqlalchemy import Row, create_engine, literal, select

from callwright.service.dialling.limits.caller_id import CallerIds, choose
from callwright.service.platform.clock.clock import DAY
from tests.support.calls.many_calls import FIRST_MS, call_row, put
from tests.support.database.statements import recorded
from tests.support.service import Tenant


def row(**values: Any) -> Row[Any]:
    with create_engine("sqlite://").connect() as connection:
        return connection.execute(select(*(literal(value).label(name) for name, value in values.items()))).one()


def number(index: int, e164: str, country: str = "US") -> Row[Any]:
    return row(id=f"num_{index}", number=e164, country=country)


def contact(phone: str, country: str | None = "US", *, attempts: int = 0, kept: str | None = None) -> Row[Any]:
    return row(phone=phone, country=country, attempts=attempts, caller_number_id=kept)


NEW_YORK, SAN_FRANCISCO, LONDON = (
    number(0, "+12125550100"),
    number(1, "+14155550100"),
    number(2, "+442079460000", "GB"),
)
NUMBERS = [NEW_YORK, SAN_FRANCISCO, LONDON]


def turns(strategy: str, person: Row[Any], count: int = 6) -> Iterator[str]:
    return (choose(NUMBERS, strategy, person, turn).id for turn in range(count))


def test_round_robin_takes_each_number_in_turn() -> None:
    assert list(turns("round_robin", contact("+14155550123"))) == ["num_0", "num_1", "num_2"] * 2


def test_sticky_keeps_the_number_a_contact_was_called_from() -> None:
    assert set(turns("sticky", contact("+14155550123", kept="num_2"))) == {"num_2"}


def test_sticky_takes_another_number_when_the_kept_one_is_gone() -> None:
    assert list(turns("sticky", contact("+14155550123", kept="num_gone"), 3)) == ["num_0", "num_1", "num_2"]


def test_only_sticky_looks_at_the_number_used_before() -> None:
    assert choose(NUMBERS, "round_robin", contact("+14155550123", kept="num_2"), 0).id == "num_0"


def test_local_presence_prefers_the_area_code() -> None:
    assert set(turns("local_presence", contact("+14155559999"))) == {"num_1"}


def test_local_presence_falls_back_to_the_country_and_then_to_any_number() -> None:
    assert list(turns("local_presence", contact("+13035550123"), 4)) == ["num_0", "num_1", "num_0", "num_1"]
    assert set(turns("local_presence", contact("+442079461234", "GB"))) == {"num_2"}
    assert list(turns("local_presence", contact("+33123456789", "FR"), 3)) == ["num_0", "num_1", "num_2"]


def test_random_depends_on_contact_and_attempt_alone() -> None:
    people = [contact(f"+1415555{index:04d}", attempts=attempt) for index in range(40) for attempt in range(2)]
    first = [choose(NUMBERS, "random", person, 0).id for person in people]
    assert first == [choose(NUMBERS, "random", person, 7).id for person in people]
    assert set(first) == {"num_0", "num_1", "num_2"}


async def test_a_number_may_call_again_a_day_after_the_call_that_fills_its_cap(tenant: Tenant) -> None:
    chance = Random(7)
    made = sorted(FIRST_MS + chance.randrange(2 * DAY) for _ in range(40))
    await put(tenant, [call_row(tenant, at, moment, chance, phone_number_id="num_1") for at, moment in enumerate(made)])
    since_ms = FIRST_MS + 2 * DAY
    of_day = [moment for moment in made if moment > since_ms - DAY]
    for cap, most in product((1, 2, len(of_day) - 3, len(of_day), len(of_day) + 2, 500), (0, 1, 3, 30)):
        capped, times = row(id="num_1", number="+12125550100", max_calls_per_day=cap), list(of_day)
        callers = await tenant.database.read(partial(CallerIds.read, since_ms=since_ms, most=most), [capped])
        for turn in range(most + 1):
            at_ms = since_ms + turn * 60_000 + chance.randrange(60_000)
            free_ms = 0 if len(times) < cap else times[-cap] + DAY
            assert callers.first_free(since_ms) == max(since_ms, free_ms), (cap, most, turn)
            assert callers.may_call(capped, at_ms) == (free_ms <= at_ms)
            callers.called(capped, at_ms)
            times.append(at_ms)


async def test_of_a_number_far_from_its_cap_no_call_is_read(tenant: Tenant) -> None:
    chance = Random(7)
    rows = [call_row(tenant, at, FIRST_MS + at, chance, phone_number_id="num_1") for at in range(40)]
    await put(tenant, rows)
    far, near = (row(id="num_1", number="+12125550100", max_calls_per_day=cap) for cap in (71, 70))
    for capped, reads in ((far, False), (near, True)):
        with recorded() as said:
            await tenant.database.read(partial(CallerIds.read, since_ms=FIRST_MS + DAY // 2, most=30), [capped])
        assert any("FROM calls" in each.text for each in said) == reads
