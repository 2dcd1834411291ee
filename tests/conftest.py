"""Fixtures for all tests. A test that takes `database_url` or `engine` runs on both: see `support.database.engines`."""

import gc
import itertools
import os
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from hypothesis import settings

from callwright.service.rules.regions.rule_file import shipped_rules
from callwright.service.tables import rules_files
from tests.support.database.compiled_statements import share_compiled_statements
from tests.support.database.databases import Engine, RunDatabases, chosen_engines, is_pooled
from tests.support.database.engine_count import EngineCount
from tests.support.database.engines import engine_of, left_out
from tests.support.database.run_folder import RunFolder
from tests.support.fixtures import held, service_options
from tests.support.open_rules import use_open_rules

if TYPE_CHECKING:
    from tests.support.service import Tenant

pytest.register_assert_rewrite("tests.journeys.scenario", "tests.support.processes.programs")
settings.register_profile("suite", deadline=None)  # no test fails because a machine is slow
settings.load_profile("suite")
ENGINES = chosen_engines()
NEW_OBJECTS = 10_000
LIVE_CALLS = "live-calls"

_run = pytest.StashKey[RunDatabases]()
_numbers = itertools.count(1)


class WorkerNode(Protocol):
    """What the controller of pytest-xdist knows about a worker."""

    config: pytest.Config
    workerinput: dict[str, Any]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option of a run before a release."""
    parser.addoption("--whole", action="store_true", help="run long tests too, and every case on SQLite and Postgres")


def pytest_configure(config: pytest.Config) -> None:
    """Names the folder of the run's databases. Workers are told by the controller, in `pytest_configure_node`."""
    gc.disable()  # until all tests are collected
    config.addinivalue_line(
        "markers", "service(**options): how the service of the fixture `tenant` or `served` is opened"
    )
    share_compiled_statements()
    use_open_rules()
    worker_input: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker_input is None:
        run_folder = RunFolder()
        config.add_cleanup(run_folder.close)
        config.stash[_run] = RunDatabases(run_folder.path)
        config.pluginmanager.register(EngineCount(ENGINES))
    else:
        config.stash[_run] = RunDatabases(Path(worker_input["databases"]))
    if is_pooled():
        from tests.support.database.pgbouncer import BehindPooler  # only here, since few runs need it

        config.pluginmanager.register(BehindPooler(config.stash[_run].folder))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerNode) -> None:
    """Passes the folder on to a worker."""
    node.workerinput["databases"] = str(node.config.stash[_run].folder)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Notes the engine where the test's report takes it along, from a worker to the controller too. A test of spoken
    calls may fail once: sound takes its time, and the tests beside it may take the machine's. The end of the run says
    which did.
    """
    if engine := engine_of(item):
        item.user_properties.append(("engine", engine))
    if any(mark.args == (LIVE_CALLS,) for mark in item.iter_markers("xdist_group")):
        item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(trylast=True)  # after `-k`: what is left without its case on SQLite runs on Postgres
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out long tests, and cases on Postgres that repeat what runs on SQLite."""
    if config.getoption("--whole"):
        return
    if repeated := set(left_out(items)):
        config.hook.pytest_deselected(items=list(repeated))
        items[:] = [item for item in items if item not in repeated]


def pytest_collection_finish() -> None:
    """Keeps what was collected from being looked at again by every collection of garbage, and makes those as rare as
    they are in a service."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    gc.enable()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    """The database engine of this test."""
    return request.param


@pytest.fixture
def shipped_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services of the test dial by the rules of regions that are shipped, in place of those that forbid nothing."""
    monkeypatch.setattr(rules_files, "shipped", shipped_rules)
    monkeypatch.delenv("CALLWRIGHT_RULES", raising=False)


@pytest.fixture(params=["legacy", "auto"])
def era(request: pytest.FixtureRequest) -> str:
    """How a client of the protocol begins: with a handshake, or with whatever the server offers. Tests run on both."""
    return request.param


@pytest.fixture
def database_url(engine: Engine, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a migrated database without data, for this test alone."""
    yield from _database(engine, request.config.stash[_run], tmp_path, migrated=True)


@pytest.fixture
def empty_database_url(engine: Engine, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without tables, for this test alone. It shares its SQLite file with `database_url`."""
    yield from _database(engine, request.config.stash[_run], tmp_path, migrated=False)


@pytest.fixture
def databases(request: pytest.FixtureRequest) -> RunDatabases:
    """Makes databases of the run, for a test that needs many."""
    return request.config.stash[_run]


@pytest.fixture
async def tenant(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> AsyncGenerator["Tenant"]:
    """A service with one organization. `@pytest.mark.service` says how it is opened."""
    from tests.support.service import open_service  # only here, since it imports the whole service

    async with held(open_service(database_url, tmp_path, **service_options(request))) as found:
        yield found


@pytest.fixture
async def other(tenant: "Tenant") -> AsyncGenerator["Tenant"]:
    """Another organization of the same service."""
    async with held(tenant.another_organization()) as found:
        yield found


def _database(engine: Engine, run: RunDatabases, folder: Path, *, migrated: bool) -> Iterator[str]:
    if engine == "sqlite":
        yield run.sqlite(folder, migrated=migrated)
        return
    url = run.postgres(f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{next(_numbers)}", migrated=migrated)
    try:
        yield url
    finally:
        run.drop(url)
