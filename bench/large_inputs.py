"""Measures how long large inputs occupy the event loop: `python -m bench.large_inputs SOURCE [--every-field]`.

SOURCE is operations, tools or envelopes, which hold mostly invalid inputs, or legitimate, which holds valid ones. Each
case has a line: milliseconds of the event loop's thread, the same as a multiple of `orjson.loads` of these bytes, and
the size of the answer. The slowest case comes last.
"""

import argparse
import tempfile
from collections.abc import Iterable
from pathlib import Path

import anyio
from tests.large_inputs.cases import ENTRIES, Case, envelope_cases, rest_cases, tool_cases
from tests.large_inputs.legitimate import legitimate_cases
from tests.large_inputs.measuring import meter, parsing_s


async def measured(cases: Iterable[Case], only: str) -> list[str]:
    """A line for each case, the slowest last."""
    found: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        async with meter(f"sqlite:///{folder}/bench.db", Path(folder)) as measures:
            for case in cases:
                if only not in case.name:
                    continue
                one = await measures.measured(case, ENTRIES)
                times = one.loop_s / parsing_s(case.sent(ENTRIES))
                line = f"{1_000 * one.loop_s:8.1f} ms {times:8.1f}x {len(one.answer):7} B {one.status}  {case.name}"
                found.append((one.loop_s, line))
    return [line for _, line in sorted(found)]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", choices=("operations", "tools", "envelopes", "legitimate"))
    parser.add_argument("--every-field", action="store_true")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    given = parser.parse_args()
    sources = {"operations": rest_cases, "tools": tool_cases}
    others = {"envelopes": envelope_cases, "legitimate": legitimate_cases}
    cases = sources[given.source](every_field=given.every_field) if given.source in sources else others[given.source]()
    print("\n".join(anyio.run(measured, cases, given.only)))


if __name__ == "__main__":
    main()
