"""Which cases of a test run on Postgres too.

Every test function runs on both engines. Where the code under test has one path for both, its cases differ in what is
sent and not in what the engine does: SQLite runs all of them, Postgres the first and every `STRIDE`-th after it. What
depends on the engine (`WHOLE`) runs every case on both, and so does a run with `--all-engines`.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.database.databases import Engine

STRIDE = 5
"""No multiple of 2, 3 or 4, so that each value of a second parameter has its turn."""
TESTS = Path(__file__).parents[2]
WHOLE = tuple(
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
    """The cases on Postgres that say nothing more than the same case on SQLite, which is among `items`."""
    cases: defaultdict[tuple[str, Engine | None], list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0], engine_of(item)].append(item)
    return [
        item
        for (function, engine), found in cases.items()
        if engine == "postgres" and len(cases.get((function, "sqlite"), [])) == len(found)
        for place, item in enumerate(found)
        if place % STRIDE and not any(item.path.is_relative_to(path) for path in WHOLE)
    ]
