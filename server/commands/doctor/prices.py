"""Whether `callwright serve` would take the price list of the settings into its database. It is only read."""

import sqlite3
from contextlib import closing

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from callwright.server.settings import ProgramSettings
from callwright.service.platform.database.engines import file_of, make_engine
from callwright.service.platform.database.unavailable import DatabaseUnusable
from callwright.service.rules.prices.installation_prices import InstallationPrices
from callwright.service.tables.database_file import read_only
from callwright.service.tables.schema import price_lists

_P = price_lists.c


def stored_otherwise(settings: ProgramSettings, prices: InstallationPrices) -> bool:
    """Whether the database has a list of this version with other contents.

    False where it cannot be read or has no lists yet; the check of the database says so.
    """
    try:
        stored = _stored(settings.database_url, prices.version)
    except (DatabaseUnusable, SQLAlchemyError, sqlite3.Error):
        return False
    return stored is not None and stored != prices.text


def _stored(url: str, version: str) -> str | None:
    if (file := file_of(url)) is not None:
        if not file.exists():
            return None
        with closing(read_only(file)) as connection:
            row = connection.execute("SELECT text FROM price_lists WHERE version = ?", (version,)).fetchone()
            return None if row is None else str(row[0])
    engine = make_engine(url)
    try:
        with engine.connect() as connection:
            return connection.execute(select(_P.text).where(_P.version == version)).scalar()
    finally:
        engine.dispose()
