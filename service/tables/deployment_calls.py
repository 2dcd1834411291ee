"""Lists of the calls of some deployments, read from the index that has each deployment's calls in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, select, union_all

from callwright.service.platform.database.listing import RowScan, Span, after_position, in_order
from callwright.service.tables.schema import calls, deployments

MOST_PARTS = 100
"""Up to this many deployments are read by the index one by one; for more, all calls of the organization are scanned."""
_C = calls.c


@dataclass(frozen=True)
class OfDeployments:
    """Finds the calls of an organization's deployments, and counts up to `most` of them if that is given.

    `conditions` are the other filters. With a plain condition on several deployments, the engines would scan the calls
    of the whole organization up to the last one that matches.
    """

    connection: Connection
    org_id: str
    ids: Sequence[str]
    conditions: Sequence[ColumnElement[bool]]
    most: int | None = None

    def total(self) -> int:
        """How many calls there are. The organization is checked on the deployments, as the index does not have it."""
        own = select(deployments.c.id).where(deployments.c.org_id == self.org_id, deployments.c.id.in_(self.ids))
        theirs = select(calls).where(_C.deployment_id.in_(own), *self.conditions)
        return RowScan(self.connection, theirs, self.most).total()

    def rows(self, span: Span) -> Select[Any]:
        """The calls of a span: reads from each deployment as many as the page may need, and takes the first of all."""
        own = _C.org_id == self.org_id
        if not 1 < len(self.ids) <= MOST_PARTS:
            few = select(calls).where(own, _C.deployment_id.in_(self.ids), *self.conditions)
            return RowScan(self.connection, few).rows(span)
        last = () if span.last is None else (after_position(span.order, span.last),)
        parts = [
            in_order(select(_C.id).where(own, _C.deployment_id == each, *self.conditions, *last), span.order)
            .limit(span.skipped + span.count)
            .subquery()
            for each in dict.fromkeys(self.ids)
        ]
        found = select(calls).where(_C.id.in_(union_all(*(select(part.c.id) for part in parts))))
        return (found.offset(span.skipped) if span.skipped else found).limit(span.count)
