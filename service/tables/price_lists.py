"""The price lists of the installation, for calls on real lines. None is shipped; without one, calls have the prices of
the simulated network and what services charge is not counted."""

import json
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, Row, Select, bindparam, select

from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.rules.prices.installation_prices import (
    SERVICE_ITEMS,
    InstallationPrices,
    ServiceItem,
    read_installation_prices,
)
from callwright.service.rules.prices.price_list import BadPriceList
from callwright.service.tables.providers import own_services
from callwright.service.tables.rules_files import order_of
from callwright.service.tables.schema import agents, deployments, price_lists

NO_LIST = ""
"""The version of a deployment that started when there was no list."""
_P, _D, _A = price_lists.c, deployments.c, agents.c
_VERSIONS = select(_P.version)
_TEXT = select(_P.text).where(_P.version == bindparam("version"))
_ROLES = ("hearing_provider", "speaking_provider", "model_provider")
_AGENT: Select[*tuple[Any, ...]] = (
    select(_D.agent_snapshot, *(_A[role] for role in _ROLES))
    .outerjoin_from(deployments, agents, _A.id == _D.agent_id)
    .where(_D.id == bindparam("id"))
)
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

    Without what the organization's own providers do. None on the simulated network, which has prices of its own.
    """
    if row.simulated:
        return None
    started: str | None = row.prices_version
    if started is not None:
        listed, own = list_of_version(connection, started), row.own_services or ""
        return listed and listed.without([item for item in SERVICE_ITEMS if item in own.split(",")])
    listed = current_list(connection)
    return listed and listed.without(own_services_of(connection, row.org_id, row.id))


def own_services_of(
    connection: Connection, org_id: str, deployment_id: str, *, hold: bool = False
) -> frozenset[ServiceItem]:
    """What an organization's own providers do on a deployment's calls, by the agent that it keeps or would keep.

    With `hold` nobody changes those before this transaction ends.
    """
    found = connection.execute(_AGENT, {"id": deployment_id}).one_or_none()
    if found is None:
        return frozenset()
    stored, *columns = found
    named: Mapping[str, Any] = dict(zip(_ROLES, columns, strict=True))
    return own_services(connection, org_id, named if stored is None else json.loads(stored), hold=hold)


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
