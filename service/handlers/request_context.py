"""What a handler gets beside its input, and the list of handlers. No word of HTTP here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection

from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import AnyOperation, MediaStream, Operation, P
from callwright.contract.events import EventType
from callwright.service.accounts.principals import Principal
from callwright.service.campaigns.spending_cap import Answerable
from callwright.service.platform.database.listing import Cursors
from callwright.service.platform.database.units import Mark
from callwright.service.platform.ids import Ids
from callwright.service.rules.price_plans import PricePlan
from callwright.service.rules.start_plan_seal import StartPlanSeal
from callwright.service.settings import ServiceSettings
from callwright.service.speech.recording_plan import RecordingPlan
from callwright.service.speech.recordings import MediaType
from callwright.service.tables import outbox

In = TypeVar("In", bound=Input)
Out = TypeVar("Out")


@dataclass(frozen=True)
class RequestContext:
    """One unit of work: the open transaction, who acts in which organization, and the moment."""

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
    storage_is_full: bool = False
    """Whether the disk was found full, so that nothing is dialled."""

    @property
    def full_at_ms(self) -> int | None:
        """The moment, where the disk was found full."""
        return self.now_ms if self.storage_is_full else None

    @property
    def key_id(self) -> str | None:
        """The key by which the principal acts; None for the system."""
        return self.principal.key_id

    @property
    def answerable(self) -> Answerable:
        """The key, as what has to answer for what is spent."""
        return Answerable(self.principal.key_id, self.principal.spending_cap_micros)

    def emit(self, type_: EventType, data: Resource, *, simulated: bool = False) -> None:
        """Puts an event into the outbox, in this transaction."""
        outbox.emit(self.connection, self.ids, self.org_id, type_, data, at_ms=self.now_ms, simulated=simulated)


Handler = Callable[[Any, RequestContext], Any]
HANDLERS: dict[str, Handler] = {}
MARKS: dict[str, Mark] = {}
"""How the units of work of operations that have a handler run."""
MediaRequest = tuple[RecordingPlan, MediaType]
MEDIA_HANDLERS: dict[str, Callable[[Any, RequestContext], MediaRequest]] = {}


def handles(
    operation: Operation[P, In, Out], *, brief: bool = False, stops: bool = False
) -> Callable[[Callable[[In, RequestContext], Out]], Callable[[In, RequestContext], Out]]:
    """Marks the function that answers an operation. It runs inside one transaction and raises `Refusal` to undo it.

    With `brief` it takes a millisecond at most, whatever is asked of it and however much there is. With `stops` it is
    not held up by a process that has frozen while it held what is to be stopped.
    """

    def mark(handler: Callable[[In, RequestContext], Out]) -> Callable[[In, RequestContext], Out]:
        _once(operation)
        HANDLERS[operation.name] = handler
        MARKS[operation.name] = Mark.PREEMPTS if stops else Mark.BRIEF if brief else Mark.NONE
        return handler

    return mark


def handles_media(
    operation: Operation[P, In, MediaStream],
) -> Callable[[Callable[[In, RequestContext], MediaRequest]], Callable[[In, RequestContext], MediaRequest]]:
    """Marks the function that says what bytes to make: the plan and the media type. They are made after it, outside."""

    def mark(handler: Callable[[In, RequestContext], MediaRequest]) -> Callable[[In, RequestContext], MediaRequest]:
        _once(operation)
        MEDIA_HANDLERS[operation.name] = handler
        return handler

    return mark


def _once(operation: AnyOperation) -> None:
    if operation.name in HANDLERS or operation.name in MEDIA_HANDLERS:
        raise ValueError(f"operation {operation.name!r} has two handlers")
