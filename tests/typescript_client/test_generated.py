"""The generated part of the TypeScript client, and the package as a whole."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from scripts.typescript_client import files
from scripts.typescript_types import comment, interface, type_of

from callwright.contract.problems import PROBLEMS
from tests.typescript_client.running import CLIENT, HERE, built_package, compiled, seen_by

ROOT = CLIENT.parents[1]


@pytest.mark.requirement("VER-07")
def test_the_generated_files_are_those_of_the_contract() -> None:
    made = dict(files())
    assert [path.name for path, text in made.items() if path.read_text(encoding="utf-8") != text] == [], (
        "scripts/generate"
    )
    assert {path.name for path in (CLIENT / "src" / "generated").iterdir()} == {path.name for path in made}


def test_the_client_and_the_programs_of_these_tests_are_of_strict_types() -> None:
    assert compiled("-p", str(HERE), "--noEmit") == ""
    assert json.loads((CLIENT / "tsconfig.json").read_text(encoding="utf-8"))["compilerOptions"]["strict"] is True


WRONG = {
    'client.agents.create({ name: "Ada" });': "voice_id",
    'client.agents.create({ name: 1, voice_id: "v", language: "l", system_prompt: "p" });': "number",
    'client.calls.list({ outcome: ["nothing_such"] });': "nothing_such",
    "export const name: number = (await client.agents.get({ id: 'agt_1' })).name;": "string",
    "client.agents.rent({});": "rent",
    'client.calls.getRecording({ call_uuid: "c" }, { idempotencyKey: "k" });': "idempotencyKey",
    "client.key;": "key",
    "for await (const page of client.agents.list().pages()) page.name;": "name",
}
"""Lines that are wrong, each with a word of what the compiler says about it."""


def test_what_does_not_fit_is_an_error_of_types(tmp_path: Path) -> None:
    index = (CLIENT / "src" / "index.ts").as_posix()
    opening = f'import {{ Client }} from "{index}"; const client = new Client({{ baseUrl: "", apiKey: "" }});'
    source = tmp_path / "wrong.mts"
    source.write_text("\n".join([opening, *WRONG]), encoding="utf-8")
    options = ("--noEmit", "--strict", "--allowImportingTsExtensions", "--target", "es2022", "--module", "nodenext")
    said = compiled(*options, "--lib", "es2023,dom,dom.iterable", str(source))
    errors = re.split(r"^\S*wrong\.mts\(", said, flags=re.MULTILINE)[1:]
    assert [error.partition(",")[0] for error in errors] == [str(line) for line in range(2, len(WRONG) + 2)], said
    assert [word for word, error in zip(WRONG.values(), errors, strict=True) if word not in error] == []


def test_the_package_has_the_projects_version_and_needs_nothing_at_run_time() -> None:
    package: dict[str, Any] = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (package["version"], package["license"]) == (project["version"], project["license"])
    assert "dependencies" not in package
    for path in (CLIENT / "src").rglob("*.ts"):
        modules = re.findall(r'^(?:import|export|}).* from "(.*)";$', path.read_text(encoding="utf-8"), re.MULTILINE)
        assert [module for module in modules if not module.startswith((".", ".."))] == [], path.name


def test_every_code_of_a_problem_has_its_remedy() -> None:
    text = (CLIENT / "src" / "generated" / "problems.ts").read_text(encoding="utf-8")
    assert [
        code for code, problem in PROBLEMS.items() if f"  {code}: {{" not in text or problem.remedy not in text
    ] == []


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string", "format": "date-time"}, "string"),
        ({"type": "integer", "minimum": 1}, "number"),
        ({"enum": ["a", "b"], "type": "string"}, '"a" | "b"'),
        ({"const": "outbound"}, '"outbound"'),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, "number"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, '("a" | "b")[]'),
        ({"type": "array"}, "JsonValue[]"),
        ({"$ref": "#/components/schemas/Window-Input"}, "WindowInput"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "Record<string, string>"),
        ({"type": "object"}, "Record<string, JsonValue>"),
        ({}, "JsonValue"),
    ],
)
def test_a_schema_becomes_the_type_of_what_it_allows(schema: dict[str, Any], kind: str) -> None:
    assert type_of(schema) == kind


def test_a_schema_that_is_not_understood_is_an_error_and_no_guess() -> None:
    with pytest.raises(ValueError, match="patternProperties"):
        type_of({"type": "object", "patternProperties": {}})


def test_an_interface_names_what_may_be_absent_and_says_what_its_fields_are() -> None:
    schema: dict[str, Any] = {
        "description": "A thing.",
        "properties": {
            "id": {"type": "string", "description": "Ends */ here."},
            "per-page": {"type": "integer", "default": 5},
        },
        "required": ["id"],
    }
    assert interface("Thing", schema) == (
        "/** A thing. */\nexport interface Thing {\n  /** Ends * / here. */\n  id: string;\n"
        '  /** Default: 5. */\n  "per-page"?: number;\n}\n'
    )


def test_a_long_comment_is_broken_into_lines() -> None:
    lines = comment("word " * 60)
    assert (lines[0], lines[-1]) == ("/**", " */")
    assert max(map(len, lines)) <= 118


@pytest.mark.requirement("VER-07")
async def test_the_built_package_works_where_it_is_installed(tmp_path: Path) -> None:
    package = await built_package(tmp_path)
    assert (package / "dist" / "index.d.ts").exists()
    program = tmp_path / "visit.mjs"
    program.write_text(
        'import { Client, NotFound } from "callwright-client";\n'
        'const fetch = async () => new Response(\'{"error":{"code":"not_found"}}\', { status: 404 });\n'
        'const client = new Client({ baseUrl: "http://service.test", apiKey: "svc_live_0", fetch });\n'
        "const error = await client.agents.get({ id: 'agt_1' }).catch((error) => error);\n"
        "process.stdout.write(JSON.stringify(error instanceof NotFound));\n",
        encoding="utf-8",
    )
    assert await seen_by(program, tmp_path) is True
