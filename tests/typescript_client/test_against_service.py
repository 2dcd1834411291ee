"""The TypeScript client over HTTP against the service itself."""

import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from callwright.contract.surface import OPERATIONS
from callwright.service.app import Application, pipeline_of
from callwright.service.tables.schema import api_keys, organizations
from tests.support.clock_set_by_test import process_with_fixed_clock
from tests.support.service import Tenant
from tests.typescript_client.running import HERE, Receive, Scope, Send, over_http, seen_by


def operations_in(asked: list[str]) -> set[str]:
    """The operations whose requests these are. A path without ids wins over one that has them."""
    found: set[str] = set()
    for line in asked:
        method, _, path = line.partition(" ")
        fitting = [
            name
            for name, operation in OPERATIONS.items()
            if operation.method == method
            and re.fullmatch("/v1" + re.sub(r"\{\w+\}", "[^/]+", operation.path), path) is not None
        ]
        found.add(min(fitting, key=lambda name: OPERATIONS[name].path.count("{")))
    return found


@pytest.mark.requirement("VER-07", "SERV-11")
@pytest.mark.service(workers=True)
async def test_a_program_uses_every_operation_of_the_service(tenant: Tenant, tmp_path: Path) -> None:
    async with over_http(tenant.service.asgi) as base_url:
        seen = await seen_by(HERE / "scenario.mts", tmp_path, baseUrl=base_url, apiKey=tenant.api_key)
    assert operations_in(seen.pop("asked")) == set(OPERATIONS)
    assert seen == {
        "newSecret": True,
        "owned": ["sip", False],
        "talk": True,
        "corrected": "heard",
        "waiting": "waiting",
        "attempts": ["dns_failed"],
        "arrival": ["failed"],
        "queued": [1, 0],
        "counts": [1, 2, 1, 1],
        "disabled": "manual",
        "preview": True,
        "welcome": "Hello {{first_name}}.",
        "deleted": True,
        "providers": [["ours", "cdef"]],
        "used": "provider_in_use",
        "hasKey": True,
        "agents": ["Ada"],
        "versions": [2, 1],
        "kept": {"tool": "free_times", "header": "Authorization", "is_set": True, "sent_to": "https://example.com"},
        "added": {"added": 1, "invalid": 1},
        "imported": "completed_with_errors",
        "faults": ["invalid_phone"],
        "rows": ["Maria", "Chen", "Olga"],
        "label": "Front desk",
        "released": "released",
        "routed": [True, 1],
        "status": "completed",
        "contacts": 3,
        "cancelled": "cancelled",
        "review": ["consent_missing", "rejected"],
        "inbound": ["inbound", 1, True],
        "refused": ["invalid_state_transition"] * 4,
        "from": True,
        "turns": 2,
        "evidence": [True, 1],
        "part": [206, True],
        "same": 304,
        "beyond": [416, "range_not_satisfiable"],
        "matches": True,
        "stats": True,
        "conversations": True,
        "placed": "draft",
        "person": [1, 1, True],
        "overview": True,
        "entry": True,
        "doNotCall": [1, 0, True],
        "charges": True,
        "file": 4,
        "currency": "USD",
    }


@pytest.mark.requirement("VER-07", "PAGE-13", "RATE-07")
@pytest.mark.service(plan="starter")
async def test_a_program_waits_for_a_rate_limit_and_a_walk_gives_each_entry_once(
    tenant: Tenant, tmp_path: Path
) -> None:
    async with process_with_fixed_clock(tenant) as process:
        service = Application(process.services, pipeline_of(process.services))

        async def with_clock(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["path"] != "/clock":
                await service(scope, receive, send)
                return
            process.clock.move(round(float(scope["query_string"].decode().removeprefix("ms="))))
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        async with over_http(with_clock) as base_url:
            clock = base_url.removesuffix("/v1") + "/clock"
            asked = {"baseUrl": base_url, "apiKey": tenant.api_key, "clock": clock}
            seen = await seen_by(HERE / "limits.mts", tmp_path, **asked)
    assert seen["found"] == seen["made"]
    assert len(set(seen["made"])) == 13
    assert seen["left"] == 0
    assert seen["waited"] == [1_000] * 7
    assert seen["refused"] == 4
    failed = seen["failed"]
    assert (failed["name"], failed["code"], failed["retryAfter"]) == ("RateLimited", "rate_limited", 1)
    assert failed["resetsAt"] is not None


async def orphan(tenant: Tenant) -> None:
    """Takes the creator from the tenant's key."""
    statement = update(api_keys).values(created_by_user_id=None)
    await tenant.database.write(lambda connection: connection.execute(statement).rowcount)


@pytest.mark.requirement("VER-07", "ERR-01", "ERR-03")
async def test_a_program_gets_both_envelopes_as_errors_that_say_what_to_do(tenant: Tenant, tmp_path: Path) -> None:
    async with over_http(tenant.service.asgi) as base_url:
        await orphan(tenant)
        seen = await seen_by(HERE / "refusals.mts", tmp_path, baseUrl=base_url, apiKey=tenant.api_key)
    assert seen["waits"] == []
    assert seen["echoed"] == ["enable=ratelimit_fields"]
    thrown: dict[str, dict[str, Any]] = {name: found for name, found in seen.items() if isinstance(found, dict)}
    kinds = {name: (found["name"], found["status"], found["code"]) for name, found in thrown.items()}
    assert kinds == {
        "nested": ("NotFound", 404, "not_found"),
        "several": ("InvalidRequest", 400, "invalid_field"),
        "flat": ("AuthenticationFailed", 401, "invalid_api_key"),
        "ownerless": ("Conflict", 409, "api_key_owner_required"),
        "beta": ("InvalidRequest", 400, "invalid_field"),
    }
    for found in thrown.values():
        assert found["requestId"].startswith("req_")
        assert found["requestId"] in found["message"]
    assert [each["field"] for each in seen["several"]["errors"]] == ["name", "voice_id", "language", "system_prompt"]
    assert "; voice_id: is required" in seen["several"]["message"]
    assert seen["ownerless"]["actionUrl"].endswith("/settings/api-keys")
    assert f"(action_url {seen['ownerless']['actionUrl']})" in seen["ownerless"]["message"]
    assert seen["beta"]["field"] == "X-Service-Beta"


@pytest.mark.requirement("RATE-15", "ERR-74")
async def test_a_program_is_told_at_once_when_the_day_is_used_up(tenant: Tenant, tmp_path: Path) -> None:
    async with process_with_fixed_clock(tenant) as process:
        statement = update(organizations).where(organizations.c.id == tenant.org_id).values(requests_per_day=2)
        await tenant.database.write(lambda connection: connection.execute(statement).rowcount)
        async with over_http(Application(process.services, pipeline_of(process.services))) as base_url:
            program = tmp_path / "quota.mts"
            index = (HERE.parents[1] / "clients" / "typescript" / "src" / "index.ts").as_posix()
            shared = (HERE / "program.mts").as_posix()
            program.write_text(
                f'import {{ Client }} from "{index}";\nimport {{ program, thrown }} from "{shared}";\n'
                "program(async (asked: any) => {\n"
                "  const client = new Client(asked);\n"
                "  await client.wallet.get();\n  await client.wallet.get();\n"
                '  return await thrown(client.agents.delete({ id: "agt_1" }));\n});\n',
                encoding="utf-8",
            )
            seen = await seen_by(program, tmp_path, baseUrl=base_url, apiKey=tenant.api_key)
    assert (seen["name"], seen["code"], seen["retryable"]) == ("RateLimited", "daily_quota_exceeded", False)
    assert seen["resetsAt"] == "2026-11-22T00:00:00.000Z"
    assert "(goes on at 2026-11-22T00:00:00Z)" in seen["message"]


class BreaksOff:
    """Serves every request, and breaks the connection in the middle of some answers."""

    def __init__(self, service: Any, *broken: int) -> None:
        self._service, self._broken = service, broken
        self.keys: list[str | None] = []
        self.methods: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.keys.append(headers.get("idempotency-key"))
        self.methods.append(scope["method"])
        if len(self.methods) not in self._broken:
            await self._service(scope, receive, send)
            return

        async def half(message: Any) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": message["body"][:-10], "more_body": True}
            await send(message)

        await self._service(scope, receive, half)


@pytest.mark.requirement("VER-07", "IDEM-02")
async def test_a_creation_whose_answers_are_lost_is_made_once_and_a_change_is_not_repeated(
    tenant: Tenant, tmp_path: Path
) -> None:
    service = BreaksOff(tenant.service.asgi, 1, 2, 5)
    async with over_http(service) as base_url:
        seen = await seen_by(HERE / "once.mts", tmp_path, baseUrl=base_url, apiKey=tenant.api_key)
    assert [agent.name async for agent in tenant.client.agents.list()] == ["Bea"]
    assert service.methods == ["POST", "POST", "POST", "GET", "PATCH"]
    assert len(set(service.keys[:3])) == 1
    assert service.keys[3:] == [None, None]
    assert seen["listed"] == [seen["made"]]
    assert seen["waits"] == [250, 500]
    assert seen["changed"]["code"] == "service_unreachable"
    assert seen["changed"]["retryable"] is False
