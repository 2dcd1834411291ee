"""Large inputs for every operation and every tool: lists and objects of many entries, long texts, deep nesting."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count, product
from string import ascii_lowercase, digits
from typing import Any, cast
from urllib.parse import quote

import orjson

from callwright.contract.checks.bounds import shape_of
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.surface import OPERATIONS
from callwright.tools.catalogue.registry import TOOLS
from tests.support.mcp.over_http import INITIALIZE, OLDER, PROTOCOL, request

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
    "numbers": lambda entries: [1] * (48 * entries // 10),
    "words": lambda entries: ["busy"] * entries,
    "lists": lambda entries: [list[int]()] * entries,
    "lists that are taken": lambda entries: [list[int]()] * (19 * entries // 100),
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
        if operation.method not in ("POST", "PUT", "PATCH"):
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


def message_cases() -> Generator[Case]:
    """Messages that are large or malformed in what the protocol itself reads, in both eras."""
    for name, message in _messages().items():
        yield Case(f"{name} of the older protocol", "POST", "/mcp", body=_dumped(message), headers=OLDER, is_older=True)
        yield Case(name, "POST", "/mcp", body=_newer_message(message), headers=_routed(message(10)))
    headers = ("MCP-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "Last-Event-ID")
    for name in headers:
        sent = {**OLDER, "MCP-Protocol-Version": PROTOCOL, name: "h" * MOST_QUERY}
        body = _dumped(lambda _: {"jsonrpc": "2.0", "method": "x"})
        yield Case(f"POST with a long {name}", "POST", "/mcp", body=body, headers=sent)
        for method in ("GET", "DELETE"):
            yield Case(f"{method} with a long {name}", method, "/mcp", query=_no_query, headers=sent)


def _no_query(_: int) -> bytes:
    return b""


def _messages() -> dict[str, Callable[[int], Any]]:
    """What is sent with so many entries."""
    texts: dict[str, tuple[str, Callable[[Any], dict[str, Any]]]] = {
        "the name of a tool": ("tools/call", lambda large: {"name": large, "arguments": {}}),
        "the address of a resource": ("resources/read", lambda large: {"uri": large}),
        "the address of a resource of its own": ("resources/read", lambda large: {"uri": f"callwright://{large}"}),
        "a subscription": ("resources/subscribe", lambda large: {"uri": large}),
        "the end of a subscription": ("resources/unsubscribe", lambda large: {"uri": large}),
        "listening": ("subscriptions/listen", lambda large: {"notifications": {"resourceSubscriptions": [large]}}),
        "listening to nothing": ("subscriptions/listen", lambda large: {"notifications": large}),
        "the name of a prompt": ("prompts/get", lambda large: {"name": large, "arguments": {}}),
        "an argument of a prompt": ("prompts/get", lambda large: {"name": "review_call", "arguments": {"call": large}}),
        "arguments of a prompt": ("prompts/get", lambda large: {"name": "review_call", "arguments": large}),
        "a completion": (
            "completion/complete",
            lambda large: {
                "ref": {"type": "ref/prompt", "name": "review_call"},
                "argument": {"name": "a", "value": large},
            },
        ),
        "a completion of nothing": (
            "completion/complete",
            lambda large: {"ref": {"type": "ref/prompt", "name": large}, "argument": {"name": large, "value": "v"}},
        ),
        "a level of the log": ("logging/setLevel", lambda large: {"level": large}),
        "a cursor": ("prompts/list", lambda large: {"cursor": large}),
        "a cursor of resources": ("resources/list", lambda large: {"cursor": large}),
        "an unknown method": ("nothing/such", lambda large: {"x": large}),
        "discovery": ("server/discover", lambda large: {"x": large}),
        "a handshake": (
            "initialize",
            lambda large: {"protocolVersion": large, "capabilities": {}, "clientInfo": {"name": large, "version": "1"}},
        ),
        "what a client is capable of": (
            "initialize",
            lambda large: {
                "protocolVersion": "2025-11-25",
                "capabilities": large,
                "clientInfo": {"name": "x", "version": "1"},
            },
        ),
        "the version in the _meta": (
            "prompts/list",
            lambda large: {"_meta": {"io.modelcontextprotocol/protocolVersion": large}},
        ),
        "a sealed state": ("tools/call", lambda large: {"name": "get_wallet", "arguments": {}, "requestState": large}),
        "answers to questions": (
            "tools/call",
            lambda large: {"name": "get_wallet", "arguments": {}, "inputResponses": large},
        ),
        "a notification": ("notifications/cancelled", lambda large: {"requestId": large, "reason": large}),
    }
    found: dict[str, Callable[[int], Any]] = {}
    for name, (method, params) in texts.items():
        for shape in ("text", "numbers", "object"):
            found[f"{name}, {shape}"] = lambda entries, method=method, params=params, shape=shape: {
                "jsonrpc": "2.0",
                **({} if method.startswith("notifications/") else {"id": 1}),
                "method": method,
                "params": params(SHAPES[shape](entries)),
            }
    whole: dict[str, Callable[[Any], Any]] = {
        "a method": lambda large: {"jsonrpc": "2.0", "id": 1, "method": large},
        "parameters": lambda large: {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": large},
        "an error": lambda large: {"jsonrpc": "2.0", "id": 1, "error": large},
        "words of an error": lambda large: {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": large}},
        "a result": lambda large: {"jsonrpc": "2.0", "id": 1, "result": large},
        "a version of JSON-RPC": lambda large: {"jsonrpc": large, "id": 1, "method": "ping"},
        "an id": lambda large: {"jsonrpc": "2.0", "id": large, "method": "ping"},
        "further fields": lambda large: {"jsonrpc": "2.0", "id": 1, "method": "ping", "extra": large},
    }
    for name, message in whole.items():
        for shape in ("text", "numbers", "object"):
            found[f"{name}, {shape}"] = lambda entries, message=message, shape=shape: message(SHAPES[shape](entries))
    found["a list of messages"] = lambda entries: [{"jsonrpc": "2.0", "id": 1, "method": "ping"}] * (entries // 6)
    return found


def _routed(message: Any) -> dict[str, str]:
    """The headers that belong to a message of the newer protocol."""
    sent = _as_object(message)
    params = _as_object(sent.get("params"))
    method, name = sent.get("method"), params.get("name") or params.get("uri")
    return _newer(method if isinstance(method, str) else "x", name if isinstance(name, str) else "x")


def _newer_message(message: Callable[[int], Any]) -> Callable[[int], bytes]:
    def body(entries: int) -> bytes:
        sent: Any = message(entries)
        params = _as_object(_as_object(sent).get("params"))
        if params:
            meta = request("x")["params"]["_meta"]
            sent["params"] = {**params, "_meta": {**meta, **params.get("_meta", {})}}
        return orjson.dumps(sent)

    return body


def _as_object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


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
