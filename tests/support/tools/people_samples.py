"""Good answers about one person's data."""

from collections.abc import Sequence
from typing import Any

from callwright.contract.audiences import AudienceRow
from callwright.contract.calls.calls import Call, TranscriptTurn
from callwright.contract.declaration.model import Resource
from callwright.contract.people import ListedNumber, PersonCall, PersonCounts, PersonDeletion, PersonExport
from tests.support.tools.finding_samples import AT

PERSON_ID = "per_0123456789abcdef01234567"
NUMBER = "+12025550100"
ARGUMENTS: dict[str, dict[str, Any]] = {
    "export_person": {"number": NUMBER},
    "delete_person": {"number": NUMBER, "confirm": True},
}
"""Good arguments of the tools."""


def exported(call: Call, turns: Sequence[TranscriptTurn]) -> PersonExport:
    """A person of one list who was called once and wants no more calls."""
    row = AudienceRow(
        id="ctc_1", audience_id="aud_1", phone_number=NUMBER, name="Ada", values={"first_name": "Ada"}, created_at=AT
    )
    return PersonExport(
        id=PERSON_ID,
        numbers=[NUMBER],
        counts=PersonCounts(audience_rows=1, contacts=0, refused_rows=0, calls=1),
        do_not_call=[ListedNumber(number=NUMBER, simulated=True, reason="opted_out", created_at=AT)],
        audience_rows=[row],
        contacts=[],
        refused_rows=[],
        calls=[PersonCall(call=call, turns=list(turns))],
    )


def deletion() -> PersonDeletion:
    """All that was kept about the same person is deleted."""
    return PersonDeletion(
        id=PERSON_ID,
        complete=True,
        deleted=PersonCounts(audience_rows=1, contacts=0, refused_rows=0, calls=1),
        waiting_removed=0,
        do_not_call="kept",
        open_imports=[],
    )


def answers(call: Call, turns: Sequence[TranscriptTurn]) -> dict[str, Resource]:
    """An answer for each operation."""
    return {"export_person": exported(call, turns), "delete_person": deletion()}
