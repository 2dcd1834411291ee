"""What a provider of speech or of a language model must be like. Pure rules; the handler asks the database."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network

from callwright.contract.providers import ROLES_OF, SHORTEST_SHOWN_KEY, SHOWN_OF_KEY, ProviderKind, Role, SetProvider
from callwright.service.rules import webhook_url

NEEDS_VOICE: tuple[ProviderKind, ...] = ("elevenlabs", "cartesia")
"""Kinds that have no voice of their own to begin with."""
_SENT = "Speech and words"


class Unfit(ValueError):
    """A field of a provider does not fit. The text follows the field's name and never holds a key."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def roles_of(asked: SetProvider) -> list[Role]:
    """What the provider is used for, in the order of a call.

    Raises:
        Unfit: its kind cannot do one of them.
    """
    able = ROLES_OF[asked.kind]
    for role in asked.roles or ():
        if role not in able:
            raise Unfit("roles", f"{asked.kind} can only do {', '.join(able)}")
    return [role for role in able if asked.roles is None or role in asked.roles]


def check(asked: SetProvider, roles: Sequence[Role], *, opened: Sequence[IPv4Network | IPv6Network]) -> None:
    """Raises `Unfit` for what contradicts the kind or the roles. `opened` are ranges that the operator opened."""
    for role in asked.default_for:
        if role not in roles:
            raise Unfit("default_for", f"{role} is not among its roles, which are {', '.join(roles)}")
    if asked.url is not None:
        if asked.kind != "openai":
            raise Unfit("url", f"{asked.kind} has one address; only kind openai takes a url")
        try:
            webhook_url.check(asked.url, opened=opened, sent=_SENT)
        except ValueError as error:
            raise Unfit("url", str(error)) from error
    if asked.model is not None and len(roles) > 1:
        raise Unfit(
            "model",
            f"is for one role, and this provider has {', '.join(roles)}: leave it out, or name one role and set "
            "another provider for each other one",
        )
    if asked.voice is not None and "speaking" not in roles:
        raise Unfit("voice", f"is for speaking, and this provider is used for {', '.join(roles)}")
    if asked.voice is None and asked.kind in NEEDS_VOICE:
        raise Unfit("voice", f"is required: {asked.kind} speaks with a voice that you name by its id there")


def needs_key(asked: SetProvider) -> bool:
    """Whether the service turns away whoever brings no key. One at a URL of its own may take anybody."""
    return asked.url is None


def shown_of(key: str) -> str | None:
    """The last characters of a key, to recognise it by; None for one that is too short for that."""
    return key[-SHOWN_OF_KEY:] if len(key) >= SHORTEST_SHOWN_KEY else None
