"""Which cases of a test run on Postgres too, and which tests only in a whole run.

Where the code under test has one path for both engines, cases differ in what is sent and not in what the engine does:
SQLite runs all of them, Postgres the first and every `STRIDE`-th after it. Above the service (`ABOVE`) that holds for
the functions of a module too, since whatever they send comes to the handlers as a request. What depends on the engine
(`BOTH`) runs every case on both. A run with `--whole` leaves out nothing, not even tests that are marked `long`.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.database.databases import Engine

STRIDE = 5
"""No multiple of 2, 3 or 4, so that each value of a second parameter has its turn."""
TESTS = Path(__file__).parents[2]
ABOVE = tuple(
    TESTS / folder
    for folder in ("browser", "client", "fuzz", "hosts", "journeys", "large_inputs", "server", "service/rest", "tools")
)
BOTH = tuple(
    TESTS / path
    for path in (
        "journeys/test_one_key_many_requests.py",
        "service/dialling",
        "service/handlers/lists",
        "service/life",
        "service/platform",
        "service/rest/specification/test_creators.py",
        "service/rest/test_held_rows.py",
        "service/tables",
        "service/webhooks",
        "service/workers",
    )
)


def engine_of(item: pytest.Item) -> Engine | None:
    """The database engine that the test runs on; None where it uses no database."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("engine") if callspec is not None else None


def left_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Long tests, and the cases on Postgres that say nothing more than one on SQLite, which is among `items`."""
    cases: defaultdict[tuple[str, Engine | None], list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0], engine_of(item)].append(item)
    out = [item for item in items if item.get_closest_marker("long") is not None]
    places: Counter[Path] = Counter()
    for (function, engine), found in cases.items():
        path = found[0].path
        if engine != "postgres" or any(path.is_relative_to(one) for one in BOTH):
            continue
        place = places[path]
        places[path] += 1
        if len(cases.get((function, "sqlite"), [])) == len(found):
            is_above = any(path.is_relative_to(folder) for folder in ABOVE)
            kept = 0 if is_above and place % STRIDE else STRIDE
            out += [item for number, item in enumerate(found) if not kept or number % kept]
    return out
