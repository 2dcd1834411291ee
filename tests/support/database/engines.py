"""Which cases of a test run on Postgres too, and which tests only in a whole run.

Where the code under test has one path for both engines, cases differ in what is sent and not in what the engine does:
SQLite runs all of them, Postgres the first and every `STRIDE`-th after it. Above the service (`ABOVE`) that holds for
the functions of a module too, since whatever they send comes to the handlers as a request; of the handlers, of the
rules of campaigns and of calls through Twilio (`RULES`), which take their time, Postgres runs every third function.
What depends on the engine (`BOTH`) runs every case on both. A run with `--whole` leaves out nothing, not even tests
that are marked `long`.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support import cases
from tests.support.database.databases import Engine

STRIDE = 5
"""No multiple of 2, 3 or 4, so that each value of a second parameter has its turn."""
TESTS = Path(__file__).parents[2]


def _under(folder: str, *names: str) -> tuple[Path, ...]:
    return tuple(TESTS / folder / name for name in names)


ABOVE = (
    *_under("", "browser", "client", "fuzz", "hosts", "journeys", "large_inputs", "server", "tools"),
    *_under("service", "dashboard", "rest"),
)
RULES = _under("service", "campaigns", "dialling", "handlers", "telephony/media/twilio")
BOTH = (
    *_under("journeys", "test_one_key_many_requests.py"),
    *_under(
        "service",
        "handlers/agents/test_versions.py",
        "handlers/lists/test_walks.py",
        "life",
        "platform",
        "tables",
        "webhooks",
        "workers",
    ),
    *_under(
        "service/dialling",
        "costs/test_killed_while_settling.py",
        "test_claims.py",
        "test_crashes.py",
        "test_killed_processes.py",
        "test_leases.py",
    ),
    *_under("service/rest", "specification/test_creators.py", "test_held_rows.py"),
)


def engine_of(item: pytest.Item) -> Engine | None:
    """The database engine that the test runs on; None where it uses no database."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("engine") if callspec is not None else None


def left_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Long tests, cases that others stand for, and on Postgres what says nothing more than a case on SQLite."""
    found: defaultdict[tuple[str, Engine | None], list[pytest.Item]] = defaultdict(list)
    for item in items:
        found[item.nodeid.partition("[")[0], engine_of(item)].append(item)
    out = [item for item in items if item.get_closest_marker("long") is not None]
    places: Counter[Path] = Counter()
    for (function, engine), every in found.items():
        spared = cases.left_out(every, but="engine")
        out += spared
        path = every[0].path
        if engine != "postgres" or _is_under(path, BOTH):
            continue
        place = places[path]
        places[path] += 1
        if len(found.get((function, "sqlite"), [])) == len(every):
            kept = [item for item in every if item not in spared]
            is_repeated = place % (STRIDE if _is_under(path, ABOVE) else 3 if _is_under(path, RULES) else 1) > 0
            out += kept if is_repeated else [item for number, item in enumerate(kept) if number % STRIDE]
    return out


def _is_under(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
