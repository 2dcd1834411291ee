"""The audit entry of a successful write: who did what to which thing, and what changed.

The operation that reads the thing (`get_agent` for `/agents/{id}` and all paths below it) runs before and after the
handler, in its transaction, and the differences are recorded. Two changes of one thing at the same time wait for each
other here, so that each entry has only its own change.

Never recorded are secrets, telephone numbers of other people, rows of audiences, and what was said, according to the
marks of the contract's fields.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from callwright.contract.declaration.field_types import Stored
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import OPERATIONS, AnyOperation
from callwright.service.handlers.request_context import HANDLERS, STATES, RequestContext
from callwright.service.platform.database.concurrency import take_advisory_lock
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.audit.fields import AuditedFields, fields_of
from callwright.service.rest.audit.recorded_values import SECRET, recorded, size_of, too_long
from callwright.service.tables import audit_log

Shown = Mapping[str, Any]
Changes = dict[str, Any]


def before(
    operation: AnyOperation, asked: Input | None, path: Mapping[str, str], context: RequestContext
) -> Shown | None:
    """The state of the thing that an operation is about to change; None if it creates one or there is none.

    Call it before the handler, in its transaction. From then on other changes of the same thing wait.
    """
    if operation.creates:
        return None
    take_advisory_lock(context.connection, _number_of(context.org_id, _first(path) or operation.noun))
    if operation.name in STATES and asked is not None:
        found = STATES[operation.name](asked, context)
        return None if found is None else _shown(found)
    return _read(operation, path, context)


def record(
    context: RequestContext,
    operation: AnyOperation,
    *,
    tool: str | None,
    path: Mapping[str, str],
    asked: Input | None,
    result: Any,
    before: Shown | None,
) -> None:
    """Adds the entry of a write that succeeded. Call it after the handler, in its transaction.

    `before` is the result of the function `before`.
    """
    entry = audit_log.entry_row(
        context.ids,
        context.org_id,
        operation.audited_as or operation.name,
        str(_first(path) or getattr(result, "id", ""))[:60],
        by=context.principal,
        at_ms=context.now_ms,
        request_id=context.request_id,
        changes=too_long(_changes(context, operation, path, asked, result, before)),
        tool=tool,
    )
    audit_log.add_entries(context.connection, [entry])


def _changes(
    context: RequestContext,
    operation: AnyOperation,
    path: Mapping[str, str],
    asked: Input | None,
    result: Any,
    before: Shown | None,
) -> Changes:
    if operation.creates:
        return _made(operation, path, asked, result)
    if before is None:  # no operation reads it
        return _made(operation, path, asked, None)
    if operation.name in STATES and isinstance(result, Resource):
        secret = {name: {"after": SECRET} for name in _given_secrets(asked)}
        return _differences(_fields(type(result)), before, _shown(result)) | secret
    reader = reader_of(operation.path)
    fields = _fields(reader.item if reader is not None else None)
    if operation.method == "DELETE" and result is None:
        names = sorted(
            (name for name in before if before[name] not in (None, "", [], {})), key=Stored.model_fields.__contains__
        )
        said = _made(operation, path, asked, None)  # why it is removed, where it takes that
        given = {f"given_{name}": value for name, value in said.items()}
        return {name: {"before": _kept(fields, name, before[name])} for name in names} | given
    return _differences(fields, before, _read(operation, path, context, result) or {})


def _given_secrets(asked: Input | None) -> list[str]:
    """The secrets that a request sets."""
    if asked is None:
        return []
    return sorted(name for name in _fields(type(asked)).secret & asked.model_fields_set if getattr(asked, name))


def _differences(fields: AuditedFields, before: Shown, after: Shown) -> Changes:
    return {
        name: {"before": _kept(fields, name, before.get(name)), "after": _kept(fields, name, after.get(name))}
        for name in sorted({*before, *after} - fields.counted)
        if before.get(name) != after.get(name)
    }


def _made(operation: AnyOperation, path: Mapping[str, str], asked: Input | None, result: Any) -> Changes:
    """The changes of a creation: the fields that were sent, as stored, and the status; for added rows, the counts."""
    shown = _dump(result) if isinstance(result, Resource) else {}
    sent = [] if asked is None else sorted(asked.model_fields_set - set(path))
    fields = _fields(type(result) if isinstance(result, Resource) else None)
    given = _fields(type(asked) if asked is not None else None)
    personal = fields.personal | given.personal
    absent = {name for name in sent if name not in shown} - personal
    asked_for = asked.model_dump(mode="json", include=absent) if asked is not None and absent else {}
    stood = {name: shown.get(name, asked_for.get(name)) for name in sent if name not in personal}
    if "status" in shown:
        stood["status"] = shown["status"]
    changes: Changes = {
        name: {"after": SECRET if name in given.secret and value else _kept(fields, name, value)}
        for name, value in stood.items()
    }
    changes |= {
        name: {"after": size_of(getattr(asked, name))}
        for name in sent
        if name in personal and getattr(asked, name) is not None
    }
    if path and "id" in shown:
        changes["id"] = {"after": shown["id"]}
    if operation.status == 201 and not isinstance(result, Stored):  # 202 has counted nothing yet
        counts = {name: value for name, value in shown.items() if type(value) is int}
        changes |= {name: {"after": value} for name, value in counts.items()}
    return changes


def _fields(model: type[BaseModel] | None) -> AuditedFields:
    return AuditedFields() if model is None else fields_of(model)


def _kept(fields: AuditedFields, name: str, value: Any) -> Any:
    return recorded(name, value, is_own=name in fields.own_numbers)


@cache
def reader_of(path: str) -> AnyOperation | None:
    """The operation that reads the thing of a path: the one whose path is the longest beginning of it."""
    found = [
        other
        for other in OPERATIONS.values()
        if other.method == "GET" and other.shape == "one" and (path == other.path or path.startswith(other.path + "/"))
    ]
    return max(found, key=lambda other: len(other.path), default=None)


def _read(
    operation: AnyOperation, path: Mapping[str, str], context: RequestContext, result: Any = None
) -> Shown | None:
    """The thing's fields that a request can change, as they are now. `result` is used if it is the thing itself."""
    reader = reader_of(operation.path)
    if reader is None or reader.item is None:
        return None
    if not isinstance(result, reader.item):
        try:
            wanted = reader.takes.model_validate({name: path[name] for name in reader.path_fields})
            result = HANDLERS[reader.name](wanted, context)
        except Refusal:  # the handler says so itself
            return None
    return _shown(result)


def _shown(thing: Resource) -> Shown:
    """The fields of a thing that a request can change."""
    fields = fields_of(type(thing))
    return {name: value for name, value in _dump(thing).items() if name not in fields.derived | fields.personal}


def _dump(model: Resource) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True)


def _first(path: Mapping[str, str]) -> str:
    return next(iter(path.values()), "")


def _number_of(org_id: str, subject: str) -> int:
    digest = hashlib.blake2b(f"{org_id} {subject}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
