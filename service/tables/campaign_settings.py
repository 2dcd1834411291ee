"""The settings of a campaign in its row: one JSON column, read as a model of the contract."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import Row

from callwright.contract.declaration.model import Input
from callwright.contract.deployments.dialling import Recording
from callwright.contract.deployments.inbound import Inbound
from callwright.contract.deployments.placing import ONE_ATTEMPT
from callwright.contract.deployments.settings import SETTINGS, CampaignSettings

_OF_NO_CAMPAIGN: dict[str, Any] = {
    "caller_id_strategy": "",
    "calls_per_second": 0.0,
    "retry_policy": "{}",
    "voicemail": "{}",
    "ring_timeout_seconds": 0,
    "max_call_duration_seconds": 0,
    "compliance": "{}",
}


def settings_of(row: Row[Any]) -> CampaignSettings:
    """The settings in the row of a campaign; of an inbound deployment those by which its callers are answered."""
    return _read(row.settings) if row.settings is not None else _of_inbound(row.inbound)


@lru_cache(maxsize=256)
def _read(text: str) -> CampaignSettings:
    return CampaignSettings.model_validate_json(text)


@lru_cache(maxsize=256)
def _of_inbound(text: str) -> CampaignSettings:
    """Nobody is called again, and what follows from many failed calls is nobody's to pause."""
    recording = Recording(enabled=Inbound.model_validate_json(text).recording_enabled)
    return CampaignSettings(retry_policy=ONE_ATTEMPT, recording=recording, circuit_breaker=None)


def settings_in(asked: Input) -> CampaignSettings:
    """The settings that a request names."""
    return CampaignSettings(**{name: getattr(asked, name) for name in SETTINGS})


def changed_columns(row: Row[Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The columns for changes to a campaign's fields. Settings among them are merged into the column `settings`."""
    settings = {name: value for name, value in changes.items() if name in SETTINGS}
    others = {name: value for name, value in changes.items() if name not in SETTINGS}
    return {**others, **columns_of(settings_of(row).model_copy(update=settings))} if settings else others


def columns_of(settings: CampaignSettings | None) -> dict[str, Any]:
    """The columns that store settings; `settings` is None for an inbound deployment.

    The earlier column of each setting is written too, for processes of an older version on the same Postgres database.
    These columns cannot be null. A migration of a later release removes them.
    """
    if settings is None:
        return {"settings": None, **_OF_NO_CAMPAIGN}
    kept = {name: _column(getattr(settings, name)) for name in (*_OF_NO_CAMPAIGN, "calling_hours")}
    return {"settings": settings.model_dump_json(), **kept}


def _column(value: Any) -> Any:
    return value.model_dump_json() if hasattr(value, "model_dump_json") else value
