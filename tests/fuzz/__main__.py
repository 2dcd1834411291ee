"""Sends made-up requests to a service on SQLite, on Postgres, or on both: `python -m tests.fuzz`."""

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path

from hypothesis.errors import HypothesisDeprecationWarning

from tests.fuzz.report import report
from tests.fuzz.run import Figures, fuzzed
from tests.fuzz.service import opened
from tests.support.database.databases import Engine, RunDatabases
from tests.support.database.run_folder import RunFolder

CASES = 20_000
ENGINES: dict[str, tuple[Engine, ...]] = {
    "sqlite": ("sqlite",),
    "postgres": ("postgres",),
    "both": ("sqlite", "postgres"),
}


def main() -> int:
    """Runs; 1 when something is wrong with an answer."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help="requests on each engine (default: %(default)s)")
    parser.add_argument("--engine", choices=ENGINES, default="both", help="where to run (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another number makes other requests")
    parser.add_argument("--only", action="append", default=[], help='an operation, for example "GET /v1/wallet"')
    asked = parser.parse_args()
    # Schemathesis' own strategies use `random`, and many lines about that would hide what is found.
    warnings.filterwarnings("ignore", category=HypothesisDeprecationWarning, message="Do not use the `random` module")
    run_folder = RunFolder()
    try:
        databases = RunDatabases(run_folder.path)
        found = [_on(databases, engine, asked) for engine in ENGINES[asked.engine]]
    finally:
        run_folder.close()
    return 1 if any(figures.findings for figures in found) else 0


def _on(databases: RunDatabases, engine: Engine, asked: argparse.Namespace) -> Figures:
    def heard(seen: Figures) -> None:
        _say(f"{engine}: {seen.cases} cases, {len(seen.findings)} findings")

    with tempfile.TemporaryDirectory(prefix="callwright-fuzz-") as name:
        folder = Path(name)
        if engine == "sqlite":
            url = databases.sqlite(folder, migrated=True)
        else:
            url = databases.postgres("fuzz", migrated=True)
        begun = time.monotonic()
        with opened(url, folder, workers=True) as service:
            figures = fuzzed(service, cases=asked.cases, seed=asked.seed, only=asked.only, heard=heard)
        _say(f"{report(figures)}\n{engine}: {time.monotonic() - begun:.0f} s")
    return figures


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
