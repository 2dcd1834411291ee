"""The unit of work of one request: key, idempotency key, fields, creator, handler, audit entry, stored answer.

All of it is one transaction. A refusal undoes it; nothing of a refused request is kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection

from callwright.contract.declaration.changes import Changes
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import AnyOperation
from callwright.service.accounts.principals import RequestPrincipal
from callwright.service.handlers.request_context import (
    HANDLERS,
    MEDIA_HANDLERS,
    MediaRequest,
    Position,
    RequestContext,
    TableRequest,
)
from callwright.service.handlers.revisions import check_expected
from callwright.service.platform.refusals import Refusal
from callwright.service.platform.table_columns import Cells
from callwright.service.rest import idempotency
from callwright.service.rest.answers import Answer, encoded, replayed
from callwright.service.rest.audit import entries
from callwright.service.rest.audit.fields import fields_of
from callwright.service.rest.authentication.api_key_check import check_creator, check_role, identify
from callwright.service.services import Services

ACTION_PATH = "/settings/api-keys"
"""The path of the page that says how to make another key, on the service's own address."""


@dataclass(slots=True)
class ApiRequest:
    """A request whose key is known. `refusal` is raised after its idempotency key was looked up."""

    operation: AnyOperation
    principal: RequestPrincipal
    path: Mapping[str, str]
    canonical: str
    method: str
    body: bytes = field(repr=False)
    request_id: str
    secret: str = field(repr=False)
    tool: str | None = None
    input: Input | None = None
    prepared: Any = None
    """What the operation's `prepare` made of the input."""
    idempotency_key: str | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class MediaWanted:
    """A file that is made after the unit of work has ended: a recording, or a table."""

    request: MediaRequest | TableRequest
    is_streamed: bool = False


def performed(connection: Connection, services: Services, request: ApiRequest) -> Answer | MediaWanted:
    """Does what a request asks for.

    Raises:
        Refusal: as the operation declares it.
    """
    operation, principal = request.operation, request.principal
    now_ms = services.clock.now_ms()
    if operation.writes:
        capped = principal.spending_cap_micros is not None
        principal = identify(connection, request.secret, writes=True, alone=capped)
        check_role(principal, operation)
    if request.idempotency_key is not None:
        fingerprint = idempotency.request_fingerprint(request.method, request.canonical, request.body)
        mine = (principal.org_id, principal.counted_as, request.idempotency_key)
        stored = idempotency.claim(connection, *mine, fingerprint, now_ms, services.clock.confirmed_now_ms())
        if stored is not None:
            return replayed(operation, stored, request.canonical)
    if request.refusal is not None:
        raise request.refusal
    if operation.creator_bound is not None:
        check_creator(connection, principal, operation.creator_bound, services.own_address.root + ACTION_PATH)
    work = RequestContext(
        connection=connection,
        org_id=principal.org_id,
        plan=principal.plan,
        principal=principal,
        request_id=request.request_id,
        now_ms=now_ms,
        ids=services.ids,
        cursors=services.cursors,
        start_plan_seal=services.start_plan_seal,
        settings=services.settings,
        own_address=services.own_address,
        prepared=request.prepared,
        is_ending=services.ending.is_begun,
        storage_is_full=services.database.disk_space.is_full,
    )
    if operation.shape == "media":
        wanted = MEDIA_HANDLERS[operation.name](request.input, work)
        if isinstance(wanted, TableRequest):
            wanted = _while_key_is_valid(wanted, request.secret)
        return MediaWanted(wanted, operation.is_streamed)
    if isinstance(request.input, Changes) and not request.input.named().keys() - request.path.keys():
        check_expected(request.input, work)
        return _as_it_is(request, work)
    before = entries.before(operation, request.input, request.path, work) if operation.writes else None
    check_expected(request.input, work)
    result = HANDLERS[operation.name](request.input, work)
    answer = encoded(operation, result, request.canonical)
    if operation.writes:
        entries.record(
            work, operation, tool=request.tool, path=request.path, asked=request.input, result=result, before=before
        )
    if request.idempotency_key is not None:
        stored = idempotency.StoredAnswer(answer.status, answer.body)
        personal = operation.item is not None and bool(fields_of(operation.item).personal)
        mine = (principal.org_id, principal.counted_as, request.idempotency_key)
        idempotency.store(connection, *mine, stored, personal=personal)
    return answer


def _while_key_is_valid(wanted: TableRequest, secret: str) -> TableRequest:
    """The table, whose reading ends with a refusal once its key is revoked: sending it may take hours."""

    def page(connection: Connection, last: Position | None) -> tuple[Sequence[Cells], Position | None]:
        identify(connection, secret)
        return wanted.page(connection, last)

    return replace(wanted, page=page)


def _as_it_is(request: ApiRequest, context: RequestContext) -> Answer:
    """The answer to a PATCH without changes: the thing as it is, without an audit entry."""
    reader = entries.reader_of(request.operation.path)
    assert reader is not None  # everything that can be changed can be read
    wanted = reader.takes.model_validate({name: request.path[name] for name in reader.path_fields})
    return encoded(request.operation, HANDLERS[reader.name](wanted, context), request.canonical)
