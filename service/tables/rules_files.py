"""The rules files: the one that is shipped, and newer ones that operators have loaded."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select

from callwright.service.rules.regions.region_rules import RegionRules
from callwright.service.rules.regions.rule_file import RuleFileError, read_rules, shipped_rules
from callwright.service.tables.schema import rules_files

_F = rules_files.c
_VERSIONS = select(_F.version)
_TEXT = select(_F.text).where(_F.version == bindparam("version"))
shipped: Callable[[], RegionRules] = shipped_rules
"""The rules of the installed version. Tests put others in their place."""
_KNOWN: dict[str, RegionRules] = {}
"""The files that this process has read, by version. A version never changes its contents."""


def order_of(version: str) -> tuple[int, ...]:
    """The place of a version among others: `2026.11.10` comes after `2026.11.9`."""
    return tuple(int(part) for part in version.split("."))


def current_version(connection: Connection) -> str:
    """The newest version there is, shipped or loaded."""
    return max([shipped().version, *connection.execute(_VERSIONS).scalars()], key=order_of)


def rules_of_version(connection: Connection, version: str) -> RegionRules:
    """The rules of a version. One that is neither shipped nor loaded, of an earlier release, is the newest."""
    if version == shipped().version:
        return shipped()
    if version not in _KNOWN:
        text = connection.execute(_TEXT, {"version": version}).scalar()
        if text is None:
            newest = current_version(connection)
            return shipped() if newest == version else rules_of_version(connection, newest)
        _KNOWN[version] = read_rules(text)
    return _KNOWN[version]


def current_rules(connection: Connection) -> RegionRules:
    """The newest rules."""
    return rules_of_version(connection, current_version(connection))


def rules_of_deployment(connection: Connection, row: Row[Any]) -> RegionRules:
    """The rules that a deployment dials by: those it started with, before its start the newest."""
    return current_rules(connection) if row.rules_version is None else rules_of_version(connection, row.rules_version)


def load_rules(connection: Connection, text: str, now_ms: int) -> RegionRules:
    """Stores a rules file, which is in force from now on.

    Raises:
        RuleFileError: the file is wrong, or not newer than the newest there is.
    """
    rules = read_rules(text)
    newest = current_version(connection)
    if order_of(rules.version) <= order_of(newest):
        raise RuleFileError(f"version {rules.version} is not newer than {newest}, which is in force")
    connection.execute(insert(rules_files), {"version": rules.version, "text": text, "loaded_at": now_ms})
    return rules
