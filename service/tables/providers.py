"""Queries about providers, for those who set them, name them and use them."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, Row, bindparam, or_, select, update

from callwright.contract.providers import Role
from callwright.service.platform.json_text import json_text
from callwright.service.platform.secret_box import SecretBox, SecretUnreadable
from callwright.service.rules.prices.installation_prices import ServiceItem
from callwright.service.tables.call_tool_secrets import encrypted_again
from callwright.service.tables.schema import agents, deployments, providers

_P, _A, _D = providers.c, agents.c, deployments.c
_ALL = select(providers).where(_P.org_id == bindparam("org")).order_by(_P.name)
_HELD = _ALL.with_for_update(read=True)
_USERS = (
    select(_A.id)
    .where(
        _A.org_id == bindparam("org"),
        or_(
            *(column == bindparam("name") for column in (_A.hearing_provider, _A.speaking_provider, _A.model_provider))
        ),
    )
    .order_by(_A.id)
)
_UNFINISHED = ("scheduled", "active", "paused")
_SERVICES: tuple[tuple[Role, str, ServiceItem], ...] = (
    ("hearing", "hearing_provider", "stt"),
    ("thinking", "model_provider", "llm"),
    ("speaking", "speaking_provider", "tts"),
)
_KEPT = ("hearing_provider", "speaking_provider", "model_provider")


def all_of(connection: Connection, org_id: str, *, hold: bool = False) -> list[Row[Any]]:
    """The providers of an organization by name. With `hold` nobody removes one before this transaction ends."""
    return list(connection.execute(_HELD if hold else _ALL, {"org": org_id}).all())


def encrypt_again(connection: Connection, box: SecretBox) -> tuple[int, list[str]]:
    """Encrypts the keys of all organizations with the first secrets key, so that later ones are needed no more, and the
    secrets of call tools.

    Returns how many there are, and the names of providers and of agents' tools whose keys cannot be read; those stay as
    they are.
    """
    done, unreadable = 0, list[str]()
    held = select(providers).where(_P.encrypted_key.is_not(None)).order_by(_P.org_id, _P.name).with_for_update()
    for row in connection.execute(held).all():
        owner = (row.org_id, row.name)
        try:
            stored = box.encrypt(box.decrypt(row.encrypted_key, owner), owner)
        except SecretUnreadable:
            unreadable.append(row.name)
            continue
        mine = (_P.org_id == row.org_id) & (_P.name == row.name)
        connection.execute(update(providers).where(mine).values(encrypted_key=stored))
        done += 1
    tools = select(_A.id, _A.org_id, _A.call_tool_secrets).where(_A.call_tool_secrets.is_not(None)).order_by(_A.id)
    for row in connection.execute(tools.with_for_update()).all():
        stored, count, left = encrypted_again(row.call_tool_secrets, box, (row.org_id, row.id))
        connection.execute(update(agents).where(_A.id == row.id).values(call_tool_secrets=stored))
        done, unreadable = done + count, unreadable + left
    return done, unreadable


def roles_of(row: Row[Any]) -> list[Role]:
    """What a provider is used for."""
    return json.loads(row.roles)


def defaults_of(row: Row[Any]) -> list[Role]:
    """The roles in which agents use a provider that name none."""
    return json.loads(row.default_for)


def own_services(
    connection: Connection, org_id: str, kept: Mapping[str, Any], *, hold: bool = False
) -> frozenset[ServiceItem]:
    """Those of hearing, thinking and speaking that an organization's own providers do on calls of an agent with these
    fields: the ones that it names, or else the defaults. With `hold` they stay so until this transaction ends."""
    defaults = {role for row in all_of(connection, org_id, hold=hold) for role in defaults_of(row)}
    return frozenset(item for role, column, item in _SERVICES if kept.get(column) or role in defaults)


def begun_with_default(connection: Connection, org_id: str, roles: Collection[Role], most: int) -> list[str]:
    """The first ids of campaigns under way that began with the organization's default in one of these roles.

    What their services charge is not counted in them, so the installation's may not take the place of those.
    """
    wanted = [(column, item) for role, column, item in _SERVICES if role in roles]
    begun = (
        select(_D.id, _D.agent_snapshot, _D.own_services)
        .where(_D.org_id == org_id, _D.status.in_(_UNFINISHED), _D.own_services != "")
        .order_by(_D.id)
    )
    found: list[str] = []
    for row in connection.execute(begun):
        kept: Mapping[str, Any] = json.loads(row.agent_snapshot)
        own = row.own_services.split(",")
        if len(found) < most and any(item in own and not kept.get(column) for column, item in wanted):
            found.append(row.id)
    return found


def users_of(connection: Connection, org_id: str, name: str, most: int) -> list[str]:
    """The first ids of agents that name a provider, and of campaigns not finished that began with one that did."""
    found: list[str] = list(connection.execute(_USERS.limit(most), {"org": org_id, "name": name}).scalars())
    begun = (
        select(_D.id, _D.agent_snapshot)
        .where(
            _D.org_id == org_id,
            _D.status.in_(_UNFINISHED),
            _D.agent_snapshot.contains(json_text(name), autoescape=True),
        )
        .order_by(_D.id)
    )
    for row in connection.execute(begun):
        kept: Mapping[str, Any] = json.loads(row.agent_snapshot)
        if len(found) < most and name in [kept.get(column) for column in _KEPT]:
            found.append(row.id)
    return found
