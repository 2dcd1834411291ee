"""What a PATCH changes: absent fields stay, null clears where clearing has a meaning."""

from typing import Any

from callwright.contract.model import Input
from callwright.contract.problems import DUPLICATE_NAME
from callwright.service.domain.refusals import Refusal, invalid
from callwright.service.storage.prepared import Prepared

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


def check_name_free(work: Work, taken_by: Prepared, name: str, *, but: str | None = None) -> None:
    """Raises `Refusal`: duplicate_name when another row of the organization has the name.

    `taken_by` selects the id by the parameters `org` and `name`.
    """
    owner = taken_by.first(work.connection, {"org": work.org_id, "name": name})
    if owner is not None and owner.id != but:
        raise name_taken()


def name_taken() -> Refusal:
    """duplicate_name: another thing of the organization has the name."""
    return Refusal(DUPLICATE_NAME, "name: is already taken", field="name")
