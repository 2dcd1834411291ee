"""Requests by hand, for what the typed client would never send."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from callwright.client.transport import ASGITransport, httpx
from tests.support.service import Tenant

Response = httpx.Response
AsyncClient = httpx.AsyncClient


@asynccontextmanager
async def raw_client(tenant: Tenant, *, key: str | None = "own", **headers: str) -> AsyncGenerator[httpx.AsyncClient]:
    """An HTTP client on the service. It sends the tenant's key, another one, or with `key=None` none at all."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if key is not None:
        sent["Authorization"] = f"Bearer {tenant.api_key if key == 'own' else key}"
    transport = ASGITransport(app=tenant.service.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=sent) as client:
        yield client


def problem(response: httpx.Response) -> dict[str, Any]:
    """The problem of an answer in the nested envelope."""
    error: dict[str, Any] = response.json()["error"]
    assert set(error) >= {"type", "code", "message", "request_id"}, response.text
    assert error["request_id"] == response.headers["x-request-id"]
    return error


def refused(response: httpx.Response, status: int, code: str, field: str | None = None) -> dict[str, Any]:
    """The problem of an answer, which must be this one."""
    found = problem(response)
    assert (response.status_code, found["code"], found.get("field")) == (status, code, field), response.text
    return found


def without_request_id(response: httpx.Response) -> tuple[int, str, Mapping[str, Any]]:
    """Everything about a problem that must be equal for an unknown id and another organization's."""
    body = response.json()
    (body["error"] if isinstance(body["error"], dict) else body).pop("request_id")
    headers = {name: value for name, value in response.headers.items() if name != "x-request-id"}
    return response.status_code, json.dumps(body), headers


def sample_path(path: str) -> str:
    """A path with something in the place of its values."""
    for name in ("id", "import_id", "call_uuid", "delivery_id"):
        path = path.replace("{" + name + "}", "x")
    return path
