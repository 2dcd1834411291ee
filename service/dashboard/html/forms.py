"""Forms made from the input of an operation: help, choices and what is required stand in the contract.

What people call a field, and help in their words, is in `field_names.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from callwright.contract.declaration.operation import AnyOperation
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.html.field_names import field_name, word_of
from callwright.service.dashboard.visitors import one

FieldKind = Literal["text", "area", "choice", "whole", "check", "lines", "several"]
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
    example: str = ""
    is_more: bool = False
    """Whether an ordinary case does not need it: it stands behind `More`."""


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
    more: Sequence[str] = (),
) -> list[FormField]:
    """The fields of a form. `given` is what stands in them, `choices` what a field that names a thing may name.

    Of a field that takes a list, `choices` are boxes to tick. `more` are names of fields that stand behind `More`.
    """
    faults = _faults(refused)
    found: list[FormField] = []
    for name in names:
        field = operation.takes.model_fields[name]
        named = field_name(name)
        kind, words, longest = kind_of(field)
        options = [(word, word_of(name, word)) for word in words]
        value = given.get(name, None if field.is_required() else field.get_default(call_default_factory=True))
        if choices is not None and name in choices:
            kind, options = "several" if kind == "lines" else "choice", list(choices[name])
            present: list[Any] = value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]
            known = {option for option, _ in options}
            options += [(one, str(one)) for one in present if one and one not in known]  # what is so now stays possible
        elif kind == "area" and named.is_line:
            kind = "text"
        found.append(
            FormField(
                name,
                named.label,
                (field.description or "") if named.help is None else named.help,
                kind,
                tuple(options),
                field.is_required(),
                longest,
                "\n".join(value) if isinstance(value, list) and kind == "lines" else value,  # pyright: ignore[reportUnknownArgumentType]
                faults.get(name),
                named.example,
                name in more,
            )
        )
    return found


def _faults(refused: Refused | None) -> dict[str, str]:
    """What is wrong, by the field of the form: the first fault of each."""
    if refused is None:
        return {}
    found: dict[str, str] = {}
    for fault in refused.faults:
        found.setdefault(fault.field.split(".")[0], fault.message)
    if not found and "field" in refused.details:
        found[str(refused.details["field"]).split(".")[0]] = refused.message
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
            written = "\n".join(fields.get(name, ())).split("\n")
            found[name] = [line.strip() for line in written if line.strip()]
        elif kind == "whole":
            is_whole = text.isascii() and text.lstrip("-").isdigit() and len(text) < 15
            found[name] = int(text) if is_whole else text or None
        elif text or (operation.method == "PATCH" and kind in ("text", "area")):
            found[name] = text
    return {name: value for name, value in found.items() if value is not None}
