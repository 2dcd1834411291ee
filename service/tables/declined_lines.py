"""What rows of a list that were left out said no to, while no row of the audience had their number.

A row is left out because another one has its own id, so it may have another number. When a row with that number comes,
the no counts for it.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, select

from callwright.service.platform.database.bulk import for_ids
from callwright.service.platform.database.inserts import upsert
from callwright.service.platform.json_text import json_text
from callwright.service.tables.line_hashes import hashes
from callwright.service.tables.schema import declined_lines

_D = declined_lines.c
_AT_ONCE = 500
OF_AUDIENCE = select(_D.line).where(_D.audience_id == bindparam("id"))
"""The lines of the audience with an `id`."""
_ANY = OF_AUDIENCE.limit(1)
_SAID = for_ids(_D.line, lambda these: select(_D.line, _D.said).where(_D.audience_id == bindparam("audience"), these))
_REMOVE = for_ids(_D.line, lambda these: delete(declined_lines).where(_D.audience_id == bindparam("audience"), these))


def find(connection: Connection, audience: Row[Any], lines: Collection[str]) -> dict[str, dict[str, str]]:
    """What was said no to for these lines: the cells by their columns, by the line."""
    given: dict[str, Any] = {"audience": audience.id}
    if connection.execute(_ANY, {"id": audience.id}).first() is None:
        return {}
    by_hash = dict(zip(hashes(connection, audience.org_id, list(lines)), lines, strict=True))
    return {by_hash[row.line]: json.loads(row.said) for row in _SAID.all(connection, list(by_hash), given)}


def keep(connection: Connection, audience: Row[Any], noes: Mapping[str, Mapping[str, str]]) -> None:
    """Keeps what is said no to, by the line, with what was said before."""
    if not noes:
        return
    before = find(connection, audience, noes.keys())
    hashed = hashes(connection, audience.org_id, list(noes))
    rows = [
        {"audience_id": audience.id, "line": line_hash, "said": json_text({**before.get(line, {}), **said})}
        for line_hash, (line, said) in zip(hashed, noes.items(), strict=True)
    ]
    unique = [_D.audience_id, _D.line]
    for begin in range(0, len(rows), _AT_ONCE):
        these = rows[begin : begin + _AT_ONCE]
        upsert(connection, declined_lines, these, unique=unique, replaces=["said"], returning=[_D.line])


def remove_some(connection: Connection, audience_id: str, most: int) -> bool:
    """Deletes at most so many of an audience; false if there is none."""
    lines = connection.execute(OF_AUDIENCE.limit(most), {"id": audience_id}).scalars().all()
    if lines:
        _REMOVE.run(connection, lines, {"audience": audience_id})
    return bool(lines)
