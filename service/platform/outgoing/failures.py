"""Failures to send, as outcomes and in words. Imports aiohttp, so it is imported only when it is needed."""

import logging
import socket
from errno import ECONNREFUSED, EHOSTUNREACH, ENETUNREACH
from ssl import SSLCertVerificationError, SSLError

from aiohttp import ClientConnectionError, ClientConnectorDNSError, ClientPayloadError, ClientResponseError, InvalidURL

from callwright.contract.attempts import AttemptOutcome
from callwright.service.platform.outgoing.progress import Progress

log = logging.getLogger(__name__)


def of_error(error: Exception, progress: Progress) -> tuple[AttemptOutcome, str]:
    """The outcome of an error of aiohttp, and its description."""
    if progress.refused is not None and not progress.tried:
        return "forbidden_address", f"The host leads to {progress.refused}. Nothing is sent there."
    if isinstance(error, InvalidURL):
        return "forbidden_address", "The URL names nothing that can be sent to. Give another one."
    if isinstance(error, ClientConnectorDNSError):
        return "dns_failed", _dns(error.os_error)
    tls = _tls_error(error)
    if tls is not None:
        return "tls_failed", _tls(tls)
    if isinstance(error, ClientResponseError | ClientPayloadError):
        return "bad_answer", "The endpoint's answer is not HTTP, or its headers are too long."
    if isinstance(error, ClientConnectionError | OSError):
        return "connection_failed", _connection(error, progress)
    log.warning("sending failed in a way that is not known: %s", type(error).__name__)
    return "bad_answer", "The endpoint's answer could not be read."


def _dns(error: OSError) -> str:
    if error.errno == socket.EAI_AGAIN:
        return "The host could not be looked up: its name servers do not answer."
    return "There is no address for the name of the host."


def _tls_error(error: BaseException | None) -> SSLError | None:
    """The TLS error that caused an error; aiohttp's own error has fewer details."""
    found = None
    while error is not None:
        if isinstance(error, SSLError):
            found = error
        error = error.__cause__
    return found


def _tls(error: SSLError) -> str:
    if isinstance(error, SSLCertVerificationError):
        return f"The endpoint's certificate is not valid: {error.verify_message.rstrip('.')}."
    reason: str | None = getattr(error, "reason", None)
    return f"No secure connection was made: {reason.lower().replace('_', ' ') if reason else 'it was broken off'}."


def _connection(error: Exception, progress: Progress) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == ECONNREFUSED:
        return "The host refused the connection: nothing listens on that port."
    if number in (ENETUNREACH, EHOSTUNREACH):
        return "The host cannot be reached from here."
    if progress.stage == "answer":
        return "The endpoint closed the connection before it had answered."
    return "No connection was made."
