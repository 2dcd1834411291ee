"""Writes the wheel and `callwright-<version>.mcpb`, the bundle that a desktop host installs with a click.

A bundle is a zip of the wheel, a project with every dependency at its locked version, and a manifest. It holds no
dependencies: the host's uv installs those that fit the machine. Nothing is written twice: version and description come
from pyproject.toml, settings from `SETTINGS`, tools from the stored definitions, versions from requirements.lock. The
same sources give the same bytes on the same machine.

Source of the form: MCPB manifest 0.4, server type "uv".
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from callwright.server.settings import SETTINGS, Setting, read_settings

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = ("darwin", "linux", "win32")
MOMENT = (2020, 2, 2, 0, 0, 0)
"""The time of every entry, as hatchling sets it for the entries of a wheel."""
BUILD_LIMIT_S = 120
PLAIN = ("LICENSE", "NOTICE")
START = "start.py"

ABOUT = """Agents that call people: make one, hand over a list of numbers, see a preview with greeting and cost, start \
the campaign, and ask what was said.

Without an address and a key the service runs on this machine, on a **simulated telephone network**: no telephone \
rings, the money is play money, and nothing leaves the data folder. The first start fetches the Python packages, \
some 40 MB."""


@dataclass(frozen=True)
class Field:
    """A field for a setting in the host's form. `shows_default`: the setting's default is a value, not a remark."""

    title: str
    kind: Literal["string", "directory", "boolean"] = "string"
    shows_default: bool = False
    sensitive: bool = False


FIELDS: Mapping[str, Field] = {
    "CALLWRIGHT_DATA": Field("Data folder", "directory", shows_default=True),
    "CALLWRIGHT_BASE_URL": Field("Address of another service"),
    "CALLWRIGHT_API_KEY": Field("Key for that service", sensitive=True),
    "CALLWRIGHT_PROFILE": Field("Profile", shows_default=True),
    "CALLWRIGHT_READ_ONLY": Field("Read only", "boolean"),
    "CALLWRIGHT_CONFIRM": Field("When to ask", shows_default=True),
    "CALLWRIGHT_REVEAL_NUMBERS": Field("Show telephone numbers whole", "boolean"),
    "CALLWRIGHT_FILES": Field("Folder to import people from", "directory"),
}
"""The settings that a host asks for. The others are for services and for rehearsals."""


def main() -> int:
    """Writes both files and says where they are."""
    parser = argparse.ArgumentParser(prog="scripts/bundle", description="Writes the wheel and the .mcpb bundle.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for both files (dist)")
    out: Path = parser.parse_args().out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wheel = build_wheel(out)
    bundle = out / f"callwright-{project['version']}.mcpb"
    bundle.write_bytes(zipped(out, contents(project, wheel)))
    for path in (wheel, bundle):
        sys.stdout.write(f"{path} ({path.stat().st_size / 1e6:.2f} MB)\n")
    return 0


def build_wheel(out: Path) -> Path:
    """The wheel, built by the locked hatchling into `out`."""
    with tempfile.TemporaryDirectory(dir=out) as scratch:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", scratch]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=BUILD_LIMIT_S)
        if done.returncode:
            raise SystemExit(f"scripts/bundle: no wheel was built\n{done.stderr}")
        (built,) = Path(scratch).iterdir()
        return built.replace(out / built.name)


def contents(project: Mapping[str, Any], wheel: Path) -> dict[str, bytes]:
    """Every file of the bundle, by its name there."""
    pins = runtime_pins((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    return {
        "manifest.json": (json.dumps(manifest(project), indent=2, ensure_ascii=False) + "\n").encode(),
        "pyproject.toml": bundled_project(project, wheel.name, pins).encode(),
        START: (ROOT / "bundle" / START).read_bytes(),
        wheel.name: wheel.read_bytes(),
        **{name: (ROOT / name).read_bytes() for name in PLAIN},
    }


def zipped(out: Path, files: Mapping[str, bytes]) -> bytes:
    """A zip of the files in the order of their names, with fixed times and permissions."""
    with tempfile.TemporaryFile(dir=out) as scratch:
        with zipfile.ZipFile(scratch, "w") as archive:
            for name in sorted(files):
                entry = zipfile.ZipInfo(name, MOMENT)
                entry.create_system = 3  # Unix on every system, or readers ignore the permissions
                entry.external_attr = 0o100644 << 16
                entry.compress_type = zipfile.ZIP_STORED if name.endswith(".whl") else zipfile.ZIP_DEFLATED
                archive.writestr(entry, files[name])
        scratch.seek(0)
        return scratch.read()


def manifest(project: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest. Hosts with their own uv ignore the command and pass the arguments to it."""
    asked = [setting for setting in SETTINGS if setting.variable in FIELDS]
    return {
        "manifest_version": "0.4",
        "name": project["name"],
        "display_name": project["name"].capitalize(),
        "version": project["version"],
        "description": project["description"],
        "long_description": ABOUT,
        "author": {"name": _author()},
        "server": {
            "type": "uv",
            "entry_point": START,
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", START],
                "env": {setting.variable: f"${{user_config.{_key(setting)}}}" for setting in asked},
            },
        },
        "tools": _tools(),
        "tools_generated": True,
        "prompts_generated": True,
        "keywords": project["keywords"],
        "license": project["license"],
        "compatibility": {"platforms": list(PLATFORMS), "runtimes": {"python": project["requires-python"]}},
        "user_config": {_key(setting): _option(setting) for setting in asked},
    }


def _key(setting: Setting) -> str:
    return setting.variable.removeprefix("CALLWRIGHT_").lower()


def _option(setting: Setting) -> dict[str, Any]:
    """A field of the host's form. Each has a default: some hosts pass on the placeholder of a field without one."""
    field = FIELDS[setting.variable]
    option: dict[str, Any] = {
        "type": field.kind,
        "title": field.title,
        "description": re.sub(r" \(flag `[^`]*`\)", "", setting.help),
        "required": False,
        "default": setting.default if field.shows_default else "",
    }
    if field.kind == "boolean":
        option["default"] = setting.default == "true"
    if field.sensitive:
        option["sensitive"] = True
    return option


def _tools() -> list[dict[str, str]]:
    """The tools of the default profile, each with its first sentence."""
    offered = read_settings({}).tools_of()
    definitions = json.loads((ROOT / "tools" / "definitions.json").read_text(encoding="utf-8"))
    return [
        {"name": tool["name"], "description": re.split(r"(?<=[.])\s", tool["description"], maxsplit=1)[0]}
        for tool in definitions
        if tool["name"] in offered
    ]


def _author() -> str:
    found = re.search(r"^Copyright \d+ (.+)$", (ROOT / "NOTICE").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, "NOTICE names no holder of the copyright"
    return found[1]


def bundled_project(project: Mapping[str, Any], wheel: str, pins: Iterable[str]) -> str:
    """The `pyproject.toml` of the bundle: the wheel, and every version that it may be installed with."""
    platforms = _lines(f"sys_platform == '{name}'" for name in PLATFORMS)
    constraints = _lines(pins)
    return f"""[project]
name = "{project["name"]}-bundle"
version = "{project["version"]}"
requires-python = "{project["requires-python"]}"
dependencies = ["{project["name"]}"]

[tool.uv]
package = false
environments = [
{platforms}]
constraint-dependencies = [
{constraints}]

[tool.uv.sources]
{project["name"]} = {{ path = "{wheel}" }}
"""


def _lines(values: Iterable[str]) -> str:
    return "".join(f"    {json.dumps(value)},\n" for value in values)


_LOCKED = re.compile(r"^(?P<pin>(?P<name>[a-z0-9-]+)==[^\\\n]+?) \\\n(?P<rest>(?:    .*\n)+)", re.MULTILINE)


def runtime_pins(lock: str) -> list[str]:
    """The locked versions of the project's runtime dependencies, direct and indirect, `name==version ; marker`, by
    name.
    """
    pins: dict[str, str] = {}
    wanted_by: dict[str, set[str]] = {}
    for found in _LOCKED.finditer(lock):
        pins[found["name"]] = found["pin"]
        wanted_by[found["name"]] = set(re.findall(r"^    #(?: via|  ) +(\S.*)$", found["rest"], re.MULTILINE))
    kept = {name for name, wanting in wanted_by.items() if "callwright (pyproject.toml)" in wanting}
    while more := {name for name, wanting in wanted_by.items() if wanting & kept} - kept:
        kept |= more
    return [pins[name] for name in sorted(kept)]


if __name__ == "__main__":
    raise SystemExit(main())
