"""Forms made from the input of an operation: labels, help, choices and what is required stand in the contract."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from callwright.contract.declaration.operation import AnyOperation
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.visitors import one

FieldKind = Literal["text", "area", "choice", "whole", "check", "lines"]
LONG = 1_000
"""A text that may be longer is written in a field of several lines."""


@dataclass(frozen=True)
class FormField:
    """A field as the template shows it."""

    name: str
    label: str
    help: str
    kind: FieldKind
    options: tuple[tuple[str, str], ...]
    is_required: bool
    longest: int | None
    value: Any
    fault: str | None


def kind_of(field: FieldInfo) -> tuple[FieldKind, tuple[str, ...], int | None]:
    """How a field of the contract is filled in: its kind, the words that it may be, and its longest text."""
    words: list[str] = []
    types: list[Any] = []
    longest: list[int] = [length for meta in field.metadata if (length := getattr(meta, "max_length", None))]

    def look(annotation: Any) -> None:
        if get_origin(annotation) is Literal:
            words.extend(str(word) for word in get_args(annotation))
            return
        parts = get_args(annotation)
        if not parts:
            types.append(annotation)
        elif get_origin(annotation) is list:
            types.append(list)
        for part in parts:
            if isinstance(part, FieldInfo):
                longest.extend(length for meta in part.metadata if (length := getattr(meta, "max_length", None)))
            elif get_origin(annotation) is not list:
                look(part)

    look(field.annotation)
    if words:
        return "choice", tuple(words), None
    kinds = set(types) - {NoneType}
    most = min(longest, default=None)
    if list in kinds:
        return "lines", (), None
    if bool in kinds:
        return "check", (), None
    if int in kinds:
        return "whole", (), None
    return ("area" if most is None or most > LONG else "text"), (), most


def form_fields(
    operation: AnyOperation,
    names: Sequence[str],
    given: Mapping[str, Any],
    refused: Refused | None = None,
    choices: Mapping[str, Sequence[tuple[str, str]]] | None = None,
) -> list[FormField]:
    """The fields of a form. `given` is what stands in them, `choices` what a field that names a thing may name."""
    faults = {fault.field.split(".")[0]: fault.message for fault in (refused.faults if refused is not None else ())}
    if refused is not None and not faults and "field" in refused.details:
        faults = {str(refused.details["field"]).split(".")[0]: refused.message}
    found: list[FormField] = []
    for name in names:
        field = operation.takes.model_fields[name]
        kind, words, longest = kind_of(field)
        options = tuple((word, word.replace("_", " ")) for word in words)
        if choices is not None and name in choices:
            kind, options = "choice", tuple(choices[name])
        value = given.get(name, None if field.is_required() else field.get_default(call_default_factory=True))
        found.append(
            FormField(
                name,
                name.replace("_", " ").capitalize(),
                "" if choices is not None and name in choices else field.description or "",
                kind,
                options,
                field.is_required(),
                longest,
                "\n".join(value) if isinstance(value, list) else value,  # pyright: ignore[reportUnknownArgumentType]
                faults.get(name),
            )
        )
    return found


def input_of(operation: AnyOperation, names: Sequence[str], fields: Mapping[str, list[str]]) -> dict[str, Any]:
    """What a form says, as the operation takes it. An empty field is left out, or emptied where it was filled."""
    found: dict[str, Any] = {}
    for name in names:
        kind, _, _ = kind_of(operation.takes.model_fields[name])
        text = one(fields, name).replace("\r\n", "\n")
        if kind == "check":
            found[name] = bool(text)
        elif kind == "lines":
            found[name] = [line.strip() for line in text.split("\n") if line.strip()]
        elif kind == "whole":
            is_whole = text.isascii() and text.lstrip("-").isdigit() and len(text) < 15
            found[name] = int(text) if is_whole else text or None
        elif text or (operation.method == "PATCH" and kind in ("text", "area")):
            found[name] = text
    return {name: value for name, value in found.items() if value is not None}
