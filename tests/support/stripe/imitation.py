"""Stripe's API as far as top-ups use it: Checkout Sessions, idempotency keys, and events with Stripe's signature.

It follows Stripe's documentation, and refuses what Stripe refuses.
"""

import hashlib
import hmac
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from callwright.server.embedded.embedded import listener_on, listening

SECRET_KEY = "sk_test_" + "4eC39HqLyjWDarjtT1zdp7dc"
WEBHOOK_SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
VALID_S = 24 * 3_600
HANGS_S = 60.0


@dataclass
class Stripe:
    """The account of one Stripe customer. `url` is where the API listens."""

    url: str = ""
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list[tuple[str, str, dict[str, str]]])
    """Every request: method and path, idempotency key, and the fields of its form."""
    failures: list[int] = field(default_factory=list[int])
    """Statuses with which the next requests are answered, after they were carried out."""
    hangs: bool = False
    """Whether it takes requests for checkouts and does not answer them."""
    _kept: dict[str, tuple[dict[str, str], dict[str, Any]]] = field(
        default_factory=dict[str, tuple[dict[str, str], dict[str, Any]]]
    )

    _kept_metadata: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def application(self) -> Starlette:
        """The API."""
        return Starlette(
            routes=[
                Route("/v1/checkout/sessions", self._create, methods=["POST"]),
                Route("/v1/checkout/sessions/{id}", self._retrieve, methods=["GET"]),
            ]
        )

    async def _create(self, request: Request) -> Response:
        fields = dict(parse_qsl((await request.body()).decode(), keep_blank_values=True, strict_parsing=True))
        key = request.headers.get("idempotency-key", "")
        self.requests.append((f"POST {request.url.path}", key, fields))
        if self.hangs:
            await anyio.sleep(HANGS_S)
        if (refused := self._refused(request)) is not None:
            return refused
        if request.headers["content-type"] != "application/x-www-form-urlencoded":
            return _error(400, "invalid_request_error", "parameter_missing")
        if key in self._kept and self._kept[key][0] != fields:
            return _error(400, "idempotency_error", "idempotency_key_in_use")
        if key not in self._kept:
            self._kept[key] = (fields, self._session(fields))
        return self._answer(self._kept[key][1])

    def _session(self, fields: dict[str, str]) -> dict[str, Any]:
        amount = int(fields["line_items[0][price_data][unit_amount]"]) * int(fields["line_items[0][quantity]"])
        name, now_s = f"cs_test_{len(self.sessions) + 1}", int(time.time())
        made = {
            "id": name,
            "object": "checkout.session",
            "amount_total": amount,
            "client_reference_id": fields["client_reference_id"],
            "created": now_s,
            "currency": fields["line_items[0][price_data][currency]"],
            "expires_at": now_s + VALID_S,
            "livemode": False,
            "metadata": _metadata(fields, "metadata"),
            "mode": fields["mode"],
            "payment_intent": None,
            "payment_status": "unpaid",
            "status": "open",
            "success_url": fields["success_url"],
            "url": f"https://checkout.stripe.com/c/pay/{name}#fid",
        }
        self.sessions[name] = made
        self._kept_metadata[name] = _metadata(fields, "payment_intent_data[metadata]")
        return made

    async def _retrieve(self, request: Request) -> Response:
        self.requests.append((f"GET {request.url.path}", "", {}))
        if (refused := self._refused(request)) is not None:
            return refused
        found = self.sessions.get(request.path_params["id"])
        return _error(404, "invalid_request_error", "resource_missing") if found is None else self._answer(found)

    def _refused(self, request: Request) -> Response | None:
        if request.headers.get("authorization") != f"Bearer {SECRET_KEY}":
            return _error(401, "invalid_request_error", "api_key_invalid")
        return None

    def _answer(self, found: dict[str, Any]) -> Response:
        if self.failures:
            return _error(self.failures.pop(0), "api_error", "down")
        return JSONResponse(found)

    def pay(self, session_id: str, *, cents: int | None = None, currency: str | None = None) -> dict[str, Any]:
        """A person pays on the page. Returns the event."""
        session = self.sessions[session_id]
        session.update(status="complete", payment_status="paid", payment_intent=f"pi_{session_id}")
        if cents is not None:
            session["amount_total"] = cents
        if currency is not None:
            session["currency"] = currency
        return event("checkout.session.completed", session)

    def finish_unpaid(self, session_id: str) -> dict[str, Any]:
        """A person chooses a way of paying that takes days. Returns the event."""
        self.sessions[session_id].update(status="complete", payment_intent=f"pi_{session_id}")
        return event("checkout.session.completed", self.sessions[session_id])

    def expire(self, session_id: str) -> dict[str, Any]:
        """Nobody paid in time. Returns the event."""
        self.sessions[session_id].update(status="expired")
        return event("checkout.session.expired", self.sessions[session_id])

    def refund(self, session_id: str, cents: int, *, marked: bool = True) -> dict[str, Any]:
        """So much of a payment has gone back, in all. Returns the event."""
        session = self.sessions[session_id]
        charge = {
            "id": f"ch_{session_id}",
            "object": "charge",
            "amount": session["amount_total"],
            "amount_refunded": cents,
            "currency": session["currency"],
            "metadata": self._kept_metadata[session_id] if marked else {},
            "payment_intent": session["payment_intent"] or f"pi_{session_id}",
            "refunded": cents == session["amount_total"],
        }
        return event("charge.refunded", charge)


def event(type_: str, about: dict[str, Any]) -> dict[str, Any]:
    """An event about an object as it is now."""
    return {
        "id": f"evt_{type_}_{about['id']}",
        "object": "event",
        "api_version": "2026-10-28",
        "created": int(time.time()),
        "data": {"object": json.loads(json.dumps(about))},
        "livemode": False,
        "pending_webhooks": 1,
        "type": type_,
    }


def signature(body: bytes, *, secret: str = WEBHOOK_SECRET, age_s: int = 0) -> str:
    """The header Stripe-Signature, by the scheme that Stripe documents."""
    at = str(int(time.time()) - age_s)
    signed = hmac.new(secret.encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signed},v0={'0' * 64}"


@asynccontextmanager
async def imitated() -> AsyncGenerator[Stripe]:
    """An account whose API listens on the loopback until the block ends."""
    stripe = Stripe()
    with listener_on() as listener:
        async with listening(stripe.application(), listener) as base_url:
            stripe.url = base_url.removesuffix("/v1")
            yield stripe


def _metadata(fields: dict[str, str], name: str) -> dict[str, str]:
    begin = f"{name}["
    return {key[len(begin) : -1]: value for key, value in fields.items() if key.startswith(begin)}


def _error(status: int, type_: str, code: str) -> Response:
    said = {"type": type_, "code": code, "message": "for people"}
    return JSONResponse({"error": said}, status)
