"""The log of questions to routing webhooks, and how often in a row one of them gave no usable answer."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, update

from callwright.contract.events import (
    PHONE_NUMBER_ROUTING_FAILING,
    PHONE_NUMBER_ROUTING_RECOVERED,
    PhoneNumberRoutingFailing,
)
from callwright.contract.inbound_routing import FAILURES_UNTIL_ALERT
from callwright.contract.people import DELETED_NUMBER
from callwright.service.inbound.routing.asking import Asked
from callwright.service.inbound.routing.question import Question
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.tables import outbox
from callwright.service.tables.schema import phone_numbers, routing_requests

_R, _N = routing_requests.c, phone_numbers.c
_COUNTS = select(_N.routing_failures, _N.routing_failing_since).where(
    _N.id == bindparam("id"), _N.routing_url.is_not(None)
)
_COUNTS_TO_CHANGE = _COUNTS.with_for_update()
_FORGET = update(routing_requests).where(_R.id == bindparam("b_id")).values(request=bindparam("b_request"), answer="")


def write(connection: Connection, ids: Ids, question: Question, asked: Asked, *, now_ms: int) -> None:
    """Logs a question with what came of it, once. Counts it for the number, unless it was a test.

    The event that the webhook is failing goes out once, after so many failures in a row, and the one that it has
    recovered with the next usable answer. Both are in this transaction.
    """
    row = {
        "id": question.id,
        "org_id": question.org_id,
        "phone_number_id": question.number_id,
        "call_id": question.call_id,
        "simulated": question.simulated,
        "is_test": question.is_test,
        "created_at": now_ms,
        "request": question.data(),
        "outcome": asked.outcome,
        "status_code": asked.status,
        "answer": asked.excerpt,
        "detail": asked.detail,
        "latency_ms": asked.latency_ms,
        "action": None if asked.answer is None else asked.answer.action,
    }
    if insert_ignoring_conflicts(connection, routing_requests, [row]) and not question.is_test:
        _count(connection, ids, question, asked, now_ms)


def _count(connection: Connection, ids: Ids, question: Question, asked: Asked, now_ms: int) -> None:
    is_usable = asked.answer is not None
    if is_usable and not _has_failed(connection, question.number_id):
        return  # as nearly always: nothing is to be written, and nobody waits for the number's row
    row = connection.execute(_COUNTS_TO_CHANGE, {"id": question.number_id}).one_or_none()
    if row is None:
        return
    failures = 0 if is_usable else row.routing_failures + 1
    since_ms: int | None = row.routing_failing_since
    if is_usable and since_ms is not None:
        _tell(connection, ids, question, asked, row.routing_failures, since_ms, now_ms)
        since_ms = None
    elif not is_usable and since_ms is None and failures >= FAILURES_UNTIL_ALERT:
        since_ms = now_ms
        _tell(connection, ids, question, asked, failures, since_ms, now_ms)
    values = {"routing_failures": failures, "routing_failing_since": since_ms}
    connection.execute(update(phone_numbers).where(_N.id == question.number_id).values(values))


def _has_failed(connection: Connection, number_id: str) -> bool:
    row = connection.execute(_COUNTS, {"id": number_id}).one_or_none()
    return row is not None and bool(row.routing_failures)


def _tell(
    connection: Connection, ids: Ids, question: Question, asked: Asked, failures: int, since_ms: int, now_ms: int
) -> None:
    type_ = PHONE_NUMBER_ROUTING_FAILING if asked.answer is None else PHONE_NUMBER_ROUTING_RECOVERED
    data = PhoneNumberRoutingFailing(
        phone_number_id=question.number_id,
        failures=failures,
        last_outcome=asked.outcome,
        failing_since=moment(since_ms),
        simulated=question.simulated,
    )
    outbox.emit(connection, ids, question.org_id, type_, data, at_ms=now_ms, simulated=question.simulated)


def of_calls(connection: Connection, call_ids: Sequence[str]) -> Sequence[Row[Any]]:
    """The entries about calls."""
    if not call_ids:
        return ()
    return connection.execute(select(routing_requests).where(_R.call_id.in_(call_ids)).order_by(_R.id)).all()


def forget_caller(connection: Connection, call_ids: Sequence[str]) -> None:
    """Takes the caller's number, and what the endpoint answered about the caller, out of the entries about calls."""
    changed = [
        {"b_id": row.id, "b_request": json_text({**json.loads(row.request), "from": DELETED_NUMBER})}
        for row in of_calls(connection, call_ids)
    ]
    if changed:
        connection.execute(_FORGET, changed)
