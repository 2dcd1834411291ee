"""The tools as commands of a shell: which noun and verb each has, and what it takes.

All of it is read from the stored definitions of the tools, so a tool that is added there is a command at once. The noun
is the first part of the tool's REST path; the verb is what its name says besides the noun.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal

from callwright.tools.arguments.file_arguments import READS_FILES, with_file_arguments
from callwright.tools.toolsets import stored_definitions

Kind = Literal["text", "integer", "number", "yes or no", "list", "object"]

CONSENT = "person_agreed_to"
"""The argument that a model sends back. In a shell the person is asked directly, or passes it on."""
_KINDS: Mapping[str, Kind] = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "yes or no",
    "array": "list",
    "object": "object",
}
_SHORTER = {"phone_numbers": "numbers"}
_ONE_OF = {"people": "person"}
"""Nouns whose singular is another word."""
_SENTENCE_END = re.compile(r"(?<=[.:])\s")
_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class DeclaredArgument:
    """An argument of a tool, from its JSON Schema."""

    name: str
    schema: Mapping[str, Any]
    required: bool
    in_path: bool
    """Whether it names what the tool is about, so that a command takes it without a flag."""

    @property
    def flag(self) -> str:
        """The flag of a command, for example `--phone-column`."""
        return f"--{self.name.replace('_', '-')}"

    @cached_property
    def variants(self) -> Sequence[Mapping[str, Any]]:
        """The schemas of which its value has to fit one."""
        return self.schema.get("anyOf") or (self.schema,)

    @property
    def kind(self) -> Kind:
        """What a value is, without regard to null."""
        for one in self.variants:
            if (kind := _KINDS.get(one.get("type", ""))) is not None:
                return kind
        return "text"

    @property
    def takes_null(self) -> bool:
        """Whether `null` is a value of its own, which clears a field."""
        return any(one.get("type") == "null" for one in self.variants)

    @property
    def choices(self) -> tuple[str, ...]:
        """The values it takes, if the declaration lists them: of a list, the values of its entries."""
        for one in self.variants:
            found = one.get("enum") or one.get("items", {}).get("enum")
            if found:
                return tuple(map(str, found))
        return ()

    @property
    def help(self) -> str:
        """What it means, what an object holds, its default and the value that clears it, as a few sentences."""
        said = [str(self.schema.get("description", ""))]
        inner = [name for one in self.variants for name in one.get("properties", ())]
        said += [f"With {', '.join(inner)}."] if inner else []
        said += [f"Default {self.schema['default']}."] if "default" in self.schema else []
        said += ["null clears it."] if self.takes_null and "null" not in said[0] else []
        return " ".join(filter(None, said))


@dataclass(frozen=True)
class DeclaredTool:
    """A tool, as a command sees it."""

    name: str
    title: str
    toolset: str
    noun: str
    """The group of its command, for example `calls`."""
    verb: str
    """Its command in the group, for example `get-transcript`."""
    description: str
    reads_only: bool
    arguments: tuple[DeclaredArgument, ...]

    @property
    def command(self) -> str:
        """The words of its command, for example `calls get-transcript`."""
        return f"{self.noun} {self.verb}"

    @property
    def summary(self) -> str:
        """The beginning of its description, up to the end of the first sentence."""
        first = _SENTENCE_END.split(self.description, maxsplit=2)
        return " ".join(first[:2]) if first[0].endswith(":") else first[0]

    def argument(self, name: str) -> DeclaredArgument | None:
        """The argument of this name, in either spelling; None if there is none."""
        wanted = name.replace("-", "_")
        return next((one for one in self.arguments if one.name == wanted), None)


@cache
def declared_tools() -> Mapping[str, DeclaredTool]:
    """Every tool by its name, in the order of the catalogue."""
    return {found["name"]: _declared(found) for found in stored_definitions()}


@cache
def nouns() -> Mapping[str, tuple[DeclaredTool, ...]]:
    """The tools by noun. Nouns come in the order of the catalogue."""
    grouped: dict[str, list[DeclaredTool]] = {}
    for tool in declared_tools().values():
        grouped.setdefault(tool.noun, []).append(tool)
    return {noun: tuple(found) for noun, found in grouped.items()}


def in_commands(text: str) -> str:
    """A text for models in which commands stand in place of the names of tools: `calls list` for `list_calls`."""
    tools = declared_tools()
    return re.sub(r"\b[a-z]+(?:_[a-z]+)+\b", lambda found: _command_of(tools, found[0]), text)


def _command_of(tools: Mapping[str, DeclaredTool], word: str) -> str:
    return f"`{tools[word].command}`" if word in tools else word


def _declared(found: Mapping[str, Any]) -> DeclaredTool:
    path: str = found["path"]
    schema = found["inputSchema"]
    if found["name"] == READS_FILES:
        schema = with_file_arguments(schema, "the present folder")
    segment = path.split("/")[1]
    return DeclaredTool(
        name=found["name"],
        title=found["title"],
        toolset=found["toolset"],
        noun=_SHORTER.get(segment, segment.replace("_", "-")),
        verb=_verb(found["name"], segment),
        description=found["description"],
        reads_only=found["annotations"]["readOnlyHint"],
        arguments=_arguments(schema, _FIELD.findall(path)),
    )


def _arguments(schema: Mapping[str, Any], path: Sequence[str]) -> tuple[DeclaredArgument, ...]:
    properties, required = schema["properties"], schema.get("required", ())
    in_order: Iterable[str] = (*(name for name in path if name in properties), *properties)
    return tuple(
        DeclaredArgument(name, properties[name], name in required, name in path) for name in dict.fromkeys(in_order)
    )


def _verb(name: str, segment: str) -> str:
    """The name without the words of the noun: `list_phone_numbers` of `phone_numbers` is `list`."""
    of_noun = {word for part in segment.split("_") for word in (part, _ONE_OF.get(part, part.removesuffix("s")))}
    return "-".join(word for word in name.split("_") if word not in of_noun)
