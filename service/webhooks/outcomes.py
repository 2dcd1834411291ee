"""Results of attempts: entries in the log, the next state of each delivery, and the counters of the subscription."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, case, func, literal_column, select, update

from callwright.contract.attempts import AttemptOutcome
from callwright.contract.events import WEBHOOK_DISABLED, WebhookDisabled
from callwright.contract.webhooks import DisabledReason
from callwright.service.accounts.principals import SERVICE
from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.database.bulk import BulkInsert, for_ids
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.ids import Ids
from callwright.service.tables import audit_log, delivery_rows, outbox
from callwright.service.tables.schema import deliveries, delivery_attempts, webhooks
from callwright.service.tables.schema.events import UNARRIVED
from callwright.service.webhooks.endpoint_queue import PENDING
from callwright.service.webhooks.retry_schedule import next_attempt_ms

FAILURES_UNTIL_DISABLED = 20
"""A subscription is disabled after this many failed events in a row, if also nothing arrived for the time below."""
SILENCE_UNTIL_DISABLED_MS = 3 * DAY
"""How long nothing must have arrived before a subscription is disabled, counted from its enabling at the earliest."""
GONE = 410
CUT_OFF = "The service ended while this attempt was under way; it is not known whether it arrived."

_D, _A, _W = deliveries.c, delivery_attempts.c, webhooks.c
_LOG = BulkInsert(delivery_attempts, list(_A.keys()))
_ARRIVED = for_ids(
    _D.id,
    lambda are_these: (
        update(deliveries)
        .where(are_these)
        .values(
            status="succeeded",
            attempt_count=_D.attempt_count + 1,
            next_attempt_at=None,
            attempt_started_at=None,
            finished_at=bindparam("b_now"),
            last_outcome="succeeded",
            last_response_status=bindparam("b_response"),
        )
    ),
)
_INTERRUPTED = for_ids(
    _A.delivery_id,
    lambda are_these: (
        select(_A.delivery_id, func.count().label("times"))
        .where(are_these, _A.outcome == "interrupted")
        .group_by(_A.delivery_id)
    ),
)


def _while_pending(value: Any, otherwise: Any) -> ColumnElement[Any]:
    """`value` for pending deliveries; one that was cancelled or missed while under way keeps its state."""
    return case((PENDING, value), else_=otherwise)


_FAILED = (
    update(deliveries)
    .where(_D.id == bindparam("b_id"))
    .values(
        status=_while_pending(bindparam("b_status"), _D.status),
        attempt_count=_D.attempt_count + 1,
        next_attempt_at=_while_pending(bindparam("b_next", type_=_D.next_attempt_at.type), None),
        attempt_started_at=None,
        finished_at=_while_pending(bindparam("b_finished", type_=_D.finished_at.type), _D.finished_at),
        last_outcome=bindparam("b_outcome"),
        last_response_status=bindparam("b_response"),
    )
)
_MARKED = select(_D.id, _D.attempt_count, _D.attempt_started_at).where(
    _D.webhook_id == bindparam("b_webhook"), _D.attempt_started_at.is_not(None)
)
_OTHER = deliveries.alias("other")
_REPLAYS = select(_OTHER.c.event_id).where(
    _OTHER.c.webhook_id == bindparam("b_webhook"),
    literal_column("other.status = 'pending'"),  # a literal, as in `PENDING`
    _OTHER.c.cause == "replay",
)
_ABANDONED = (
    _MARKED.where(PENDING),
    _MARKED.where(UNARRIVED),
    _MARKED.where(_D.status == "missed", _D.event_id.in_(_REPLAYS), _D.replayed_at.is_not(None)),
)
"""Attempts of deliveries that are pending, were missed meanwhile, or were replayed after that; each by an index."""
_ABANDONED_OF_DELETED = _MARKED.where(_D.status == "cancelled")
_FIGURES = Prepared(
    update(webhooks)
    .where(_W.id == bindparam("b_webhook"))
    .values(
        consecutive_failures=bindparam("b_failures"),
        last_success_at=bindparam("b_success"),
        last_failure_at=bindparam("b_failure"),
        last_response_status=bindparam("b_response"),
    )
)
_DISABLE = (
    update(webhooks)
    .where(_W.id == bindparam("b_webhook"))
    .values(
        status="disabled",
        disabled_reason=bindparam("b_reason"),
        disabled_at=bindparam("b_now"),
        updated_at=bindparam("b_now"),
    )
)


@dataclass(slots=True)
class Attempt:
    """An attempt. Times are milliseconds of the service's clock; `number` counts interrupted attempts too.

    Without a result it counts as interrupted.
    """

    delivery_id: str
    number: int
    is_test: bool
    started_ms: int
    url: str
    headers: str
    """As JSON."""
    ended_ms: int = 0
    duration_ms: int = 0
    outcome: AttemptOutcome = "interrupted"
    status: int | None = None
    excerpt: str = ""
    detail: str = ""


@dataclass(slots=True)
class _Figures:
    failures: int
    success_ms: int | None
    failure_ms: int | None
    response: int | None
    disabled: DisabledReason | None = None


def record(
    connection: Connection,
    ids: Ids,
    webhook: Row[Any],
    attempts: Sequence[Attempt],
    *,
    now_ms: int,
    confirmed_now_ms: int,
    chance: Callable[[], float],
) -> bool:
    """Records attempts and updates their deliveries. The caller holds the queue. True if it disabled the subscription.

    `webhook` is the subscription's row, locked; `chance` returns random numbers in [0, 1). How long nothing has arrived
    is measured by the confirmed time `confirmed_now_ms`.
    """
    _LOG.run(connection, [_entry(attempt) for attempt in attempts])
    arrived: dict[int | None, list[str]] = {}
    failed: list[Attempt] = []
    for attempt in attempts:
        if attempt.outcome == "succeeded":
            arrived.setdefault(attempt.status, []).append(attempt.delivery_id)
        else:
            failed.append(attempt)
    for response, delivered in arrived.items():
        _ARRIVED.run(connection, delivered, {"b_now": now_ms, "b_response": response})
    ended = _move(connection, failed, now_ms, chance) if failed else set[str]()
    return _count(connection, ids, webhook, attempts, ended, now_ms, confirmed_now_ms)


def record_abandoned(connection: Connection, webhook: Row[Any], now_ms: int) -> None:
    """Records the attempts that the previous holder of the endpoint queue left unfinished.

    They are made again at once, except those of deliveries that were missed or cancelled meanwhile.
    """
    # The deliveries of a deleted subscription are scanned, which happens once: no more are added.
    statements = _ABANDONED if webhook.deleted_at is None else (*_ABANDONED, _ABANDONED_OF_DELETED)
    attempts = [
        Attempt(
            delivery_id=row.id,
            number=row.attempt_count + 1,
            is_test=False,
            started_ms=row.attempt_started_at,
            url=webhook.url,
            headers="{}",
            ended_ms=now_ms,
            detail=CUT_OFF,
        )
        for rows in statements
        for row in connection.execute(rows, {"b_webhook": webhook.id})
    ]
    if attempts:
        _LOG.run(connection, [_entry(attempt) for attempt in attempts])
        _move(connection, attempts, now_ms, lambda: 0.5)


def _entry(attempt: Attempt) -> dict[str, Any]:
    return {
        "delivery_id": attempt.delivery_id,
        "number": attempt.number,
        "started_at": attempt.started_ms,
        "duration_ms": attempt.duration_ms,
        "outcome": attempt.outcome,
        "url": attempt.url,
        "request_headers": attempt.headers,
        "response_status": attempt.status,
        "response_excerpt": attempt.excerpt,
        "detail": attempt.detail,
    }


def _move(connection: Connection, attempts: Sequence[Attempt], now_ms: int, chance: Callable[[], float]) -> set[str]:
    """Updates the deliveries of attempts that did not arrive; returns the deliveries that are given up."""
    found = _INTERRUPTED.all(connection, [attempt.delivery_id for attempt in attempts])
    interrupted: dict[str, int] = {row.delivery_id: row.times for row in found}
    given_up: set[str] = set()
    moves: list[dict[str, Any]] = []
    for attempt in attempts:
        again_ms: int | None = now_ms
        if attempt.outcome != "interrupted":
            counted = attempt.number - interrupted.get(attempt.delivery_id, 0)
            again_ms = next_attempt_ms(attempt.outcome, counted, attempt.ended_ms, chance())
            if attempt.is_test:
                again_ms = None
        if again_ms is None:
            given_up.add(attempt.delivery_id)
        moves.append(
            {
                "b_id": attempt.delivery_id,
                "b_status": "failed" if again_ms is None else "pending",
                "b_next": again_ms,
                "b_finished": now_ms if again_ms is None else None,
                "b_outcome": attempt.outcome,
                "b_response": attempt.status,
            }
        )
    connection.execute(_FAILED, moves)
    return given_up


def _count(
    connection: Connection,
    ids: Ids,
    webhook: Row[Any],
    attempts: Sequence[Attempt],
    given_up: set[str],
    now_ms: int,
    confirmed_now_ms: int,
) -> bool:
    """Updates the subscription's counters, and disables it if it has failed for too long."""
    figures = _Figures(
        webhook.consecutive_failures, webhook.last_success_at, webhook.last_failure_at, webhook.last_response_status
    )
    counts = webhook.status == "active" and webhook.deleted_at is None
    for attempt in sorted(attempts, key=lambda one: one.ended_ms):
        if attempt.outcome == "interrupted":
            continue
        figures.response = figures.response if attempt.status is None else attempt.status
        if attempt.outcome == "succeeded":
            figures.failures, figures.success_ms = 0, attempt.ended_ms
            continue
        figures.failure_ms = attempt.ended_ms
        if not counts:
            continue
        if attempt.delivery_id in given_up and not attempt.is_test:
            figures.failures += 1
            heard_ms = max(webhook.enabled_at, figures.success_ms or 0)
            silent = min(attempt.ended_ms, confirmed_now_ms) - heard_ms >= SILENCE_UNTIL_DISABLED_MS
            if silent and figures.failures >= FAILURES_UNTIL_DISABLED:
                figures.disabled = figures.disabled or "consecutive_failures"
        if attempt.status == GONE:
            figures.disabled = "endpoint_gone"
    _FIGURES.run(
        connection,
        {
            "b_webhook": webhook.id,
            "b_failures": figures.failures,
            "b_success": figures.success_ms,
            "b_failure": figures.failure_ms,
            "b_response": figures.response,
        },
    )
    if figures.disabled is None:
        return False
    _disable(connection, ids, webhook, figures.disabled, figures, now_ms)
    return True


def _disable(
    connection: Connection, ids: Ids, webhook: Row[Any], reason: DisabledReason, figures: _Figures, now_ms: int
) -> None:
    connection.execute(_DISABLE, {"b_webhook": webhook.id, "b_reason": reason, "b_now": now_ms})
    delivery_rows.end_pending(connection, webhook.id, "missed", now_ms)
    data = WebhookDisabled(
        webhook_id=webhook.id,
        reason=reason,
        consecutive_failures=figures.failures,
        last_response_status=figures.response,
    )
    outbox.emit(connection, ids, webhook.org_id, WEBHOOK_DISABLED, data, at_ms=now_ms)
    changes = {"status": "disabled", "reason": reason}
    entry = audit_log.entry_row(
        ids, webhook.org_id, "webhook.disabled", webhook.id, by=SERVICE, at_ms=now_ms, changes=changes
    )
    audit_log.add_entries(connection, [entry])
