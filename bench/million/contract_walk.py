"""Asks each list of the contract at ten thousand calls and people, and at a million calls and five million people.

Each sort, each filter, each statistic is asked.

The requests derive from the contract. Of a filter with a choice of words each word is asked, also those that no call
has; of another one what the entries of a page have, and a value that nothing has. Printed is the processor time of
whole requests, the best of some, and its ratio; of the processes of Postgres too. The databases are made once, in the
given folder or on the server that TEST_PG_URL names.

A ratio says nothing of a page that is read in a few milliseconds: most of them are the request itself, and the noise of
a millisecond is a ratio of its own. So such pages are not held against the aim.
"""

import gc
from collections.abc import Generator
from typing import Any, get_args

import anyio
import orjson
from pydantic.fields import FieldInfo

from bench.million.engines import Engine, backends, processor_times, since
from bench.million.walk_million import opened
from callwright.client.transport import httpx
from callwright.contract.calls.transcripts import get_call_stats
from callwright.contract.declaration.filters import filter_of
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.declaration.pagination import PageQuery
from callwright.contract.surface import OPERATIONS

FEW = 10_000
PER_PAGE = 50
AIM = 5.0
AIM_MS = 100.0
QUICK_MS = 10.0
"""A request that takes no longer is quick, whatever its ratio."""
_TIMES = 3
_NOTHING = "nothing"
Query = dict[str, str]


def _words(annotation: Any) -> list[str]:
    """The words of a choice, wherever it stands in a type."""
    found: list[str] = []
    for part in get_args(annotation):
        found += [part] if isinstance(part, str) else _words(part)
    return list(dict.fromkeys(found))


def _values(name: str, field: FieldInfo, entries: list[dict[str, Any]]) -> list[str]:
    """What to filter by. Entries are those of a page."""
    mark = filter_of(field)
    assert mark is not None
    if mark.test in ("from", "before"):
        moments = [
            entry[moment] for entry in entries for moment in (mark.column, f"{mark.column}_at") if moment in entry
        ]
        return moments[len(moments) // 2 :][:1]
    there = [str(entry[name]) for entry in entries if entry.get(name) not in (None, "")]
    return list(dict.fromkeys([*_words(field.annotation), *there[:1], _NOTHING]))


def _queries(operation: AnyOperation, entries: list[dict[str, Any]]) -> Generator[Query]:
    """Every request of an operation, but for the one without anything."""
    for sort in operation.sorts:
        yield from ({"sort": sort}, {"sort": f"-{sort}"}, {"sort": f"-{sort},{operation.sorts[0]}"})
    for name, field in operation.takes.model_fields.items():
        if filter_of(field) is not None:
            yield from ({f"filter[{name}]": value} for value in _values(name, field, entries))
    if operation is get_call_stats:
        yield from ({"group_by": word} for word in _words(operation.takes.model_fields["group_by"].annotation))


def _named(value: str) -> str:
    """A value, or a sign for one that the two databases do not share: an id, a number, a moment."""
    return "…" if any(letter.isdigit() for letter in value) else value


def _is_walked(operation: AnyOperation) -> bool:
    """Lists, but for those that need a value to be asked at all, other than words."""
    needed = {name for name, field in operation.takes.model_fields.items() if field.is_required()}
    is_list = operation.method == "GET" and issubclass(operation.takes, PageQuery)
    return operation is get_call_stats or (is_list and needed <= {"query", *operation.path_fields})


async def _entries(http: httpx.AsyncClient, path: str, query: Query) -> list[dict[str, Any]]:
    answer = await http.get(f"/v1{path}", params=query)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} {query}: {answer.text}")
    return orjson.loads(answer.content)["data"]


async def _path(http: httpx.AsyncClient, operation: AnyOperation) -> str | None:
    """The path, with the newest entry of the list above it; None if that list is empty, or has a list above itself."""
    above, _, below = operation.path.partition("/{")
    if not below:
        return operation.path
    if "{" in below:
        return None
    entries = await _entries(http, above, {})
    return f"{above}/{entries[0]['id']}{below.partition('}')[2]}" if entries else None


async def _time(http: httpx.AsyncClient, path: str, query: Query, url: str) -> float | None:
    """Seconds of processor time, the best of some; None where the value is refused."""
    found: list[float] = []
    processes = backends(url)
    for _ in range(_TIMES):
        begun = processor_times(processes)
        answer = await http.get(f"/v1{path}", params=query)
        found.append(since(begun, processes))
        if answer.status_code == 400:
            return None
        if answer.status_code != 200:
            raise RuntimeError(f"{path} {query}: {answer.text}")
    return min(found)


async def _walked(engine: Engine, name: str, count: int, people: int) -> dict[str, float]:
    """Seconds of each request over so many calls and people."""
    found: dict[str, float] = {}
    folder, url = engine.folder / name, engine.database_url(name)
    await anyio.Path(folder).mkdir(parents=True, exist_ok=True)
    async with opened(folder, count, url=url, people=people) as (_, http, _):
        gc.freeze()
        listed = await _entries(http, "/calls", {"per_page": str(PER_PAGE)})
        for operation in filter(_is_walked, OPERATIONS.values()):
            path = await _path(http, operation)
            if path is None:
                continue
            own: Query = {"query": "hello"} if "query" in operation.takes.model_fields else {}
            entries = listed
            if issubclass(operation.takes, PageQuery):
                own["per_page"] = str(PER_PAGE)
                entries = await _entries(http, path, own)
            for query in ({}, *_queries(operation, entries)):
                given = " ".join(f"{name}={_named(value)}" for name, value in query.items())
                if (seconds := await _time(http, path, own | query, url)) is not None:
                    found[f"{operation.name} {given}"] = seconds
    return found


def _is_above(few_s: float, many_s: float) -> bool:
    return many_s * 1e3 > AIM_MS or (many_s / few_s > AIM and many_s * 1e3 > QUICK_MS)


async def contract_walk(engine: Engine, calls: int, people: int) -> None:
    """Prints the requests, the dearest ratio first."""
    few = await _walked(engine, "few", FEW, FEW)
    many = await _walked(engine, "many", calls, people)
    rows = sorted(((many[name] / few[name], name) for name in few.keys() & many.keys()), reverse=True)
    for ratio, name in rows:
        note = "  ABOVE THE AIM" if _is_above(few[name], many[name]) else ""
        print(f"{name[:80]:80} {few[name] * 1e3:8.2f} ms {many[name] * 1e3:8.2f} ms  ratio {ratio:6.2f}{note}")
    over = sum(_is_above(few[name], many[name]) for _, name in rows)
    print(f"{len(rows)} requests, {over} above {AIM_MS:.0f} ms, or above {AIM:.0f} times and {QUICK_MS:.0f} ms")
