"""Plays examples of the state machine on services that are opened for each of them."""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import hypothesis
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import make_url

from callwright.service.rules.regions.rule_file import shipped_rules
from callwright.service.tables import rules_files
from tests.state_machine.machine import CampaignMachine, Figures, Play
from tests.state_machine.side import ScriptedTime, Side, opened
from tests.support.database.databases import Engine, RunDatabases

STEPS = 30
_NUMBERS = count(1)


def play(
    databases: RunDatabases,
    folder: Path,
    engines: Sequence[Engine],
    *,
    examples: int,
    steps: int = STEPS,
    seed: int | None = None,
    told: Callable[[Figures], None] = lambda _: None,
) -> Figures:
    """Plays so many examples of at most so many steps; what was done. Without a seed they are the same every time.

    `told` is called after each example.

    Raises:
        AssertionError: something does not hold; Hypothesis has written the shortest steps that lead there.
    """
    figures = Figures()
    with _shipped_law(), start_blocking_portal() as portal:

        class Opened(CampaignMachine):
            """A machine on services of its own."""

            def __init__(self) -> None:
                super().__init__(*_opened(portal, databases, folder, engines, figures))

            def teardown(self) -> None:
                super().teardown()
                told(figures)

        wanted = settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            derandomize=seed is None,
            suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much),
        )
        run_state_machine_as_test(Opened if seed is None else hypothesis.seed(seed)(Opened), settings=wanted)
    return figures


@contextmanager
def _shipped_law() -> Generator[None]:
    """Services dial by the rules of regions that are shipped."""
    before, rules_files.shipped = rules_files.shipped, shipped_rules
    try:
        yield
    finally:
        rules_files.shipped = before


def _opened(
    portal: BlockingPortal, databases: RunDatabases, folder: Path, engines: Sequence[Engine], figures: Figures
) -> tuple[Play, Callable[[], None]]:
    """Services on new databases, one on each engine, and what closes them."""
    time, place = ScriptedTime(), next(_NUMBERS)
    stack, sides = ExitStack(), list[Side]()
    for engine in engines:
        data = folder / f"{place}-{engine}"
        data.mkdir()
        if engine == "sqlite":
            url = databases.sqlite(data, migrated=True)
        else:
            made = databases.postgres(f"machine_{os.getpid()}_{place}", migrated=True)
            stack.callback(databases.drop, made)
            patient = make_url(made).update_query_dict({"connect_timeout": "60"})
            url = patient.render_as_string(hide_password=False)
        sides.append(stack.enter_context(portal.wrap_async_context_manager(opened(engine, url, data, time))))
    return Play(portal, sides, time, figures), stack.close
