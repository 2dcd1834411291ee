"""The settings of mails: the server that sends them, and the address they come from."""

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote, urlsplit

from callwright.server.setting import BadSetting, Given, Setting

MAIL_SETTINGS = (
    Setting(
        "CALLWRIGHT_SMTP_URL",
        "none: links are shown where they are made",
        "The mail server for invitations and forgotten passwords: smtps://user:password@mail.example.com (TLS), "
        "smtp+starttls://… or smtp://… (in the clear). In user and password, % and @ are written as %25 and %40.",
    ),
    Setting("CALLWRIGHT_MAIL_FROM", "none", "The address that mails come from: callwright@example.com."),
)
_PORTS: dict[str, tuple[int, Literal["none", "starttls", "tls"]]] = {
    "smtp": (25, "none"),
    "smtp+starttls": (587, "starttls"),
    "smtps": (465, "tls"),
}


@dataclass(frozen=True, kw_only=True)
class MailTexts:
    """The mail server. The password is not shown."""

    host: str
    port: int
    security: Literal["none", "starttls", "tls"]
    sender: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)


def read_mail(given: Given) -> MailTexts | None:
    """The mail server; None if there is none. Raises `BadSetting`, which does not repeat the URL."""
    url, sender = given("CALLWRIGHT_SMTP_URL"), given("CALLWRIGHT_MAIL_FROM")
    if url is None and sender is None:
        return None
    if url is None or sender is None:
        missing = "CALLWRIGHT_SMTP_URL" if url is None else "CALLWRIGHT_MAIL_FROM"
        raise BadSetting(f"{missing} is needed as well: mails have a server and an address they come from")
    before, at, behind = sender.partition("@")
    if not (before and at and behind) or "@" in behind or any(one.isspace() or one in '<>,;:"\\' for one in sender):
        raise BadSetting("CALLWRIGHT_MAIL_FROM must be an address such as callwright@example.com")
    wrong = BadSetting(
        "CALLWRIGHT_SMTP_URL must be such as smtps://user:password@mail.example.com:465, or begin with "
        "smtp+starttls:// or smtp://"
    )
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise wrong from error
    if parts.scheme not in _PORTS or not host or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise wrong
    usual, security = _PORTS[parts.scheme]
    user = None if parts.username is None else unquote(parts.username)
    password = None if parts.password is None else unquote(parts.password)
    return MailTexts(host=host, port=port or usual, security=security, sender=sender, user=user, password=password)
