"""One operation, declared once. Route, OpenAPI, client method, reference page and tool schema all come from here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import cached_property
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast, get_args

from callwright.contract.declaration.filters import filter_of
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.pagination import Page
from callwright.contract.declaration.revisions import Expecting
from callwright.contract.problems import (
    API_KEY_OWNER_REQUIRED,
    NOT_FOUND,
    RANGE_NOT_SATISFIABLE,
    REVISION_MISMATCH,
    ProblemCode,
)

P = ParamSpec("P")
In = TypeVar("In", bound=Input)
Out = TypeVar("Out")
Item = TypeVar("Item", bound=Resource)

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Shape = Literal["one", "many", "nothing", "media"]
Place = Literal["path", "query", "body"]


@dataclass(frozen=True)
class MediaStream:
    """Stands for an answer that is bytes, not JSON."""


@dataclass(frozen=True, kw_only=True)
class Deprecation:
    """An operation that will be taken away: since when it is deprecated, when it ends, what says more.

    Sources: RFC 9745 (`Deprecation`), RFC 8594 (`Sunset`). Between the two lie at least twelve months.
    """

    since: datetime
    sunset: datetime
    link: str

    def headers(self) -> dict[str, str]:
        """What every answer of the operation says of it."""
        return {
            "Deprecation": f"@{int(self.since.timestamp())}",
            "Sunset": format_datetime(self.sunset.astimezone(UTC), usegmt=True),
            "Link": f'<{self.link}>; rel="sunset"',
        }


CreatorBound = Literal["member", "member_with_email", "owner"]
"""What an operation asks of the user who made the key: to be in the organization still, and to have an e-mail address
or to be an owner."""

_GROUPS = {"transcripts": "calls"}
SLOW_GROUPS = ("phone_numbers writes", "imports")
"""Groups that may make a fifth of the plan's requests per second: what they ask for takes long."""


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
    """Where counting may stop: a `pagination.total` of this means so many or more. None: every entry is counted."""
    creates: bool = False
    media_types: tuple[str, ...] = ()
    is_streamed: bool = False
    """Set for bytes that are made while they are sent: they have no length, no tag and no parts."""
    creator_bound: CreatorBound | None = None
    deprecated: Deprecation | None = None
    only_reads: bool = False
    """Set for a POST that changes nothing and is one for the sake of its meaning or its size."""
    keeps_answer: bool = True
    """False for a POST whose answer must not be stored with its idempotency key, because of whom it is about."""
    audited_as: str | None = None
    """Its action in the audit log, if that is not its name."""
    no_tool: str | None = None
    """Why assistants get no tool for it, where they get none."""

    @cached_property
    def group(self) -> str:
        """The group of endpoints whose requests are counted together against the rate limit of a key."""
        if self.writes and (self.noun == "phone_numbers" or self.path.endswith("/imports")):
            return "imports" if self.path.endswith("/imports") else "phone_numbers writes"
        return _GROUPS.get(self.noun, self.noun)

    @property
    def rate_share(self) -> float:
        """Which part of the plan's requests per second its group may make."""
        return 0.2 if self.group in SLOW_GROUPS else 1.0

    @property
    def writes(self) -> bool:
        """Whether a success changes anything."""
        return self.method != "GET" and not self.only_reads

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
        return f"Counting may stop at {self.counts_to}: such a `pagination.total` means so many entries or more."

    @property
    def has_parts(self) -> bool:
        """Whether it answers with bytes of which a part may be asked for, by `Range`, or only what has changed."""
        return self.shape == "media" and not self.is_streamed

    @property
    def path_fields(self) -> tuple[str, ...]:
        return tuple(f for f in self.takes.model_fields if self.place_of(f) == "path")

    @property
    def has_body(self) -> bool:
        return any(self.place_of(f) == "body" for f in self.takes.model_fields)


AnyOperation = Operation[Any, Any, Any]

OPERATIONS: dict[str, AnyOperation] = {}
"""Every operation by name, in the order of declaration. `contract.surface` fills it."""


def _declare(
    name: str,
    method: Method,
    path: str,
    takes: Callable[P, In],
    problems: Sequence[ProblemCode],
    *,
    shape: Shape,
    item: type[Resource] | None,
    summary: str,
    status: int = 200,
    **more: Any,
) -> Operation[P, In, Any]:
    """Adds an operation to `OPERATIONS`, with the problems that follow from its path."""
    if name in OPERATIONS:
        raise ValueError(f"operation {name!r} is declared twice")
    if not (isinstance(takes, type) and issubclass(takes, Input)):
        raise TypeError("takes must be an input model")
    declared = (NOT_FOUND, *problems) if "{" in path else problems
    operation: Operation[P, In, Any] = Operation(
        name=name,
        noun=path.split("/")[1],
        method=method,
        path=path,
        takes=cast("type[In]", takes),
        shape=shape,
        item=item,
        status=status,
        summary=summary,
        problems=tuple(dict.fromkeys(declared)),
        **more,
    )
    OPERATIONS[name] = operation
    return operation


def _expects_revisions(takes: object) -> bool:
    return isinstance(takes, type) and issubclass(takes, Expecting)


def _of_creators(bound: CreatorBound | None) -> tuple[ProblemCode, ...]:
    return (API_KEY_OWNER_REQUIRED,) if bound else ()


def operation(
    name: str,
    endpoint: str,
    *,
    takes: Callable[P, In],
    gives: type[Out],
    summary: str,
    problems: Sequence[ProblemCode] = (),
    status: int = 200,
    creator_bound: CreatorBound | None = None,
    only_reads: bool = False,
    keeps_answer: bool = True,
    audited_as: str | None = None,
    no_tool: str | None = None,
) -> Operation[P, In, Out]:
    """Declares an operation that answers with one resource. `endpoint` is its method and path: `POST /agents`.

    Status 201 marks it as creating one.
    """
    method, _, path = endpoint.partition(" ")
    if method not in get_args(Method):
        raise ValueError(f"operation {name!r} has no method {method!r}")
    revisions = (REVISION_MISMATCH,) if _expects_revisions(takes) else ()
    return _declare(
        name,
        cast("Method", method),
        path,
        takes,
        (*problems, *revisions, *_of_creators(creator_bound)),
        shape="one",
        item=gives if issubclass(gives, Resource) else None,
        summary=summary,
        status=status,
        creates=status in (201, 202),
        creator_bound=creator_bound,
        only_reads=only_reads,
        keeps_answer=keeps_answer,
        audited_as=audited_as,
        no_tool=no_tool,
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

    Counting may stop at `counts_to`, where that is given.
    """
    return _declare(
        name, "GET", path, takes, problems, shape="many", item=gives, summary=summary, sorts=sorts, counts_to=counts_to
    )


def removal(
    name: str,
    path: str,
    *,
    takes: Callable[P, In],
    summary: str,
    problems: Sequence[ProblemCode] = (),
    creator_bound: CreatorBound | None = None,
) -> Operation[P, In, None]:
    """Declares a DELETE that answers 204 with nothing."""
    every = (*problems, *_of_creators(creator_bound))
    return _declare(
        name,
        "DELETE",
        path,
        takes,
        every,
        shape="nothing",
        item=None,
        summary=summary,
        status=204,
        creator_bound=creator_bound,
    )


def media(
    name: str,
    path: str,
    *,
    takes: Callable[P, In],
    media_types: tuple[str, ...],
    summary: str,
    problems: Sequence[ProblemCode] = (),
    is_streamed: bool = False,
) -> Operation[P, In, MediaStream]:
    """Declares a GET that answers with bytes and honours `Range` and `If-None-Match`, unless they are streamed."""
    every = problems if is_streamed else (*problems, RANGE_NOT_SATISFIABLE)
    return _declare(
        name,
        "GET",
        path,
        takes,
        every,
        shape="media",
        item=None,
        summary=summary,
        media_types=media_types,
        is_streamed=is_streamed,
    )
