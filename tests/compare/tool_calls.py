"""Tool calls, made from the tools' own schemas and sent to both sides one after the other by the official client.

The person in front of the host says yes to whatever is asked; what they are asked is compared too.
"""

import json
from contextlib import AsyncExitStack
from difflib import ndiff
from random import Random
from typing import Any, cast

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.compare.names import Names, ids_in
from tests.compare.seeding import seed_both
from tests.compare.sides import LIMIT_S, Side
from tests.journeys.hosts import Person
from tests.support.processes.programs import text_of

_LEFT_OUT = ("wait_for",)
"""Tools that wait: how far something has come by then differs."""
_ID_OF = {
    "agent": "agt_",
    "audience": "aud_",
    "call": "cal_",
    "contact": "ctc_",
    "delivery": "dlv_",
    "deployment": "dep_",
    "event": "evt_",
    "import": "imp_",
    "number": "num_",
    "webhook": "whk_",
}
_PRESENT = 0.6
"""How often a field that may be left out is there."""
_WRONG = 0.1
"""How often a value is of another type than the schema says."""


def differences(old: Side, new: Side, *, calls: int, seed: int) -> list[str]:
    """Where the replies differ."""
    return anyio.run(_differences, old, new, calls, seed, seed_both(old, new, seed))


async def _differences(old: Side, new: Side, calls: int, seed: int, names: tuple[Names, Names]) -> list[str]:
    made, lines, people = _Made(seed), list[str](), (Person("accept"), Person("accept"))
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(_client(side, who)) for side, who in zip((old, new), people, strict=True)
        ]
        listed = [(await client.list_tools()).tools for client in clients]
        here, there = ([tool.model_dump_json(indent=1) for tool in tools] for tools in listed)
        lines += [line for line in ndiff(here, there) if line[0] in "-+"]
        tools = [tool for tool in listed[0] if not tool.name.startswith(_LEFT_OUT)]
        for place in range(calls):
            tool = tools[place % len(tools)]
            arguments = made.arguments(tool.input_schema)
            translated = json.loads(names[0].translate(json.dumps(arguments), names[1]))
            told = [
                await _told(client, tool.name, sent, who, known, made if which == 0 else None)
                for which, (client, sent, who, known) in enumerate(
                    zip(clients, (arguments, translated), people, names, strict=True)
                )
            ]
            if told[0] != told[1]:
                lines.append(f"{tool.name} {names[0].name(json.dumps(arguments))}")
                lines += [line for line in ndiff(told[0], told[1]) if line[0] in "-+"]
    return lines


def _client(side: Side, person: Person) -> Client:
    http = httpx2.AsyncClient(headers=side.http.headers, timeout=LIMIT_S, trust_env=False)
    return Client(streamable_http_client(f"{side.address}/mcp", http_client=http), elicitation_callback=person)


async def _told(
    client: Client, tool: str, arguments: dict[str, Any], person: Person, names: Names, made: "_Made | None"
) -> list[str]:
    person.asked.clear()
    with anyio.fail_after(LIMIT_S):
        result = await client.call_tool(tool, arguments)
    if made is not None:
        made.learn(result.structured_content)
    told = names.name(json.dumps(names.in_order(result.structured_content), indent=1, ensure_ascii=False)).splitlines()
    said = names.name(text_of(result)).splitlines()  # after the data, which give the names
    # Lists are in the order of their ids where moments are the same.
    return [str(result.is_error), *told, *sorted(said), *names.name("\n".join(person.asked)).splitlines()]


class _Made:
    """Makes arguments, mostly of values that the old side has named."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._ids: list[str] = []
        self._names: list[str] = ["plain", "hours", "Ada", "Nobody"]

    def learn(self, answer: Any) -> None:
        """Keeps the ids of an answer."""
        self._ids += [each for each in dict.fromkeys(ids_in(json.dumps(answer))) if each not in self._ids][:20]

    def arguments(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Arguments for a tool."""
        return cast("dict[str, Any]", self._value("", schema, schema.get("$defs", {})))

    def _value(self, name: str, schema: dict[str, Any], defs: dict[str, Any]) -> Any:
        random = self._random
        if "$ref" in schema:
            return self._value(name, defs[schema["$ref"].rpartition("/")[2]], defs)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return random.choice(schema["enum"])
        for alternatives in ("anyOf", "oneOf"):
            if alternatives in schema:
                return self._value(name, random.choice(schema[alternatives]), defs)
        if name and random.random() < _WRONG:
            wrong: list[Any] = [None, "", -1, [], {}, "x" * 300]
            return random.choice(wrong)
        kind = schema.get("type")
        if kind == "object":
            required = schema.get("required", [])
            return {
                each: self._value(each, part, defs)
                for each, part in schema.get("properties", {}).items()
                if each in required or random.random() < _PRESENT / 2
            }
        if kind == "array":
            return [self._value(name, schema.get("items", {}), defs) for _ in range(random.randint(0, 2))]
        if kind in ("integer", "number"):
            least = schema.get("minimum", 0)
            return random.choice([least, least + 1, 5, schema.get("maximum", 100)])
        if kind == "boolean":
            return random.random() < 0.5
        return None if kind == "null" else self._text(name, schema)

    def _text(self, name: str, schema: dict[str, Any]) -> str:
        random = self._random
        wanted = [prefix for noun, prefix in _ID_OF.items() if noun in name]
        fitting = [each for each in self._ids if each[:4] in wanted]
        if fitting and random.random() < 1 - _WRONG:
            return random.choice(fitting)
        if wanted and random.random() < _PRESENT:
            return random.choice(self._names)
        examples = schema.get("examples", [])
        return str(random.choice(examples)) if examples else f"Made up {random.randrange(1_000)}"
