"""The context in which a handler works, and the list of handlers. Nothing here depends on HTTP."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Select

from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import AnyOperation, MediaStream, Operation, P
from callwright.contract.declaration.pagination import Page, PageQuery
from callwright.contract.deployments.exports import ExportFormat
from callwright.contract.events import EventType
from callwright.service.accounts.principals import Principal
from callwright.service.campaigns.spending_cap import SpendingKey
from callwright.service.platform.database.listing import Cursors, Finder, Listing, page_of
from callwright.service.platform.database.units import Mark
from callwright.service.platform.ids import Ids
from callwright.service.platform.own_address import OwnAddress
from callwright.service.platform.refusals import not_found
from callwright.service.platform.table_columns import Cells, Column
from callwright.service.rules.organization_plans import PricePlan
from callwright.service.rules.plan_id import StartPlanSeal
from callwright.service.services import Services
from callwright.service.settings import ServiceSettings
from callwright.service.speech.line_recordings import RecordedCall
from callwright.service.speech.recording_content import RecordingContent
from callwright.service.speech.recordings import MediaType
from callwright.service.tables import outbox

In = TypeVar("In", bound=Input)
Out = TypeVar("Out")


@dataclass(frozen=True)
class RequestContext:
    """One unit of work: the open transaction, the organization and who acts in it, and the time."""

    connection: Connection
    org_id: str
    plan: PricePlan
    principal: Principal
    request_id: str
    now_ms: int
    ids: Ids
    cursors: Cursors
    start_plan_seal: StartPlanSeal
    settings: ServiceSettings
    own_address: OwnAddress = field(default_factory=lambda: OwnAddress(None))
    is_ending: bool = False
    """Whether the process ends and takes no more calls."""
    prepared: Any = None
    """What the operation's `prepare` or `asks` made of the input before the transaction began."""
    storage_is_full: bool = False
    """Whether the disk is full, so that nothing is dialled."""

    @property
    def full_at_ms(self) -> int | None:
        """The time of this unit of work if the disk is full, else None."""
        return self.now_ms if self.storage_is_full else None

    @property
    def key_id(self) -> str | None:
        """The key by which the principal acts; None for the system."""
        return self.principal.key_id

    @property
    def spending_key(self) -> SpendingKey:
        """The key, with its spending cap, that is charged for what this unit of work spends."""
        return SpendingKey(self.principal.key_id, self.principal.spending_cap_micros)

    def one(self, statement: Select[*tuple[Any, ...]], *, field: str | None = None, **params: str) -> Row[Any]:
        """The row of the organization that a statement finds by `params`. Raises `Refusal`: not_found, for `field`."""
        row = self.connection.execute(statement, {**params, "org": self.org_id}).one_or_none()
        if row is None:
            raise not_found(field)
        return row

    def page(
        self, listing: Listing, asked: PageQuery, to_resource: Callable[[Row[Any]], Any], finder: Finder | None = None
    ) -> Page[Any]:
        """A page of a list. `to_resource` turns a row into what callers see."""
        return page_of(
            self.connection, self.cursors, listing, asked, org_id=self.org_id, to_resource=to_resource, finder=finder
        )

    def new_row(self, prefix: str) -> dict[str, Any]:
        """The columns that every new row has: an id with this prefix, the organization, the times and the key."""
        return {
            "id": self.ids.new(prefix),
            "org_id": self.org_id,
            "created_at": self.now_ms,
            "updated_at": self.now_ms,
            "created_by_key_id": self.key_id,
        }

    def emit(self, type_: EventType, data: Resource, *, simulated: bool = False) -> None:
        """Puts an event into the outbox, in this transaction."""
        outbox.emit(self.connection, self.ids, self.org_id, type_, data, at_ms=self.now_ms, simulated=simulated)


Handler = Callable[[Any, RequestContext], Any]
HANDLERS: dict[str, Handler] = {}
MARKS: dict[str, Mark] = {}
"""How the units of work of operations that have a handler run."""
PREPARES: dict[str, Callable[[Any], Any]] = {}
"""What is done with the input of an operation before its unit of work, where that takes long."""
ASKS: dict[str, Callable[[Any, ServiceSettings], Awaitable[Any]]] = {}
"""What another service is asked before the unit of work of an operation, so that no transaction waits for it."""
THEN: dict[str, Callable[[Any, Services], Awaitable[Any]]] = {}
"""What another service is asked once the unit of work of an operation is committed."""
STATES: dict[str, Callable[[Any, "RequestContext"], Resource | None]] = {}
"""How what an operation changes is read, for the audit log, where no operation reads it; None if there is none yet."""
MediaRequest = tuple[RecordingContent | RecordedCall, MediaType]
Position = tuple[Any, ...]


@dataclass(frozen=True)
class TableRequest:
    """A table to write as a file, page by page, so that it takes little memory however long it is.

    `page` gives the rows behind a position, and the position of the last of them; None at the end.
    """

    columns: Sequence[Column]
    page: Callable[[Connection, Position | None], tuple[Sequence[Cells], Position | None]]
    form: ExportFormat = "csv"
    file_name: str | None = None
    """What a browser calls the file."""


Media = TypeVar("Media", MediaRequest, TableRequest)
MEDIA_HANDLERS: dict[str, Callable[[Any, RequestContext], MediaRequest | TableRequest]] = {}


def handles(
    operation: Operation[P, In, Out],
    *,
    brief: bool = False,
    preempts: bool = False,
    prepare: Callable[[In], Any] | None = None,
    asks: Callable[[In, ServiceSettings], Awaitable[Any]] | None = None,
    then: Callable[[Out, Services], Awaitable[Out]] | None = None,
) -> Callable[[Callable[[In, RequestContext], Out]], Callable[[In, RequestContext], Out]]:
    """Marks the function that answers an operation. It runs inside one transaction and raises `Refusal` to undo it.

    `brief`: it takes at most a millisecond, whatever the request and however much data there is. `preempts`: it does
    not wait for a process that froze while it held the lock of what is to be stopped. `prepare` is called in a thread
    before the unit of work, which finds what it returned as `prepared` of the context; it may raise `Refusal`. `asks`
    is the same for what asks another service, and waits. `then` is called once the unit of work is committed, also for
    an answer that is repeated; the answer is what it returns, and it may raise `Refusal`.
    """

    def mark(handler: Callable[[In, RequestContext], Out]) -> Callable[[In, RequestContext], Out]:
        _once(operation)
        HANDLERS[operation.name] = handler
        if prepare is not None:
            PREPARES[operation.name] = prepare
        if asks is not None:
            ASKS[operation.name] = asks
        if then is not None:
            THEN[operation.name] = then
        MARKS[operation.name] = Mark.PREEMPTS if preempts else Mark.BRIEF if brief else Mark.NONE
        return handler

    return mark


def shows(
    operation: Operation[P, In, Out],
) -> Callable[[Callable[[In, RequestContext], Out | None]], Callable[[In, RequestContext], Out | None]]:
    """Marks the function that reads what an operation is about to change, for the audit log."""

    def mark(state: Callable[[In, RequestContext], Out | None]) -> Callable[[In, RequestContext], Out | None]:
        STATES[operation.name] = state  # pyright: ignore[reportArgumentType]  # what an operation gives is a resource
        return state

    return mark


def handles_media(
    operation: Operation[P, In, MediaStream],
) -> Callable[[Callable[[In, RequestContext], Media]], Callable[[In, RequestContext], Media]]:
    """Marks the function that says what file to make. The file is made after its unit of work has ended."""

    def mark(handler: Callable[[In, RequestContext], Media]) -> Callable[[In, RequestContext], Media]:
        _once(operation)
        MEDIA_HANDLERS[operation.name] = handler
        return handler

    return mark


def _once(operation: AnyOperation) -> None:
    if operation.name in HANDLERS or operation.name in MEDIA_HANDLERS:
        raise ValueError(f"operation {operation.name!r} has two handlers")
