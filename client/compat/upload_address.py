"""Sends a file to the address that an import names for it, in parts, without the API key.

The parts are those of Google Cloud Storage's resumable uploads: PUT with Content-Range (RFC 9110, section 14.5),
answered with 308 and what has arrived in Range until all of it is there. Where an address may lead is as in
`external_address`.
"""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import anyio

from callwright.client.compat.external_address import USER_AGENT, address_of, sent
from callwright.client.errors import AnswerTooLarge, ServiceTimeout, ServiceUnreachable, UnexpectedAnswer
from callwright.client.transport import Request, Response, Transport, close_response, failure_of, httpx, read_whole

PART_LIMIT_S = 15.0
"""Seconds that sending one part may take."""
_GOES_ON = 308
_ARRIVED = re.compile(r"bytes=0-([0-9]{1,15})")
_OWN_PATH = "/uploads/"
_ANSWER_BYTES = 100_000


@dataclass(frozen=True)
class UploadState:
    """How many bytes of a file have arrived, whether that is all of it, and until when the rest is waited for, which is
    None where nobody says so.
    """

    bytes_received: int
    is_complete: bool
    expires_at: datetime | None = None


async def send_part(transport: Transport, url: str, content: bytes, *, begin: int, total: int) -> UploadState:
    """Sends bytes of a file from `begin` on; empty `content` asks what has arrived, and ends a file of which all has.

    Sending the same again does no harm.

    Raises:
        AddressUnreadable: the address must not be used.
        ServiceProblem: the service refuses the part, or the address is complete or too old.
        ServiceTimeout, ServiceUnreachable: part of it may have arrived; ask, and go on from there.
        UnexpectedAnswer: the answer does not say what has arrived.
    """
    address = address_of(transport, _at_service(transport, url))
    part = f"{begin}-{begin + len(content) - 1}" if content else "*"
    headers = {"Content-Range": f"bytes {part}/{total}", "User-Agent": USER_AGENT}
    request = Request("PUT", address, headers=headers, content=content)
    try:
        with anyio.fail_after(PART_LIMIT_S):
            answer = await sent(transport, request, with_key=False)
            try:
                return await _state(answer, total)
            finally:
                await close_response(answer)
    except (TimeoutError, httpx.TimeoutException) as error:
        raise ServiceTimeout(f"{address.host} did not answer in time", request_sent=True, repeatable=True) from error
    except httpx.RequestError as error:
        raise ServiceUnreachable(
            f"lost the connection to {address.host}", request_sent=True, repeatable=True
        ) from error


def _at_service(transport: Transport, url: str) -> str:
    """The address as this client reaches it: a service in this process is not reached where others reach it."""
    _, path, token = url.rpartition(_OWN_PATH)
    return f"{path}{token}" if transport.is_direct and path else url


async def _state(answer: Response, total: int) -> UploadState:
    if answer.is_success:
        return UploadState(total, is_complete=True)
    if answer.status_code != _GOES_ON:
        raise await failure_of(answer)
    said = answer.headers.get("range")
    expires_at = _expires_at(await _read(answer))
    if said is None:
        return UploadState(0, is_complete=False, expires_at=expires_at)
    found = _ARRIVED.fullmatch(said)
    if found is None or int(found[1]) >= total:
        raise UnexpectedAnswer("the answer to a part of a file does not say what has arrived", status=_GOES_ON)
    return UploadState(int(found[1]) + 1, is_complete=False, expires_at=expires_at)


async def _read(answer: Response) -> bytes:
    try:
        return await read_whole(answer, _ANSWER_BYTES)
    except AnswerTooLarge:
        return b""


def _expires_at(body: bytes) -> datetime | None:
    """Until when the service waits for the rest, where it says so."""
    try:
        data: Any = json.loads(body)["data"]
        found = datetime.fromisoformat(data["expires_at"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return found if found.tzinfo is not None else None
