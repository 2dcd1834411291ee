"""Large inputs for every operation and every tool: lists and objects of many entries, long texts, deep nesting."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count, product
from string import ascii_lowercase, digits
from typing import Any
from urllib.parse import quote

import orjson

from callwright.contract.bounds import shape_of
from callwright.contract.model import Input
from callwright.contract.operation import AnyOperation
from callwright.contract.surface import OPERATIONS
from callwright.tools.catalogue import TOOLS
from tests.server.served import INITIALIZE, OLDER, PROTOCOL, request

ENTRIES = 100_000
LONGEST = 980_000
"""Characters of a text, which with what stands around it stays below the size of a body."""
AUDIENCE, FRESH = "aud_that_is_there", "a name that is free"
"""Stand for the id of an audience, and for a new name each time."""
MOST_QUERY = 60_000
"""Bytes of a query that the server reads at all."""
_KEYS = [first + "".join(rest) for first, rest in product(ascii_lowercase, product(ascii_lowercase + digits, repeat=3))]


def keys(entries: int) -> dict[str, int]:
    """An object of so many short names."""
    return dict.fromkeys(_KEYS[:entries], 1)


def nested(entries: int) -> Any:
    """Brackets in brackets, as deep as a reader of JSON goes, next to each other until there are so many."""
    one: Any = 1
    for _ in range(100):
        one = [one]
    return [one] * (entries // 100)


SHAPES: Mapping[str, Callable[[int], Any]] = {
    "numbers": lambda entries: [1] * entries,
    "words": lambda entries: ["busy"] * entries,
    "lists": lambda entries: [list[int]()] * entries,
    "objects": lambda entries: [dict[str, int]()] * entries,
    "object": keys,
    "lists in objects": lambda entries: [{key: [1] for key in _KEYS[:100]}] * (entries // 100),
    "nested": nested,
    "texts": lambda entries: dict.fromkeys(_KEYS[: entries // 2], "v"),
    "text": lambda entries: "a" * (LONGEST * entries // ENTRIES),
}


@dataclass(frozen=True)
class Case:
    """One large request. `body` makes it with so many entries; without one the query is what is large."""

    name: str
    method: str
    path: str
    body: Callable[[int], bytes] | None = None
    query: Callable[[int], bytes] | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    is_older: bool = False
    """Whether it belongs into a session of the older protocol."""
    succeeds: bool = False
    """Whether all of it is right, so that it has to be done."""

    def sent(self, entries: int) -> bytes:
        """What is large of the request."""
        if self.body is not None:
            return self.body(entries)
        assert self.query is not None
        return self.query(entries)[:MOST_QUERY]


def rest_cases(*, every_field: bool) -> Generator[Case]:
    """Cases for each operation, over REST. With `every_field` each shape stands in each field, else they take turns."""
    turn = count()
    for operation in OPERATIONS.values():
        path = "/v1" + operation.path.replace("{", "").replace("}", "")
        if not operation.has_body:
            yield from _queries(operation, path, turn, every_field=every_field)
        if operation.method not in ("POST", "PATCH"):
            continue
        fields = [name for name in operation.takes.model_fields if operation.place_of(name) == "body"]
        filled = chain(_filled(fields, turn, every_field=every_field), _inside(operation.takes, fields))
        for name, sent in filled:
            yield Case(f"{operation.name} {name}", operation.method, path, body=_dumped(sent))


def _queries(operation: AnyOperation, path: str, turn: Iterator[int], *, every_field: bool) -> Generator[Case]:
    names = [operation.wire_name(name) for name in operation.takes.model_fields if operation.place_of(name) == "query"]
    yield Case(
        f"{operation.name} unknown parameters",
        operation.method,
        path,
        query=lambda entries: "&".join(f"{key}=1" for key in _KEYS[:entries]).encode(),
    )
    for name in names if every_field or not names else [names[next(turn) % len(names)]]:
        written = quote(name)
        yield Case(
            f"{operation.name} {name}",
            operation.method,
            path,
            query=lambda entries, written=written: f"{written}={'a,' * entries}".encode(),
        )
    if names:
        written = quote(names[-1])
        yield Case(
            f"{operation.name} the same again and again",
            operation.method,
            path,
            query=lambda entries: "&".join([f"{written}=a"] * (entries // 10)).encode(),
        )


def tool_cases(*, every_field: bool) -> Generator[Case]:
    """Cases for each tool, over Streamable HTTP."""
    turn = count()
    for tool in TOOLS:
        filled = chain(
            _filled(list(tool.offered), turn, every_field=every_field), _inside(tool.arguments, tool.offered)
        )
        for name, sent in filled:
            yield call(tool.name, name, sent)


def envelope_cases() -> Generator[Case]:
    """Cases that are large around the arguments of a tool, in both eras of the protocol, and in the handshake."""
    for place in ("id", "progressToken"):
        yield _long_id(place, _newer("tools/call", "get_wallet"), is_older=False)
        yield _long_id(place, OLDER, is_older=True)
    for name, shape in SHAPES.items():
        yield call("get_wallet", f"beside the arguments, {name}", lambda entries, shape=shape: shape(entries), "extra")
        yield call("get_wallet", f"in the _meta, {name}", lambda entries, shape=shape: shape(entries), "_meta")
        for method in ("tools/call", "initialize", "ping"):
            yield Case(
                f"{method} of the older protocol, {name}",
                "POST",
                "/mcp",
                body=lambda entries, shape=shape, method=method: orjson.dumps(
                    {
                        "jsonrpc": "2.0",
                        "id": 3,
                        "method": method,
                        "params": {
                            **INITIALIZE["params"],
                            "name": "list_calls",
                            "arguments": {"outcome": shape(entries)},
                        },
                    }
                ),
                headers=OLDER,
                is_older=method != "initialize",
            )
        yield _get_prompt(name, shape)
        yield Case(f"no message, {name}", "POST", "/mcp", body=_dumped(shape), headers=_newer("tools/call", "x"))
        yield Case(f"no message of the older protocol, {name}", "POST", "/mcp", body=_dumped(shape), headers=OLDER)


def _long_id(place: str, headers: Mapping[str, str], *, is_older: bool) -> Case:
    def body(entries: int) -> bytes:
        message = request("tools/call", name="get_wallet", arguments={})
        inside = message if place == "id" else message["params"]["_meta"]
        inside[place] = "i" * (LONGEST * entries // ENTRIES)
        return orjson.dumps(message)

    name = f"a long {place}{' of the older protocol' if is_older else ''}"
    return Case(name, "POST", "/mcp", body=body, headers=headers, is_older=is_older)


def _filled(
    fields: list[str], turn: Iterator[int], *, every_field: bool
) -> Generator[tuple[str, Callable[[int], dict[str, Any]]]]:
    yield "unknown fields", keys
    number = next(turn)
    for shape_name in SHAPES if every_field else [list(SHAPES)[number % len(SHAPES)]]:
        shape = SHAPES[shape_name]
        chosen = fields if every_field or not fields else [fields[number // len(SHAPES) % len(fields)]]
        for name in chosen:
            yield f"{name}: {shape_name}", lambda entries, name=name, shape=shape: {name: shape(entries)}
    if "csv" in fields:
        yield "a file of short rows", lambda entries: {"id": "aud_x", "csv": "a\n" * (3 * entries)}
    if "rows" in fields:
        wrong: dict[str, Any] = {"lists": [1], "objects": {}}
        for what, value in wrong.items():
            yield (
                f"rows whose cells are {what}",
                lambda entries, value=value: {
                    "name": "x",
                    "id": "aud_x",
                    "rows": [dict.fromkeys(_KEYS[:100], value)] * (entries // 112),
                },
            )
        yield "full rows", lambda entries: {"name": "x", "id": "x", "rows": [keys(100)] * (entries // 100)}


def _inside(model: type[Input], fields: Iterable[str]) -> Generator[tuple[str, Callable[[int], dict[str, Any]]]]:
    """Lists in each list that stands in an object of the model."""
    known = shape_of(model).fields or {}
    for name in fields:
        for inner, shape in (known[name].fields or {}).items():
            if shape.each is not None:
                yield (
                    f"{name}.{inner}: lists",
                    lambda entries, name=name, inner=inner: {name: {inner: [list[int]()] * (3 * entries)}},
                )


def _get_prompt(name: str, shape: Callable[[int], Any]) -> Case:
    def body(entries: int) -> bytes:
        return orjson.dumps(request("prompts/get", name="review_call", arguments=shape(entries)))

    return Case(f"prompts/get, {name}", "POST", "/mcp", body=body, headers=_newer("prompts/get", "review_call"))


def _dumped(sent: Callable[[int], Any]) -> Callable[[int], bytes]:
    return lambda entries: orjson.dumps(sent(entries))


def _newer(method: str, name: str) -> dict[str, str]:
    accepted = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": PROTOCOL}
    return {**accepted, "Mcp-Method": method, "Mcp-Name": name}


def call(tool: str, name: str, sent: Callable[[int], Any], place: str = "arguments", *, succeeds: bool = False) -> Case:
    """A call of a tool over Streamable HTTP, with what is large in its place."""

    def body(entries: int) -> bytes:
        message = request("tools/call", name=tool, arguments={})
        large = sent(entries)
        if place == "_meta":
            large = {**message["params"]["_meta"], "extra": large}
        message["params"][place] = large
        return orjson.dumps(message)

    headers = _newer("tools/call", tool)
    return Case(f"{tool} {name}", "POST", "/mcp", body=body, headers=headers, succeeds=succeeds)
