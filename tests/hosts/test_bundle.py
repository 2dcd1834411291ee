"""The bundle for desktop hosts: valid, the same each time, and running from itself alone."""

import json
import re
import tomllib
import zipfile
from pathlib import Path
from typing import Any, cast

import pytest

from callwright.server.settings import SETTINGS, read_settings
from tests.hosts.conftest import Built, Unpacked, bundled
from tests.hosts.starting import Program, seen
from tests.hosts.uv import INSTALLED, UV
from tests.house.tree import ROOT
from tests.mcpb.official import launched, mcpb


def manifest_of(built: Built) -> dict[str, Any]:
    with zipfile.ZipFile(built.bundle) as archive:
        return cast("dict[str, Any]", json.loads(archive.read("manifest.json")))


def program(unpacked: Unpacked, home: Path, **filled_in: object) -> Program:
    """What a host starts when a person has filled in these fields, with the uv that a host brings."""
    found = launched(unpacked.folder, filled_in, home=home)
    assert found["command"] == "uv"
    return Program(str(UV), tuple(found["args"]), found["env"])


def test_the_official_validator_accepts_the_manifest(unpacked: Unpacked, tmp_path: Path) -> None:
    assert "Manifest schema validation passes!" in mcpb("validate", unpacked.folder, home=tmp_path)


def test_the_official_validator_refuses_a_manifest_with_an_unknown_field(unpacked: Unpacked, tmp_path: Path) -> None:
    manifest = json.loads((unpacked.folder / "manifest.json").read_text(encoding="utf-8"))
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "colour": "red"}), encoding="utf-8")
    with pytest.raises(AssertionError, match="colour"):
        mcpb("validate", tmp_path, home=tmp_path)


def test_the_same_sources_give_the_same_bytes(built: Built, tmp_path: Path) -> None:
    wheel, bundle = bundled(tmp_path / "again")
    assert wheel.read_bytes() == built.wheel.read_bytes()
    assert bundle.read_bytes() == built.bundle.read_bytes()


def test_the_bundle_holds_wheel_project_start_manifest_and_license(built: Built) -> None:
    with zipfile.ZipFile(built.bundle) as archive:
        names = archive.namelist()
        assert names == sorted(["LICENSE", "NOTICE", "manifest.json", "pyproject.toml", "start.py", built.wheel.name])
        assert archive.read(built.wheel.name) == built.wheel.read_bytes()
        for name in ("LICENSE", "NOTICE"):
            assert archive.read(name) == (ROOT / name).read_bytes()


def test_the_manifest_says_what_the_project_says(built: Built) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    manifest = manifest_of(built)
    same = ("name", "version", "description", "license", "keywords")
    assert {name: manifest[name] for name in same} == {name: project[name] for name in same}
    assert manifest["compatibility"]["runtimes"]["python"] == project["requires-python"]
    assert built.bundle.name == f"callwright-{project['version']}.mcpb"


def test_the_manifest_lists_the_tools_of_the_default_profile_in_a_sentence_each(built: Built) -> None:
    tools = {tool["name"]: tool["description"] for tool in manifest_of(built)["tools"]}
    assert set(tools) == read_settings({}).tools_of()
    assert {name: said for name, said in tools.items() if not re.fullmatch(r"\S.{10,200}[.]", said)} == {}


def test_every_field_of_the_form_is_a_setting_with_a_default_and_keys_are_secret(built: Built) -> None:
    manifest = manifest_of(built)
    fields, env = manifest["user_config"], manifest["server"]["mcp_config"]["env"]
    assert {f"${{user_config.{name}}}" for name in fields} == set(env.values())
    assert set(env) <= {setting.variable for setting in SETTINGS}
    assert [name for name, field in fields.items() if "default" not in field] == []
    assert [name for name, field in fields.items() if field.get("sensitive")] == ["api_key"]


def test_a_form_that_was_left_alone_means_the_programs_own_defaults(unpacked: Unpacked, tmp_path: Path) -> None:
    left_alone = program(unpacked, tmp_path)
    assert read_settings(left_alone.env) == read_settings({})


def test_the_bundle_pins_every_package_that_it_installs(unpacked: Unpacked) -> None:
    project = tomllib.loads((unpacked.folder / "pyproject.toml").read_text(encoding="utf-8"))
    pins = dict(re.findall(r"([a-z0-9-]+)==([^\s\"]+)", " ".join(project["tool"]["uv"]["constraint-dependencies"])))
    main, installed = whats_installed(unpacked)
    assert main.is_relative_to(unpacked.folder)
    assert installed.pop("callwright") == project["project"]["version"]
    assert {name: version for name, version in installed.items() if pins.get(name) != version} == {}
    assert "pytest" not in pins


def whats_installed(unpacked: Unpacked) -> tuple[Path, dict[str, str]]:
    """The file of the server that the bundle runs, and the versions beside it."""
    done = unpacked.uv.run("run", "--directory", unpacked.folder, "python", "-I", "-c", INSTALLED)
    assert done.returncode == 0, done.stderr
    main, installed = json.loads(done.stdout)
    return Path(main), installed


async def test_the_bundle_starts_with_the_data_folder_of_the_persons_choice(unpacked: Unpacked, tmp_path: Path) -> None:
    chosen = tmp_path / "my calls"
    found = await seen(program(unpacked, tmp_path, data=str(chosen)), tmp_path, unpacked.uv.environment)
    assert found.tools == read_settings({}).tools_of()
    assert found.wallet["play_money"] is True
    assert (chosen / "callwright.db").exists()
    assert not (tmp_path / ".callwright").exists()


async def test_the_fields_of_the_form_reach_the_server(unpacked: Unpacked, tmp_path: Path) -> None:
    filled_in = {"profile": "all", "read_only": True, "data": str(tmp_path / "data")}
    found = await seen(program(unpacked, tmp_path, **filled_in), tmp_path, unpacked.uv.environment)
    assert found.tools == read_settings({}, profile="all", read_only=True).tools_of()


async def test_placeholders_that_a_host_leaves_standing_count_as_not_filled_in(
    unpacked: Unpacked, built: Built, tmp_path: Path
) -> None:
    raw = manifest_of(built)["server"]["mcp_config"]
    started = Program(str(UV), program(unpacked, tmp_path).args, raw["env"])
    found = await seen(started, tmp_path, unpacked.uv.environment)
    assert found.tools == read_settings({}).tools_of()
    assert (tmp_path / ".callwright" / "callwright.db").exists()
