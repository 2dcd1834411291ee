"""Providers of speech and language models: set, listed and removed. Their keys are encrypted and never shown."""

from typing import Any

from sqlalchemy import Row, bindparam, delete, insert, select, update

from callwright.contract import providers as contract
from callwright.contract.checks.counts import count_of
from callwright.contract.declaration.pagination import Page
from callwright.contract.problems import PLAN_LIMIT_REACHED, PROVIDER_IN_USE
from callwright.service.handlers.request_context import RequestContext, handles, shows
from callwright.service.handlers.resources import resource
from callwright.service.platform import secret_box
from callwright.service.platform.database.listing import Listing
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.platform.secret_box import SecretBox, SecretUnreadable
from callwright.service.rules import provider_rules
from callwright.service.tables import providers as rows
from callwright.service.tables.schema import organizations, providers

MOST_NAMED = 10
"""Users of a provider that a refusal to remove it names."""

_P = providers.c
_MINE = (_P.org_id == bindparam("org")) & (_P.name == bindparam("provider"))
_FOR_CHANGE = select(providers).where(_MINE).with_for_update()
_ONE = select(providers).where(_MINE)
_HOLD = select(organizations.c.id).where(organizations.c.id == bindparam("org")).with_for_update(key_share=True)
_COLUMNS = {name: _P[name] for name in ("kind", "name")}


def _to_resource(row: Row[Any]) -> contract.Provider:
    return resource(contract.Provider, row, has_key=row.encrypted_key is not None)


def _load_encryption(_: contract.SetProvider) -> None:
    secret_box.load()


@handles(contract.list_providers)
def list_providers(asked: contract.ListProviders, context: RequestContext) -> Page[contract.Provider]:
    """A page of providers, by name."""
    own = select(providers).where(_P.org_id == context.org_id)
    return context.page(Listing(contract.list_providers, own, _COLUMNS, _P.name, default="name"), asked, _to_resource)


@shows(contract.set_provider)
def as_set(asked: contract.SetProvider, context: RequestContext) -> contract.Provider | None:
    """The provider as it is now."""
    row = context.connection.execute(_ONE, {"org": context.org_id, "provider": asked.name}).one_or_none()
    return None if row is None else _to_resource(row)


@handles(contract.set_provider, prepare=_load_encryption)
def set_provider(asked: contract.SetProvider, context: RequestContext) -> contract.Provider:
    """The provider as it is from now on. Two settings in one organization take turns, for the sake of the defaults."""
    context.connection.execute(_HOLD, {"org": context.org_id})
    others = {row.name: row for row in rows.all_of(context.connection, context.org_id)}
    before = others.pop(asked.name, None)
    if before is None and len(others) >= contract.MOST_PROVIDERS:
        raise Refusal(
            PLAN_LIMIT_REACHED,
            f"an organization has at most {count_of(contract.MOST_PROVIDERS, 'provider')}; remove one first",
            details={"limit": contract.MOST_PROVIDERS, "current": len(others)},
        )
    try:
        roles = provider_rules.roles_of(asked)
        provider_rules.check(asked, roles, opened=context.settings.webhook_networks)
    except provider_rules.Unfit as error:
        raise invalid(error.field, str(error)) from error
    if before is not None:
        context.connection.execute(_FOR_CHANGE, {"org": context.org_id, "provider": asked.name})  # waits for starts
        _check_users(context, asked.name, [role for role in rows.roles_of(before) if role not in roles])
        _check_defaults(
            context, asked.name, [role for role in rows.defaults_of(before) if role not in asked.default_for]
        )
    values: dict[str, Any] = {
        "kind": asked.kind,
        "url": asked.url,
        "model": asked.model,
        "voice": asked.voice,
        "roles": json_text(roles),
        "default_for": json_text([role for role in roles if role in asked.default_for]),
        **_key_columns(asked, before, context),
        "updated_at": context.now_ms,
    }
    mine = {"org": context.org_id, "provider": asked.name}
    if before is None:
        made = {"created_at": context.now_ms, "created_by_key_id": context.key_id}
        context.connection.execute(insert(providers), {"org_id": context.org_id, "name": asked.name, **made, **values})
    else:
        context.connection.execute(update(providers).where(_MINE).values(**values), mine)
    for name, row in others.items():
        _give_up(context, name, rows.defaults_of(row), asked.default_for)
    return _to_resource(context.connection.execute(_FOR_CHANGE, mine).one())


def _give_up(context: RequestContext, name: str, defaults: list[contract.Role], taken: list[contract.Role]) -> None:
    """Another provider is the default of these roles from now on."""
    left = [role for role in defaults if role not in taken]
    if left != defaults:
        context.connection.execute(
            update(providers).where(_MINE).values(default_for=json_text(left), updated_at=context.now_ms),
            {"org": context.org_id, "provider": name},
        )


def _key_columns(asked: contract.SetProvider, before: Row[Any] | None, context: RequestContext) -> dict[str, Any]:
    """The columns of the key. One that was set before stays only where it is sent to the same service as before:
    otherwise whoever may change a URL could have the key sent to one of their own.
    """
    if asked.key:
        try:
            stored = SecretBox(context.settings).encrypt(asked.key, (context.org_id, asked.name))
        except SecretUnreadable as error:
            raise invalid(
                "key", f"cannot be encrypted: {error}; whoever runs the service sets the secrets key"
            ) from error
        return {"encrypted_key": stored, "key_ends_with": provider_rules.shown_of(asked.key)}
    if asked.key is None and before is not None and before.encrypted_key is not None:
        if (before.kind, before.url) == (asked.kind, asked.url):
            return {}
        raise invalid("key", "is required: with another kind or url the key is given again, or empty for none")
    if provider_rules.needs_key(asked):
        raise invalid("key", "is required: the service turns away whoever brings none")
    return {"encrypted_key": None, "key_ends_with": None}


def _check_users(context: RequestContext, name: str, lost: list[contract.Role]) -> None:
    """Raises `Refusal`: provider_in_use when a provider that is used would lose one of its roles."""
    if lost and (users := rows.users_of(context.connection, context.org_id, name, MOST_NAMED)):
        raise _in_use(name, users)


def _check_defaults(context: RequestContext, name: str, lost: list[contract.Role]) -> None:
    """Raises `Refusal`: provider_in_use when campaigns under way began with this default and would be left without."""
    if users := rows.begun_with_default(context.connection, context.org_id, lost, MOST_NAMED):
        more = " and perhaps more" if len(users) == MOST_NAMED else ""
        said = (
            f"{name} is the default with which {', '.join(users)}{more} began, and their price does not count these "
            "services; finish those campaigns first, or set another provider as the default for the same roles"
        )
        raise Refusal(PROVIDER_IN_USE, said, details={"used_by": users})


@handles(contract.remove_provider)
def remove_provider(asked: contract.RemoveProvider, context: RequestContext) -> None:
    """Removes a provider and its key. Agents and campaigns that name it, and campaigns under way that began with
    it as the default, keep it from being removed."""
    row = context.one(_FOR_CHANGE, provider=asked.name)
    if users := rows.users_of(context.connection, context.org_id, row.name, MOST_NAMED):
        raise _in_use(row.name, users)
    _check_defaults(context, row.name, rows.defaults_of(row))
    context.connection.execute(delete(providers).where(_MINE), {"org": context.org_id, "provider": row.name})


def _in_use(name: str, users: list[str]) -> Refusal:
    more = " and perhaps more" if len(users) == MOST_NAMED else ""
    said = f"{name} is used by {', '.join(users)}{more}; give those another provider, or finish those campaigns"
    return Refusal(PROVIDER_IN_USE, said, details={"used_by": users})
