"""The programs' settings: one list, read once from flags and the environment; flags win.

The same for `mcp` and `serve`. What is wrong is named, with the value that was expected.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from pathlib import Path


@dataclass(frozen=True)
class Setting:
    """A setting: its environment variable, what it is when nobody sets it, and what it does."""

    variable: str
    default: str
    help: str


SETTINGS: tuple[Setting, ...] = (
    Setting("CALLWRIGHT_DATA", "~/.callwright", "Folder for everything the embedded service keeps."),
    Setting(
        "CALLWRIGHT_DATABASE_URL",
        "SQLite in the data folder",
        "Where the service stores: postgresql://user:password@host/name for many processes.",
    ),
    Setting(
        "CALLWRIGHT_BASE_URL",
        "the embedded service",
        "Use the service that runs at this address, version prefix included, for example https://host/v1.",
    ),
    Setting("CALLWRIGHT_API_KEY", "the embedded service's own", "The key for CALLWRIGHT_BASE_URL."),
    Setting(
        "CALLWRIGHT_SIM_SEED",
        "callwright",
        "Decides everything that is left to chance on the simulated network; the same seed gives the same calls.",
    ),
    Setting(
        "CALLWRIGHT_SIM_TIME_SCALE",
        "inf",
        "How much faster than life the simulated network runs: 1 is as slow as life, inf as fast as possible.",
    ),
    Setting(
        "CALLWRIGHT_CLOCK",
        "now",
        "The moment at which the service's clock starts to run, for tests and rehearsals: 2026-11-21T09:00:00Z.",
    ),
)
"""Every setting. The reference page is made from this list."""


class BadSetting(ValueError):
    """A setting has a value that means nothing; the text names it and says what is expected."""


@dataclass(frozen=True, kw_only=True)
class ProgramSettings:
    """What the programs run with. The API key is a secret and is not shown."""

    data: Path
    database_url: str
    base_url: str | None
    api_key: str | None
    sim_seed: str
    sim_time_scale: float
    clock_begins_ms: int | None

    def __repr__(self) -> str:
        return f"ProgramSettings(data={str(self.data)!r}, base_url={self.base_url!r})"


def read_settings(
    environment: Mapping[str, str] = os.environ,
    *,
    data: Path | None = None,
    database_url: str | None = None,
) -> ProgramSettings:
    """The settings. Raises `BadSetting` naming the first that is wrong."""

    def given(name: str) -> str | None:
        return environment.get(name, "").strip() or None

    folder = (data or Path(given("CALLWRIGHT_DATA") or "~/.callwright")).expanduser().absolute()
    base_url, api_key = given("CALLWRIGHT_BASE_URL"), given("CALLWRIGHT_API_KEY")
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise BadSetting("CALLWRIGHT_BASE_URL must begin with http:// or https://")
    if base_url is not None and api_key is None:
        raise BadSetting("CALLWRIGHT_BASE_URL needs CALLWRIGHT_API_KEY, a key that begins with svc_live_")
    return ProgramSettings(
        data=folder,
        database_url=_database(database_url or given("CALLWRIGHT_DATABASE_URL"), folder),
        base_url=base_url,
        api_key=api_key,
        sim_seed=given("CALLWRIGHT_SIM_SEED") or "callwright",
        sim_time_scale=_scale(given("CALLWRIGHT_SIM_TIME_SCALE")),
        clock_begins_ms=_moment(given("CALLWRIGHT_CLOCK")),
    )


def _database(url: str | None, folder: Path) -> str:
    if url is None:
        return f"sqlite:///{folder / 'callwright.db'}"
    for prefix in ("postgresql://", "postgres://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url.removeprefix(prefix)
    if url.startswith(("postgresql+psycopg://", "sqlite:///")):
        return url
    raise BadSetting("CALLWRIGHT_DATABASE_URL must begin with postgresql:// or sqlite:///")


def _scale(text: str | None) -> float:
    if text is None:
        return inf
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not scale > 0:
        raise BadSetting("CALLWRIGHT_SIM_TIME_SCALE must be a number above zero, or inf")
    return scale


def _moment(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadSetting("CALLWRIGHT_CLOCK must be a moment such as 2026-11-21T09:00:00Z") from error
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1_000)
