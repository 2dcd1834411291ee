"""A service of the specification that does what the specification shows, and nothing besides. It keeps all in memory.

Which prefix it has, how it spells phone numbers, and where transcripts and recordings lie is chosen when it is made.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

KEY = "svc_live_" + "5e" * 24
AT = "2026-11-21T09:30:00Z"
ELSEWHERE = "https://media.example"
Json = dict[str, Any]
Spelling = Literal["as shown", "phone_numbers", "phone-numbers"]
"""`as shown` is POST /phone_numbers and GET /phone-numbers, as the specification has it."""


@dataclass(frozen=True)
class Seen:
    """A request that came."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass
class MinimalService:
    """The service. `asgi` is its application; `seen` what it was asked."""

    prefix: str = "/v1"
    spelling: Spelling = "as shown"
    elsewhere: str = ELSEWHERE
    document: Json | None = None
    """What it publishes at /openapi.json, if anything."""
    owner_left: bool = False
    seen: list[Seen] = field(default_factory=list[Seen])
    kept: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])
    _answers: dict[str, tuple[int, Json]] = field(default_factory=dict[str, tuple[int, Json]])
    _made: int = 0

    def __post_init__(self) -> None:
        self.kept = {
            "agents": [self._agent({"name": "Ada", "voice_id": "voice-1", "language": "en-US"})],
            "deployments": [{"id": "dep_1", "agent_id": "agt_1", "created_at": AT, "created_by_key_id": "key_1"}],
            "calls": [self._call(number) for number in range(1, 8)],
            "phone_numbers": [{"id": f"pn-{number}", "created_at": AT} for number in range(1, 4)],
            "webhooks": [],
            "audiences": [{"id": "audience-1", "created_at": AT}],
            "voices": [{"id": "voice-1"}, {"id": "voice-2"}],
            "wallet": [{"balance": "12.50", "currency": "USD"}],
        }
        self.asgi: ASGIApp = Starlette(routes=self._routes(), middleware=[Middleware(_Gate, service=self)])

    def asked(self, method: str, path: str) -> list[Seen]:
        """The requests of a method for a path."""
        return [one for one in self.seen if (one.method, one.path) == (method, path)]

    def _routes(self) -> list[Route]:
        def route(method: str, path: str, endpoint: Callable[[Request], Awaitable[Response]]) -> Route:
            return Route(self.prefix + path, endpoint, methods=[method])

        lists = ("agents", "deployments", "calls", "webhooks", "audiences", "voices", "wallet")
        spelt: dict[str, tuple[str, ...]] = {
            "as shown": ("POST phone_numbers", "GET phone-numbers"),
            "phone_numbers": ("POST phone_numbers", "GET phone_numbers"),
            "phone-numbers": ("POST phone-numbers", "GET phone-numbers"),
        }
        numbers = [entry.split(" ") for entry in spelt[self.spelling]]
        return [
            *(route("GET", f"/{noun}", self._lister(noun)) for noun in lists),
            *(route("GET", f"/{path}", self._lister("phone_numbers")) for method, path in numbers if method == "GET"),
            *(
                route("POST", f"/{path}", self._maker("phone_numbers", self._number, ()))
                for method, path in numbers
                if method == "POST"
            ),
            route("GET", "/calls/{call_uuid}", self._one_call),
            route("POST", "/agents", self._maker("agents", self._agent, ("name",))),
            route("POST", "/deployments", self._maker("deployments", self._deployment, ("agent_id",))),
            route("POST", "/deployments/inbound", self._maker("deployments", self._deployment, ("agent_id",))),
            route("POST", "/webhooks", self._maker("webhooks", self._webhook, ("url", "events"))),
            *([Route("/openapi.json", self._openapi)] if self.document is not None else []),
        ]

    async def _openapi(self, _: Request) -> Response:
        return JSONResponse(self.document)

    def _lister(self, noun: str) -> Callable[[Request], Awaitable[Response]]:
        async def listed(request: Request) -> Response:
            query = request.query_params
            per_page = min(int(query.get("per_page", "50")), 200)
            cursor = query.get("cursor") if noun == "calls" else None
            page = int(query.get("page", "1"))
            begin = int(cursor.removeprefix("after-")) if cursor else (page - 1) * per_page
            entries = [entry for entry in self.kept[noun] if _fits(entry, query)]
            more = begin + per_page < len(entries)
            paging: Json = {"page": page, "per_page": per_page, "total": len(entries), "has_more": more}
            if noun == "calls" and more:
                paging["next_cursor"] = f"after-{begin + per_page}"
            return JSONResponse({"data": entries[begin : begin + per_page], "pagination": paging})

        return listed

    async def _one_call(self, request: Request) -> Response:
        wanted = request.path_params["call_uuid"]
        found = next((call for call in self.kept["calls"] if call["call_id"] == wanted), None)
        return JSONResponse({"data": found}) if found else _nested(404, "not_found_error", "call_not_found", "No call.")

    def _maker(
        self, noun: str, made: Callable[[Json], Json], required: tuple[str, ...]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def make(request: Request) -> Response:
            key = request.headers.get("idempotency-key")
            if key in self._answers:
                status, answer = self._answers[key]
                return JSONResponse(answer, status)
            body = cast("Json", json.loads(await request.body()))
            if missing := [name for name in required if name not in body]:
                return _nested(400, "validation_error", "missing_field", "It is required.", field=missing[0])
            if self.owner_left and noun != "webhooks":
                gone = {
                    "error": "api_key_owner_required",
                    "message": "Its creator left.",
                    "action_url": "https://x.example",
                }
                return JSONResponse(gone, 409)
            entry = made(body)
            self.kept[noun].append(entry)
            answer = {"data": entry}
            if key is not None:
                self._answers[key] = (201, answer)
            return JSONResponse(answer, 201)

        return make

    def _id(self, prefix: str) -> str:
        self._made += 1
        return f"{prefix}{self._made}"

    def _agent(self, body: Json) -> Json:
        names = ("name", "voice_id", "language", "system_prompt", "welcome_message")
        shown = {name: body[name] for name in names if name in body}
        return {"id": self._id("agt_"), **shown, "created_at": AT, "created_by_key_id": "key_1"}

    def _deployment(self, body: Json) -> Json:
        return {"id": self._id("dep_new"), **body, "created_at": AT, "created_by_key_id": "key_1"}

    def _number(self, _: Json) -> Json:
        return {"id": self._id("pn-new"), "created_at": AT, "created_by_key_id": "key_1"}

    def _webhook(self, body: Json) -> Json:
        return {"id": self._id("whk_"), **body, "secret": "whsec_1"}

    def _call(self, number: int) -> Json:
        return {
            "call_id": f"cal_{number}",
            "deployment_id": "dep_1",
            "agent_id": "agt_1",
            "duration_seconds": 60 + number,
            "outcome": "spoke_to_person",
            "recording_url": f"{self.elsewhere}/recordings/{number}.mp3?signature=abc",
            "transcript_url": f"{self.elsewhere}/transcripts/{number}",
        }


class _Gate:
    """What comes before every route: the record of the request, the check of its body, the check of its key."""

    def __init__(self, app: ASGIApp, service: MinimalService) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        raw = await request.body()
        refused: Response | None = None
        body: Any = None
        if raw:
            try:
                body = json.loads(raw)
            except ValueError:
                refused = _nested(400, "validation_error", "invalid_json", "Not JSON.")
        seen = Seen(request.method, request.url.path, dict(request.query_params), dict(request.headers), body)
        self._service.seen.append(seen)
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        inside = request.url.path.startswith(self._service.prefix + "/")
        if refused is None and inside and token != KEY:
            code = "invalid_api_key" if token.startswith("svc_live_") else "api_key_required"
            refused = JSONResponse({"error": code, "message": "The key is not one."}, 401)

        async def again() -> Any:
            return {"type": "http.request", "body": raw, "more_body": False}

        await (refused or self._app)(scope, again, send)


@dataclass
class MediaHost:
    """Another host, where transcripts and recordings lie: an ASGI application. `seen` holds what it was asked."""

    files: dict[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])
    redirects: dict[str, str] = field(default_factory=dict[str, str])
    seen: list[Seen] = field(default_factory=list[Seen])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self.seen.append(
            Seen(request.method, request.url.path, dict(request.query_params), dict(request.headers), None)
        )
        path = request.url.path
        response: Response = PlainTextResponse("<Error><Code>NoSuchKey</Code></Error>", 404)
        if path in self.redirects:
            response = Response(status_code=302, headers={"location": self.redirects[path]})
        elif path in self.files:
            media_type, content = self.files[path]
            response = Response(content, media_type=media_type)
        await response(scope, receive, send)


def _fits(entry: Json, query: Mapping[str, str]) -> bool:
    filters = {name[7:-1]: value.split(",") for name, value in query.items() if name.startswith("filter[")}
    return all(entry.get(name) in values for name, values in filters.items() if name in entry)


def _nested(status: int, kind: str, code: str, message: str, **more: str) -> Response:
    error = {"type": kind, "code": code, "message": message, "request_id": "req_1", **more}
    return JSONResponse({"error": error}, status)
