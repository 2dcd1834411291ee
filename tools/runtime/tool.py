"""A tool is a value: an operation of the contract, a description for a model, hints for a host, and an answer text."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Annotated, Any, Literal, TypeVar

from mcp.types import ContentBlock
from pydantic import BaseModel, ConfigDict, Field, create_model

from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.declaration.pagination import Page
from callwright.tools.runtime.confirmation import ConfirmationArguments, ConfirmationOf
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.toolsets import Toolset
from callwright.tools.untrusted.untrusted_fields import untrusted_paths
from callwright.tools.wording.text import json_bytes

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class Hints:
    """The MCP tool annotations, all four always given."""

    read_only: bool
    destructive: bool
    """It overwrites, ends or removes something, or makes telephones ring."""
    idempotent: bool
    """Repeating it with the same arguments changes nothing more."""
    open_world: bool
    """It reaches beyond the service: a carrier, a telephone."""


READS = Hints(read_only=True, destructive=False, idempotent=True, open_world=False)
ADDS = Hints(read_only=False, destructive=False, idempotent=False, open_world=False)
CHANGES = Hints(read_only=False, destructive=True, idempotent=True, open_world=False)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The result of a tool: text for the model, the data behind it, and other content."""

    text: str
    data: dict[str, Any]
    more: tuple[ContentBlock, ...] = ()
    untrusted: tuple[str, ...] = ()
    """The paths in `data` of text that outsiders said or wrote, for example `turns.text`."""

    @cached_property
    def size(self) -> int:
        """The bytes of text and data as JSON. Computed on first access."""
        return json_bytes([self.text, self.data]) - len("[,]")


class Projection(BaseModel):
    """A structured answer with a part of the service's fields: those that a model needs for its next step."""

    model_config = ConfigDict(extra="ignore", frozen=True, from_attributes=True, validate_by_name=True)


def projection_of(resource: type[BaseModel], name: str, *fields: str) -> type[Projection]:
    """A projection with these fields of a resource, each as the contract declares it. `name` names it in schemas."""
    declared = resource.model_fields
    kept: dict[str, Any] = {field: (declared[field].annotation, declared[field]) for field in fields}
    return create_model(name, __base__=Projection, **kept)


class Deleted(Resource):
    """The answer of a tool that deletes."""

    id: str = Field(description="What was deleted.")
    deleted: Literal[True] = True


class Paging(Projection):
    """The position of an answer in its list."""

    total: int | None
    """None if a service does not state it."""
    has_more: bool
    next_cursor: str | None = None


Handler = Callable[[ToolContext, Any], Awaitable[Reply]]
InputCompleter = Callable[[ToolContext, Any], Awaitable[Input]]
ReplyText = Callable[[Any, ToolContext], str]

_HELD = frozenset({"expected_revisions", "expected_monthly_cost"})
"""Arguments that no tool offers: a confirmation sets them to what a person was asked about."""
_PAGING = frozenset({"page"})
"""Arguments of every list that a tool does not offer, because it uses a cursor."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool. Most need no code but `reply`; `handler` replaces the plain request to the service."""

    operation: AnyOperation
    toolset: Toolset
    title: str
    description: str
    """For a model: purpose, when to use it and when not, cost, side effects and result. At most 1,024 characters. Short
    sentences, because a sentence that names a switched-off tool is left out.
    """
    hints: Hints
    reply: ReplyText
    """Makes the text of the answer in short lines; for a list, of one entry."""
    empty: str = ""
    """The text of an empty list."""
    default_fields: tuple[str, ...] = ()
    """The fields of a list's entries in the structured answer if the caller names none."""
    example: str = ""
    """A further field of entries, as an example in the description of `fields`."""
    hidden: frozenset[str] = frozenset()
    """Arguments of the operation that the tool does not offer."""
    collapsed: frozenset[str] = frozenset()
    """Arguments whose inner fields are described in words, here or by another tool. They are validated all the same."""
    required: frozenset[str] = frozenset()
    """Arguments that the operation can do without and the tool cannot."""
    input_model: type[Input] | None = None
    """The model of the arguments, if the tool takes more than its operation."""
    output_model: type[BaseModel] | None = None
    """The model of the structured answer, if it is not the operation's own."""
    omitted_fields: frozenset[str] = frozenset()
    """Fields of the answer that its schema leaves out, because they have the names of the arguments that set them."""
    complete_input: InputCompleter | None = None
    """Adds values that the operation needs and the tool does not ask for, before a plain request."""
    handler: Handler | None = None
    confirmation: ConfirmationOf | None = None
    """Finds what a person has to confirm before it runs, if it dials or spends. Adds their arguments."""
    fenced_as: str = ""
    """What the entries of a list are, if all their text is from outside: they share one fence under this title."""
    argument_descriptions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Descriptions of arguments that replace those of the contract."""
    truncation_hint: str = ""
    """A sentence about where the rest of a cut answer is. `{name}` stands for an argument or an answer's field."""

    @property
    def name(self) -> str:
        """The operation's own name."""
        return self.operation.name

    @property
    def keyed(self) -> bool:
        """Whether the service runs calls with the same idempotency key only once."""
        return self.operation.method == "POST" and not self.hints.read_only

    @property
    def many(self) -> bool:
        """Whether it answers with a list of the service."""
        return self.operation.shape == "many"

    @cached_property
    def arguments(self) -> type[Input]:
        """The model that validates the arguments. Those of `hidden` are in it and are refused separately."""
        input_model = self.input_model or self.operation.takes
        if not self.many:
            return input_model if self.confirmation is None else _with_confirmation(input_model)
        names: Any = Annotated[list[Literal[self.entry_fields]] | None, Field(min_length=1, max_length=100)]  # pyright: ignore[reportInvalidTypeForm, reportInvalidTypeArguments]  # a choice made of the contract's names
        return create_model(f"{input_model.__name__}Fields", __base__=input_model, fields=(names, None))

    @cached_property
    def shown_names(self) -> Mapping[str, str]:
        """The arguments that tools name otherwise than the contract: one name for one thing, such as `call_id`."""
        own = self.operation.path_fields
        named = {"call_uuid": "call_id", "id": f"{self.operation.noun.removesuffix('s')}_id"}
        return {name: shown for name, shown in named.items() if name in own}

    def shown(self, name: str) -> str:
        """The name by which callers of the tool know an argument."""
        return self.shown_names.get(name, name)

    @cached_property
    def offered(self) -> tuple[str, ...]:
        """The names of the arguments it offers."""
        hidden = self.hidden | (_PAGING if self.many else _HELD)
        if set(self.default_fields) == set(self.entry_fields):
            hidden |= {"fields"}
        return tuple(name for name in self.arguments.model_fields if name not in hidden)

    @cached_property
    def entry_fields(self) -> tuple[str, ...]:
        """The fields that an entry of its list can have, by their names in the answer."""
        item = self.operation.item
        fields = item.model_fields if item is not None else {}
        return tuple(found.serialization_alias or name for name, found in fields.items())

    @property
    def answer(self) -> type[BaseModel]:
        """The model of the structured answer."""
        item = self.operation.item
        if self.output_model is not None:
            return self.output_model
        if item is None:
            return Deleted
        return Page[item] if self.many else item

    @cached_property
    def untrusted(self) -> tuple[str, ...]:
        """The paths of text from outside in its data, by the marks of the contract."""
        if self.operation.item is None:
            return ()
        before = "data." if self.many else ""
        paths = untrusted_paths(self.operation.item, None if self.many else self.output_model)
        return tuple(f"{before}{path}" for path in paths)

    @property
    def example_fields(self) -> tuple[str, ...]:
        """Two fields of an entry: the first one, and the first that is not shown by default."""
        others = (name for name in self.entry_fields if name not in self.default_fields)
        return (self.entry_fields[0], self.example or next(others, self.entry_fields[-1]))

    @property
    def collapsed_arguments(self) -> frozenset[str]:
        """Arguments of which the definition has only type and description."""
        return self.collapsed | {"fields"} if self.many else self.collapsed


@cache
def _with_confirmation(input_model: type[Input]) -> type[Input]:
    return create_model(f"{input_model.__name__}Confirmed", __base__=(ConfirmationArguments, input_model))


def no_text(_: Any, __: ToolContext) -> str:
    """The `reply` of a tool whose `handler` makes the text itself."""
    return ""


def deleted(words: str) -> ReplyText:
    """The `reply` of a tool that deletes; `{id}` in it stands for what was deleted."""
    return lambda gone, _: words.format(id=gone.id)


def data_of(answer: BaseModel) -> dict[str, Any]:
    """An answer as JSON data without its nulls."""
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


def projected(model: type[Model], answer: BaseModel) -> Model:
    """The part of an answer that a narrower model holds."""
    return model.model_validate(answer, from_attributes=True)
