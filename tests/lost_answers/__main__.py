"""Kills and freezes line hosts beside a carrier that loses answers: `python -m tests.lost_answers --seconds 75`."""

import argparse
import sys
from random import Random, SystemRandom

import anyio

from tests.lost_answers.run import Run
from tests.support.database.databases import RunDatabases
from tests.support.database.run_folder import RunFolder


def main() -> int:
    """Runs; 1 if anybody was rung twice or a leg has not ended."""
    parser = argparse.ArgumentParser(prog="scripts/lost-answers", description=__doc__)
    parser.add_argument("--seconds", type=float, default=75.0, help="how long hosts are killed (default: %(default)s)")
    parser.add_argument("--hosts", type=int, default=4, help="processes on one Postgres (default: %(default)s)")
    parser.add_argument("--as-a-queue", action="store_true", help="without the fence, to see people rung twice")
    parser.add_argument("--twilio", action="store_true", help="through the imitation of Twilio")
    parser.add_argument("--seed", type=int, help="which host is killed or frozen when")
    asked = parser.parse_args()
    seed = SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    run_folder = RunFolder()
    try:
        url = RunDatabases(run_folder.path).postgres("lost_answers", migrated=True)
        data = run_folder.path / "service" if asked.twilio else None
        run = Run(url, Random(seed), hosts=asked.hosts, as_a_queue=asked.as_a_queue, data=data)
        figures = anyio.run(run.figures, asked.seconds)
    finally:
        run_folder.close()
    sys.stdout.write(f"seed {seed}, {asked.hosts} hosts, {asked.seconds:.0f} s: {figures}\n")
    return 1 if figures.rung_twice or figures.rung_though_not_dialled or figures.open_legs else 0


if __name__ == "__main__":
    raise SystemExit(main())
