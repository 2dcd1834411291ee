"""References in arguments: which arguments take an id, what else they take, and how descriptions say so.

Arguments are found by their type in the contract (`AgentId`, `PhoneNumberId`, …). Filters are plain text there; one
with the name of a reference, for example `agent_id`, is a reference too.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, get_args, get_type_hints

from pydantic.fields import FieldInfo

from callwright.contract.agents.agents import list_agents
from callwright.contract.audiences import list_audiences
from callwright.contract.declaration import field_types
from callwright.contract.declaration.filters import filter_of
from callwright.contract.declaration.marks import is_personal
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.deployments.deployments import list_contacts, list_deployments
from callwright.contract.phone_numbers import list_phone_numbers
from callwright.contract.voices import list_voices
from callwright.contract.webhooks import list_webhooks
from callwright.tools.arguments.schema import JsonSchema


@dataclass(frozen=True, kw_only=True)
class ReferenceKind:
    """A kind of resource that arguments refer to."""

    noun: str
    type: Any
    """The contract's type of its ids."""
    ids: re.Pattern[str]
    """The pattern of its ids. A matching value is taken as an id and never looked up."""
    finds: AnyOperation
    """The operation that lists it."""
    accepts: str = "id or name"
    """What its arguments accept, as text that begins with `id`."""
    names: tuple[str, ...] = ("name",)
    """The fields of an entry that name it."""
    filtered: bool = False
    """Whether the list has a filter for the exact name. Otherwise up to 1,000 entries of the list are read."""
    among: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Filters that leave out entries no longer in use."""

    @property
    def argument(self) -> str:
        """The argument that refers to one of them, for example `agent_id`."""
        return f"{self.noun.replace(' ', '_')}_id"


def _ids(prefix: str) -> re.Pattern[str]:
    return re.compile(rf"{prefix}_[0-9A-Za-z]+")


AGENT = ReferenceKind(noun="agent", type=field_types.AgentId, ids=_ids("agt"), finds=list_agents, filtered=True)
AUDIENCE = ReferenceKind(
    noun="audience", type=field_types.AudienceId, ids=_ids("aud"), finds=list_audiences, filtered=True
)
DEPLOYMENT = ReferenceKind(
    noun="deployment", type=field_types.DeploymentId, ids=_ids("dep"), finds=list_deployments, filtered=True
)
VOICE = ReferenceKind(
    noun="voice",
    type=field_types.VoiceId,
    ids=re.compile(r"[a-z]{2,3}(-[0-9A-Za-z]+){2,}"),
    finds=list_voices,
    names=("name", "id"),
)
PHONE_NUMBER = ReferenceKind(
    noun="phone number",
    type=field_types.PhoneNumberId,
    ids=_ids("num"),
    finds=list_phone_numbers,
    accepts="id, E.164 number or label",
    names=("number", "label"),
    among={"status": ["pending", "active", "releasing", "suspended"]},
)
CONTACT = ReferenceKind(
    noun="contact",
    type=field_types.ContactId,
    ids=_ids("ctc"),
    finds=list_contacts,
    accepts="id, or number with deployment_id",
    names=("phone_number",),
)
WEBHOOK = ReferenceKind(
    noun="webhook",
    type=field_types.WebhookId,
    ids=_ids("whk"),
    finds=list_webhooks,
    accepts="id or exact URL",
    names=("url",),
)
KINDS = (AGENT, AUDIENCE, DEPLOYMENT, VOICE, PHONE_NUMBER, CONTACT, WEBHOOK)

OTHER_IDS: Mapping[str, re.Pattern[str]] = {
    "call": _ids("cal"),
    "import": _ids("imp"),
    "event": _ids("evt"),
    "delivery": _ids("dlv"),
    "transaction": _ids("txn"),
    "review": _ids("rev"),
    "organization": _ids("org"),
}
"""Patterns of the ids of resources without a name."""


@dataclass(frozen=True)
class Reference:
    """An argument that refers to one resource, or to a list of resources, of one kind or of several."""

    kinds: tuple[ReferenceKind, ...]
    also: tuple[re.Pattern[str], ...] = ()
    """Patterns of ids of other kinds that it takes."""

    def is_id(self, value: str) -> bool:
        """Whether a value has the form of an id."""
        return any(ids.fullmatch(value) for ids in (*(kind.ids for kind in self.kinds), *self.also))


@dataclass(frozen=True)
class TelephoneNumber:
    """An argument that is a telephone number. Numbers of contacts are masked if the session masks."""

    of_contact: bool


_ABOUT = Reference((DEPLOYMENT, PHONE_NUMBER), (OTHER_IDS["call"],))
_SUBJECT = Reference(
    (DEPLOYMENT, AUDIENCE, PHONE_NUMBER, WEBHOOK),
    tuple(OTHER_IDS[kind] for kind in ("call", "transaction", "review", "organization")),
)
_FILTERS: Mapping[str, Reference] = {kind.argument: Reference((kind,)) for kind in KINDS} | {
    "reference_id": _ABOUT,
    "subject_id": _SUBJECT,
}
_NUMBER_FILTERS = {"number": TelephoneNumber(False), "phone_number": TelephoneNumber(True), "to": TelephoneNumber(True)}
_ABOUT_ACCEPTS = "id, number or exact name"
_SOURCE = ", from "


@lru_cache(maxsize=200)
def references_of(model: type[Input]) -> Mapping[str, Reference]:
    """The arguments of a tool that refer to resources, by name."""
    return {name: found for name, found in _arguments(model) if isinstance(found, Reference)}


@lru_cache(maxsize=200)
def numbers_of(model: type[Input]) -> Mapping[str, TelephoneNumber]:
    """The arguments of a tool that are telephone numbers, by name."""
    return {name: found for name, found in _arguments(model) if isinstance(found, TelephoneNumber)}


def _arguments(model: type[Input]) -> Iterator[tuple[str, Reference | TelephoneNumber | None]]:
    hints = get_type_hints(model, include_extras=True)
    for name, info in model.model_fields.items():
        marks = set(_marks(hints[name]))
        kind = next((kind for kind in KINDS if id(_mark(kind.type)) in marks), None)
        if kind is not None:
            yield name, Reference((kind,))
        elif id(_mark(field_types.E164)) in marks:
            yield name, TelephoneNumber(False)
        elif filter_of(info) is not None:
            yield name, _FILTERS.get(name) or _number(name, of_contact=is_personal(model, name))


def _number(name: str, *, of_contact: bool) -> TelephoneNumber | None:
    found = _NUMBER_FILTERS.get(name)
    return TelephoneNumber(True) if found is not None and of_contact else found


def _mark(annotated: Any) -> FieldInfo:
    """The field description that identifies one of the contract's types."""
    return next(part for part in get_args(annotated) if isinstance(part, FieldInfo))


def _marks(annotation: Any) -> Iterator[int]:
    for part in get_args(annotation):
        if isinstance(part, FieldInfo):
            yield id(part)
        else:
            yield from _marks(part)


def say_what_is_taken(model: type[Input], schema: JsonSchema) -> None:
    """Puts into the descriptions of a tool's arguments, in place, what they take besides an id.

    "Agent id (agt_…), from list_agents." becomes "Id or name.", because the argument's name says of what; another
    description gets it in brackets at its end. For a list, its entries' description is used if any.
    """
    for name, reference in references_of(model).items():
        found: JsonSchema = schema["properties"].get(name, {})
        items: JsonSchema = found.get("items", {})
        node = items if items.get("description") else found
        kind = reference.kinds[0]
        accepts = kind.accepts if len(reference.kinds) == 1 else _ABOUT_ACCEPTS
        text = str(node.get("description", ""))
        if not text or _SOURCE in text:
            node["description"] = f"{accepts[:1].upper()}{accepts[1:]}."
        elif accepts not in text:
            node["description"] = f"{text.removesuffix('.')} ({accepts})."
