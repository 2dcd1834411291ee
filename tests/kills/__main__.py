"""Runs campaigns whose processes are killed, and says what was lost or done twice: `python -m tests.kills`."""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random, SystemRandom

import anyio
from sqlalchemy import make_url

from tests.kills.campaigns import start_campaigns
from tests.kills.run import KilledRun
from tests.support.database import postgres
from tests.support.database.databases import Engine, RunDatabases
from tests.support.database.run_folder import RunFolder

PROCESSES: dict[Engine, int] = {"sqlite": 1, "postgres": 4}
KILLS: dict[Engine, tuple[int, int]] = {"sqlite": (3, 8), "postgres": (6, 16)}
"""The fewest and the most kills of a run. On Postgres some meet a process that drives nothing."""
SHOWN = 5
"""Violations of a kind that are printed."""


def main() -> int:
    """Runs; 1 if anything was violated."""
    parser = argparse.ArgumentParser(prog="scripts/kills", description=__doc__)
    parser.add_argument("--runs", type=int, default=50, help="runs with other kills and calls (default: %(default)s)")
    parser.add_argument("--contacts", type=int, default=10_000, help="people to call (default: %(default)s)")
    parser.add_argument("--engine", choices=PROCESSES, default="sqlite", help="where to run (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="of the first run; the next ones count on")
    asked = parser.parse_args()
    first = SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    os.environ.pop("CALLWRIGHT_RULES", None)  # the rules of regions that are shipped
    run_folder = RunFolder()
    try:
        prepared = _Prepared(RunDatabases(run_folder.path), asked.engine, run_folder.path / "prepared", asked.contacts)
        return 0 if all([_holds(prepared, seed) for seed in range(first, first + asked.runs)]) else 1
    finally:
        run_folder.close()


class _Prepared:
    """A database with campaigns that have just been started, to be copied for each run."""

    def __init__(self, databases: RunDatabases, engine: Engine, folder: Path, contacts: int) -> None:
        self.engine: Engine = engine
        self._databases, self._folder = databases, folder
        folder.mkdir()
        if engine == "sqlite":
            self._url = databases.sqlite(folder, migrated=True)
        else:
            self._url = databases.postgres("prepared", migrated=True)
        anyio.run(start_campaigns, self._url, folder, contacts)

    @contextmanager
    def copied(self) -> Generator[tuple[str, Path]]:
        """The URL of a copy and a folder for data, until the block ends."""
        with tempfile.TemporaryDirectory(prefix="callwright-kills-") as name:
            if self.engine == "sqlite":
                file = Path(str(make_url(self._url).database))
                for part in file.parent.glob(f"{file.name}*"):
                    shutil.copy(part, Path(name) / part.name)
                yield f"sqlite:///{Path(name) / file.name}", Path(name)
                return
            source = make_url(self._url)
            server = source.set(database="postgres").render_as_string(hide_password=False)
            url = postgres.create_database(server, f"{source.database}_copy", template=source.database)
            try:
                yield url, Path(name)
            finally:
                self._databases.drop(url)


def _holds(prepared: _Prepared, seed: int) -> bool:
    chance = Random(seed)
    with prepared.copied() as (url, folder):
        run = KilledRun(url, folder, chance, processes=PROCESSES[prepared.engine])
        begun = time.monotonic()
        figures = anyio.run(run.figures, chance.randint(*KILLS[prepared.engine]))
        took_s = time.monotonic() - begun
    counts = ", ".join(f"{name} {len(found)}" for name, found in figures.violations.items())
    _say(
        f"{prepared.engine} seed {seed}: {run.kills} kills, {figures.drivers} drivers, {figures.calls} calls to "
        f"{figures.contacts} contacts in {took_s:.0f} s; {counts}"
    )
    for name, found in figures.violations.items():
        for violation in found[:SHOWN]:
            _say(f"  {name}: {violation}")
    return figures.holds


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
