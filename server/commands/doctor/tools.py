"""Which tools work with a service, by its answers and its OpenAPI document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from callwright.client import CallwrightError, Client, NotOffered
from callwright.client.compat.description import extra_properties, routes
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.surface import OPERATIONS
from callwright.server.commands.doctor.checkup import CheckResult, Support
from callwright.tools.catalogue.registry import TOOLS

_LISTED = 12
_BY_ADDRESS = {"get_transcript": "transcript_url", "get_recording": "recording_url"}


@dataclass
class ServiceSurvey:
    """The support of each operation that reads, and the tools that can use an address in calls."""

    found: dict[str, Support] = field(default_factory=dict[str, Support])
    by_address: set[str] = field(default_factory=set[str])
    ids: dict[str, str] = field(default_factory=dict[str, str])

    def note(self, operation: AnyOperation, data: Mapping[str, Any]) -> None:
        """Keeps an id from a list, for operations that need one."""
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
    """Calls every operation that only reads and needs at most an id, which is taken from a list."""
    survey = ServiceSurvey()
    reading = [one for one in OPERATIONS.values() if one.method == "GET" and one.shape != "media"]
    for operation in reading:
        if not _needs(operation):
            survey.note(operation, await _asked(client, operation, {}, survey))
    for operation in reading:
        wanted = survey.ids.get(operation.noun)
        if wanted is not None and len(operation.path_fields) == 1 and _needs(operation) == set(operation.path_fields):
            await _asked(client, operation, {operation.path_fields[0]: wanted}, survey)
    return survey


def _needs(operation: AnyOperation) -> set[str]:
    return {name for name, field in operation.takes.model_fields.items() if field.is_required()}


async def _asked(
    client: Client, operation: AnyOperation, given: Mapping[str, Any], survey: ServiceSurvey
) -> Mapping[str, Any]:
    per_page = {"per_page": 1} if operation.shape == "many" else {}
    try:
        answer = await client.ask_lenient(operation, operation.takes(**per_page, **given))
    except NotOffered:
        survey.found[operation.name] = "absent"
    except CallwrightError:
        survey.found[operation.name] = "unknown"
    else:
        survey.found[operation.name] = "partly" if answer.answer is None else "works"
        return answer.data
    return {}


def tool_support(survey: ServiceSurvey, named: Mapping[str, str] | None) -> dict[str, Support]:
    """Whether each tool works, by the service's answers, else by its OpenAPI document, else unknown."""
    made: dict[str, Support] = {}
    for tool in TOOLS:
        name = tool.operation.name
        support = survey.found.get(name, "unknown")
        if support == "unknown" and named is not None:
            support = "works" if name in named else "absent"
        if support in ("absent", "unknown") and name in survey.by_address:
            support = "partly"
        made[tool.name] = support
    return made


def spelling_finding(client: Client, survey: ServiceSurvey) -> CheckResult:
    """How the service spells phone numbers."""
    if survey.found.get("list_phone_numbers") in (None, "absent", "unknown"):
        return CheckResult("note", "Phone numbers", "not found at /phone_numbers nor at /phone-numbers")
    spelt = client.compat.spelling("list_phone_numbers") or "phone_numbers"
    said = f"read at /{spelt}; how they are rented is found out at the first try"
    return CheckResult("good", "Phone numbers", said)


def document_findings(document: Mapping[str, Any] | None, base_url: str) -> list[CheckResult]:
    """The contract's operations that the OpenAPI document lacks, and the fields that it adds to them."""
    if document is None:
        said = "no OpenAPI document at /openapi.json"
        hint = "CALLWRIGHT_OPENAPI_URL names another place; without one tools gain no arguments."
        return [CheckResult("note", "Description", said, help=hint)]
    base_path = urlsplit(base_url).path.rstrip("/")
    named = routes(document, base_path=base_path)
    missing = [name for name in OPERATIONS if name not in named]
    said = f"names {len(named)} of {len(OPERATIONS)} operations"
    state = "good" if not missing else "note"
    findings = [CheckResult(state, "Description", said, help=f"Not named: {_some(missing)}." if missing else "")]
    extras = {
        name: list(found)
        for name, operation in OPERATIONS.items()
        if (found := extra_properties(document, operation, base_path=base_path))
    }
    if extras:
        words = "; ".join(f"{name}: {_some(fields)}" for name, fields in extras.items())
        findings.append(CheckResult("good", "Own fields", f"tools gain arguments: {words}"))
    return findings


def _some(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
