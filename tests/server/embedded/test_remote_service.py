"""`callwright mcp` in front of a service that runs elsewhere."""

import socket
from pathlib import Path

import anyio

from tests.support.processes.programs import START_S, assistant, run, serving


def remote_settings(base_url: str, key: str) -> dict[str, str]:
    return {"CALLWRIGHT_BASE_URL": base_url, "CALLWRIGHT_API_KEY": key}


async def test_tools_work_and_nothing_is_kept_here(tmp_path: Path) -> None:
    data, mine = tmp_path / "data", tmp_path / "mine"
    with serving(tmp_path, data) as service:
        key = run(tmp_path, "keys", "create", "--data", data, "--quiet").stdout.strip()
        async with assistant(tmp_path, "--data", mine, settings=remote_settings(service.base_url, key)) as hand:
            voice = (await hand.use("list_voices", per_page=1))["data"][0]
            made = await hand.use(
                "create_agent", name="Ada", voice_id=voice["id"], language="en-US", system_prompt="Hello."
            )
            assert [found["id"] for found in (await hand.use("list_agents"))["data"]] == [made["id"]]
        assert hand.log.read_text(encoding="utf-8") == ""
    assert not mine.exists()


async def test_a_wrong_key_is_explained(tmp_path: Path) -> None:
    key = f"svc_live_{'0' * 48}"
    with serving(tmp_path, tmp_path / "data") as service:
        async with assistant(tmp_path, settings=remote_settings(service.base_url, key)) as hand:
            words = await hand.refused("get_overview")
    assert "CALLWRIGHT_API_KEY" in words
    assert key not in words


async def test_a_service_that_cannot_be_reached_is_explained_within_a_bounded_time(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]  # nobody listens there once this block has ended
    async with assistant(tmp_path, settings=remote_settings(f"http://127.0.0.1:{port}/v1", "svc_live_1")) as hand:
        with anyio.fail_after(START_S):
            read = await hand.refused("get_overview")
            changed = await hand.refused("rent_phone_number", country="US")
    for words in (read, changed):
        assert words.startswith("The service cannot be reached. Nothing was changed")
    assert hand.log.read_text(encoding="utf-8") == ""
