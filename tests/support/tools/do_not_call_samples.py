"""Good answers about the do-not-call list."""

from datetime import UTC, datetime
from typing import Any

from callwright.contract.do_not_call import (
    DoNotCallAdded,
    DoNotCallEntry,
    DoNotCallImported,
    ListedNumber,
    RefusedNumber,
)

AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
_COUNTS: dict[str, Any] = {
    "received": 3,
    "added": 1,
    "extended": 0,
    "already_there": 1,
    "kept_permanent": 1,
    "refused": 1,
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "add_do_not_call": {"entries": [{"number": "+12025550142"}]},
    "import_do_not_call": {"csv": "number\n+12025550142\n"},
    "get_do_not_call": {"do_not_call_id": "dnc_1"},
    "remove_do_not_call": {"do_not_call_id": "dnc_1"},
}


def entry() -> DoNotCallEntry:
    """An opt-out of a call."""
    return DoNotCallEntry(
        id="dnc_1",
        number="+12025550142",
        reason="opted_out",
        note="",
        source_call_id="cal_1",
        simulated=True,
        created_at=AT,
    )


def refused() -> RefusedNumber:
    """A number of a file that is none."""
    return RefusedNumber(
        row_number=3,
        line=4,
        field="number",
        code="invalid_phone",
        message="this is not a phone number",
        value_redacted="12•45",
    )


def added() -> DoNotCallAdded:
    """One of each."""
    listed = ListedNumber(id="dnc_1", number="+12025550142", result="added")
    return DoNotCallAdded(**_COUNTS, entries=[listed], errors=[refused()])


def imported() -> DoNotCallImported:
    """One of each, from a file."""
    return DoNotCallImported(
        **_COUNTS,
        read_as="CSV, UTF-8, commas",
        number_columns=["number"],
        unread_number_columns=["landline"],
        notices=["1 row: expires_at cannot be read, so that the numbers are on the list for good; line 3"],
        errors=[refused()],
    )


LISTED = {"list_do_not_call": entry}


def singles() -> dict[str, Any]:
    """An answer for each operation that gives one thing, or nothing."""
    return {
        "get_do_not_call": entry(),
        "add_do_not_call": added(),
        "import_do_not_call": imported(),
        "remove_do_not_call": None,
    }
