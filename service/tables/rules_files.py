"""The rules files: the one that is shipped, and newer ones that operators have loaded."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, Row, bindparam, select

from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.rules.regions.region_rules import RegionRules
from callwright.service.rules.regions.rule_file import RuleFileError, read_rules, shipped_rules
from callwright.service.tables.schema import rules_files

_F = rules_files.c
_VERSIONS = select(_F.version)
_LOADED = select(_F.version, _F.loaded_at)
_TEXT = select(_F.text).where(_F.version == bindparam("version"))
shipped: Callable[[], RegionRules] = shipped_rules
"""The rules of the installed version. Tests put others in their place."""
_KNOWN: WeakKeyDictionary[Engine, dict[str, RegionRules]] = WeakKeyDictionary()
"""The files that were read from each database, by version. A version never changes its contents."""


def order_of(version: str) -> tuple[int, ...]:
    """The place of a version among others: `2026.11.10` comes after `2026.11.9`."""
    return tuple(int(part) for part in version.split("."))


def current_version(connection: Connection) -> str:
    """The newest version there is, shipped or loaded."""
    return max([shipped().version, *connection.execute(_VERSIONS).scalars()], key=order_of)


def are_older(connection: Connection, version: str | None) -> bool:
    """Whether there are newer rules than those of a version; None is a release that knew none."""
    return version is not None and order_of(version) < order_of(current_version(connection))


def rules_of_version(connection: Connection, version: str) -> RegionRules:
    """The rules of a version. One that is neither shipped nor loaded, of an earlier release, is the newest."""
    if version == shipped().version:
        return shipped()
    known = _KNOWN.setdefault(connection.engine, {})
    if version not in known:
        text = connection.execute(_TEXT, {"version": version}).scalar()
        if text is None:
            newest = current_version(connection)
            return shipped() if newest == version else rules_of_version(connection, newest)
        known[version] = read_rules(text)
    return known[version]


def current_rules(connection: Connection) -> RegionRules:
    """The newest rules."""
    return rules_of_version(connection, current_version(connection))


def rules_of_deployment(connection: Connection, row: Row[Any]) -> RegionRules:
    """The rules that a deployment dials by: those it started with, before its start the newest."""
    return current_rules(connection) if row.rules_version is None else rules_of_version(connection, row.rules_version)


def known_rules(connection: Connection, version: str) -> RegionRules | None:
    """The rules of exactly this version; None if it is neither shipped nor stored."""
    found = rules_of_version(connection, version)
    return found if found.version == version else None


def versions(connection: Connection) -> list[tuple[str, int | None]]:
    """Every version there is with when it was stored, the newest first; None for one that is only shipped."""
    stored: dict[str, int | None] = {row.version: row.loaded_at for row in connection.execute(_LOADED)}
    return sorted(({shipped().version: None} | stored).items(), key=lambda one: order_of(one[0]), reverse=True)


def load_rules(connection: Connection, rules: RegionRules, now_ms: int) -> None:
    """Stores the rules of a file, which are in force from now on: every process dials by them from its next round.

    Raises:
        RuleFileError: the file is not newer than the newest there is.
    """
    newest = current_version(connection)
    newer = order_of(rules.version) > order_of(newest)
    if not newer or not _stored(connection, rules, now_ms):
        raise RuleFileError(f"version {rules.version} is not newer than {newest}, which is in force; raise `version`")


def keep_shipped(connection: Connection, now_ms: int) -> None:
    """Stores the shipped rules, so that a later release knows by which rules campaigns of this one dialled."""
    _stored(connection, shipped(), now_ms)


def is_kept(connection: Connection) -> bool:
    """Whether the shipped rules are stored."""
    return connection.execute(_TEXT, {"version": shipped().version}).first() is not None


def _stored(connection: Connection, rules: RegionRules, now_ms: int) -> bool:
    """Whether this call stored the rules; False if another process did."""
    row = {"version": rules.version, "text": rules.text, "loaded_at": now_ms}
    return bool(insert_ignoring_conflicts(connection, rules_files, [row]))
