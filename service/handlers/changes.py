"""What a PATCH changes: absent fields stay, null clears where clearing has a meaning."""

from typing import Any

from sqlalchemy import Select

from callwright.contract.model import Input
from callwright.contract.problems import DUPLICATE_NAME
from callwright.service.domain.refusals import Refusal, invalid

from .work import Work

LIVE = ("draft", "scheduled", "active", "paused")
"""The states of a deployment that is not finished."""


def given(asked: Input, *, clearable: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields a PATCH names, without the path's. Raises `Refusal` for a null that would clear what is required."""
    changes = {name: getattr(asked, name) for name in asked.model_fields_set if name != "id"}
    for name, value in changes.items():
        if value is None and name not in clearable:
            raise invalid(name, "cannot be cleared; leave it out to keep it")
    return changes


def check_name_free(work: Work, taken_by: Select[Any], name: str, *, but: str | None = None) -> None:
    """Raises `Refusal`: duplicate_name when another row of the organization has the name.

    `taken_by` selects the id by the parameters `org` and `name`.
    """
    owner = work.connection.execute(taken_by, {"org": work.org_id, "name": name}).scalar()
    if owner is not None and owner != but:
        raise Refusal(DUPLICATE_NAME, "name: is already taken", field="name")
