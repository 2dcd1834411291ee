"""The trials side by side: medians of calls and of result tokens by task and server, as a table in Markdown.

    python -m bench.assistants.summary FOLDER

FOLDER holds the folders of trials. Whether an answer was right is judged by a person, by `right` in tasks.toml.
"""

import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

from bench.assistants.trial import cost_of, tasks

SERVERS = ("callwright", "openapi")

Found = dict[str, dict[str, list[dict[str, Any]]]]


def read(folder: Path) -> Found:
    """What each trial cost, by task and server."""
    found: Found = defaultdict(lambda: defaultdict(list))
    for trial in sorted(folder.glob("*/trial.json")):
        cost = cost_of(trial.parent)
        found[cost["task"]][cost["server"]].append(cost)
    return found


def table(found: Found) -> str:
    """A line a task, and the median task: calls of both servers, then tokens of both."""
    lines = [
        "| task | runs | calls | calls, generated | tokens | tokens, generated |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    columns: list[list[float]] = []
    for task in tasks():
        if len(found[task]) < len(SERVERS):
            continue
        runs = min(len(found[task][server]) for server in SERVERS)
        calls, tokens = (
            [_median(found[task][server], name) for server in SERVERS] for name in ("calls", "result_tokens")
        )
        columns.append([*calls, *tokens])
        lines.append(f"| {task} | {runs} | {' | '.join(f'{value:,.0f}' for value in (*calls, *tokens))} |")
    totals = [sum(column) for column in zip(*columns, strict=True)]
    lines.append(f"| all ten | | {' | '.join(f'{value:,.0f}' for value in totals)} |")
    return "\n".join(lines)


def _median(costs: list[dict[str, Any]], name: str) -> float:
    return median(cost[name] for cost in costs)


if __name__ == "__main__":
    print(table(read(Path(sys.argv[1]))))
