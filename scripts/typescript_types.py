"""Converts JSON Schemas to TypeScript types. Supports the keywords that the OpenAPI document uses, and no others."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

Json = dict[str, Any]

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_SILENT = frozenset(
    {
        "title",
        "description",
        "default",
        "example",
        "examples",
        "format",
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "discriminator",
        "deprecated",
        "writeOnly",
        "contentEncoding",
        "required",
    }
)
"""Keywords that a type cannot express, or that are read elsewhere."""
_SPOKEN = frozenset({"type", "enum", "const", "anyOf", "oneOf", "items", "properties", "additionalProperties", "$ref"})
_WIDTH = 120


def type_of(schema: Mapping[str, Any]) -> str:
    """The type of the values that a schema allows.

    Raises:
        ValueError: the schema has an unknown keyword.
    """
    if unknown := set(schema) - _SILENT - _SPOKEN:
        raise ValueError(f"no TypeScript for {sorted(unknown)}")
    if "$ref" in schema:
        return named(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if choices := schema.get("anyOf", schema.get("oneOf")):
        return " | ".join(dict.fromkeys(type_of(choice) for choice in choices))
    kind = schema.get("type")
    if kind == "array":
        inner = type_of(schema.get("items", {}))
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object":
        return _object(schema)
    return _PLAIN[kind] if kind else "JsonValue"


def _object(schema: Mapping[str, Any]) -> str:
    if "properties" in schema:
        fields = members(schema["properties"], schema.get("required", ()))
        return "{\n" + "".join(f"  {line}\n" for line in fields) + "}"
    values = schema.get("additionalProperties", True)
    return f"Record<string, {'JsonValue' if values is True else type_of(values)}>"


def members(properties: Mapping[str, Mapping[str, Any]], required: Iterable[str]) -> list[str]:
    """The lines of an interface's fields, each with its documentation."""
    needed = frozenset(required)
    lines: list[str] = []
    for name, schema in properties.items():
        lines += comment(schema.get("description", ""), default=schema.get("default"))
        key = name if _NAME.fullmatch(name) else json.dumps(name)
        lines.append(f"{key}{'' if name in needed else '?'}: {type_of(schema)};")
    return lines


def interface(name: str, schema: Mapping[str, Any]) -> str:
    """A component as an exported declaration."""
    said = "".join(f"{line}\n" for line in comment(schema.get("description", "")))
    if "properties" not in schema:
        return f"{said}export type {named(name)} = {'unknown' if not schema else type_of(schema)};\n"
    fields = members(schema["properties"], schema.get("required", ()))
    return said + f"export interface {named(name)} {{\n" + "".join(f"  {line}\n" for line in fields) + "}\n"


def literal(value: Any) -> str:
    """A value as an expression. Keys are quoted only if necessary."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return re.sub(r'^(\s*)"([A-Za-z_$][A-Za-z0-9_$]*)":', r"\1\2:", text, flags=re.MULTILINE)


def import_types(names: Iterable[str], module: str) -> str:
    """An import of types, one a line; empty for no names."""
    lines = "".join(f"  {name},\n" for name in sorted(set(names)))
    return f"import type {{\n{lines}}} from {json.dumps(module)};\n" if lines else ""


def comment(text: str, *, default: Any = None) -> list[str]:
    """A text as the lines of a comment; empty for no text."""
    words = " ".join(text.split()).replace("*/", "* /")
    if default not in (None, "", [], {}) and not isinstance(default, dict | list):
        words = f"{words} Default: {json.dumps(default)}.".strip()
    if not words:
        return []
    if len(words) + 11 <= _WIDTH:
        return [f"/** {words} */"]
    lines, line = ["/**"], " *"
    for word in words.split():
        if len(line) + 1 + len(word) > _WIDTH - 4:
            lines.append(line)
            line = " *"
        line += f" {word}"
    return [*lines, line, " */"]


def named(name: str) -> str:
    """The name of a component in TypeScript."""
    return re.sub(r"[^A-Za-z0-9_$]", "", name)


def pascal(name: str) -> str:
    """`create_agent` as `CreateAgent`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def camel(name: str) -> str:
    """`phone_numbers` as `phoneNumbers`."""
    whole = pascal(name)
    return whole[:1].lower() + whole[1:]
