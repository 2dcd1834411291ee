"""Plays the same to two versions of the product and prints where they differ: `scripts/compare OLD NEW`."""

import argparse
import re
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.compare import campaigns, made_up_requests, rows, tool_calls
from tests.compare.sides import Side, checked_out, running
from tests.support.database.databases import Engine, RunDatabases
from tests.support.database.run_folder import RunFolder

PARTS = ("requests", "campaigns", "tools")
ENGINES: dict[str, tuple[Engine, ...]] = {
    "sqlite": ("sqlite",),
    "postgres": ("postgres",),
    "both": ("sqlite", "postgres"),
}


def main() -> int:
    """Compares; 1 where there is a difference that is not explained."""
    parser = argparse.ArgumentParser(prog="scripts/compare", description=__doc__)
    parser.add_argument("old", help="a commit, or the folder of a checkout as it stands")
    parser.add_argument("new", nargs="?", default=".", help="likewise (default: this checkout as it stands)")
    parser.add_argument("--only", choices=PARTS, action="append", help="a part (default: all)")
    parser.add_argument("--engine", choices=ENGINES, default="both", help="where to run (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another number makes other requests and people")
    parser.add_argument("--cases", type=int, default=2_000, help="requests on each engine (default: %(default)s)")
    parser.add_argument("--people", type=int, default=200, help="people of each campaign (default: %(default)s)")
    parser.add_argument("--tool-calls", type=int, default=300, help="tool calls (default: %(default)s)")
    parser.add_argument("--explained", type=Path, help="a TOML file: [[difference]] with `pattern` and `why`")
    asked = parser.parse_args()
    explained = _explanations(asked.explained)
    parts: Sequence[str] = asked.only or PARTS
    unexplained = 0
    run_folder = RunFolder()
    try:
        with tempfile.TemporaryDirectory(prefix="callwright-compare-") as name:
            folder = Path(name)
            checkouts = [
                checked_out(version, folder / side) for side, version in (("old", asked.old), ("new", asked.new))
            ]
            databases = RunDatabases(run_folder.path)
            for engine in ENGINES[asked.engine]:
                for part in parts:
                    lines = _part(part, engine, checkouts, databases, folder, asked)
                    unexplained += _tell(f"{engine}, {part}", lines, explained)
    finally:
        run_folder.close()
    return 1 if unexplained else 0


def _explanations(file: Path | None) -> list[tuple[re.Pattern[str], str]]:
    if file is None:
        return []
    listed = tomllib.loads(file.read_text(encoding="utf-8"))["difference"]
    return [(re.compile(each["pattern"]), each["why"]) for each in listed]


def _part(
    part: str,
    engine: Engine,
    checkouts: Sequence[Path],
    databases: RunDatabases,
    folder: Path,
    asked: argparse.Namespace,
) -> list[str]:
    with ExitStack() as stack:
        sides: list[Side] = []
        for place, checkout in enumerate(checkouts):
            data = folder / f"{engine}-{part}-{place}"
            url = (
                f"sqlite:///{data}/callwright.db"
                if engine == "sqlite"
                else databases.postgres(f"{part}{place}", migrated=False)
            )
            sides.append(stack.enter_context(running(checkout, data, url)))
        old, new = sides
        if part == "requests":
            lines = made_up_requests.differences(old, new, cases=asked.cases, seed=asked.seed)
        elif part == "campaigns":
            lines = campaigns.differences(old, new, people=asked.people, seed=asked.seed)
        else:
            lines = tool_calls.differences(old, new, calls=asked.tool_calls, seed=asked.seed)
        return [*lines, *rows.databases_differ(old.database_url, new.database_url)]


def _tell(part: str, lines: Sequence[str], explained: Sequence[tuple[re.Pattern[str], str]]) -> int:
    """Prints the differences; how many of them are not explained."""
    open_ones = [line for line in lines if not any(pattern.search(line) for pattern, _ in explained)]
    sys.stdout.write(f"== {part}: {len(open_ones)} differences\n")
    for pattern, why in explained:
        if count := sum(pattern.search(line) is not None for line in lines):
            sys.stdout.write(f"   {count} explained: {why}\n")
    for line in open_ones:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
    return len(open_ones)


if __name__ == "__main__":
    raise SystemExit(main())
