"""Callers of the simulated network who are still to call, in the order of their time."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select

from callwright.service.tables.schema import simulated_callers

_S = simulated_callers.c
_DUE = (
    select(simulated_callers)
    .where(_S.deployment_id == bindparam("deployment"), _S.at_ms <= bindparam("until"))
    .order_by(_S.at_ms, _S.id)
    .limit(bindparam("most"))
)
_TO_COME = select(func.count()).where(_S.org_id == bindparam("org"))


def add(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Adds callers, see the columns of the table."""
    connection.execute(insert(simulated_callers), [dict(row) for row in rows])


def to_come(connection: Connection, org_id: str) -> int:
    """How many callers of an organization are still to call."""
    return connection.execute(_TO_COME, {"org": org_id}).scalar_one()


def due(connection: Connection, deployment_id: str, until_ms: int, most: int) -> Sequence[Row[Any]]:
    """The callers of a deployment who call by a moment, at most so many, the first ones."""
    return connection.execute(_DUE, {"deployment": deployment_id, "until": until_ms, "most": most}).all()


def take(connection: Connection, ids: Sequence[str]) -> set[str]:
    """Removes callers who call now, in the transaction that begins their calls. Returns those that were there."""
    gone = delete(simulated_callers).where(_S.id.in_(ids)).returning(_S.id)
    return set(connection.execute(gone).scalars())


def forget_person(connection: Connection, org_id: str, numbers: Sequence[str]) -> None:
    """Removes the callers with these numbers: they do not call any more."""
    connection.execute(delete(simulated_callers).where(_S.org_id == org_id, _S.from_number.in_(numbers)))


def forget(connection: Connection, deployment_id: str) -> None:
    """Removes the callers of a deployment that answers nobody any more."""
    connection.execute(delete(simulated_callers).where(_S.deployment_id == deployment_id))
