"""People who log in by the login service of their company (OpenID Connect).

A person is known by issuer and subject, which do not change, and the first time by an e-mail address that the issuer
has verified.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from callwright.contract.checks.names import checked_name
from callwright.service.accounts import sessions
from callwright.service.accounts.errors import AccountError, sentence
from callwright.service.accounts.memberships import join
from callwright.service.accounts.organizations import find_organization
from callwright.service.accounts.principals import UserActor
from callwright.service.accounts.records import add_audit_entry, before_and_after
from callwright.service.accounts.users import create_user, user_with
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema import company_identities, memberships, users

_I, _M = company_identities.c, memberships.c
_NAME_LENGTH = 100


class CompanyLoginRefused(Exception):
    """A person whom the company has verified does not get in. Says why in a sentence."""


@dataclass(frozen=True)
class CompanyPerson:
    """Who somebody is, as an issuer says. `email` is one that it has verified, else None."""

    issuer: str
    subject: str
    email: str | None
    name: str | None


@dataclass(frozen=True)
class NewPeople:
    """Where people go who are new: an organization, by name or id, and a role there. None: nobody new gets in."""

    organization: str | None
    role: str


def log_in(
    connection: Connection, ids: Ids, person: CompanyPerson, new_people: NewPeople, now_ms: int
) -> sessions.NewSession:
    """Begins a session of a person, in the organization where they were last. Raises `CompanyLoginRefused`."""
    user_id = _known(connection, person)
    if user_id is None:
        user_id = _first_time(connection, ids, person, new_people, now_ms)
    org_id = sessions.usual_organization(connection, user_id)
    if org_id is None:
        org_id = _joined(connection, ids, user_id, new_people, now_ms)
    try:
        return sessions.begin(connection, ids, org_id, user_id, now_ms, how="company")
    except sessions.LoginRefused as error:
        raise CompanyLoginRefused("You are in no organization here. Ask an owner to add you.") from error


def _known(connection: Connection, person: CompanyPerson) -> str | None:
    statement = (
        select(_I.user_id, users.c.deleted_at)
        .join(users, users.c.id == _I.user_id)
        .where(_I.issuer == person.issuer, _I.subject == person.subject)
    )
    found = connection.execute(statement).one_or_none()
    if found is None:
        return None
    if found.deleted_at is not None:
        raise CompanyLoginRefused("Your user was deleted here. Ask who runs this service.")
    return found.user_id


def _first_time(connection: Connection, ids: Ids, person: CompanyPerson, new_people: NewPeople, now_ms: int) -> str:
    if person.email is None:
        raise CompanyLoginRefused("Your company has not verified your e-mail address. You are known here by it.")
    try:
        found = user_with(connection, person.email)
        if found is None:
            if new_people.organization is None:
                raise CompanyLoginRefused(f"There is no user {person.email} here. Ask an owner to add you.")
            user_id = create_user(connection, ids, person.email, _name_of(person.email, person.name), now_ms)
        else:
            user_id = found.id
            other = select(_I.subject).where(_I.user_id == user_id, _I.issuer == person.issuer)
            if connection.execute(other).first() is not None:
                raise CompanyLoginRefused(f"{person.email} belongs to another person of your company here.")
    except AccountError as error:
        raise CompanyLoginRefused(sentence(error)) from error
    row = {
        "id": ids.new("cid"),
        "user_id": user_id,
        "issuer": person.issuer,
        "subject": person.subject,
        "created_at": now_ms,
    }
    org_id = sessions.usual_organization(connection, user_id)
    if org_id is None:
        org_id = _joined(connection, ids, user_id, new_people, now_ms)
    connection.execute(insert(company_identities), row)
    changes = {"issuer": before_and_after(None, person.issuer)}
    by = UserActor(user_id)
    add_audit_entry(connection, ids, org_id, "company_identity.added", user_id, now_ms, changes, by=by)
    return user_id


def _joined(connection: Connection, ids: Ids, user_id: str, new_people: NewPeople, now_ms: int) -> str:
    """The organization of new people, which a user joins who has never been in it. One who left stays out."""
    if new_people.organization is None:
        raise CompanyLoginRefused("You are in no organization here. Ask an owner to add you.")
    try:
        org_id: str = find_organization(connection, new_people.organization)
        left = select(_M.user_id).where(_M.user_id == user_id, _M.left_at.is_not(None))
        if connection.execute(left).first() is not None:
            raise CompanyLoginRefused("You have left this organization. Ask an owner to add you again.")
        join(connection, ids, org_id, user_id, new_people.role, now_ms)
    except AccountError as error:
        raise CompanyLoginRefused("The organization of new people is not there. Ask who runs this service.") from error
    return org_id


def _name_of(email: str, name: str | None) -> str:
    """The name that the company says, or else the address without its domain."""
    try:
        return checked_name((name or "").strip()[:_NAME_LENGTH])
    except ValueError:
        return email.partition("@")[0][:_NAME_LENGTH]
