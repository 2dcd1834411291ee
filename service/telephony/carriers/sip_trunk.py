"""A SIP trunk: where telephone calls are sent to, as whom, and how they are secured."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, cast, get_args

from pydantic import TypeAdapter, ValidationError

from callwright.service.settings import LineSettings

Transport = Literal["udp", "tcp", "tls"]
Srtp = Literal["off", "offered", "required"]
CallerId = Literal["from", "identity"]

_OPTION = "trunk"
_SCHEME = "sip:"
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
_USER = re.compile(r"[^\s@:;<>\"?\\]+")
_UNQUOTED = re.compile(r"[^\"\\\x00-\x1f\x7f]*")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_REGISTER = "register"
_PARAMETERS = ("transport", "srtp", "caller_id", "from_domain", "display", "auth_user", "ca", "verify")


class NoTrunk(ValueError):
    """An order names no trunk. The message is a sentence."""


@dataclass(frozen=True)
class SipTrunk:
    """A trunk of a carrier, a telephone system of one's own, or a telephone that is called directly.

    Raises ValueError, with a sentence that names what is wrong and shows no password.
    """

    host: str
    """A name, an IPv4 address, or an IPv6 address in brackets."""
    port: int | None = None
    """None: the one of the transport, or what the name server says."""
    transport: Transport = "udp"
    user: str = ""
    """The account at the trunk. Empty if the trunk knows this machine by its address."""
    password: str = field(default="", repr=False)
    auth_user: str = ""
    """The name to log in with, where it is not `user`."""
    registers: bool = False
    """Registers as `user` before the first call. Trunks that do not want it refuse it."""
    inbound: str = ""
    """How callers come in: `register`, or the address and port at which the trunk brings them. Empty: not at all."""
    inbound_from: tuple[str, ...] = ()
    """The networks that callers come from. Empty: the addresses of the host."""
    from_domain: str = ""
    """The domain of the caller's address, where it is not the host."""
    display: str = ""
    """The caller's name beside its number. Few carriers pass it on."""
    caller_id: CallerId | Literal[""] = ""
    """Where the caller's number stands: in `From`, or in `P-Asserted-Identity` alone while `From` has the account.
    Empty: `identity` on a trunk that registers, else `from`."""
    srtp: Srtp = "off"
    """Whether sound is encrypted. `offered`: where the other side can."""
    ca_file: str = ""
    """Certificates that sign the trunk's, as PEM. Empty: those of the system."""
    verify: bool = True
    """Whether the certificate of a trunk over TLS is checked: who signed it and, if the host is a name, that name.
    False is for tests."""

    def __post_init__(self) -> None:
        if not _HOST.fullmatch(self.host):
            raise ValueError("The trunk's host must be a name or an address, such as sip.example.com or 127.0.0.1.")
        if self.port is not None and not 0 < self.port < 65_536:
            raise ValueError("The trunk's port must be a number between 1 and 65535.")
        for name, value, allowed in (
            ("transport", self.transport, get_args(Transport)),
            ("srtp", self.srtp, get_args(Srtp)),
            ("caller_id", self.caller_id, ("", *get_args(CallerId))),
        ):
            if value not in allowed:
                raise ValueError(f"The trunk's {name} must be one of {', '.join(filter(None, allowed))}.")
        for name, value in (("user", self.user), ("auth_user", self.auth_user)):
            if value and not _USER.fullmatch(value):
                raise ValueError(f"The trunk's {name} has a character that a SIP address cannot have.")
        if self.from_domain and not _HOST.fullmatch(self.from_domain):
            raise ValueError("The trunk's from_domain must be a name or an address.")
        for name, value in (("password", self.password), ("display", self.display), ("ca", self.ca_file)):
            if not _UNQUOTED.fullmatch(value):
                raise ValueError(f"The trunk's {name} must have no quotation mark, backslash or control character.")
        if self.registers and not self.user:
            raise ValueError("A trunk that is registered with needs a user.")
        if self.caller_id == "identity" and not self.user:
            raise ValueError("A trunk with caller_id=identity needs a user.")
        if self.srtp == "required" and self.transport != "tls":
            raise ValueError("With srtp=required the transport must be tls: the keys of the sound travel in the call.")
        self._check_inbound()
        if self.transport == "tls" and self.verify and not self.ca_file and _has_no_name(self.host):
            raise ValueError(
                "Over TLS a trunk needs a name as its host, or its own certificates as ca: addresses are not compared."
            )

    def _check_inbound(self) -> None:
        if self.inbound_from and not self.inbound:
            raise ValueError("Networks of callers are for a trunk with callers.")
        for network in self.inbound_from:
            try:
                ipaddress.ip_network(network)
            except ValueError:
                raise ValueError("A network of callers must be an address or a range such as 203.0.113.0/24.") from None
        if self.inbound == _REGISTER and not self.user:
            raise ValueError("A trunk whose callers come by registration needs a user.")
        if self.inbound in ("", _REGISTER):
            return
        host, port = host_and_port(self.inbound)
        if not _has_no_name(host) or not port or port > 65_535:
            raise ValueError("Callers come by register, or at an address and port such as 0.0.0.0:5060.")
        if self.transport == "tls":
            raise ValueError("Over TLS callers come by register: at a port of its own this machine has no certificate.")

    @property
    def listens_at(self) -> str | None:
        """The address and port at which callers come in; None if they come by registration, or not at all."""
        return self.inbound if self.inbound not in ("", _REGISTER) else None

    @property
    def registers_to_call(self) -> bool:
        """Whether a process registers before its first call. Where callers come by registration, only the process that
        takes them registers: the trunk would bring them to every one that does."""
        return self.registers and self.inbound != _REGISTER

    @property
    def address(self) -> str:
        """Host and port."""
        return self.host if self.port is None else f"{self.host}:{self.port}"

    def address_of(self, number: str) -> str:
        """The address of a telephone number at the trunk."""
        return f"sip:{number}@{self.address};transport={self.transport}"

    @property
    def number_is_in_from(self) -> bool:
        """Whether `From` has the caller's number, and not the account."""
        return (self.caller_id or ("identity" if self.registers else "from")) == "from"

    @property
    def is_on_this_machine(self) -> bool:
        """Whether the trunk is at the loopback interface."""
        return _has_no_name(self.host) and ipaddress.ip_address(self.host.strip("[]")).is_loopback


def _has_no_name(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


@cache
def _trunks() -> TypeAdapter[SipTrunk]:
    return TypeAdapter(SipTrunk)


def options_of(trunk: SipTrunk) -> dict[str, str]:
    """The carrier options of an order that places a call over the trunk. They have its password."""
    return {_OPTION: _trunks().dump_json(trunk).decode()}


def trunk_of(options: Mapping[str, str]) -> SipTrunk:
    """The trunk of an order's carrier options.

    Raises:
        NoTrunk: they have none.
    """
    try:
        return _trunks().validate_json(options.get(_OPTION, ""))
    except ValidationError:
        raise NoTrunk("The order names no SIP trunk.") from None  # the cause would show what was given


def trunk_of_settings(lines: LineSettings) -> SipTrunk | None:
    """The trunk of a process; None if it has none. Raises ValueError as `trunk_from`."""
    if lines.sip_trunk is None:
        return None
    user, password = lines.sip_user or "", lines.sip_password or ""
    return trunk_from(
        lines.sip_trunk,
        user=user,
        password=password,
        register=str(lines.sip_registers).lower(),
        inbound=lines.sip_inbound or "",
        inbound_from=lines.sip_inbound_from,
    )


def trunk_from(
    trunk: str,
    *,
    user: str = "",
    password: str = "",
    register: str = "",
    inbound: str = "",
    inbound_from: Sequence[str] = (),
) -> SipTrunk:
    """The trunk that settings describe, such as `sip:sip.example.com:5061;transport=tls;srtp=required`.

    Parameters of the address are `transport`, `srtp`, `caller_id`, `from_domain`, `display`, `auth_user`, `ca` (a file)
    and `verify`; `register` is true or false; `inbound` and `inbound_from` are those of `SipTrunk`.

    Raises:
        ValueError: a text means nothing; the sentence names it.
    """
    address, *parameters = trunk.strip().split(";")
    if not address.lower().startswith(_SCHEME):
        raise ValueError("The trunk must begin with sip:, for example sip:sip.example.com;transport=udp.")
    if "@" in address:
        raise ValueError("The trunk's address must have no user: user and password are settings of their own.")
    given: dict[str, str] = {}
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        name = name.strip().lower()
        if name not in _PARAMETERS:
            raise ValueError(f"The trunk has no parameter '{name[:40]}'; there are {', '.join(_PARAMETERS)}.")
        if name in given or not value.strip():
            raise ValueError(f"The trunk's parameter '{name}' must have one value.")
        given[name] = value.strip()
    host, port = host_and_port(address[len(_SCHEME) :])
    return SipTrunk(
        host,
        port,
        transport=cast("Transport", given.get("transport", "udp").lower()),
        user=user.strip(),
        password=password,
        auth_user=given.get("auth_user", ""),
        registers=_truth("registering", register),
        inbound=inbound.strip().lower(),
        inbound_from=tuple(inbound_from),
        from_domain=given.get("from_domain", ""),
        display=given.get("display", ""),
        caller_id=cast("CallerId", given.get("caller_id", "").lower()),
        srtp=cast("Srtp", given.get("srtp", "off").lower()),
        ca_file=given.get("ca", ""),
        verify=_truth("verify", given.get("verify", "true")),
    )


def host_and_port(address: str) -> tuple[str, int | None]:
    """The host and port of a text such as `127.0.0.1:5060`. Raises ValueError, with a sentence."""
    host, port = address.strip(), ""
    if not host.endswith("]") and ":" in host:
        host, _, port = host.rpartition(":")
        if not port.isascii() or not port.isdigit() or len(port) > 5:
            raise ValueError("The trunk's port must be a number between 1 and 65535.")
    if host.lower() == "localhost":  # the stack asks name servers alone, which need not know it
        host = "127.0.0.1"
    return host, int(port) if port else None


def _truth(what: str, text: str) -> bool:
    if text.strip().lower() in _TRUE:
        return True
    if not text.strip() or text.strip().lower() in _FALSE:
        return False
    raise ValueError(f"The setting of the trunk for {what} must be true or false.")
