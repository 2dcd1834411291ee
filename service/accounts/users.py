"""The people who belong to organizations and make keys.

A user belongs to no organization by itself: `memberships` says who is in which.
"""

import unicodedata
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, insert, select
from sqlalchemy.exc import IntegrityError

from callwright.contract.checks.names import checked_name
from callwright.service.accounts.errors import AccountError
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema import users

OPERATOR = "operator@localhost"
"""The user of the person who runs this installation, made when it is first needed."""
EMAIL_LENGTH = 200
_U = users.c


def checked(check: Callable[[str], str], what: str, value: str) -> str:
    """The value, if `check` accepts it. Raises `AccountError`, whose text begins with `what`."""
    try:
        return check(value)
    except ValueError as error:
        raise AccountError(f"{what} {error}") from error


def checked_email(email: str) -> str:
    """The address in lower case. Raises `AccountError` unless it has the form of one; no mail is sent to it."""
    lowered = email.lower()
    before, at, behind = lowered.partition("@")
    is_plain = before and at and behind and "@" not in behind and len(lowered) <= EMAIL_LENGTH
    if not is_plain or any(one.isspace() or unicodedata.category(one).startswith("C") for one in lowered):
        raise AccountError(
            f"{email!r} is no e-mail address; write one like ann@example.com, without blanks, "
            f"of at most {EMAIL_LENGTH} characters"
        )
    return lowered


def create_user(connection: Connection, ids: Ids, email: str | None, name: str, now_ms: int) -> str:
    """A new user, who is in no organization yet; returns the id.

    Keys of a user without an e-mail address cannot rent phone numbers. Audit logs belong to organizations, so the
    first entry about a user is the one about joining one.
    """
    address = None if email is None else checked_email(email)
    user_id = ids.new("usr")
    row = {"id": user_id, "email": address, "name": checked(checked_name, "the name", name), "created_at": now_ms}
    try:
        with connection.begin_nested():
            connection.execute(insert(users), row)
    except IntegrityError as error:
        raise AccountError(f"there is a user {address} already") from error
    return user_id


def user_with(connection: Connection, email: str) -> Row[Any] | None:
    """The user with an e-mail address, or None. Raises `AccountError` for a text that is no address."""
    return connection.execute(select(users).where(_U.email == checked_email(email))).one_or_none()


def find_user(connection: Connection, user: str) -> Row[Any]:
    """A user who is not deleted, by e-mail address or id."""
    known = select(users).where((_U.email == user.lower()) | (_U.id == user), _U.deleted_at.is_(None))
    found = connection.execute(known).one_or_none()
    if found is None:
        raise AccountError(
            f"there is no user {user!r}; `callwright users list --org NAME` shows those of an organization"
        )
    return found


def operator_user(connection: Connection, ids: Ids, now_ms: int) -> str:
    """The id of the user `operator@localhost`, made if there is none."""
    known = select(_U.id).where(_U.email == OPERATOR)
    found = connection.execute(known).scalar()
    if found is not None:
        return found
    try:
        return create_user(connection, ids, OPERATOR, "Operator", now_ms)
    except AccountError:  # another process has made it since
        return connection.execute(known).scalar_one()
