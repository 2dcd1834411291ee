"""The check of `callwright doctor` on callers of the SIP trunk: how they come in, and whether their port is free."""

import socket
from contextlib import closing

from callwright.server.commands.doctor.checkup import CheckResult
from callwright.service.telephony.carriers.sip_trunk import SipTrunk, host_and_port

_WHAT = "SIP callers"


def caller_check(trunk: SipTrunk) -> CheckResult | None:
    """How callers come in; None if nobody does."""
    if not trunk.inbound:
        return None
    where = ", ".join(trunk.inbound_from) or f"the addresses of {trunk.host}"
    if trunk.listens_at is None:
        return CheckResult("good", _WHAT, f"They come by registration as {trunk.user}, from {where}.")
    said = f"They come to {trunk.listens_at}, from {where}"
    host, port = host_and_port(trunk.listens_at)
    why = _why_not_free(host.strip("[]"), port or 0)
    if why is None:
        return CheckResult("good", _WHAT, f"{said}.")
    help_ = "If it is not `callwright serve` that has the port, choose another one in CALLWRIGHT_SIP_INBOUND."
    return CheckResult("note", _WHAT, f"{said}; the port cannot be opened now: {why}.", help=help_)


def _why_not_free(host: str, port: int) -> str | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        with closing(socket.socket(family, kind)) as tried:
            try:
                tried.bind((host, port))
            except OSError as error:
                return error.strerror or type(error).__name__
    return None
