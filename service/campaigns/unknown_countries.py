"""Countries of a campaign's people without rules of their own: a preview warns of them, a start has them reviewed."""

import json
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from callwright.contract.checks.counts import count_of, first_of
from callwright.service.dialling import endings
from callwright.service.dialling.stops.reviews import PAUSED_FOR, unknown_countries
from callwright.service.platform.ids import Ids
from callwright.service.rules.regions.places import countries_with_numbers_of
from callwright.service.rules.regions.region_rules import DEFAULT
from callwright.service.tables import compliance_reviews
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.rules_files import rules_of_deployment
from callwright.service.tables.schema import audiences

_COUNTRIES = select(audiences.c.countries).where(audiences.c.id == bindparam("id"))
_MOST_SAID = 5


def countries_without_rules(connection: Connection, row: Row[Any]) -> dict[str, int]:
    """The countries of the audience for which only the default holds, with how many people each has, most first.

    `*` is for numbers of no country. Where the rules name no country at all, the default is meant for every one.
    """
    own = {rule.region.partition("-")[0] for rule in rules_of_deployment(connection, row).rules()} - {DEFAULT}
    counts: dict[str, int] = json.loads(connection.execute(_COUNTRIES, {"id": row.audience_id}).scalar() or "{}")
    found = {
        name: count for name, count in counts.items() if own and not own.issuperset(countries_with_numbers_of(name))
    }
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def advice_on_countries(connection: Connection, row: Row[Any]) -> list[str]:
    """The warning of a preview about people in countries without rules."""
    found = countries_without_rules(connection, row)
    if not found:
        return []
    said = [f"{_name(country)} ({count_of(count, 'person', 'people')})" for country, count in found.items()]
    waits = "; a start waits for a review" if _blocks(row) and _is_new(connection, row, list(found)) else ""
    return [f"there are no rules of calling for {first_of(said, _MOST_SAID)}: the default's hold{waits}"]


def paused_for_countries(
    connection: Connection, ids: Ids, row: Row[Any], *, now_ms: int, public_url: str | None
) -> bool:
    """Whether a start or resume ends in a review of these countries; where the review blocks nothing, it is only told.

    The caller holds the lock of the deployment and has found no refusal.
    """
    countries = sorted(countries_without_rules(connection, row))
    if not countries or not _is_new(connection, row, countries):
        return False
    blocks = _blocks(row)
    given: dict[str, Any] = {"now_ms": now_ms, "public_url": public_url}
    unknown_countries(connection, ids, row, countries=[_name(one) for one in countries], blocking=blocks, **given)
    if blocks and row.status in ("draft", "paused"):  # an active or scheduled one was paused with the review
        endings.pause_holding_lock(connection, ids, row, PAUSED_FOR, now_ms=now_ms)
    return blocks


def _blocks(row: Row[Any]) -> bool:
    return not row.simulated or settings_of(row).compliance.purpose == "marketing"


def _is_new(connection: Connection, row: Row[Any], countries: list[str]) -> bool:
    """Whether the last review did not name all of these countries, or told of them where it has to block now."""
    last = compliance_reviews.newest(connection, row.id, "unknown_country")
    if last is None:
        return True
    known = json.loads(last.facts).get("countries", ())
    return not {_name(one) for one in countries} <= set(known) or (
        _blocks(row) and not last.blocking and last.status != "approved"
    )


def _name(country: str) -> str:
    return "numbers of no country" if country == DEFAULT else country
