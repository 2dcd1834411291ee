"""When each person of a campaign may be called, by its calling hours, its purpose and the rules of their region."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row

from callwright.contract.deployments.dialling import CallingHours
from callwright.list_files.place_columns import state_columns_among
from callwright.service.dialling.eligibility.gate import Candidate, next_call_ms
from callwright.service.rules.open_hours import OpenHours, open_hours
from callwright.service.rules.regions.part_names import says_nothing
from callwright.service.rules.regions.places import place_of
from callwright.service.rules.regions.region_rules import Purpose, RegionRules
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.rules_files import rules_of_deployment

_IN_NAMES_OF_STATE_COLUMNS = ("tat", "provin", "bundesl")
"""Letters of which each name of a column of states has some, whatever its accents."""


@dataclass(frozen=True)
class CampaignHours:
    """What decides when the people of a campaign may be called."""

    regions: RegionRules
    hours: CallingHours | None
    purpose: Purpose

    @classmethod
    def of(cls, connection: Connection, row: Row[Any]) -> "CampaignHours":
        """The hours of a campaign. An inbound deployment has none of its own."""
        rules = rules_of_deployment(connection, row)
        if row.settings is None:
            return cls(rules, None, "informational")
        settings = settings_of(row)
        return cls(rules, settings.calling_hours, settings.compliance.purpose)

    def of_person(self, phone: str, timezone: str | None, cells: str | None) -> OpenHours:
        """When a person may be called. `timezone` and `cells` (JSON) are those of their row in the audience."""
        return _of_person(self, phone, timezone, _state_of(cells))

    def next_call_ms(
        self, phone: str, timezone: str | None, cells: str | None, at_ms: int, end_ms: int | None
    ) -> int | None:
        """When a person who is due at `at_ms` may be called; None for never, or not before the end."""
        candidate = Candidate("", phone, at_ms, self.of_person(phone, timezone, cells), consents=True)
        return next_call_ms(candidate, end_ms)


def has_state_column(columns: str) -> bool:
    """Whether an audience with these columns (JSON) says in which state or province people live."""
    return bool(state_columns_among(tuple(column["name"] for column in json.loads(columns))))


@lru_cache(maxsize=1_000)
def _of_person(campaign: CampaignHours, phone: str, timezone: str | None, state: str | None) -> OpenHours:
    """The open hours of a person. Each round of dialling asks three times about the same people."""
    place = place_of(
        campaign.regions,
        phone,
        state=state,
        timezone=timezone,
        fallback_zone=_fallback_zone(campaign.hours),
    )
    return open_hours(campaign.regions, place, campaign.hours, campaign.purpose)


def _fallback_zone(hours: CallingHours | None) -> str | None:
    """The zone of a person whose number shows none; the zone of fixed hours is where the callers are."""
    return None if hours is None or hours.timezone_mode == "fixed" else hours.timezone


def _state_of(cells: str | None) -> str | None:
    """The state or province in the cells (JSON) of a person."""
    found = state_cell(cells)
    return found[1] if found is not None else None


def state_cell(cells: str | None) -> tuple[str, str] | None:
    """The column and the cell that say in which state or province a person lives, of the cells (JSON) of a list.

    They are read only if a column may be named so. Of several columns the first that says something is taken.
    """
    text = (cells or "").casefold()
    if not any(letters in text for letters in _IN_NAMES_OF_STATE_COLUMNS):
        return None
    there: Mapping[str, str] = json.loads(cells or "{}")
    filled = [(name, there[name]) for name in state_columns_among(tuple(there)) if there[name]]
    return next((one for one in filled if not says_nothing(one[1])), None)
