"""The wheel and the bundle, made once for a whole run: the first worker makes them, the others wait."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from tests.hosts.uv import LIMIT_S, UV, Uv, first_that_works
from tests.house.tree import ROOT
from tests.mcpb.official import mcpb

WAIT_S = 600.0
"""Limit for another worker to make what this one needs."""


@dataclass(frozen=True)
class Built:
    """What `scripts/bundle` writes, and uv with the wheel as a tool.

    `path` is a PATH with `uvx`, `uv` and `callwright` on it.
    """

    wheel: Path
    bundle: Path
    uv: Uv
    path: str


@dataclass(frozen=True)
class Unpacked:
    """The bundle in a folder of its own, installed by uv as a host does it."""

    folder: Path
    uv: Uv


def bundled(out: Path) -> tuple[Path, Path]:
    """Runs `scripts/bundle` without its setup; gives wheel and bundle."""
    subprocess.run([sys.executable, ROOT / "scripts" / "bundle.py", "--out", out], check=True, timeout=LIMIT_S)
    (wheel,), (bundle,) = out.glob("*.whl"), out.glob("*.mcpb")
    return wheel, bundle


def _once(shared: Path, make: Callable[[], dict[str, str]]) -> dict[str, str]:
    """What the first caller makes below `shared`, for every worker of the run."""
    note = shared.with_suffix(".json")
    with FileLock(f"{shared}.lock", timeout=WAIT_S):
        if not note.exists():
            shared.mkdir()
            note.write_text(json.dumps(make()), encoding="utf-8")
    return json.loads(note.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this run have in common."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def built(run_folder: Path) -> Built:
    """The wheel, installed as a tool with the locked versions, and the bundle."""
    shared = run_folder / "built"

    def make() -> dict[str, str]:
        wheel, _ = bundled(shared / "dist")
        lock = str(ROOT / "requirements.lock")
        uv = first_that_works(shared, lambda uv: uv.run("tool", "install", "--force", wheel, UV_CONSTRAINT=lock))
        _stand_in(shared / "bin", uv, lock)
        return {**uv.settings, "UV_CONSTRAINT": lock}

    uv = Uv(shared, _once(shared, make))
    (wheel,), (bundle,) = (shared / "dist").glob("*.whl"), (shared / "dist").glob("*.mcpb")
    return Built(wheel, bundle, uv, os.pathsep.join((str(shared / "bin"), os.defpath)))


def _stand_in(folder: Path, uv: Uv, lock: str) -> None:
    """`uvx` that finds its packages without the settings of whoever starts it, as on a machine with a network."""
    folder.mkdir()
    settings = {**uv.settings, "UV_CONSTRAINT": lock}
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in settings.items())
    for name, rest in (("uvx", "tool run"), ("uv", "")):
        script = folder / name
        script.write_text(f'#!/bin/sh\n{exports}exec {shlex.quote(str(UV))} {rest} "$@"\n', encoding="utf-8")
        script.chmod(0o755)


@pytest.fixture(scope="session")
def unpacked(built: Built, run_folder: Path) -> Unpacked:
    """The bundle, unpacked by the official tool, with its dependencies."""
    shared = run_folder / "unpacked"
    folder = shared / "extension"

    def make() -> dict[str, str]:
        mcpb("unpack", built.bundle, folder, home=shared)
        return {**first_that_works(shared, lambda uv: uv.run("sync", "--directory", folder)).settings}

    return Unpacked(folder, Uv(shared, _once(shared, make)))
