"""Compares the gate with the oracle: `python -m tests.oracle [--questions 100000] [--seed N]`."""

import argparse
import sys
import time

from tests.oracle.compare import Figures, compared_on_all_cores

QUESTIONS = 100_000


def main() -> int:
    """Runs; 1 when oracle and gate disagree."""
    parser = argparse.ArgumentParser(prog="scripts/oracle", description=__doc__)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another number asks other questions")
    asked = parser.parse_args()
    begun_s = time.monotonic()
    figures = compared_on_all_cores(seed=asked.seed, count=asked.questions, heard=_hear)
    for rule, times in figures.rules.most_common():
        _say(f"{times:8}  {rule}")
    _say(
        f"{figures.questions} questions, {figures.allowed} allowed, {len(figures.disagreements)} disagreements, "
        f"{time.monotonic() - begun_s:.0f} s"
    )
    return 1 if figures.disagreements else 0


def _hear(part: Figures) -> None:
    for line in part.disagreements:
        _say(line)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
