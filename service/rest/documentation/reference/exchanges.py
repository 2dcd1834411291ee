"""Requests and answers as they look on the wire."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from callwright.service.rest.documentation.examples import Answered, Example

HOST = "api.example.com"
KEY = "svc_live_…"


def request_lines(example: Example) -> list[str]:
    path = example.path.format(**example.path_values)
    query = "&".join(f"{name}={quote(value, safe=',:')}" for name, value in example.query.items())
    lines = [f"{example.method} {path}{'?' if query else ''}{query} HTTP/1.1", f"Host: {HOST}"]
    lines.append(f"Authorization: Bearer {KEY}")
    sent = {**example.headers, **({} if example.body is None else {"Content-Type": "application/json"})}
    return _block(lines, sent, example.body)


def answer_lines(answer: Answered) -> list[str]:
    kind = answer.headers.get("Content-Type", "application/json")
    body = f"({kind})" if answer.body is None and kind != "application/json" else answer.body
    return _block([f"HTTP/1.1 {answer.status}"], answer.headers, body)


def _block(lines: list[str], headers: Mapping[str, str], body: Any) -> list[str]:
    found = ["```http", *lines, *(f"{name}: {value}" for name, value in headers.items())]
    if body is not None:
        found += ["", body if isinstance(body, str) else json_text(body)]
    return [*found, "```", ""]


def json_text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
