"""One person, as the service knows them: a number in each of its notations, and what is kept under it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, func, literal_column, select

from callwright.service.handlers.request_context import RequestContext
from callwright.service.platform.phone import Dialable, notations_of, read_number
from callwright.service.platform.refusals import invalid
from callwright.service.tables.schema import (
    audience_rows,
    calls,
    deployment_contacts,
    do_not_call,
    import_errors,
    imports,
)

_R, _K, _C, _E, _I, _N = audience_rows.c, deployment_contacts.c, calls.c, import_errors.c, imports.c, do_not_call.c
_E164 = re.compile(r"\+[1-9][0-9]{6,14}")
_INBOUND: ColumnElement[bool] = literal_column("calls.call_type = 'inbound'")
"""A literal, so that both databases use the partial index."""


@dataclass(frozen=True)
class Person:
    """A person of an organization."""

    org_id: str
    numbers: tuple[str, ...]
    """Every notation that reaches the same line, in E.164."""

    @classmethod
    def of(cls, context: RequestContext, written: str) -> "Person":
        """The person whose number was written. Raises `Refusal`: invalid_field."""
        number = written.strip()
        if not _E164.fullmatch(number):  # one in E.164 may be in the tables though it is none any more
            read = read_number(number)
            if not isinstance(read, Dialable):
                raise invalid("number", f"{read.message}; give it in E.164, such as +12025550100")
            number = read.e164
        return cls(context.org_id, notations_of(number))

    def id(self, context: RequestContext) -> str:
        """The person in the audit log: the same for each notation, and nobody can read the number from it."""
        return f"per_{context.cursors.keyed_hash(f'{self.org_id} person {min(self.numbers)}')}"

    @property
    def as_own_id(self) -> tuple[str, ...]:
        """What stands in a column of own ids if a list uses the number as such."""
        return (*self.numbers, *(number.removeprefix("+") for number in self.numbers))

    def rows(self) -> Select[*tuple[Any, ...]]:
        """The audience rows."""
        return select(audience_rows).where(_R.org_id == self.org_id, _R.phone.in_(self.numbers)).order_by(_R.id)

    def contacts(self) -> Select[*tuple[Any, ...]]:
        """The contacts in campaigns."""
        own = (_K.org_id == self.org_id, _K.phone.in_(self.numbers))
        return select(deployment_contacts).where(*own).order_by(_K.deployment_id, _K.id)

    def calls_to(self) -> Select[*tuple[Any, ...]]:
        """The calls that were made to the person."""
        own = (_C.org_id == self.org_id, _C.to_number.in_(self.numbers), _C.call_type == "outbound")
        return select(calls).where(*own).order_by(_C.id)

    def calls_from(self) -> Select[*tuple[Any, ...]]:
        """The calls that the person made."""
        own = (_C.org_id == self.org_id, _C.from_number.in_(self.numbers), _INBOUND)
        return select(calls).where(*own).order_by(_C.id)

    def listed(self) -> Select[*tuple[Any, ...]]:
        """The entries of the do-not-call list."""
        own = (_N.org_id == self.org_id, _N.simulated.in_((True, False)), _N.number.in_(self.numbers))
        return select(do_not_call).where(*own).order_by(_N.id)

    def refused_rows(self, connection: Connection) -> "RefusedRows":
        """The rows that imports refused and that bear an own id of the person.

        In each list these are the ids of their rows and calls there, and in every list the number itself.
        """
        of_rows: Select[*tuple[Any, ...]] = (
            self.rows().with_only_columns(_R.audience_id, _R.external_id).where(_R.external_id.is_not(None))
        )
        of_calls: Select[*tuple[Any, ...]] = (
            self.calls_to().with_only_columns(_C.audience_id, _C.external_id).where(_C.external_id.is_not(None))
        )
        found: list[Row[Any]] = [
            row for each in (of_rows, of_calls) for row in connection.execute(each.order_by(None).distinct())
        ]
        return self.refused_rows_of(found)

    def refused_rows_of(self, known: Sequence[Row[Any]]) -> "RefusedRows":
        """The same by the own ids of some rows and calls alone."""
        ids: dict[str, set[str]] = {}
        for row in known:
            if row.audience_id and row.external_id:
                ids.setdefault(row.audience_id, set()).add(row.external_id)
        return RefusedRows(self, ids)


@dataclass(frozen=True)
class RefusedRows:
    """Refused rows of a person. `known` has their own ids by audience."""

    person: Person
    known: dict[str, set[str]]

    def find(self, connection: Connection, *, after: str = "", most: int) -> list[Row[Any]]:
        """At most `most` of them in the order of their ids, after this id; each with its `audience_id`."""
        found: dict[str, Row[Any]] = {}
        for statement in self._statements():
            rows = connection.execute(statement.where(_E.id > after).order_by(_E.id).limit(most)).all()
            found |= {row.id: row for row in rows}
        return [found[key] for key in sorted(found)][:most]

    def count(self, connection: Connection) -> int:
        """How many they are."""
        ids = [connection.execute(statement.with_only_columns(_E.id)).scalars() for statement in self._statements()]
        return len({one for each in ids for one in each})

    def _statements(self) -> Iterator[Select[*tuple[Any, ...]]]:
        refused: Select[*tuple[Any, ...]] = (
            select(import_errors, _I.audience_id)
            .join(imports, _I.id == _E.import_id)
            .where(_I.org_id == self.person.org_id)
        )
        yield refused.where(_E.external_id.in_(self.person.as_own_id))
        for audience_id, own_ids in self.known.items():
            yield refused.where(_I.audience_id == audience_id, _E.external_id.in_(sorted(own_ids)))


def count_of_rows(connection: Connection, statement: Select[*tuple[Any, ...]]) -> int:
    """How many rows a statement finds."""
    return connection.execute(statement.order_by(None).with_only_columns(func.count())).scalar_one()
