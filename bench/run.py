"""Runs the benchmarks and prints each figure beside its baseline of the same run.

Absolute times depend on the machine and its other work. Compare the ratios.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import anyio

from bench import exports, gate, large_changes, stored_calls
from bench.campaign import calls_per_second
from bench.dashboard import viewers
from bench.dashboard.pages import page_times
from bench.imports import imports
from bench.live_calls import answers
from bench.million.contract_walk import contract_walk
from bench.million.engines import ENGINES, engine_of
from bench.million.people_corpus import PEOPLE
from bench.million.search_million import search_million
from bench.million.walk_corpus import CALLS
from bench.million.walk_million import walk_million
from bench.rest import beside_fastapi, rest
from bench.tool_calls.against_openapi import compared
from bench.tool_calls.pipe import PipeClient
from bench.webhooks import deliveries, delivery_fairness, routing_questions

HELLO = [sys.executable, str(Path(__file__).parent / "tool_calls" / "hello.py")]
CALLWRIGHT = [sys.executable, "-m", "callwright.server.main", "mcp"]


def cold_start(command: list[str]) -> float:
    """Seconds from spawning to the answer of tools/list."""
    with PipeClient(command) as client:
        client.initialize()
        client.request("tools/list")
        return time.perf_counter() - client.spawned_at


def first_answer(command: list[str], tool: str, arguments: dict[str, object]) -> float:
    """Seconds from spawning to the answer of the first tool call."""
    with PipeClient(command) as client:
        client.initialize()
        client.request("tools/list")
        client.call(tool, arguments)
        return time.perf_counter() - client.spawned_at


def paired(runs: int, ours: Callable[[], float], bare: Callable[[], float]) -> tuple[float, float, float]:
    """Medians of ours and bare, measured in turn, and the median of the pairs' ratios."""
    pairs = [(ours(), bare()) for _ in range(runs)]
    return median(a for a, _ in pairs), median(b for _, b in pairs), median(a / b for a, b in pairs)


def per_call(client: PipeClient, tool: str, arguments: dict[str, object], count: int) -> float:
    """Median seconds of a tool call."""
    times: list[float] = []
    for _ in range(count):
        begun = time.perf_counter()
        client.call(tool, arguments)
        times.append(time.perf_counter() - begun)
    return median(times)


def show(name: str, ours: float, bare: float, ratio: float, aim: str) -> None:
    """Prints one comparison in milliseconds."""
    print(f"{name:34} {ours * 1e3:9.2f} ms  bare {bare * 1e3:8.2f} ms  ratio {ratio:5.2f}  (aim {aim})")


def main() -> None:
    """Runs everything, or the parts that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="pairs of cold starts")
    parser.add_argument("--calls", type=int, default=400, help="tool calls timed")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the comparison over HTTP")
    parser.add_argument("--contacts", type=int, default=5_000, help="contacts of the campaign")
    parser.add_argument(
        "--search-million",
        type=Path,
        metavar="FOLDER",
        help="nothing but searching a million transcripts, kept in this folder: 6 GB, some minutes to make",
    )
    parser.add_argument(
        "--walk-million",
        type=Path,
        metavar="FOLDER",
        help="nothing but lists of a million calls, kept in this folder: 2 GB, two minutes to make",
    )
    parser.add_argument(
        "--contract-walk",
        type=Path,
        metavar="FOLDER",
        help="nothing but each list, sort, filter and statistic, of ten thousand calls and people and of many",
    )
    parser.add_argument(
        "--dashboard-pages",
        type=Path,
        metavar="FOLDER",
        help="nothing but each page of the dashboard over a million calls, beside what it asks over REST",
    )
    parser.add_argument(
        "--viewers",
        type=int,
        metavar="CONTACTS",
        help=f"nothing but a campaign of so many with {viewers.VIEWERS} live viewers, beside one without",
    )
    parser.add_argument("--many-calls", type=int, default=CALLS, help="calls of --contract-walk and --dashboard-pages")
    parser.add_argument("--many-people", type=int, default=PEOPLE, help="people of --contract-walk")
    parser.add_argument("--deliveries", action="store_true", help="nothing but delivering events")
    parser.add_argument("--delivery-fairness", action="store_true", help="nothing but bad endpoints among good ones")
    parser.add_argument("--routing", action="store_true", help="nothing but asking a routing webhook about callers")
    parser.add_argument(
        "--gate", action="store_true", help="nothing but what the gate costs, 1,000 to 100,000 contacts"
    )
    parser.add_argument(
        "--stored-calls",
        type=int,
        nargs="*",
        metavar="CONTACTS",
        help="nothing but what a stored call costs, beside bare inserts of its rows, and the bytes of each table and "
        f"index; for campaigns of {', '.join(f'{one:,}' for one in stored_calls.CONTACTS)} contacts or of these sizes",
    )
    parser.add_argument("--live", action="store_true", help="nothing but how soon live calls are answered")
    parser.add_argument(
        "--large-changes",
        type=int,
        metavar="CONTACTS",
        help="nothing but how long others wait while so many are started, cancelled and deleted",
    )
    parser.add_argument(
        "--import",
        type=int,
        metavar="ROWS",
        dest="imported",
        help="nothing but importing an uploaded list of so many people, with a kill in the middle",
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="sqlite",
        help="the database of --import, --contract-walk, --dashboard-pages and --large-changes",
    )
    parser.add_argument("--export", type=int, metavar="CALLS", help="nothing but exports of 10,000 and so many calls")
    parser.add_argument("--rest", action="store_true", help="nothing but REST, beside bare baselines")
    parser.add_argument("--fastapi", action="store_true", help="nothing but REST, beside a FastAPI application")
    asked = parser.parse_args()
    if asked.deliveries:
        deliveries.main(asked.rounds)
        return
    if asked.delivery_fairness:
        delivery_fairness.main()
        return
    if asked.routing:
        routing_questions.main(asked.rounds)
        return
    if asked.gate:
        gate.main()
        return
    if asked.stored_calls is not None:
        stored_calls.main(tuple(asked.stored_calls) or stored_calls.CONTACTS)
        return
    if asked.live:
        answers.main()
        return
    if asked.large_changes is not None:
        large_changes.main(asked.large_changes, asked.engine)
        return
    if asked.imported is not None:
        imports.main(asked.imported, asked.engine)
        return
    if asked.export is not None:
        exports.main(asked.export)
        return
    if asked.rest:
        rest.main(asked.rounds)
        return
    if asked.fastapi:
        beside_fastapi.main(asked.rounds)
        return
    if asked.walk_million is not None:
        asked.walk_million.mkdir(parents=True, exist_ok=True)
        anyio.run(walk_million, asked.walk_million)
        return
    if asked.viewers is not None:
        viewers.main(asked.rounds, asked.viewers)
        return
    if asked.dashboard_pages is not None:
        with engine_of(asked.engine, asked.dashboard_pages) as engine:
            anyio.run(page_times, engine, asked.many_calls)
        return
    if asked.contract_walk is not None:
        with engine_of(asked.engine, asked.contract_walk) as engine:
            anyio.run(contract_walk, engine, asked.many_calls, asked.many_people)
        return
    if asked.search_million is not None:
        asked.search_million.mkdir(parents=True, exist_ok=True)
        anyio.run(search_million, asked.search_million)
        return
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        ours = [*CALLWRIGHT, "--data", folder]
        first_answer(ours, "get_overview", {})  # makes the database, so that no run pays for it
        cold_start(HELLO)
        show(
            "cold start to tools/list",
            *paired(asked.runs, lambda: cold_start(ours), lambda: cold_start(HELLO)),
            "≤ 1.6",
        )
        show(
            "cold start to the first tool answer",
            *paired(
                asked.runs,
                lambda: first_answer(ours, "get_overview", {}),
                lambda: first_answer(HELLO, "hello", {"name": "x"}),
            ),
            "none",
        )
        with PipeClient(ours) as client, PipeClient(HELLO) as bare:
            client.initialize()
            bare.initialize()
            agent = client.call(
                "create_agent",
                {"name": f"bench {time.time_ns()}", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "x"},
            )["structuredContent"]["id"]
            for _ in range(50):
                client.call("get_agent", {"id": agent})
                bare.call("hello", {"name": "x"})
            rounds = [
                (
                    per_call(client, "get_agent", {"id": agent}, asked.calls // 8),
                    per_call(bare, "hello", {"name": "x"}, asked.calls // 8),
                )
                for _ in range(8)
            ]
            show(
                "tool call through REST to a row",
                median(a for a, _ in rounds),
                median(b for _, b in rounds),
                median(a / b for a, b in rounds),
                "≤ 3",
            )
    found = compared(asked.rounds)
    print(
        f"{'read tool over HTTP':34} {median(one.ours for one in found):9,.0f} /s  FastMCP from OpenAPI "
        f"{median(one.baseline for one in found):,.0f} /s  ratio {median(one.ratio for one in found):.1f}  "
        "(aim ≥ 900 /s, ≥ 10)"
    )
    rate, seconds, calls = anyio.run(calls_per_second, asked.contacts)
    print(
        f"{'campaign on SQLite':34} {calls} calls stored in {seconds:.2f} s: {rate:,.0f} calls a second  (aim ≥ 1,000)"
    )


if __name__ == "__main__":
    main()
