"""The wheel has everything, and `uvx --from` runs it with the locked versions."""

import json
import re
import subprocess
import zipfile
from fnmatch import fnmatch
from pathlib import Path

from callwright.server.settings import read_settings
from tests.hosts.conftest import Built
from tests.hosts.starting import Program, seen
from tests.hosts.uv import INSTALLED
from tests.house.tree import PACKAGES, ROOT, files


def locked() -> dict[str, str]:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s\\;]+)", lock, re.MULTILINE))


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_every_file_of_the_packages_is_in_the_wheel_and_nothing_else(built: Built) -> None:
    below = (path.relative_to(ROOT).as_posix() for path in files() if not fnmatch(path.name, "*.pyc"))
    packages = {f"callwright/{name}" for name in below if name.split("/")[0] in PACKAGES}
    assert {name for name in names_in(built.wheel) if ".dist-info/" not in name} == packages


def test_types_definitions_prompts_guides_pages_and_migrations_are_in_the_wheel(built: Built) -> None:
    names = names_in(built.wheel)
    assert {f"callwright/{package}/py.typed" for package in PACKAGES} <= names
    assert "callwright/tools/definitions.json" in names
    for pattern in (
        "callwright/prompts/*.md",
        "callwright/server/mcp/guides/*.md",
        "callwright/server/mcp/apps/views/*.html",
        "callwright/service/tables/migrations/versions/*.py",
        "callwright/service/telephony/simulated/conversation/phrases/*.json",
    ):
        assert any(fnmatch(name, pattern) for name in names), pattern


def test_license_and_notice_are_in_the_wheel(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        for name in ("LICENSE", "NOTICE"):
            (inside,) = [each for each in archive.namelist() if each.endswith(f".dist-info/licenses/{name}")]
            assert archive.read(inside) == (ROOT / name).read_bytes()


def test_the_command_runs_from_the_wheel(built: Built) -> None:
    done = built.uv.run("tool", "run", "--from", built.wheel, "callwright", "--help", NO_COLOR="1")
    assert done.returncode == 0, done.stderr
    for command in ("mcp", "serve", "demo", "keys"):
        assert re.search(rf"\b{command}\b", done.stdout), done.stdout


async def test_a_session_with_the_wheel_lists_the_tools_and_answers(built: Built, tmp_path: Path) -> None:
    program = Program("uvx", ("--from", str(built.wheel), "callwright", "mcp"))
    found = await seen(program, tmp_path, {"PATH": built.path})
    assert found.tools == read_settings({}).tools_of()
    assert found.wallet["play_money"] is True


def test_the_tool_has_the_locked_versions_and_nothing_of_the_checkout(built: Built) -> None:
    home = Path(built.uv.settings["UV_TOOL_DIR"]) / "callwright"
    command = [str(home / "bin" / "python"), "-I", "-c", INSTALLED]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, cwd=home).stdout
    main, installed = json.loads(said)
    assert Path(main).is_relative_to(home)
    assert installed.pop("callwright") in built.wheel.name
    assert {name: version for name, version in installed.items() if locked().get(name) != version} == {}
