"""One operation, declared once. Route, OpenAPI, client method, reference page and tool schema all come from here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast

from .filters import filter_of
from .model import Input, Resource
from .pagination import Page
from .problems import NOT_FOUND, ProblemCode

P = ParamSpec("P")
In = TypeVar("In", bound=Input)
Out = TypeVar("Out")
Item = TypeVar("Item", bound=Resource)

Method = Literal["GET", "POST", "PATCH", "DELETE"]
Shape = Literal["one", "many", "nothing", "media"]
Place = Literal["path", "query", "body"]


@dataclass(frozen=True)
class MediaStream:
    """Stands for an answer that is bytes, not JSON, in the media types named."""

    media_types: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Operation(Generic[P, In, Out]):
    """A promise: its name, where it lives, what it takes and gives, and which problems it may answer with."""

    name: str
    noun: str
    method: Method
    path: str
    """Below the versioned prefix, for example `/agents/{id}`."""
    takes: type[In]
    shape: Shape
    item: type[Resource] | None
    """The model of the answer's `data`, or of one entry of it for lists."""
    status: int
    summary: str
    problems: tuple[ProblemCode, ...]
    sorts: tuple[str, ...] = ()
    counts_to: int | None = None
    """For a list that may be too long to count: `pagination.total` is at most this, and then means so many or more."""
    creates: bool = False
    media_types: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether a success changes anything."""
        return self.method != "GET"

    def place_of(self, field: str) -> Place:
        """Where a field of the input travels."""
        if "{" + field + "}" in self.path:
            return "path"
        return "query" if self.method in ("GET", "DELETE") else "body"

    def wire_name(self, field: str) -> str:
        """The name of a field on the wire: `filter[status]` for a filter, else the field's own name."""
        return f"filter[{field}]" if filter_of(self.takes.model_fields[field]) else field

    @cached_property
    def looks_up(self) -> bool:
        """Whether it reads one thing by its id, or the only one there is, and so takes no time worth a thread."""
        by_key = self.path.endswith("}") or self.path.count("/") == 1
        return self.method == "GET" and self.shape == "one" and by_key

    @property
    def counting(self) -> str:
        """What a caller has to know about `pagination.total`; nothing where every entry is counted."""
        if self.counts_to is None:
            return ""
        return f"Entries are counted up to {self.counts_to}: such a `pagination.total` means so many or more."

    @property
    def path_fields(self) -> tuple[str, ...]:
        """The input's fields that are part of the path."""
        return tuple(f for f in self.takes.model_fields if self.place_of(f) == "path")

    @property
    def has_body(self) -> bool:
        """Whether a JSON body is read."""
        return any(self.place_of(f) == "body" for f in self.takes.model_fields)


AnyOperation = Operation[Any, Any, Any]

OPERATIONS: dict[str, AnyOperation] = {}
"""Every operation by name, in the order of declaration. `contract.surface` fills it."""


def _declare(operation: Operation[P, In, Out]) -> Operation[P, In, Out]:
    if operation.name in OPERATIONS:
        raise ValueError(f"operation {operation.name!r} is declared twice")
    OPERATIONS[operation.name] = operation
    return operation


def _model(takes: Callable[..., In]) -> type[In]:
    if not (isinstance(takes, type) and issubclass(takes, Input)):
        raise TypeError("takes must be an input model")
    return cast("type[In]", takes)


def _problems(path: str, extra: Sequence[ProblemCode]) -> tuple[ProblemCode, ...]:
    found = (NOT_FOUND,) if "{" in path else ()
    return tuple(dict.fromkeys((*found, *extra)))


def operation(
    name: str,
    method: Method,
    path: str,
    *,
    takes: Callable[P, In],
    gives: type[Out],
    summary: str,
    problems: Sequence[ProblemCode] = (),
    status: int = 200,
) -> Operation[P, In, Out]:
    """Declares an operation that answers with one resource. Status 201 marks it as creating one."""
    item = gives if issubclass(gives, Resource) else None
    return _declare(
        Operation(
            name=name,
            noun=path.split("/")[1],
            method=method,
            path=path,
            takes=_model(takes),
            shape="one",
            item=item,
            status=status,
            summary=summary,
            problems=_problems(path, problems),
            creates=status in (201, 202),
        )
    )


def listing(
    name: str,
    path: str,
    *,
    takes: Callable[P, In],
    gives: type[Item],
    summary: str,
    sorts: tuple[str, ...] = ("created_at",),
    counts_to: int | None = None,
    problems: Sequence[ProblemCode] = (),
) -> Operation[P, In, Page[Item]]:
    """Declares a paged list. `sorts` are the fields `sort` accepts; the first one, newest first, is the default.

    Entries are counted up to `counts_to`, where that is given.
    """
    return _declare(
        Operation(
            name=name,
            noun=path.split("/")[1],
            method="GET",
            path=path,
            takes=_model(takes),
            shape="many",
            item=gives,
            status=200,
            summary=summary,
            problems=_problems(path, problems),
            sorts=sorts,
            counts_to=counts_to,
        )
    )


def removal(
    name: str, path: str, *, takes: Callable[P, In], summary: str, problems: Sequence[ProblemCode] = ()
) -> Operation[P, In, None]:
    """Declares a DELETE that answers 204 with nothing."""
    return _declare(
        Operation(
            name=name,
            noun=path.split("/")[1],
            method="DELETE",
            path=path,
            takes=_model(takes),
            shape="nothing",
            item=None,
            status=204,
            summary=summary,
            problems=_problems(path, problems),
        )
    )


def media(
    name: str,
    path: str,
    *,
    takes: Callable[P, In],
    media_types: tuple[str, ...],
    summary: str,
    problems: Sequence[ProblemCode] = (),
) -> Operation[P, In, MediaStream]:
    """Declares a GET that answers with bytes and honours `Range` and `If-None-Match`."""
    return _declare(
        Operation(
            name=name,
            noun=path.split("/")[1],
            method="GET",
            path=path,
            takes=_model(takes),
            shape="media",
            item=None,
            status=200,
            summary=summary,
            problems=_problems(path, problems),
            media_types=media_types,
        )
    )
