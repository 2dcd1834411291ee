"""Which tools work in front of a service, told by what it answers and by what its OpenAPI document names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from callwright.client import CallwrightError, Client, NotOffered
from callwright.client.compat.description import Route, extra_properties, routes
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.surface import OPERATIONS
from callwright.server.commands.doctor.checkup import CheckResult, Standing, ToolCheck
from callwright.tools.catalogue.every import TOOLS

_LISTED = 12
_BY_ADDRESS = {"get_transcript": "transcript_url", "get_recording": "recording_url"}


@dataclass
class ServiceSurvey:
    """What reading operations gave, and which tools can work through an address that calls name."""

    found: dict[str, Standing] = field(default_factory=dict[str, Standing])
    by_address: set[str] = field(default_factory=set[str])
    ids: dict[str, str] = field(default_factory=dict[str, str])

    def note(self, operation: AnyOperation, data: Mapping[str, Any]) -> None:
        """Keeps an id of a thing that is there, for operations that want one."""
        entries = data.get("data")
        if operation.shape != "many" or not isinstance(entries, list) or not entries:
            return
        first: object = cast("list[object]", entries)[0]
        if isinstance(first, dict):
            entry = cast("Mapping[str, Any]", first)
            value = entry.get("id", entry.get("call_id"))
            if isinstance(value, str):
                self.ids.setdefault(operation.noun, value)
            if operation.noun == "calls":
                self.by_address |= {tool for tool, name in _BY_ADDRESS.items() if isinstance(entry.get(name), str)}


async def probed(client: Client) -> ServiceSurvey:
    """Asks all that can be asked by reading, with nothing in hand but an id from a list."""
    probe = ServiceSurvey()
    reading = [one for one in OPERATIONS.values() if one.method == "GET" and one.shape != "media"]
    for operation in reading:
        if not _needs(operation):
            probe.note(operation, await _asked(client, operation, {}, probe))
    for operation in reading:
        wanted = probe.ids.get(operation.noun)
        if wanted is not None and len(operation.path_fields) == 1 and _needs(operation) == set(operation.path_fields):
            await _asked(client, operation, {operation.path_fields[0]: wanted}, probe)
    return probe


def _needs(operation: AnyOperation) -> set[str]:
    return {name for name, field in operation.takes.model_fields.items() if field.is_required()}


async def _asked(
    client: Client, operation: AnyOperation, given: Mapping[str, Any], probe: ServiceSurvey
) -> Mapping[str, Any]:
    per_page = {"per_page": 1} if operation.shape == "many" else {}
    try:
        answer = await client.ask_lenient(operation, operation.takes(**per_page, **given))
    except NotOffered:
        probe.found[operation.name] = "absent"
    except CallwrightError:
        probe.found[operation.name] = "unknown"
    else:
        probe.found[operation.name] = "partly" if answer.answer is None else "works"
        return answer.data
    return {}


def standings(probe: ServiceSurvey, named: Mapping[str, Route] | None) -> list[ToolCheck]:
    """Every tool: by what was seen, else by what the document names, else unknown."""
    made: list[ToolCheck] = []
    for tool in TOOLS:
        name = tool.operation.name
        standing = probe.found.get(name, "unknown")
        if standing == "unknown" and named is not None:
            standing = "works" if name in named else "absent"
        if standing in ("absent", "unknown") and name in probe.by_address:
            standing = "partly"
        made.append(ToolCheck(tool.name, standing))
    return made


def spelling_finding(client: Client, probe: ServiceSurvey) -> CheckResult:
    """How the service spells phone numbers."""
    if probe.found.get("list_phone_numbers") in (None, "absent", "unknown"):
        return CheckResult(state="note", what="Phone numbers", said="not found at /phone_numbers nor at /phone-numbers")
    spelt = client.compat.spelling("list_phone_numbers") or "phone_numbers"
    said = f"read at /{spelt}; how they are rented is found out at the first try"
    return CheckResult(state="good", what="Phone numbers", said=said)


def document_findings(document: Mapping[str, Any] | None, base_url: str) -> list[CheckResult]:
    """What the OpenAPI document lacks of the contract's operations, and what it has beyond their fields."""
    if document is None:
        said = "no OpenAPI document at /openapi.json"
        hint = "CALLWRIGHT_OPENAPI_URL names another place; without one tools gain no arguments."
        return [CheckResult(state="note", what="Description", said=said, help=hint)]
    base_path = urlsplit(base_url).path.rstrip("/")
    named = routes(document, base_path=base_path)
    missing = [name for name in OPERATIONS if name not in named]
    said = f"names {len(named)} of {len(OPERATIONS)} operations"
    state = "good" if not missing else "note"
    findings = [
        CheckResult(state=state, what="Description", said=said, help=f"Not named: {_some(missing)}." if missing else "")
    ]
    extras = {
        name: list(found)
        for name, operation in OPERATIONS.items()
        if (found := extra_properties(document, operation, base_path=base_path))
    }
    if extras:
        words = "; ".join(f"{name}: {_some(fields)}" for name, fields in extras.items())
        findings.append(CheckResult(state="good", what="Own fields", said=f"tools gain arguments: {words}"))
    return findings


def _some(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
