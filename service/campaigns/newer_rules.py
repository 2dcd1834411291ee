"""Campaigns that have started move to newer rules of regions, and those whose people these concern wait for a review.

Each campaign moves in a transaction of its own, in whichever process finds it first; what a crash leaves, the next pass
finds. Until it has moved, a campaign dials by the rules that it had.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, func, or_, select, update

from callwright.service.dialling import changed_rules
from callwright.service.dialling.eligibility.campaign_hours import has_state_column
from callwright.service.dialling.queue import FIND
from callwright.service.dialling.stops import reviews
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.units import brief
from callwright.service.platform.ids import Ids
from callwright.service.rules.regions.rule_differences import changed_countries, concerns, differences
from callwright.service.services import Services
from callwright.service.tables.rules_files import current_rules, current_version, known_rules, order_of
from callwright.service.tables.schema import audiences, deployments

log = logging.getLogger(__name__)
PAGE = 50
"""Campaigns that are looked for at a time."""
EVERY_S = 1.0
"""Seconds between two looks for newer rules: how long campaigns may go on dialling by older ones."""
_D, _A = deployments.c, audiences.c
_GOES_ON = (
    _D.status.in_(("scheduled", "active", "paused")),
    _D.call_type == "outbound",
    _D.started_at.is_not(None),
)
_VERSIONS: Select[*tuple[str | None]] = select(_D.rules_version).where(*_GOES_ON).distinct()
_IS_OLDER = (
    *_GOES_ON,
    or_(_D.rules_version.is_(None), _D.rules_version.in_(bindparam("versions", expanding=True))),
)
_OLDER = select(_D.id).where(*_IS_OLDER, _D.id > bindparam("after")).order_by(_D.id).limit(bindparam("page"))
_COUNT_OLDER = select(func.count()).select_from(deployments).where(*_IS_OLDER)
_ONE = FIND.where(*_GOES_ON).with_for_update(skip_locked=True)
_AUDIENCE = select(_A.countries, _A.columns, _A.valid_count).where(_A.id == bindparam("id"))


@dataclass(frozen=True)
class Moved:
    """How many campaigns moved to the newest rules, and how many of them these concern."""

    campaigns: int = 0
    concerned: int = 0


class NewerRules:
    """Moves campaigns to the newest rules. It says in the log when there are newer ones, and how many moved."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._version: str | None = None

    async def look(self) -> None:
        """Moves all campaigns that dial by older rules."""
        services = self._services
        version = await services.database.read(_version)
        if self._version not in (None, version):
            log.warning("rules version %s is in force from now on", version)
        self._version = version
        given: dict[str, Any] = {"now_ms": services.clock.now_ms(), "public_url": services.settings.public_url}
        moved = await move_all(services.database, services.ids, **given)
        if moved.campaigns:
            words = "%d campaigns dial by rules version %s now; it concerns the people of %d of them"
            log.warning(words, moved.campaigns, version, moved.concerned)
            services.wake()


async def move_all(database: Database, ids: Ids, *, now_ms: int, public_url: str | None) -> Moved:
    """Moves all campaigns that dial by older rules, except those that others hold at the moment."""
    campaigns = concerned = 0
    last = ""
    while found := await database.read(_older, last):
        moved = [await database.write(move, ids, one, now_ms=now_ms, public_url=public_url) for one in found]
        campaigns += sum(one is not None for one in moved)
        concerned += sum(bool(one) for one in moved)
        last = found[-1]
    return Moved(campaigns, concerned)


@dataclass(frozen=True)
class StillOlder:
    """The campaigns that have not moved to the newest rules yet: how many, and the ids of the first ones, to `PAGE`."""

    count: int = 0
    first: Sequence[str] = ()


def still_older(connection: Connection) -> StillOlder:
    """The campaigns that have not moved to the newest rules yet. They claim no call before."""
    older = _older_versions(connection)
    if older is None:
        return StillOlder()
    first = connection.execute(_OLDER, _page_of(older, "")).scalars().all()
    count = connection.execute(_COUNT_OLDER, {"versions": older}).scalar_one()
    return StillOlder(max(count, len(first)), first)  # on Postgres some may have moved between the two


@brief
def _version(connection: Connection) -> str:
    return current_version(connection)


@brief
def _older(connection: Connection, after: str) -> Sequence[str]:
    """Campaigns behind an id that dial by older rules than the newest, at most `PAGE`, in the order of their ids."""
    older = _older_versions(connection)
    return () if older is None else connection.execute(_OLDER, _page_of(older, after)).scalars().all()


def _page_of(versions: Sequence[str], after: str) -> dict[str, Any]:
    return {"versions": versions, "after": after, "page": PAGE}


def _older_versions(connection: Connection) -> Sequence[str] | None:
    """The versions older than the newest by which campaigns dial, without that of a release without rules; None if no
    campaign dials by older rules.
    """
    newest = order_of(current_version(connection))
    found = connection.execute(_VERSIONS).scalars().all()
    older = [version for version in found if version is not None and order_of(version) < newest]
    return older if older or None in found else None


def move(connection: Connection, ids: Ids, deployment_id: str, *, now_ms: int, public_url: str | None) -> bool | None:
    """Moves a campaign to the newest rules; returns whether they concern its people, None if others have moved it.

    If they do, it waits for a review, and whoever the former rules deferred or left out is decided about again. One of
    a release without rules has dialled by the newest since.
    """
    row: Row[Any] | None = connection.execute(_ONE, {"id": deployment_id}).one_or_none()
    rules = current_rules(connection)
    former_version: str | None = None if row is None else row.rules_version
    if row is None or (former_version is not None and order_of(former_version) >= order_of(rules.version)):
        return None
    connection.execute(update(deployments).where(_D.id == row.id).values(rules_version=rules.version))
    if former_version is None:
        return False
    former = known_rules(connection, former_version)
    audience = connection.execute(_AUDIENCE, {"id": row.audience_id}).one_or_none()
    if former is not None and audience is not None:
        counts = json.loads(audience.countries)
        whole = sum(counts.values()) >= audience.valid_count
        changed = changed_countries(former, rules)
        if whole and not concerns(changed, counts, names_states=has_state_column(audience.columns)):
            return False
    changed_rules.rules_changed(connection, row.id, ("calling_hours", "compliance"))
    given: dict[str, Any] = {"now_ms": now_ms, "public_url": public_url}
    changed_ids = () if former is None else differences(former, rules).all
    reviews.rules_changed(connection, ids, row, version=rules.version, changed=changed_ids, **given)
    return True
