"""Paged lists: filters, sorting, pages and cursors, shared by all lists.

A cursor is the position of the last entry shown, signed, and bound to organization, list, filters and sort; it stays
valid under inserts because it compares values and never counts rows. An index leads straight to that position.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar, cast

import orjson
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    false,
    func,
    literal,
    or_,
    select,
    tuple_,
)

from callwright.contract.declaration.field_types import in_whole_seconds
from callwright.contract.declaration.filters import filter_of
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.declaration.pagination import Page, PageQuery, Pagination
from callwright.contract.problems import INVALID_CURSOR
from callwright.service.platform.clock.clock import milliseconds, second_began
from callwright.service.platform.database.rounding import Rounded
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.platform.search_words import stored_words

Item = TypeVar("Item")
MAX_OFFSET = 10_000
"""Rows that may be skipped by page number; further on a cursor is needed, because skipping costs time."""


def sort_fields(operation: AnyOperation, text: str) -> list[tuple[str, bool]]:
    """The fields of a `sort`, with whether each descends. Raises `Refusal` for a field the list does not sort by."""
    found: list[tuple[str, bool]] = []
    for part in text.split(","):
        name = part.strip().removeprefix("-")
        if name not in operation.sorts:
            raise invalid("sort", f"{name[:40]!r} is not a sort field; use one of {', '.join(operation.sorts)}")
        found.append((name, part.strip().startswith("-")))
    return found


def in_seconds(operation: AnyOperation, name: str) -> bool:
    """Whether a list shows a field to the second that is stored to the millisecond."""
    shown = operation.item.model_fields.get(name) if operation.item else None
    return shown is not None and in_whole_seconds(shown)


@dataclass(frozen=True)
class Listing:
    """What a list is made of: its operation, its rows, and which column each filter and sort field means."""

    operation: AnyOperation
    rows: Select[Any]
    columns: Mapping[str, ColumnElement[Any]]
    unique: ColumnElement[Any]
    default: str = "-created_at"
    countable: Collection[str] = ()
    """The columns whose filters an index can count. With other filters, entries are counted up to `counts_to`."""
    is_long: bool = False
    """Whether there are so many entries that they are counted up to `counts_to` without a filter too."""
    narrow: Collection[str] = ()
    """The columns of which a value has few entries. With a filter of one, its index is read and the entries sorted."""
    rounded: Mapping[str, Rounded] = field(default_factory=dict[str, Rounded])
    """What the list shows for sort fields with a finer column that has an index. Other moments, which need no entry,
    have an index of their second."""

    def most(self, asked: Input) -> int | None:
        """Up to how many entries are counted; None for all of them."""
        wanted = wanted_of(asked)
        is_counted = all(one.column in self.countable for one in wanted) and (bool(wanted) or not self.is_long)
        return None if is_counted else self.operation.counts_to

    def order(self, sort: str | None) -> tuple[list[tuple[ColumnElement[Any], bool]], str]:
        """The columns to sort by, the unique one last, with whether each descends; and a text that names the order.

        A field before another one is compared as it is shown, rounded: otherwise the next field would have no effect.
        """
        named = sort_fields(self.operation, sort or self.default)
        fields = {name: descends for name, descends in reversed(named)}  # of equal names the first counts
        names = list(dict.fromkeys(name for name, _ in named))
        found = [(self._shown(name), fields[name]) for name in names[:-1]]
        found.append((self.columns[names[-1]], fields[names[-1]]))
        # A cursor is valid for one order. The text separates this order from that of versions that did not round.
        words = (sort or self.default) + (" as shown" if len(names) > 1 else "")
        return [*found, (self.unique, named[-1][1])], words

    def rounds(self, sort: str | None) -> Rounded | None:
        """What the order compares first, if that is rounded and the exact values have an index."""
        names = list(dict.fromkeys(name for name, _ in sort_fields(self.operation, sort or self.default)))
        return self.rounded.get(names[0]) if len(names) > 1 else None

    def _shown(self, name: str) -> ColumnElement[Any]:
        if name in self.rounded:
            return self.rounded[name].shown
        return Rounded(self.columns[name]).shown if in_seconds(self.operation, name) else self.columns[name]


@dataclass(frozen=True)
class Wanted:
    """One filter that was given: a column, a test, and values. `equals` holds for a column that has one of the values.

    For `from` and `before` there is one value: a moment in milliseconds, rounded as the list shows it. For `words` it
    is a text, and each of its words begins a word of the column, which `word_column` makes.
    """

    column: str
    test: Literal["equals", "from", "before", "words"]
    values: tuple[Any, ...]


def wanted_of(asked: Input) -> list[Wanted]:
    found: list[Wanted] = []
    for name, declared in type(asked).model_fields.items():
        mark, value = filter_of(declared), getattr(asked, name)
        if mark is None or value is None:
            continue
        if mark.test in ("from", "before"):
            values = (second_began(value) if in_whole_seconds(declared) else milliseconds(value),)
        else:
            values = tuple(cast("list[Any]", value)) if isinstance(value, list) else (value,)
        found.append(Wanted(mark.column or name, mark.test, values))
    return found


def filter_conditions(listing: Listing, asked: Input) -> list[ColumnElement[bool]]:
    """The conditions of the filters that were given."""
    conditions: list[ColumnElement[bool]] = []
    for wanted in wanted_of(asked):
        column = listing.columns[wanted.column]
        if wanted.test == "from":
            conditions.append(column >= wanted.values[0])
        elif wanted.test == "before":
            conditions.append(column < wanted.values[0])
        elif wanted.test == "words":
            conditions.append(_has_words(column, wanted.values[0]))
        elif len(wanted.values) == 1:
            conditions.append(column == wanted.values[0])
        else:
            conditions.append(column.in_(wanted.values))
    return conditions


def _has_words(column: ColumnElement[Any], asked: str) -> ColumnElement[bool]:
    words = stored_words(asked)
    return and_(*(column.like(f"% {word}%") for word in words)) if words else false()


@dataclass(frozen=True)
class Span:
    """The entries of a page: `count` of them in `order`, after the first `skipped` ones or after `last`.

    `order` names the columns with whether each descends, the unique one last; `last` is the position of an entry in it.
    `rounded` is what the order compares first, if that is rounded and the exact values have an index.
    """

    order: Sequence[tuple[ColumnElement[Any], bool]]
    count: int
    skipped: int = 0
    last: Sequence[Any] | None = None
    rounded: Rounded | None = None


class Finder(Protocol):
    """Finds and counts the entries of a list, for example with a full-text index."""

    def total(self) -> int:
        """How many entries the list has."""
        ...

    def rows(self, span: Span) -> Select[Any]:
        """The rows of exactly the entries in `span`."""
        ...


@dataclass(frozen=True)
class RowScan:
    """Finds the entries of a list by scanning its rows. Counts up to `most` of them if that is given."""

    connection: Connection
    statement: Select[Any]
    most: int | None = None

    def total(self) -> int:
        if self.most is None:
            counted = self.statement.with_only_columns(func.count(), maintain_column_froms=True).order_by(None)
        else:
            one = self.statement.with_only_columns(literal(1), maintain_column_froms=True).order_by(None)
            counted = select(func.count()).select_from(one.limit(self.most).subquery())
        return self.connection.execute(counted).scalar_one()

    def rows(self, span: Span) -> Select[Any]:
        rest = self.statement if span.last is None else self.statement.where(after_position(span.order, span.last))
        if span.rounded is not None:
            rest = self._near(rest, span, span.rounded)
        return (rest.offset(span.skipped) if span.skipped else rest).limit(span.count)

    def _near(self, rest: Select[Any], span: Span, rounded: Rounded) -> Select[Any]:
        """The rows up to the last that the page may have, which the index of the exact values finds."""
        descends = span.order[0][1]
        if span.last is not None:
            rest = rest.where(rounded.not_beyond(span.last[0], descends=descends))
        exact = in_order(
            rest.with_only_columns(rounded.column, maintain_column_froms=True), [(rounded.column, descends)]
        )
        last: int | None = self.connection.execute(exact.offset(span.skipped + span.count - 1).limit(1)).scalar()
        return rest if last is None else rest.where(rounded.not_after(rounded.of(last), descends=descends))


def in_order(rows: Select[Any], order: Sequence[tuple[ColumnElement[Any], bool]]) -> Select[Any]:
    """The rows in an order: the columns with whether each descends."""
    return rows.order_by(*(column.desc() if descends else column.asc() for column, descends in order))


def after_position(order: Sequence[tuple[ColumnElement[Any], bool]], last: Sequence[Any]) -> ColumnElement[bool]:
    """The condition `(a, b, id)` after `last` in `order`, in a form for which both engines use an index.

    If directions differ, the index finds only the place of `a`; rows with the same `a` are scanned.
    """
    first, descends_first = order[0]
    not_before = first <= last[0] if descends_first else first >= last[0]
    if len({descends for _, descends in order}) == 1:
        position = tuple_(*(column for column, _ in order))
        there = tuple_(*(literal(value, column.type) for (column, _), value in zip(order, last, strict=True)))
        beyond = position < there if descends_first else position > there
        # SQLite cannot use an index for a row value that begins with an expression.
        return beyond if isinstance(first, Column) else and_(not_before, beyond)
    choices: list[ColumnElement[bool]] = []
    for index, (column, descends) in enumerate(order):
        before = [earlier == value for (earlier, _), value in zip(order[:index], last[:index], strict=True)]
        choices.append(and_(*before, column < last[index] if descends else column > last[index]))
    return and_(not_before, or_(*choices))


def without_index(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The same values in a form for which no index is used: SQLite scans all entries if that gives them in order."""
    return func.coalesce(column, column)


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


class Cursors:
    """Signs and reads cursors with the service's own secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def _tag(self, payload: bytes, binding: bytes) -> bytes:
        return hmac.new(self._secret, payload + b"\0" + binding, hashlib.sha256).digest()[:16]

    def keyed_hash(self, text: str) -> str:
        """24 hexadecimal digits for a text, always the same, from which only the service could find the text."""
        return hmac.new(self._secret, b"hash\0" + text.encode(), hashlib.sha256).hexdigest()[:24]

    def seal(self, values: Sequence[Any], page: int, total: int, binding: bytes) -> str:
        """An opaque string for a position in one list."""
        payload = orjson.dumps([1, list(values), page, total])
        return _text(self._tag(payload, binding) + payload)

    def open(self, cursor: str, binding: bytes) -> tuple[list[Any], int, int]:
        """The position of a cursor: last values, page, total. Raises `Refusal` if the cursor is not of this list."""
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except ValueError as error:
            raise Refusal(INVALID_CURSOR, field="cursor") from error
        tag, payload = raw[:16], raw[16:]
        if _text(raw) != cursor:  # several texts decode to the same bytes, and only one of them was issued
            raise Refusal(INVALID_CURSOR, field="cursor")
        if not hmac.compare_digest(tag, self._tag(payload, binding)):
            raise Refusal(INVALID_CURSOR, field="cursor")
        _, values, page, total = orjson.loads(payload)
        return values, page, total


def page_of(
    connection: Connection,
    cursors: Cursors,
    listing: Listing,
    asked: PageQuery,
    *,
    org_id: str,
    to_resource: Callable[[Row[Any]], Item],
    finder: Finder | None = None,
) -> Page[Any]:
    """One page of a list. Reads one row more than it shows, to know whether there are more.

    `finder` finds the entries; without one the rows that match the filters are scanned.
    """
    order, sort_text = listing.order(asked.sort)
    rounded = listing.rounds(asked.sort)
    if any(one.column in listing.narrow for one in wanted_of(asked)):
        order, rounded = [(without_index(column), descends) for column, descends in order], None
    finds = finder or RowScan(connection, listing.rows.where(*filter_conditions(listing, asked)), listing.most(asked))
    binding = _binding(listing.operation, asked, org_id, sort_text)
    if asked.cursor is not None:
        _check_no_page(asked)
        last, number, total = cursors.open(asked.cursor, binding)
        number += 1
        span = Span(order, asked.per_page + 1, last=last, rounded=rounded)
    else:
        number, total = asked.page or 1, None
        skipped = (number - 1) * asked.per_page
        if skipped > MAX_OFFSET:
            raise invalid("page", f"rows beyond {MAX_OFFSET} are reached with cursor, not page")
        span = Span(order, asked.per_page + 1, skipped=skipped, rounded=rounded)
    keys = [column.label(f"_key_{index}") for index, (column, _) in enumerate(order)]
    rows = finds.rows(span).add_columns(*keys)
    found = connection.execute(in_order(rows, order)).all()
    shown, has_more = found[: asked.per_page], len(found) > asked.per_page
    if total is None:
        is_last = not has_more and (bool(found) or not span.skipped)
        total = span.skipped + len(found) if is_last else finds.total()
    next_cursor = cursors.seal(tuple(shown[-1])[-len(keys) :], number, total, binding) if has_more else None
    return _page([to_resource(row) for row in shown], number, asked.per_page, total, next_cursor)


def page_of_values(
    cursors: Cursors,
    operation: AnyOperation,
    asked: PageQuery,
    values: Sequence[Item],
    *,
    org_id: str,
    key: Callable[[Item], str],
) -> Page[Any]:
    """One page of a list that is held in memory, such as the voices. `key` gives the unique key of an entry.

    A cursor continues after its entry, or at the position of its entry if that is gone.
    """
    binding = _binding(operation, asked, org_id, asked.sort or "")
    if asked.cursor is None:
        number, total = asked.page or 1, len(values)
        begin = (number - 1) * asked.per_page
    else:
        _check_no_page(asked)
        (last, place), number, total = cursors.open(asked.cursor, binding)
        number += 1
        begin = next((index + 1 for index, value in enumerate(values) if key(value) == last), place)
    shown = list(values[begin : begin + asked.per_page])
    end = begin + len(shown)
    has_more = end < len(values) and bool(shown)
    next_cursor = cursors.seal([key(shown[-1]), end], number, total, binding) if has_more else None
    return _page(shown, number, asked.per_page, total, next_cursor)


def _page(data: list[Any], number: int, per_page: int, total: int, next_cursor: str | None) -> Page[Any]:
    has_more = next_cursor is not None
    pagination = Pagination(page=number, per_page=per_page, total=total, has_more=has_more, next_cursor=next_cursor)
    return Page[Any].model_construct(data=data, pagination=pagination)


def _binding(operation: AnyOperation, asked: PageQuery, org_id: str, sort: str) -> bytes:
    """What a cursor is valid for: one organization, list, order and choice of filters."""
    given = asked.model_dump(mode="json", exclude={"page", "per_page", "cursor", "sort"}, exclude_none=True)
    return orjson.dumps([org_id, operation.name, sort, given], option=orjson.OPT_SORT_KEYS)


def _check_no_page(asked: PageQuery) -> None:
    if asked.page is not None:
        raise invalid("page", "page and cursor exclude each other")
