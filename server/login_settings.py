"""The settings of logging in by a company's login service (OpenID Connect)."""

import re
from dataclasses import dataclass, field
from typing import Literal

from callwright.server.setting import BadSetting, Given, Setting

Role = Literal["owner", "member", "viewer"]

LOGIN_SETTINGS: tuple[Setting, ...] = (
    Setting(
        "CALLWRIGHT_OIDC_ISSUER",
        "none",
        "The company's OpenID Connect provider, by which people log in to the dashboard: https://login.example.com. "
        "It needs CALLWRIGHT_PUBLIC_URL, and there /login/company/back is the address to come back to.",
    ),
    Setting("CALLWRIGHT_OIDC_CLIENT_ID", "none", "What the provider calls this service."),
    Setting("CALLWRIGHT_OIDC_CLIENT_SECRET", "none", "The secret of it; without one PKCE alone protects the code."),
    Setting("CALLWRIGHT_OIDC_NAME", "your company", "What the button says after `Log in with`."),
    Setting(
        "CALLWRIGHT_OIDC_ORG",
        "none: only users who are there already get in",
        "The organization, by name or id, that people join who log in for the first time.",
    ),
    Setting("CALLWRIGHT_OIDC_ROLE", "viewer", "Their role there: viewer, member or owner."),
)
_ISSUER = re.compile(r"(?:https://[^\s/?#@]+|http://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?)(?:/[^\s?#]*)?")
_ROLES: dict[str, Role] = {"owner": "owner", "member": "member", "viewer": "viewer"}
_LONGEST_NAME = 60


@dataclass(frozen=True, kw_only=True)
class CompanyLoginSetting:
    """The company's provider. The secret is not shown."""

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    name: str = "your company"
    organization: str | None = None
    role: Role = "viewer"


def read_company_login(given: Given, *, public_url: str | None) -> CompanyLoginSetting | None:
    """The company's provider; None if none is set. Raises `BadSetting`."""
    issuer, client_id = given("CALLWRIGHT_OIDC_ISSUER"), given("CALLWRIGHT_OIDC_CLIENT_ID")
    if issuer is None:
        return None
    if not _ISSUER.fullmatch(issuer):
        raise BadSetting(
            "CALLWRIGHT_OIDC_ISSUER must be an address without query that begins with https://, or with http:// on "
            "this machine"
        )
    if client_id is None:
        raise BadSetting("CALLWRIGHT_OIDC_ISSUER needs CALLWRIGHT_OIDC_CLIENT_ID, what the provider calls this service")
    if public_url is None:
        raise BadSetting("CALLWRIGHT_OIDC_ISSUER needs CALLWRIGHT_PUBLIC_URL, to which the provider sends people back")
    name = given("CALLWRIGHT_OIDC_NAME") or "your company"
    if len(name) > _LONGEST_NAME:
        raise BadSetting(f"CALLWRIGHT_OIDC_NAME must have at most {_LONGEST_NAME} characters")
    role = _ROLES.get(given("CALLWRIGHT_OIDC_ROLE") or "viewer")
    if role is None:
        raise BadSetting("CALLWRIGHT_OIDC_ROLE must be viewer, member or owner")
    return CompanyLoginSetting(
        issuer=issuer,
        client_id=client_id,
        client_secret=given("CALLWRIGHT_OIDC_CLIENT_SECRET"),
        name=name,
        organization=given("CALLWRIGHT_OIDC_ORG"),
        role=role,
    )
