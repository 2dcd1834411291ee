"""Applies mutants one at a time and prints whether the tests notice: `scripts/mutants [NAME...]`."""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.checkout import Checkout, TestsNotRun
from tests.mutants.mutants import Mutant, MutantOutdated, mutants
from tests.support.database.databases import Engine

LIMIT_S = 300.0
"""How long the tests of one mutant may take."""
UNCHANGED_LIMIT_S = 900.0
"""How long the tests by which the mutants died may take together."""


def main() -> int:
    """Runs the mutants; 1 where one survived, or tests did not run, or fail without any mutant as well."""
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a mutant (default: all)")
    parser.add_argument("--list", action="store_true", help="print what each one breaks, and run nothing")
    asked = parser.parse_args()
    known = {mutant.name: mutant for mutant in mutants()}
    if unknown := [name for name in asked.names if name not in known]:
        parser.error(f"there is no mutant {unknown[0]}; scripts/mutants --list shows them")
    chosen = [known[name] for name in asked.names or known]
    if asked.list:
        for mutant in chosen:
            _say(f"{mutant.name:40} {mutant.breaks}")
        return 0
    try:
        with tempfile.TemporaryDirectory(prefix="callwright-mutants-") as folder:
            return _run(Checkout.of(Path(folder) / "checkout"), chosen)
    except (MutantOutdated, TestsNotRun) as error:
        _say(f"scripts/mutants: {error}")
        return 1


def _run(checkout: Checkout, chosen: Sequence[Mutant]) -> int:
    changes = [(mutant, mutant.applied_to((checkout.folder / mutant.file).read_text("utf-8"))) for mutant in chosen]
    killers: dict[Engine, list[str]] = {}
    survived = 0
    for mutant, text in changes:
        begun_s = time.monotonic()
        with checkout.changed(mutant.file, text):
            killer = checkout.first_failure(mutant.tests, mutant.engine, limit_s=LIMIT_S)
        if killer is None:
            survived += 1
        else:
            killers.setdefault(mutant.engine, []).append(killer)
        said = f"by {killer}" if killer else mutant.breaks
        _say(f"{'died' if killer else 'SURVIVED':9}{time.monotonic() - begun_s:6.1f} s  {mutant.name}: {said}")
    for engine, tests in killers.items():
        if failing := checkout.first_failure(tests, engine, limit_s=UNCHANGED_LIMIT_S):
            _say(f"scripts/mutants: {failing} fails without any mutant too")
            return 1
    _say(f"{len(chosen) - survived} of {len(chosen)} died, by tests that pass without them")
    return 1 if survived else 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
