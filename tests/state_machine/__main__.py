"""Plays the state machine of campaigns for long: `python -m tests.state_machine --examples 2000`."""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.state_machine.machine import Figures
from tests.state_machine.playing import STEPS, play
from tests.support.database.databases import Engine, RunDatabases
from tests.support.database.run_folder import RunFolder

ENGINES: dict[str, tuple[Engine, ...]] = {"sqlite": ("sqlite",), "both": ("sqlite", "postgres")}


def main() -> int:
    """Plays; 1 when something does not hold."""
    parser = argparse.ArgumentParser(prog="scripts/state-machine", description=__doc__)
    parser.add_argument("--examples", type=int, default=2_000, help="sequences of steps (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=STEPS, help="the most steps of each (default: %(default)s)")
    parser.add_argument("--engine", choices=ENGINES, default="both", help="where to play (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another number makes other steps")
    asked = parser.parse_args()
    os.environ.pop("CALLWRIGHT_RULES", None)
    begun = time.monotonic()
    run_folder = RunFolder()
    try:
        with tempfile.TemporaryDirectory(prefix="callwright-machine-") as name:
            figures = play(
                RunDatabases(run_folder.path),
                Path(name),
                ENGINES[asked.engine],
                examples=asked.examples,
                steps=asked.steps,
                seed=asked.seed,
                told=_told,
            )
    finally:
        run_folder.close()
    refused = ", ".join(f"{count} {code}" for code, count in sorted(figures.problems.items()))
    played = f"{figures.examples} examples, {figures.steps} steps, {figures.calls} calls"
    sys.stdout.write(
        f"seed {asked.seed}, {asked.engine}: {played}, {figures.deaths} deaths of drivers, "
        f"{time.monotonic() - begun:.0f} s\nrefused: {refused}\n"
        f"pairs of calls to one number that overlap on the clocks of two campaigns: {figures.overlaps}\n"
    )
    return 0


def _told(figures: Figures) -> None:
    """Says on standard error how far it is."""
    if figures.examples % 100 == 0:
        sys.stderr.write(f"{figures.examples} examples, {figures.calls} calls\n")


if __name__ == "__main__":
    raise SystemExit(main())
