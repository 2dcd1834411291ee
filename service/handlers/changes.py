"""What a PATCH changes. What null means in it stands in the contract."""

from typing import Any

from callwright.contract.declaration.changes import Changes
from callwright.contract.problems import DUPLICATE_NAME
from callwright.service.handlers.request_context import RequestContext
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.refusals import Refusal

LIVE = ("draft", "scheduled", "active", "paused")
"""The states of a deployment that is not finished."""


def given(asked: Changes) -> dict[str, Any]:
    """The fields a PATCH names, without the path's."""
    return {name: value for name, value in asked.named().items() if name != "id"}


def check_name_free(context: RequestContext, taken_by: Prepared, name: str, *, but: str | None = None) -> None:
    """Raises `Refusal`: duplicate_name when another row of the organization has the name.

    `taken_by` selects the id by the parameters `org` and `name`.
    """
    owner = taken_by.first(context.connection, {"org": context.org_id, "name": name})
    if owner is not None and owner.id != but:
        raise name_taken()


def name_taken() -> Refusal:
    """duplicate_name: another thing of the organization has the name."""
    return Refusal(DUPLICATE_NAME, "name: is already taken", field="name")
