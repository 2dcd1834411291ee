"""The price lists of the installation, for calls on real lines. None is shipped; without one, calls have the prices of
the simulated network and what services charge is not counted."""

from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, Row, bindparam, select

from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.rules.prices.installation_prices import InstallationPrices, read_installation_prices
from callwright.service.rules.prices.price_list import BadPriceList
from callwright.service.tables.rules_files import order_of
from callwright.service.tables.schema import price_lists

NO_LIST = ""
"""The version of a deployment that started when there was no list."""
_P = price_lists.c
_VERSIONS = select(_P.version)
_TEXT = select(_P.text).where(_P.version == bindparam("version"))
_KNOWN: WeakKeyDictionary[Engine, dict[str, InstallationPrices]] = WeakKeyDictionary()
"""The lists that were read from each database, by version."""


def current_version(connection: Connection) -> str:
    """The newest version; `NO_LIST` without one."""
    return max(connection.execute(_VERSIONS).scalars(), key=order_of, default=NO_LIST)


def list_of_version(connection: Connection, version: str | None) -> InstallationPrices | None:
    """The list of a version, None for no version. A version is never deleted."""
    if not version:
        return None
    known = _KNOWN.setdefault(connection.engine, {})
    if version not in known:
        known[version] = read_installation_prices(connection.execute(_TEXT, {"version": version}).scalar_one())
    return known[version]


def current_list(connection: Connection) -> InstallationPrices | None:
    """The newest list; None without one."""
    return list_of_version(connection, current_version(connection))


def list_of_deployment(connection: Connection, row: Row[Any]) -> InstallationPrices | None:
    """The list by which a deployment's calls on real lines are charged: that of its start, before it the newest.

    None on the simulated network, which has prices of its own.
    """
    if row.simulated:
        return None
    started: str | None = row.prices_version
    return current_list(connection) if started is None else list_of_version(connection, started)


def take_list(connection: Connection, given: InstallationPrices, now_ms: int) -> bool:
    """Stores a list, unless it is there; from then on campaigns start by it. Returns whether it is the newest.

    Raises:
        BadPriceList: another list has this version.
    """
    row = {"version": given.version, "text": given.text, "loaded_at": now_ms}
    is_new = insert_ignoring_conflicts(connection, price_lists, [row])
    if not is_new and connection.execute(_TEXT, {"version": given.version}).scalar_one() != given.text:
        raise BadPriceList(f"version {given.version} is stored with other contents; give this list a newer version")
    return current_version(connection) == given.version
