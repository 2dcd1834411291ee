"""Passkeys: a user adds and removes them, and logs in with one.

Of a challenge only the SHA-256 is kept; it is answered once, within five minutes. Source: W3C Web Authentication, level
3, sections 7.1 and 7.2, by the library `webauthn`, which is imported with the first passkey.
"""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import Connection, Row, delete, func, insert, select, update

from callwright.contract.checks.names import checked_name
from callwright.service.accounts import sessions
from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.principals import UserActor
from callwright.service.accounts.records import add_audit_entry, before_and_after
from callwright.service.accounts.users import checked
from callwright.service.platform.clock.clock import MINUTE
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema import passkey_challenges, passkeys, users

if TYPE_CHECKING:
    from webauthn.helpers.structs import AuthenticationCredential

CHALLENGE_MS = 5 * MINUTE
"""How long a challenge can be answered."""
MOST_PASSKEYS = 20
"""Passkeys of one user."""
MOST_CHALLENGES = 10_000
"""Challenges of logins that wait for an answer; the oldest ends for a new one."""
LONGEST_ANSWER = 20_000
"""Characters of a browser's answer to a challenge."""
_P, _C = passkeys.c, passkey_challenges.c


class PasskeyRefused(Exception):
    """An answer to a challenge does not prove who somebody is. Says why in a sentence."""


@dataclass(frozen=True)
class RelyingParty:
    """For which host passkeys are, and from which origin browsers answer: `example.com`, `https://example.com`."""

    id: str
    origin: str


def challenge_to_add(connection: Connection, user_id: str, party: RelyingParty, now_ms: int) -> str:
    """What the browser of a user needs to make a passkey, as JSON. Raises `AccountError` if the user has enough."""
    import webauthn
    from webauthn.helpers import structs

    known = connection.execute(select(_P.credential_id).where(_P.user_id == user_id)).scalars().all()
    _check_room(len(known))
    who = connection.execute(select(users).where(users.c.id == user_id, users.c.deleted_at.is_(None))).one()
    options = webauthn.generate_registration_options(
        rp_id=party.id,
        rp_name="Callwright",
        user_name=who.email or who.name,
        user_display_name=who.name,
        user_id=user_id.encode(),
        challenge=_new_challenge(connection, user_id, now_ms),
        timeout=CHALLENGE_MS,
        authenticator_selection=structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.REQUIRED,
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[structs.PublicKeyCredentialDescriptor(id=one) for one in known],
    )
    return webauthn.options_to_json(options)


def challenge_to_log_in(connection: Connection, party: RelyingParty, now_ms: int) -> str:
    """What a browser needs to show which passkeys it has for this host, as JSON."""
    import webauthn
    from webauthn.helpers.structs import UserVerificationRequirement

    options = webauthn.generate_authentication_options(
        rp_id=party.id,
        challenge=_new_challenge(connection, None, now_ms),
        timeout=CHALLENGE_MS,
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return webauthn.options_to_json(options)


def use_challenge(connection: Connection, answer: str, user_id: str | None, now_ms: int) -> bytes:
    """Uses up the challenge that a browser answers, and returns it. `user_id` is who adds a passkey, None for a login.

    Commit it before the answer is checked: a wrong answer uses its challenge up as well. Raises `PasskeyRefused`.
    """
    from webauthn.helpers import base64url_to_bytes, parse_client_data_json
    from webauthn.helpers.exceptions import WebAuthnException

    if len(answer) > LONGEST_ANSWER:
        raise PasskeyRefused("The browser's answer is too long.")
    try:
        said = base64url_to_bytes(orjson.loads(answer)["response"]["clientDataJSON"])
        challenge = parse_client_data_json(said).challenge
    except (WebAuthnException, ValueError, KeyError, TypeError, AttributeError) as error:
        raise PasskeyRefused("The browser's answer cannot be read. Try again.") from error
    asked = _C.user_id.is_(None) if user_id is None else _C.user_id == user_id
    used = delete(passkey_challenges).where(_C.hash == _hash(challenge), asked, _C.expires_at > now_ms)
    if connection.execute(used).rowcount != 1:
        raise PasskeyRefused("This took longer than five minutes, or was answered already. Try again.")
    return challenge


def add(
    connection: Connection,
    ids: Ids,
    by: tuple[str, str],
    name: str,
    answer: str,
    challenge: bytes,
    party: RelyingParty,
    now_ms: int,
) -> str:
    """Keeps the passkey that a browser made; returns its id. `by` is the organization and the user.

    Raises `PasskeyRefused`, and `AccountError` for a name that cannot be or a user who has enough of them.
    """
    import webauthn
    from webauthn.helpers.exceptions import WebAuthnException

    org_id, user_id = by
    name = checked_passkey_name(name)
    try:
        made = webauthn.verify_registration_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError) as error:
        raise PasskeyRefused("The passkey was not made for this page. Try again.") from error
    connection.execute(select(users.c.id).where(users.c.id == user_id).with_for_update())
    _check_room(connection.execute(select(func.count()).where(_P.user_id == user_id)).scalar_one())
    known = select(_P.id).where(_P.credential_hash == _hash(made.credential_id))
    if connection.execute(known).first() is not None:
        raise AccountError("this passkey is known already")
    passkey_id = ids.new("pky")
    row = {
        "id": passkey_id,
        "user_id": user_id,
        "name": name,
        "credential_hash": _hash(made.credential_id),
        "credential_id": made.credential_id,
        "public_key": made.credential_public_key,
        "sign_count": made.sign_count,
        "created_at": now_ms,
    }
    connection.execute(insert(passkeys), row)
    changes = {"name": before_and_after(None, name)}
    actor = UserActor(user_id)
    add_audit_entry(connection, ids, org_id, "passkey.added", passkey_id, now_ms, changes, by=actor)
    return passkey_id


def checked_passkey_name(name: str) -> str:
    """The name of a passkey. Raises `AccountError`."""
    return checked(checked_name, "the name of a passkey", name)


def log_in(
    connection: Connection, ids: Ids, answer: str, challenge: bytes, party: RelyingParty, now_ms: int
) -> sessions.NewSession:
    """Begins a session of the user whose passkey answers, in the organization where the user was last.

    Raises `PasskeyRefused` for an answer that proves nothing: an unknown or removed passkey, another host or user, no
    verification of the user, a counter that did not grow; and `LoginRefused` if the user is in no organization.
    """
    import webauthn
    from webauthn.helpers import parse_authentication_credential_json
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        given = parse_authentication_credential_json(answer)
        found = _known(connection, given)
        proved = webauthn.verify_authentication_response(
            credential=given,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=found.public_key,
            credential_current_sign_count=found.sign_count,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError) as error:
        raise PasskeyRefused("This passkey does not log in here. Try again, or log in another way.") from error
    used = {"sign_count": proved.new_sign_count, "last_used_at": now_ms}
    connection.execute(update(passkeys).where(_P.id == found.id).values(used))
    org_id = sessions.usual_organization(connection, found.user_id)
    if org_id is None:
        raise sessions.LoginRefused
    return sessions.begin(connection, ids, org_id, found.user_id, now_ms, how="passkey")


def _known(connection: Connection, given: "AuthenticationCredential") -> Row[Any]:
    mine = (
        select(passkeys)
        .join(users, (users.c.id == _P.user_id) & users.c.deleted_at.is_(None))
        .where(_P.credential_hash == _hash(given.raw_id))
        .with_for_update(of=passkeys)
    )
    found = connection.execute(mine).one_or_none()
    if found is None:
        raise PasskeyRefused("This passkey is not known here, or was removed. Log in another way.")
    if given.response.user_handle != found.user_id.encode():
        raise PasskeyRefused("This passkey belongs to another user.")
    return found


def passkeys_of(connection: Connection, user_id: str) -> Sequence[Row[Any]]:
    """The passkeys of a user, in the order in which they were added."""
    return connection.execute(select(passkeys).where(_P.user_id == user_id).order_by(_P.created_at, _P.id)).all()


def remove(connection: Connection, ids: Ids, by: tuple[str, str], passkey_id: str, now_ms: int) -> None:
    """Removes a passkey of a user: it logs in no more. `by` is the organization and the user.

    Raises `AccountError` if the user has none with this id.
    """
    org_id, user_id = by
    mine = (_P.id == passkey_id) & (_P.user_id == user_id)
    name = connection.execute(select(_P.name).where(mine).with_for_update()).scalar()
    if name is None:
        raise AccountError("you have no such passkey, or removed it already")
    connection.execute(delete(passkeys).where(mine))
    changes = {"name": before_and_after(name, None)}
    add_audit_entry(connection, ids, org_id, "passkey.removed", passkey_id, now_ms, changes, by=UserActor(user_id))


def _new_challenge(connection: Connection, user_id: str | None, now_ms: int) -> bytes:
    challenge = secrets.token_bytes(32)
    if user_id is None:
        waiting = select(_C.hash).where(_C.user_id.is_(None)).order_by(_C.expires_at.desc(), _C.hash)
        surplus = connection.execute(waiting.offset(MOST_CHALLENGES - 1)).scalars().all()
        connection.execute(delete(passkey_challenges).where(_C.hash.in_(surplus)))
    else:
        connection.execute(delete(passkey_challenges).where(_C.user_id == user_id))
    row = {"hash": _hash(challenge), "user_id": user_id, "expires_at": now_ms + CHALLENGE_MS}
    connection.execute(insert(passkey_challenges), row)
    return challenge


def _check_room(count: int) -> None:
    if count >= MOST_PASSKEYS:
        raise AccountError(f"you have {MOST_PASSKEYS} passkeys already; remove one first")


def _hash(secret: bytes) -> str:
    return hashlib.sha256(secret).hexdigest()
