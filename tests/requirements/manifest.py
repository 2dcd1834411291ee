"""The requirements of the service, which tests prove them, and the page that shows both.

Each `.toml` file beside this module holds the requirements of one area. A table of it is one requirement: its name is
the id, `text` says it in one sentence, `section` where it belongs (the file's, unless it has its own). `ours = true`
marks a choice made where the specification leaves one; `later` names the work that a requirement waits for.

A test says what it proves with `@pytest.mark.requirement("AUTH-07")`, on the function, on one of its parameter sets, on
its class, or as `pytestmark` of its module.
"""

import ast
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

TESTS = Path(__file__).resolve().parents[1]
FILES: Mapping[str, str] = {
    "service": "SERV",
    "conventions": "CONV",
    "agents": "AGENT",
    "agent-versions": "VERSION",
    "call-tools": "CALLTOOL",
    "webhooks": "HOOK",
    "resources": "RES",
    "do-not-call": "DNC",
    "dashboard": "DASH",
    "states": "STATE",
    "endpoints": "PATH",
    "pagination": "PAGE",
    "filtering": "FILTER",
    "idempotency": "IDEM",
    "request-format": "BODY",
    "authentication": "AUTH",
    "events": "EVENT",
    "signature": "SIGN",
    "inbound-deployments": "INB",
    "inbound-routing": "ROUTE",
    "inbound-simulated": "INSIM",
    "inbound-sip": "SIP",
    "one-person": "PERSON",
    "exports": "EXPORT",
    "errors": "ERR",
    "limits": "LIMIT",
    "rate-limits": "RATE",
    "versioning": "VER",
    "rules-of-regions": "RULE",
    "wallet": "WALLET",
    "topups": "TOPUP",
    "compliance-reviews": "REVIEW",
    "consent": "CONSENT",
    "predial": "PREDIAL",
    "stops": "STOP",
    "providers": "PROVIDER",
    "recording": "RECORD",
    "lines": "LINE",
    "twilio": "TWILIO",
    "costs": "COST",
    "transfers": "TRANSFER",
    "large-changes": "BIG",
    "uploads": "UP",
    "contact-columns": "COLUMN",
}
"""Every file, in the order of the page, with the word its ids begin with."""
Later = Literal["dialling", "dashboard", "inbound-calls"]
WAITS_FOR: Mapping[Later, str] = {
    "dialling": "the rules of dialling and the do-not-call list",
    "dashboard": "the pages of the dashboard",
    "inbound-calls": "the answering of inbound calls",
}
_FIELDS = {"section", "text", "ours", "later"}
_MARK = "pytest.mark.requirement"


@dataclass(frozen=True)
class Requirement:
    """One sentence that is true or false of the service."""

    id: str
    section: str
    text: str
    ours: bool
    later: Later | None


@dataclass(frozen=True, order=True)
class Proof:
    """A test that proves a requirement. `path` is below the folder of the tests."""

    path: str
    test: str
    requirement: str


def read(folder: Path = TESTS / "requirements") -> dict[str, Requirement]:
    """Every requirement by its id, in the order of the page. Raises `ValueError` for a file of another form."""
    if unknown := {path.stem for path in folder.glob("*.toml")} ^ set(FILES):
        raise ValueError(f"files that are unknown or missing: {sorted(unknown)}")
    found: dict[str, Requirement] = {}
    for stem in FILES:
        tables: dict[str, Any] = tomllib.loads((folder / f"{stem}.toml").read_text(encoding="utf-8"))
        section = tables.pop("section")
        for name, entry in tables.items():
            if set(entry) - _FIELDS or entry.get("later") not in (None, *get_args(Later)) or name in found:
                raise ValueError(f"{stem}.toml: {name} is not a requirement, or is one twice")
            ours, later = entry.get("ours", False), entry.get("later")
            found[name] = Requirement(name, entry.get("section", section), entry["text"], ours, later)
    return found


def proofs(folder: Path = TESTS) -> list[Proof]:
    """Every test that names a requirement, read from the source without importing it."""
    found: list[Proof] = []
    for path in sorted(folder.rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        if "mark.requirement" not in source:
            continue
        relative = path.relative_to(folder).as_posix()
        for test, requirement in _marked(ast.parse(source), relative):
            found.append(Proof(relative, test, requirement))
    return found


def _marked(module: ast.Module, path: str) -> list[tuple[str, str]]:
    """The tests of a module, each with one requirement it proves. Raises `ValueError` for a mark on anything else."""
    pairs: set[tuple[str, str]] = set()
    placed: set[ast.Call] = set()
    of_module = _marks(node for node in module.body if isinstance(node, ast.Assign) and _is_pytestmark(node))
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    scopes = [("", module.body, of_module)]
    scopes += [(f"{each.name}::", each.body, [*of_module, *_marks(each.decorator_list)]) for each in classes]
    for prefix, body, inherited in scopes:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                marks = [*inherited, *_marks(node.decorator_list)]
                pairs.update((prefix + node.name, each) for mark in marks for each in _ids(mark, path))
                placed.update(marks)
    if stray := [mark.lineno for mark in _marks([module]) if mark not in placed]:
        raise ValueError(f"{path}:{stray[0]}: a requirement is named where no test is")
    return sorted(pairs)


def _is_pytestmark(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)


def _marks(nodes: Iterable[ast.AST]) -> list[ast.Call]:
    inner = (each for node in nodes for each in ast.walk(node))
    return [each for each in inner if isinstance(each, ast.Call) and ast.unparse(each.func) == _MARK]


def _ids(mark: ast.Call, path: str) -> list[str]:
    named = [each.value for each in mark.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if not named or len(named) != len(mark.args) or mark.keywords:
        raise ValueError(f"{path}:{mark.lineno}: ids of requirements are written out as strings")
    return named


def requirements_page(required: Mapping[str, Requirement], proven: Iterable[Proof]) -> str:
    """The page of requirements: by section, each with its tests; apart, those that wait for other work."""
    tests: dict[str, list[Proof]] = {}
    for proof in sorted(proven):
        tests.setdefault(proof.requirement, []).append(proof)
    now = [entry for entry in required.values() if entry.later is None]
    later = [entry for entry in required.values() if entry.later is not None]
    open_now = [entry for entry in now if entry.id not in tests]
    lines = [
        "# Requirements",
        "",
        "What the service does, sentence by sentence, and the tests that prove it. *Ours* marks a choice made where",
        "the specification leaves one.",
        "",
        "| | requirements | ours |",
        "|---|---:|---:|",
        _count("proven by a test", [entry for entry in now if entry.id in tests]),
        _count("open", open_now),
        _count("part of later work", later),
        _count("all", list(required.values())),
        "",
    ]
    if open_now:
        lines += [f"Open: {', '.join(entry.id for entry in open_now)}.", ""]
    for section in dict.fromkeys(entry.section for entry in now):
        lines += [f"## {section}", "", "| id | requirement | tests |", "|---|---|---|"]
        lines += [_row(entry, tests.get(entry.id, [])) for entry in now if entry.section == section]
        lines.append("")
    lines += ["## Part of later work", ""]
    for reason, words in WAITS_FOR.items():
        lines += [f"### With {words}", "", "| id | section | requirement |", "|---|---|---|"]
        lines += [f"| {each.id} | {each.section} | {_text(each)} |" for each in later if each.later == reason]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _count(what: str, entries: list[Requirement]) -> str:
    return f"| {what} | {len(entries)} | {sum(entry.ours for entry in entries)} |"


def _text(entry: Requirement) -> str:
    return ("*Ours.* " if entry.ours else "") + entry.text.replace("|", "\\|")


def _row(entry: Requirement, found: list[Proof]) -> str:
    names = [f"tests/{proof.path}::{proof.test}" for proof in found]
    return f"| {entry.id} | {_text(entry)} | {'<br>'.join(names) or '**none**'} |"
