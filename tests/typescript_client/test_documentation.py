"""The programs on the page about the clients, run against the service."""

import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.support.processes.npm import node
from tests.support.service import Tenant
from tests.typescript_client.running import CLIENT, built_package, over_http

PAGE = CLIENT.parents[1] / "docs" / "clients.md"
BASE_URL, KEY = "http://127.0.0.1:8080/v1", "svc_live_…"


def shown(language: str) -> str:
    """The one program of a language on the page."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert BASE_URL in found
    assert KEY in found
    return found


async def command(language: str, folder: Path) -> list[str]:
    """What runs the program of a language, which is in a folder."""
    if language == "python":
        return [sys.executable, "-W", "error", str(folder / "program.python")]
    await built_package(folder)
    (folder / "program.typescript").rename(folder / "program.mts")
    return [str(node()), str(folder / "program.mts")]


@pytest.mark.requirement("VER-06", "VER-07")
@pytest.mark.parametrize("language", ["python", "typescript"])
async def test_the_program_on_the_page_does_what_it_says(language: str, tmp_path: Path, tenant: Tenant) -> None:
    async with over_http(tenant.service.asgi) as base_url:
        text = shown(language).replace(BASE_URL, base_url).replace(KEY, tenant.api_key)
        (tmp_path / f"program.{language}").write_text(text, encoding="utf-8")
        with anyio.fail_after(60):
            run = await command(language, tmp_path)
            done = await anyio.run_process(run, stdin=subprocess.DEVNULL, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert (await tenant.client.agents.list()).data == []
    first, second = done.stdout.decode().splitlines()
    assert first == "Ada en-US-ada"
    assert re.fullmatch(r"409 duplicate_name: .* Choose another name\. .*\[request req_\w+\]", second)
