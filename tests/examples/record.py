"""What was asked and answered, as it is kept in the file of examples."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

import orjson

from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.surface import OPERATIONS
from tests.examples.repeatable_service import BASE, STEP_MS, RepeatableService
from tests.support.http.raw_requests import AsyncClient, Response

PREFIX = "/v1"
_DIFFERS = ("content-length", "content-range", "etag", "last-modified")
"""Headers that depend on the machine: how its synthesiser sounds, and when it spoke."""
_SECRET = re.compile(r"(svc_live_|svc_mcp_|whsec_|tlk_|v1=)[0-9A-Za-z_-]{4,}")
"""Secrets, what is shown of one to recognise it by, and signatures made with one."""


class Recorder:
    """Sends requests to a service and keeps, for each operation and each problem, the first one with its answer."""

    def __init__(self, service: RepeatableService, http: AsyncClient) -> None:
        self.service = service
        self.operations: dict[str, dict[str, Any]] = {}
        self.problems: dict[str, dict[str, Any]] = {}
        self._http = http
        self._keys: Counter[str] = Counter()

    async def use(self, name: str, /, **fields: Any) -> Any:
        """Performs an operation that succeeds; gives the `data` of its answer. Lists and text are given as they are."""
        operation = OPERATIONS[name]
        request = self._request(operation, fields)
        answer = await self._send(request)
        assert answer.status_code == operation.status, f"{name}: {answer.status_code} {answer.text}"
        body = None
        if operation.shape not in ("media", "nothing"):
            body = answer.json()
        kept = {"request": request, "answer": _kept(answer, body)}
        self.operations.setdefault(name, kept)
        return None if body is None else body["data"]

    def _request(self, operation: AnyOperation, fields: Mapping[str, Any]) -> dict[str, Any]:
        path_values: dict[str, str] = {}
        query: dict[str, str] = {}
        body: dict[str, Any] = {}
        for field, value in fields.items():
            place = operation.place_of(field)
            if place == "path":
                path_values[field] = value
            elif place == "query":
                query[operation.wire_name(field)] = _text(value)
            else:
                body[field] = value
        headers: dict[str, str] = {}
        if operation.method == "POST":
            self._keys[operation.name] += 1
            headers["Idempotency-Key"] = f"{operation.name.replace('_', '-')}-{self._keys[operation.name]}"
        request: dict[str, Any] = {"method": operation.method, "path": PREFIX + operation.path}
        if path_values:
            request["path_values"] = path_values
        if query:
            request["query"] = query
        if headers:
            request["headers"] = headers
        if operation.has_body:
            request["body"] = body
        return request

    async def refuse(self, code: str, method: str, path: str, **request: Any) -> None:
        """Sends a request by hand that is answered with this problem, and keeps the answer."""
        self.service.clock.move(STEP_MS)
        self.keep(code, await self.ask(method, path, **request))

    def keep(self, code: str, answer: Response) -> None:
        """Keeps an answer that must be this problem."""
        body = answer.json()
        found = body["error"] if isinstance(body["error"], str) else body["error"]["code"]
        assert found == code, f"{code}: {answer.status_code} {answer.text}"
        assert code not in self.problems, code
        self.problems[code] = _kept(answer, body)

    async def ask(self, method: str, path: str, **request: Any) -> Response:
        """Sends a request by hand, at the moment that the clock shows."""
        return await self._http.request(method, BASE + PREFIX + path, **request)

    async def _send(self, request: Mapping[str, Any]) -> Response:
        path = request["path"].format(**request.get("path_values", {}))
        body = {"json": request["body"]} if "body" in request else {}
        params, headers = request.get("query"), request.get("headers")
        self.service.clock.move(STEP_MS)
        return await self._http.request(request["method"], BASE + path, params=params, headers=headers, **body)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_text(entry) for entry in cast("list[Any]", value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _spelt(header: str) -> str:
    return header.title().replace("Ratelimit", "RateLimit")


def _kept(answer: Response, body: Any) -> dict[str, Any]:
    headers = {_spelt(name): value for name, value in sorted(answer.headers.items()) if name not in _DIFFERS}
    kept: dict[str, Any] = {"status": answer.status_code, "headers": headers}
    if body is not None:
        kept["body"] = body
    return kept


def file_text(examples: Mapping[str, Any]) -> str:
    """The file: JSON that is read by people too, without secrets."""
    text = orjson.dumps(examples, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    return _SECRET.sub(lambda found: f"{found[1]}…", text)
