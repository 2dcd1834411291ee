"""Why a call was allowed: the record that each call keeps, and the history of what forbade calls to a contact."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert

from callwright.contract.deployments.dialling import Compliance
from callwright.list_files.consent_columns import consent_date_column_among
from callwright.service.dialling.eligibility.gate import Candidate, Deferred, Never
from callwright.service.platform.clock.clock import DAY, moment
from callwright.service.platform.clock.zones import zone_of
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.tables.schema import contact_decisions

ALLOWED = "allowed"
"""The deciding rule of a contact whose call was allowed."""
_ADD = Prepared(insert(contact_decisions))
_CELLS = ("consent_answer", "consent_date")
MOST_SAID = 100
"""The most characters of a cell about consent that a call keeps."""


def consent_of(compliance: Compliance, cells: Mapping[str, str]) -> dict[str, Any]:
    """On which consent a call is allowed, with what the person's row says of it, cut to `MOST_SAID` characters.

    The row's word is that of the column that the campaign names. A date is kept where the list has a column for it.
    """
    column = compliance.consent_column
    basis = "column" if column is not None else "attested" if compliance.consent_attested else "not_needed"
    dated = consent_date_column_among(cells, column) if basis != "not_needed" else None
    return {
        "consent_basis": basis,
        "consent_column": column,
        "consent_answer": cells.get(column, "")[:MOST_SAID] if column is not None else None,
        "consent_date": cells[dated][:MOST_SAID] or None if dated is not None else None,
        "consent_reference": compliance.consent_reference,
    }


def evidence_of(
    candidate: Candidate, at_ms: int, *, rules_version: str, consent: Mapping[str, Any], checked_ms: int
) -> str:
    """The record of an allowed call, as JSON. `consent` is what `consent_of` gives.

    `at_ms` is when it is dialled, by the clock of the deployment; `checked_ms` when the do-not-call list was read, by
    the clock of the service.
    """
    hours = candidate.hours
    zones = hours.place.zones
    allowed = hours.in_force(at_ms)
    return json_text(
        {
            "rules_version": rules_version,
            "regions": hours.place.regions,
            "time_zones": zones,
            "local_time": local_time(at_ms, zones[0]),
            "rules": [rule.id for rule in (*hours.hours_rules(at_ms), *allowed.caps, *allowed.pauses)],
            "consent_rules": [rule.id for rule in allowed.consent],
            **consent,
            "calls_in_24_hours": sum(0 <= at_ms - past.dialled_ms < DAY for past in candidate.past),
            "calls_in_7_days": sum(0 <= at_ms - past.dialled_ms < 7 * DAY for past in candidate.past),
            "do_not_call_checked_ms": checked_ms,
        }
    )


def without_cells(evidence: str) -> str | None:
    """The record of a call without the cells of the person; None if it has none of them."""
    kept = json.loads(evidence)
    said = {name: None for name in _CELLS if kept.get(name) is not None}
    return json_text(kept | said) if said else None


def local_time(at_ms: int, zone: str) -> str:
    """What clocks in a zone show, with the weekday and the offset: `Sat 2026-11-28 17:01:02 -0500`."""
    return f"{moment(at_ms).astimezone(zone_of(zone)):%a %Y-%m-%d %H:%M:%S %z}"


@dataclass(frozen=True)
class Decided:
    """A decision of the gate about a contact that is not called now; `before` is the rule that decided before it."""

    contact_id: str
    decision: Deferred | Never
    before: str | None


def keep_history(
    connection: Connection,
    ids: Ids,
    deployment_id: str,
    decided: Sequence[Decided],
    *,
    at_ms: int,
    rules_version: str,
) -> None:
    """Adds a row to the history of each contact for which another rule decided than the last time."""
    rows: list[dict[str, Any]] = [
        {
            "id": ids.new("dec"),
            "deployment_id": deployment_id,
            "contact_id": one.contact_id,
            "decided_at": at_ms,
            "decision": "never" if isinstance(one.decision, Never) else "deferred",
            "rule": one.decision.rule,
            "until": None if isinstance(one.decision, Never) else one.decision.until_ms,
            "rules_version": rules_version,
        }
        for one in decided
        if one.decision.rule != one.before
    ]
    _ADD.run_many(connection, rows)
