"""Every method of the TypeScript client, against the request and the answer that the reference pages show of it."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from scripts.typescript_client import operation_entries
from scripts.typescript_types import camel

from callwright.client import client_methods
from callwright.contract.surface import OPERATIONS
from callwright.service.rest.documentation.examples import Example, example_of
from callwright.service.rest.documentation.openapi import describe
from tests.typescript_client.running import HERE, seen_by

BASE_URL = "https://api.example.com/v1"
KEY = "svc_live_" + "0123456789abcdef" * 3
SOUND = "not really sound"


def examples() -> dict[str, Example]:
    found = {name: example_of(name) for name in OPERATIONS}
    return {name: example for name, example in found.items() if example is not None}


def typed(name: str, example: Example, entry: dict[str, Any]) -> dict[str, Any]:
    """The input that leads to an example's request, by what the description says of the operation."""
    operation = OPERATIONS[name]
    schemas = {each["name"]: each["schema"] for each in entry["parameters"]}
    given: dict[str, Any] = {**example.path_values, **(example.body or {})}
    for field in operation.takes.model_fields:
        wire = operation.wire_name(field)
        if wire in example.query:
            text, kind = example.query[wire], schemas[wire].get("type")
            given[field] = text.split(",") if kind == "array" else int(text) if kind == "integer" else text
    return given


async def replayed(folder: Path) -> dict[str, Any]:
    """What every method has sent and given."""
    calls: list[dict[str, Any]] = []
    shown, entries = examples(), operation_entries(describe())
    for name, served_by in client_methods().items():
        example = shown[name]
        noun, _, method = served_by.partition(".")
        answer: dict[str, Any] = {"status": example.answer.status, "headers": dict(example.answer.headers)}
        if OPERATIONS[name].shape == "media":
            answer["bytes"] = SOUND
        elif example.answer.body is not None:
            answer["body"] = example.answer.body
        call = {"operation": name, "noun": camel(noun), "method": camel(method)}
        calls.append({**call, "input": typed(name, example, entries[name]), "answer": answer})
    return await seen_by(HERE / "replay.mts", folder, baseUrl=BASE_URL, apiKey=KEY, calls=calls)


def expected(name: str, example: Example) -> Any:
    """What a method gives for the example's answer."""
    shape = OPERATIONS[name].shape
    if shape == "media":
        return SOUND
    if shape == "nothing":
        return None
    return example.answer.body if shape == "many" else example.answer.body["data"]


@pytest.mark.requirement("VER-07", "SERV-11")
async def test_every_operation_has_a_method_that_sends_its_request_and_gives_its_answer(tmp_path: Path) -> None:
    seen = await replayed(tmp_path)
    assert set(seen) == set(OPERATIONS)
    for name, example in examples().items():
        operation, found = OPERATIONS[name], seen[name]
        (sent,) = found["sent"]
        url = urlsplit(str(sent["url"]))
        assert sent["method"] == example.method, name
        assert f"{url.scheme}://{url.netloc}{url.path}" == (
            "https://api.example.com" + example.path.format(**example.path_values)
        )
        assert dict(parse_qsl(url.query)) == dict(example.query), name
        assert (None if sent["body"] is None else json.loads(sent["body"])) == example.body, name
        headers = sent["headers"]
        assert headers["authorization"] == f"Bearer {KEY}"
        assert headers.get("content-type") == ("application/json" if operation.has_body else None)
        key = f"key-of-{name}" if operation.method == "POST" else None
        assert headers.get("idempotency-key") == key, name
        assert found["kind"] == ("listing" if operation.shape == "many" else "promise")
        assert found["got"] == expected(name, example), name
