"""Lists of the calls of some deployments: found and counted by the index that has each deployment's calls in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, select, union_all

from callwright.service.platform.database.listing import Span, Walk, behind, in_order
from callwright.service.tables.schema import calls, deployments

MOST_PARTS = 100
"""So many deployments are gone through side by side; of more all calls of the organization are."""
_C = calls.c


@dataclass(frozen=True)
class OfDeployments:
    """Finds the calls of deployments of an organization, and counts up to `most` of them where that is given.

    `conditions` are those beside the deployments. The engines go through all calls of the organization, as far as the
    last one that fits, when several deployments are asked for at once.
    """

    connection: Connection
    org_id: str
    ids: Sequence[str]
    conditions: Sequence[ColumnElement[bool]]
    most: int | None = None

    def total(self) -> int:
        """How many calls there are. The index does not say whose they are, but the deployments do."""
        own = select(deployments.c.id).where(deployments.c.org_id == self.org_id, deployments.c.id.in_(self.ids))
        theirs = select(calls).where(_C.deployment_id.in_(own), *self.conditions)
        return Walk(self.connection, theirs, self.most).total()

    def rows(self, span: Span) -> Select[Any]:
        """The calls that are meant: of each deployment as many as a page may need, and the first ones of all those."""
        own = _C.org_id == self.org_id
        if not 1 < len(self.ids) <= MOST_PARTS:
            few = select(calls).where(own, _C.deployment_id.in_(self.ids), *self.conditions)
            return Walk(self.connection, few).rows(span)
        last = () if span.last is None else (behind(span.order, span.last),)
        parts = [
            in_order(select(_C.id).where(own, _C.deployment_id == each, *self.conditions, *last), span.order)
            .limit(span.skipped + span.count)
            .subquery()
            for each in dict.fromkeys(self.ids)
        ]
        found = select(calls).where(_C.id.in_(union_all(*(select(part.c.id) for part in parts))))
        return (found.offset(span.skipped) if span.skipped else found).limit(span.count)
