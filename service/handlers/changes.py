"""Checks that updates and deletions have in common. The contract says what null means in a PATCH."""

from typing import Any

from sqlalchemy import ColumnElement, select

from callwright.contract.declaration.changes import Changes
from callwright.contract.problems import DUPLICATE_NAME, ProblemCode
from callwright.service.handlers.request_context import RequestContext
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal
from callwright.service.tables.schema import deployments

LIVE = ("draft", "scheduled", "active", "paused")
"""The states of a deployment that is not finished."""


def given(asked: Changes) -> dict[str, Any]:
    """The fields that a PATCH names, without the id of its path; `metadata` as the JSON text of its column."""
    changes = {name: value for name, value in asked.named().items() if name != "id"}
    if "metadata" in changes:
        changes["metadata"] = json_text(changes["metadata"])
    return changes


def check_name_free(context: RequestContext, taken_by: Prepared, name: str, *, but: str | None = None) -> None:
    """Raises `Refusal`: duplicate_name when another row of the organization has the name.

    `taken_by` selects the id by the parameters `org` and `name`.
    """
    owner = taken_by.first(context.connection, {"org": context.org_id, "name": name})
    if owner is not None and owner.id != but:
        raise name_taken()


def check_not_in_use(context: RequestContext, uses: ColumnElement[bool], problem: ProblemCode, thing: str) -> None:
    """Raises `Refusal` with this problem when a deployment for which `uses` holds is not finished."""
    user = context.connection.execute(
        select(deployments.c.id).where(uses, deployments.c.status.in_(LIVE)).order_by(deployments.c.id).limit(1)
    ).scalar()
    if user is not None:
        message = f"deployment {user} uses this {thing} and is not finished"
        raise Refusal(problem, message, details={"used_by": user})


def name_taken() -> Refusal:
    """duplicate_name, for a name that another row of the organization has."""
    return Refusal(DUPLICATE_NAME, "name: is already taken", field="name")
