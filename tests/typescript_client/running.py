"""Runs TypeScript programs of these tests, with the Node of a wheel and without a build."""

import json
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from callwright.server.embedded.embedded import listener_on, listening
from tests.support.processes.npm import installed, node

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "typescript"
HERE = Path(__file__).parent
LIFE_S = 60.0

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


async def seen_by(program: Path, folder: Path, **asked: Any) -> Any:
    """What a program has printed, having been asked this. It is run while this process goes on serving."""
    given = folder / f"{program.stem}.json"
    given.write_text(json.dumps(asked), encoding="utf-8")
    with anyio.fail_after(LIFE_S):
        done = await anyio.run_process(
            [str(node()), "--no-warnings=ExperimentalWarning", str(program), str(given)],
            stdin=subprocess.DEVNULL,
            check=False,
        )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return json.loads(done.stdout)


def compiled(*arguments: str) -> str:
    """What the TypeScript compiler says; nothing where all is well."""
    compiler = installed(CLIENT) / "node_modules" / "typescript" / "bin" / "tsc"
    done = subprocess.run(
        [str(node()), str(compiler), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIFE_S,
        check=False,
    )
    return done.stdout + done.stderr


@asynccontextmanager
async def over_http(application: Application) -> AsyncGenerator[str]:
    """Serves an application on the loopback; gives the base address with the version prefix."""
    with listener_on() as listener:
        async with listening(application, listener) as base_url:
            yield base_url


async def built_package(folder: Path) -> Path:
    """The package as npm would install it below a folder."""
    package = folder / "node_modules" / "callwright-client"
    said = await anyio.to_thread.run_sync(lambda: compiled("-p", str(CLIENT), "--outDir", str(package / "dist")))
    assert said == ""
    (package / "package.json").write_bytes((CLIENT / "package.json").read_bytes())
    return package
