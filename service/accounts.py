"""Organizations, API keys and personal keys, for whoever runs the service: the terminal, and the embedded default.

No API operation makes them. A key is shown once, when it is made; only its SHA-256 is kept.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from callwright.contract.events import WALLET_TOPUP_SETTLED, WalletTopupSettled
from callwright.service.domain.ids import Ids
from callwright.service.domain.money import CURRENCY, LOW_BALANCE_THRESHOLD, OPENING_BALANCE, amount
from callwright.service.domain.plans import PLANS
from callwright.service.http.principals import IDENTITY_LENGTH, KeyKind, fingerprint, new_secret
from callwright.service.storage import journal
from callwright.service.storage.ledger import Movement, book
from callwright.service.storage.schema import api_keys, organizations, transactions, wallets

MAX_ACTIVE_KEYS = 20
PROFILES = ("analyst", "operator", "builder", "all")
"""Which tools a personal key may be offered, fewest first."""
DEFAULT_PROFILE = "builder"
DEFAULT_ORGANIZATION = "default"
DEFAULT_PLAN = "growth"
EMBEDDED_LABEL = "embedded"
_O, _K = organizations.c, api_keys.c


class AccountError(Exception):
    """What was asked of an account cannot be done; the text says why and what to do."""


@dataclass(frozen=True)
class NewKey:
    """A key that was just made. `secret` is shown once and kept nowhere."""

    id: str
    secret: str


def create_organization(connection: Connection, ids: Ids, name: str, plan: str, now_ms: int) -> str:
    """A new organization with a wallet of 100 dollars of play money; returns its id."""
    if plan not in PLANS:
        raise AccountError(f"there is no plan {plan!r}; use one of {', '.join(PLANS)}")
    if not 1 <= len(name) <= 200 or "\x00" in name:
        raise AccountError("a name has 1 to 200 characters")
    if connection.execute(select(_O.id).where(_O.name == name)).scalar() is not None:
        raise AccountError(f"there is an organization {name!r} already")
    org_id = ids.new("org")
    connection.execute(insert(organizations), {"id": org_id, "name": name, "plan": plan, "created_at": now_ms})
    wallet = {
        "org_id": org_id,
        "balance_micros": 0,
        "reserved_micros": 0,
        "threshold_micros": LOW_BALANCE_THRESHOLD,
        "low": True,  # not yet funded: the first top-up re-arms the event
        "play_money": True,
        "updated_at": now_ms,
    }
    connection.execute(insert(wallets), wallet)
    _top_up(connection, ids, org_id, OPENING_BALANCE, "opening balance, play money", now_ms)
    _audit(connection, ids, org_id, "organization.created", org_id, now_ms)
    return org_id


def find_organization(connection: Connection, name: str) -> str:
    """The id of an organization, by its name or id."""
    found = connection.execute(select(_O.id).where((_O.name == name) | (_O.id == name))).scalar()
    if found is None:
        raise AccountError(f"there is no organization {name!r}; `callwright orgs list` shows them")
    return found


def organizations_of(connection: Connection) -> list[Row[Any]]:
    """Every organization with its balance, by name."""
    statement = (
        select(organizations, wallets.c.balance_micros).join(wallets, wallets.c.org_id == _O.id).order_by(_O.name)
    )
    return list(connection.execute(statement).all())


def fund(connection: Connection, ids: Ids, org_id: str, micros: int, now_ms: int) -> int:
    """Adds play money to a wallet; returns the new balance in micros."""
    if micros <= 0:
        raise AccountError("the amount must be above zero")
    balance = _top_up(connection, ids, org_id, micros, "play money added", now_ms)
    _audit(connection, ids, org_id, "wallet.funded", org_id, now_ms)
    return balance


def _top_up(connection: Connection, ids: Ids, org_id: str, micros: int, description: str, now_ms: int) -> int:
    balance = book(
        connection, ids, org_id, [Movement("topup", micros, "organization", org_id, description)], now_ms=now_ms
    )
    latest = select(func.max(transactions.c.id)).where(transactions.c.org_id == org_id)
    data = WalletTopupSettled(
        transaction_id=connection.execute(latest).scalar_one(),
        amount=amount(micros),
        currency=CURRENCY,
        balance=amount(balance),
        method="play_money",
        play_money=True,
    )
    journal.emit(connection, ids, org_id, WALLET_TOPUP_SETTLED, data, at_ms=now_ms, simulated=True)
    return balance


def create_key(connection: Connection, ids: Ids, org_id: str, label: str, now_ms: int) -> NewKey:
    """A new API key. An organization has at most 20 active ones, personal keys not counted."""
    active = select(func.count()).where(_K.org_id == org_id, _K.revoked_at.is_(None), _K.kind == "live")
    if connection.execute(active).scalar_one() >= MAX_ACTIVE_KEYS:
        raise AccountError(f"an organization has at most {MAX_ACTIVE_KEYS} active keys; revoke one first")
    return _add_key(connection, ids, org_id, "live", label, now_ms)


def create_personal_key(
    connection: Connection,
    ids: Ids,
    org_id: str,
    label: str,
    now_ms: int,
    *,
    profile: str = DEFAULT_PROFILE,
    spending_cap_micros: int | None = None,
) -> NewKey:
    """A new key for one person and the tool server alone. REST refuses it.

    `profile` is one of `PROFILES`. `spending_cap_micros` is what the key may commit in all, None as much as the wallet
    holds. The limit of 20 active keys is one of API keys; personal keys do not count towards it.
    """
    if profile not in PROFILES:
        raise AccountError(f"there is no profile {profile!r}; use one of {', '.join(PROFILES)}")
    if spending_cap_micros is not None and spending_cap_micros < 0:
        raise AccountError("a spending cap cannot be below zero")
    return _add_key(
        connection, ids, org_id, "personal", label, now_ms, profile=profile, spending_cap_micros=spending_cap_micros
    )


def _add_key(
    connection: Connection, ids: Ids, org_id: str, kind: KeyKind, label: str, now_ms: int, **limits: str | int | None
) -> NewKey:
    made = NewKey(ids.new("key"), new_secret(kind))
    row = {
        "id": made.id,
        "org_id": org_id,
        "hash": fingerprint(made.secret),
        "identity": made.secret[:IDENTITY_LENGTH],
        "label": label[:200],
        "created_at": now_ms,
        "kind": kind,
        **limits,
    }
    connection.execute(insert(api_keys), row)
    _audit(connection, ids, org_id, "api_key.created", made.id, now_ms)
    return made


def keys_of(connection: Connection, org_id: str) -> list[Row[Any]]:
    """The keys of an organization, of both kinds, revoked ones too, newest first."""
    statement = select(api_keys).where(_K.org_id == org_id).order_by(_K.created_at.desc(), _K.id.desc())
    return list(connection.execute(statement).all())


def revoke_key(connection: Connection, ids: Ids, key: str, now_ms: int) -> str:
    """Revokes a key by its id or its first 16 characters, for good and from the next request on; returns its id."""
    found = connection.execute(select(api_keys).where((_K.id == key) | (_K.identity == key))).all()
    if len(found) != 1:
        raise AccountError(
            f"{'no key' if not found else 'more than one key'} matches; `callwright keys list` shows ids"
        )
    row = found[0]
    if row.revoked_at is None:
        connection.execute(update(api_keys).where(_K.id == row.id).values(revoked_at=now_ms))
        _audit(connection, ids, row.org_id, "api_key.revoked", row.id, now_ms)
    return row.id


def _audit(connection: Connection, ids: Ids, org_id: str, action: str, subject: str, now_ms: int) -> None:
    entry = journal.entry_row(ids, org_id, action, subject, at_ms=now_ms, actor="operator")
    journal.add_entries(connection, [entry])


def default_organization(connection: Connection, ids: Ids, now_ms: int) -> str:
    """The organization of the embedded default, made when there is none yet; returns its id."""
    org_id = connection.execute(select(_O.id).where(_O.name == DEFAULT_ORGANIZATION)).scalar()
    return org_id or create_organization(connection, ids, DEFAULT_ORGANIZATION, DEFAULT_PLAN, now_ms)


def embedded_key(connection: Connection, ids: Ids, kept: str | None, now_ms: int) -> str:
    """The key of the default organization: the one that was kept if it still works, else a new one.

    Makes the organization when there is none, and revokes an earlier embedded key that was lost.
    """
    if kept is not None:
        known = select(_K.id).where(_K.hash == fingerprint(kept), _K.revoked_at.is_(None))
        if connection.execute(known).scalar() is not None:
            return kept
    org_id = default_organization(connection, ids, now_ms)
    connection.execute(
        update(api_keys)
        .where(_K.org_id == org_id, _K.label == EMBEDDED_LABEL, _K.kind == "live", _K.revoked_at.is_(None))
        .values(revoked_at=now_ms)
    )
    return create_key(connection, ids, org_id, EMBEDDED_LABEL, now_ms).secret
