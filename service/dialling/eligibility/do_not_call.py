"""The numbers that an organization does not call. An entry holds in every campaign, from the next call on.

Real entries hold for real and simulated campaigns, those of the simulated network for simulated campaigns alone. An
entry stays when the campaign and audience are deleted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Row,
    Select,
    String,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    update,
)

from callwright.service.accounts.principals import SERVICE
from callwright.service.platform.database.bulk import BulkInsert, for_ids
from callwright.service.platform.database.inserts import upsert
from callwright.service.platform.ids import Ids
from callwright.service.platform.phone import MOBILE_PREFIXES
from callwright.service.rules.do_not_call.entries import NumberToList
from callwright.service.tables import audit_log
from callwright.service.tables.ledger import wallet_of
from callwright.service.tables.schema import do_not_call, organizations

T = TypeVar("T")
_N, _O = do_not_call.c, organizations.c
_REMOVALS = select(_O.do_not_call_removals).where(_O.id == bindparam("org"))
_REMOVED = (
    update(organizations).where(_O.id == bindparam("b_org")).values(do_not_call_removals=_O.do_not_call_removals + 1)
)
_PART = 5_000
"""Numbers that one statement looks for, takes off or adds."""
_FIND = for_ids(
    _N.number,
    lambda condition: select(_N.id, _N.number, _N.expires_at).where(
        _N.org_id == bindparam("org"), _N.simulated == bindparam("simulated"), condition
    ),
)
_TAKE_OFF = for_ids(_N.id, lambda condition: delete(do_not_call).where(condition))
_ADD = BulkInsert(do_not_call, list(_N.keys()))
OPTED_OUT = "opted_out"
"""The reason of an entry whose person asked, on a call, not to be called again."""


def listed_conditions(
    phone: ColumnElement[str], org_id: ColumnElement[str], *, simulated: bool, now_ms: ColumnElement[int]
) -> Iterator[ColumnElement[bool]]:
    """Conditions, one of which is met if the number, in one of its notations, is on the list of a campaign.

    A real campaign obeys the real list, a simulated one both lists.
    """
    obeyed = _obeyed(org_id, simulated=simulated, now_ms=now_ms)
    yield exists().where(*obeyed, _N.number == phone)
    for may_have, other in _other_notations(phone):
        yield and_(may_have, exists().where(*obeyed, _N.number == other))


def entry_of(connection: Connection, org_id: str, number: str, *, simulated: bool, now_ms: int) -> Row[Any] | None:
    """The entry that keeps a campaign from calling a number, a real one before a simulated one; None if none does."""
    phone = literal(number, String)
    notations = [_N.number == phone, *(and_(may, _N.number == other) for may, other in _other_notations(phone))]
    obeyed = _obeyed(literal(org_id), simulated=simulated, now_ms=literal(now_ms, BigInteger))
    columns: Select[*tuple[Any, ...]] = select(_N.id, _N.reason, _N.simulated)
    found = columns.where(*obeyed, or_(*notations)).order_by(_N.simulated, _N.id)
    return connection.execute(found.limit(1)).one_or_none()


def _obeyed(
    org_id: ColumnElement[str], *, simulated: bool, now_ms: ColumnElement[int]
) -> tuple[ColumnElement[bool], ...]:
    """The conditions of the entries in force that a campaign obeys."""
    lists = (False, True) if simulated else (False,)
    return (
        _N.org_id == org_id,
        _N.simulated.in_(lists),
        or_(_N.expires_at.is_(None), _N.expires_at > now_ms),
    )


def _other_notations(phone: ColumnElement[str]) -> Iterator[tuple[ColumnElement[bool], ColumnElement[str]]]:
    """Other notations of a number, each with the condition under which the number has it."""
    for mobile, plain in MOBILE_PREFIXES.items():
        without = literal(plain, String).concat(func.substr(phone, len(mobile) + 1))
        with_digit = literal(mobile, String).concat(func.substr(phone, len(plain) + 1))
        yield phone.startswith(plain), case((phone.startswith(mobile), without), else_=with_digit)


def opt_out(
    connection: Connection,
    ids: Ids,
    org_id: str,
    numbers: Mapping[str, str],
    *,
    simulated: bool,
    now_ms: int,
    by: audit_log.Actor = SERVICE,
) -> None:
    """Adds numbers to the list for good, each with the id of the call on which the person asked for it.

    An entry that would expire is made permanent; a permanent entry stays as it is.
    """
    if not numbers:
        return
    rows = [
        {
            "id": ids.new("dnc"),
            "org_id": org_id,
            "number": number,
            "simulated": simulated,
            "reason": OPTED_OUT,
            "source_call_id": numbers[number],
            "created_at": now_ms,
            "expires_at": None,
            "note": None,
            "created_by_key_id": None,
        }
        for number in sorted(numbers)  # one order, so that two cannot deadlock
    ]
    kept = upsert(
        connection,
        do_not_call,
        rows,
        unique=(_N.org_id, _N.simulated, _N.number),
        replaces=("reason", "source_call_id", "created_at", "expires_at", "note", "created_by_key_id"),
        where=_N.expires_at.is_not(None),
        returning=(_N.id, _N.source_call_id),
    )
    entries: list[dict[str, Any]] = []
    for entry in kept:
        changes = {"call_id": entry.source_call_id}
        entries.append(
            audit_log.entry_row(ids, org_id, "do_not_call.added", entry.id, by=by, at_ms=now_ms, changes=changes)
        )
    audit_log.add_entries(connection, entries)


Result = Literal["added", "extended", "already_there"]


@dataclass(frozen=True)
class ListedEntry:
    """A number that is on the list now, and what was done for it."""

    id: str
    number: str
    result: Result
    expires_ms: int | None


@dataclass(frozen=True)
class Listed:
    """The numbers that are on the list now, in the order in which they were given, each once.

    `kept_permanent` counts the numbers that were to end, and whose entries hold for good.
    """

    entries: Sequence[ListedEntry]
    kept_permanent: int

    def count(self, result: Result) -> int:
        """For how many this was done."""
        return sum(entry.result == result for entry in self.entries)


def list_numbers(
    connection: Connection,
    ids: Ids,
    org_id: str,
    given: Sequence[NumberToList],
    *,
    simulated: bool,
    now_ms: int,
    key_id: str | None,
) -> Listed:
    """Adds numbers to the list. An entry that is there stays as it is, unless the new one holds longer.

    It takes the wallet's lock, as claims do: no call to one of the numbers is claimed after this transaction. What is
    asked for holds for waiting contacts too; they become suppressed when they would be claimed.
    """
    wallet_of(connection, org_id, lock=True)
    wanted: dict[str, NumberToList] = {}
    for one in given:
        known = wanted.get(one.number)
        if known is None or _holds_longer(one.expires_ms, known.expires_ms):
            wanted[one.number] = one
    there = _there(connection, org_id, sorted(wanted), simulated=simulated)
    entries: list[ListedEntry] = []
    rows: list[dict[str, Any]] = []
    shorter: list[str] = []
    for number, one in wanted.items():
        found = there.get(number)
        if found is not None and not _holds_longer(one.expires_ms, found.expires_at):
            entries.append(ListedEntry(found.id, number, "already_there", found.expires_at))
            continue
        entry_id = ids.new("dnc") if found is None else found.id
        if found is not None:
            shorter.append(found.id)
        rows.append(
            {
                "id": entry_id,
                "org_id": org_id,
                "number": number,
                "simulated": simulated,
                "reason": one.reason,
                "source_call_id": None,
                "created_at": now_ms,
                "expires_at": one.expires_ms,
                "note": one.note,
                "created_by_key_id": key_id,
            }
        )
        held = found is not None and found.expires_at > now_ms
        entries.append(ListedEntry(entry_id, number, "extended" if held else "added", one.expires_ms))
    for part in _parts(shorter):  # of these all but the id and the number is replaced
        _TAKE_OFF.run(connection, part)
    for part in _parts(sorted(rows, key=lambda row: row["number"])):
        _ADD.run(connection, part)
    permanent = {entry.number for entry in entries if entry.expires_ms is None}
    return Listed(entries, sum(one.expires_ms is not None and one.number in permanent for one in given))


def _holds_longer(ms: int | None, than_ms: int | None) -> bool:
    """Whether an entry that ends at `ms` ends later than one that ends at `than_ms`; None: never."""
    return than_ms is not None and (ms is None or ms > than_ms)


def _there(connection: Connection, org_id: str, wanted: Sequence[str], *, simulated: bool) -> dict[str, Row[Any]]:
    given = {"org": org_id, "simulated": simulated}
    return {row.number: row for part in _parts(wanted) for row in _FIND.all(connection, part, given)}


def _parts(of: Sequence[T]) -> Iterator[Sequence[T]]:
    return (of[begin : begin + _PART] for begin in range(0, len(of), _PART))


def remove(connection: Connection, org_id: str, entry_id: str) -> None:
    """Removes one entry. Plans made before become stale, because one person more may be called."""
    wallet_of(connection, org_id, lock=True)
    if connection.execute(delete(do_not_call).where(_N.id == entry_id, _N.org_id == org_id)).rowcount:
        connection.execute(_REMOVED, {"b_org": org_id})


def is_of_simulated_opt_outs(connection: Connection, org_id: str, now_ms: int) -> bool:
    """Whether the list of the simulated network has nothing in force but opt-outs that were heard on its calls."""
    others = select(_N.id).where(
        _N.org_id == org_id,
        _N.simulated.is_(True),
        or_(_N.reason != OPTED_OUT, _N.source_call_id.is_(None)),
        or_(_N.expires_at > now_ms, _N.expires_at.is_(None)),
    )
    return connection.execute(others.limit(1)).first() is None


def clear_simulated(connection: Connection, org_id: str) -> int:
    """Removes all entries of the simulated network, so that a campaign there can be repeated exactly.

    Returns how many they were. Real entries stay. Plans made before become stale, because more people may be called.
    """
    wallet_of(connection, org_id, lock=True)
    removed = connection.execute(delete(do_not_call).where(_N.org_id == org_id, _N.simulated.is_(True))).rowcount
    if removed:
        connection.execute(_REMOVED, {"b_org": org_id})
    return removed


def removals(connection: Connection, org_id: str) -> int:
    """How often entries were removed, after which more people may be called."""
    return connection.execute(_REMOVALS, {"org": org_id}).scalar_one()
