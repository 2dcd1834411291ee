"""The key that the tool server asks for over the network."""

from pathlib import Path

import pytest

from callwright.server.transport.hosts import names_for
from callwright.service.accounts.principals import new_secret
from tests.support.http.raw_requests import AsyncClient
from tests.support.mcp.over_http import Served, open_served, post

PATHS = (("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/sse"), ("POST", "/messages/?session_id=1"))


@pytest.mark.requirement("ERR-57")
@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Basic dXNlcjpwYXNz", new_secret(), "Token " + new_secret()],
    ids=["none", "empty", "scheme", "basic", "bare", "other"],
)
async def test_without_a_key_every_path_says_where_to_read_what_it_wants(served: Served, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    async with served.raw_client(None, **headers) as http:
        for method, path in PATHS:
            answer = await http.request(method, path)
            assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")
            assert "callwright keys create" in answer.json()["error_description"]
            about = "/mcp" if path == "/mcp" else "/sse"
            where = f"{served.root}/.well-known/oauth-protected-resource{about}"
            assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{where}"'
            described = await http.get(where)
            assert described.json()["resource"] == served.root + about
            assert described.json()["bearer_methods_supported"] == ["header"]


@pytest.mark.requirement("ERR-57")
@pytest.mark.parametrize(
    "secret",
    [new_secret(), new_secret("personal"), "svc_live_", "svc_mcp_0", "whsec_1", "é", "svc_live_" + "0" * 4_000],
    ids=["unknown live", "unknown personal", "live prefix", "short personal", "webhook", "not ASCII", "long"],
)
async def test_a_key_that_does_not_work_is_refused_as_such(served: Served, secret: str) -> None:
    async with served.raw_client(None) as http:
        for method, path in PATHS:
            sent = [(b"authorization", f"Bearer {secret}".encode())]
            answer = await http.request(method, path, headers=sent)
            assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")
            assert answer.headers["www-authenticate"].startswith('Bearer error="invalid_token"')
            assert secret not in answer.text


async def test_while_the_database_is_gone_every_path_says_when_to_come_again(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    database_url = f"sqlite:///{data / 'callwright.db'}"
    async with open_served(database_url, data, workers=False) as served, served.raw_client() as http:
        assert (await post(http, "tools/list")).status_code == 200
        data.rename(tmp_path / "aside")
        assert not served.tenant.database.file_guard.look()  # somebody does each second
        for method, path in PATHS:
            answer = await http.request(method, path)
            assert (answer.status_code, answer.json()["error"]) == (503, "temporarily_unavailable")
            assert int(answer.headers["retry-after"]) > 0
            assert "The database file was removed, moved or replaced" in answer.json()["error_description"]
        (tmp_path / "aside").rename(data)
        assert (await post(http, "tools/list")).status_code == 200


async def test_a_key_counts_only_in_the_header(served: Served) -> None:
    async with served.raw_client(None) as http:
        key = served.tenant.api_key
        for path in (f"/mcp?access_token={key}", f"/mcp?key={key}", f"/sse?authorization=Bearer%20{key}"):
            assert (await http.get(path)).status_code == 401
        assert (await http.get("/mcp", headers={"Cookie": f"Authorization=Bearer {key}"})).status_code == 401


async def test_a_revoked_key_is_refused_on_the_next_request(served: Served) -> None:
    for made in (await served.live_key(), await served.personal_key()):
        async with served.raw_client(made.secret) as http:
            assert (await post(http, "tools/list")).status_code == 200
            await served.revoke(made.id)
            assert (await post(http, "tools/list")).status_code == 401


async def test_a_request_that_only_lists_counts_as_a_use_of_the_key(served: Served) -> None:
    made = await served.personal_key()
    async with served.raw_client(made.secret) as http:
        await post(http, "tools/list")
    assert made.id in served.service.services.used_keys


async def test_the_name_of_the_host_is_looked_at_before_the_key(http: AsyncClient) -> None:
    for path in ("/mcp", "/sse", "/messages/", "/.well-known/oauth-protected-resource/mcp"):
        assert (await http.get(path, headers={"Host": "evil.example"})).status_code == 421
        assert (await http.get(path, headers={"Origin": "https://evil.example"})).status_code == 403
    assert (await http.get("/v1/wallet", headers={"Host": "evil.example"})).status_code == 200
    refused = await http.get("/v1/wallet", headers={"Origin": "http://localhost:8080"})
    assert (refused.status_code, refused.json()["error"]) == (403, "origin_not_allowed")


@pytest.mark.requirement("DASH-63")
@pytest.mark.parametrize(
    ("proxies", "resource"), [(("127.0.0.0/8",), "https://mcp.example.com/mcp"), ((), "http://mcp.example.com/mcp")]
)
async def test_the_metadata_names_the_address_that_the_client_has_used_as_a_known_proxy_says(
    database_url: str, tmp_path: Path, proxies: tuple[str, ...], resource: str
) -> None:
    names = names_for("0.0.0.0", ("mcp.example.com",))
    options = {"workers": False, "names": names, "proxies": proxies}
    async with open_served(database_url, tmp_path, **options) as served, served.raw_client() as http:  # pyright: ignore[reportArgumentType]
        headers = {"Host": "mcp.example.com", "X-Forwarded-Proto": "https"}
        found = await http.get("/.well-known/oauth-protected-resource/mcp", headers=headers)
        assert found.json()["resource"] == resource
        assert (await http.post("/.well-known/oauth-protected-resource/mcp")).status_code == 405


@pytest.mark.requirement("DASH-63")
@pytest.mark.parametrize(("proxies", "last"), [((), 429), (("127.0.0.1",), 401)])
async def test_an_address_that_nobody_vouches_for_does_not_escape_the_limit_of_wrong_codes(
    database_url: str, tmp_path: Path, proxies: tuple[str, ...], last: int
) -> None:
    statuses: list[int] = []
    async with open_served(database_url, tmp_path, workers=False, proxies=proxies) as served:
        async with served.raw_client() as http:
            for at in range(31):
                headers = {"X-Forwarded-For": f"203.0.113.{at}"}
                statuses.append((await http.post("/login", data={"code": "0" * 48}, headers=headers)).status_code)
    assert statuses == [401] * 30 + [last]


async def test_a_server_without_a_name_says_what_it_needs(database_url: str, tmp_path: Path) -> None:
    async with open_served(database_url, tmp_path, workers=False, names=names_for("0.0.0.0")) as served:
        async with served.raw_client() as http:
            answer = await post(http, "tools/list")
            assert answer.status_code == 421
            assert "--allowed-host" in answer.text
            assert (await http.get("/v1/wallet")).status_code == 200
