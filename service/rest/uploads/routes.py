"""The address to which the file of an import is uploaded. It is outside the API and its limit of 1 MB.

Who sends has no key: the address has a token, of which the hash is stored. Parts follow the protocol of Google Cloud
Storage's resumable uploads: PUT with Content-Range, answered with 308 and what has arrived in Range until the file is
complete. HEAD and GET say what has arrived too, and DELETE ends the import, also while its file is read.
"""

from dataclasses import dataclass, replace

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from callwright.contract.problems import NOT_FOUND, SERVICE_UNAVAILABLE, STORAGE_FULL
from callwright.service.campaigns.ended_imports import cancel_import
from callwright.service.platform.clock.clock import instant_or_none
from callwright.service.platform.database.sqlite.disk_space import StorageFull
from callwright.service.platform.refusals import Refusal, invalid, not_found
from callwright.service.platform.uploads import TOKEN_PREFIX, UploadBusy, Uploads, hash_of
from callwright.service.rest.uploads.parts import CONTENT_RANGE, Part, part_of
from callwright.service.rest.uploads.receiving import receive
from callwright.service.rest.without_key import RefusalOf, refusing
from callwright.service.services import Services
from callwright.service.tables import import_uploads
from callwright.service.tables.import_uploads import CompleteUpload, OpenUpload

PATH = "/uploads/"
OFFSET = "Upload-Offset"
"""The header that says how many bytes have arrived."""


def upload_routes(services: Services, refusal_of: RefusalOf) -> list[Route]:
    """The routes of uploads. An error is answered as in the API."""
    uploads = Uploads(services.settings)

    async def upload(request: Request) -> Response:
        token_hash = _hash_in(request)
        found = await services.database.read(import_uploads.find, token_hash, services.clock.now_ms())
        if found is None:
            raise not_found()
        if request.method == "DELETE" and await cancel_import(services, import_uploads.by_token(token_hash)):
            return Response(status_code=204)
        if isinstance(found, CompleteUpload):
            return _completed(request, found)
        if request.method == "PUT":
            return await _received(services, uploads, request, _Heard(services, token_hash, found))
        if request.method == "DELETE":  # it has ended meanwhile
            raise not_found()
        return _state(found, await to_thread.run_sync(uploads.size_of, found.import_id))

    methods = ["GET", "PUT", "DELETE"]  # and HEAD
    return [Route(PATH + "{token}", refusing(services, refusal_of, upload), methods=methods)]


def _hash_in(request: Request) -> str:
    token: str = request.path_params["token"]
    if not token.startswith(TOKEN_PREFIX):
        raise not_found()
    return hash_of(token)


@dataclass
class _Heard:
    """Has an upload waited for longer whenever bytes of it come."""

    services: Services
    token_hash: str
    upload: OpenUpload
    is_new: bool = False
    """Whether the request brought bytes that had not arrived."""

    async def check_total(self, part: Part) -> None:
        """Notes the size of the file, which the first part that says it decides; a whole file decides anew.

        Raises:
            Refusal: invalid_field for another size, not_found if the upload has ended meanwhile.
        """
        total, known = part.total, self.upload.total
        if not part.is_whole and known is not None:
            if total not in (None, known):
                said = f"says that the file has {total} bytes, but an earlier part said {known}"
                raise invalid(CONTENT_RANGE, f"{said}; send the whole file without Content-Range to begin anew")
            return
        if total == known or part.end == 0:
            return
        noted = import_uploads.note_total, self.token_hash, self.services.clock.now_ms(), total
        if not await self.services.database.write(*noted):
            raise not_found()
        self.upload = replace(self.upload, total=total)

    async def __call__(self) -> None:
        """Notes that bytes came. Raises `Refusal`: not_found if the upload has ended meanwhile."""
        self.is_new = True
        now_ms = self.services.clock.now_ms()
        until_ms = self.upload.heard_at(now_ms)
        if until_ms is None:
            return
        if not await self.services.database.write(import_uploads.wait_until, self.token_hash, now_ms, until_ms):
            raise not_found()
        self.upload = replace(self.upload, expires_ms=until_ms)


async def _received(services: Services, uploads: Uploads, request: Request, heard: _Heard) -> Response:
    part = part_of(request.headers.get(CONTENT_RANGE))
    await heard.check_total(part)
    most = services.settings.upload_max_bytes
    try:
        with uploads.written(heard.upload.import_id) as file:
            ended = await receive(request, part, file, most, heard)
            if part.is_whole and ended and not heard.is_new:
                raise _is_empty(heard.upload)
            if ended and (part.total if not part.is_whole else file.size) == file.size:
                await _complete(services, heard, file.size)
                return _state(heard.upload, file.size, is_complete=True)
            return _not_yet(heard.upload, part, file.size)
    except UploadBusy as error:
        said = "Another request sends to this upload; ask with HEAD what has arrived, and go on from there."
        raise Refusal(SERVICE_UNAVAILABLE, said, headers={"Retry-After": "1"}) from error
    except StorageFull as error:
        said = "The disk has no room for this file; nothing of this request was kept."
        raise Refusal(STORAGE_FULL, said, headers={"Retry-After": "60"}) from error


async def _complete(services: Services, heard: _Heard, size: int) -> None:
    if not size:
        raise _is_empty(heard.upload)
    if not await services.database.write(import_uploads.complete, heard.token_hash, services.clock.now_ms(), size):
        raise not_found()
    services.wake()


def _is_empty(upload: OpenUpload) -> Refusal:
    until = instant_or_none(upload.expires_ms)
    return invalid(
        "body",
        f"is empty: it must be the file. The import waits for it until {until}, and no campaign of the audience starts "
        "before it has ended: send the file, or end the import with DELETE here",
    )


def _completed(request: Request, upload: CompleteUpload) -> Response:
    """The answer once all of the file is there: 200 to who asks, or sends a part again.

    Raises:
        Refusal: not_found for another file, and for DELETE: the import has ended.
    """
    if request.method in ("GET", "HEAD"):
        return _state(upload, upload.total)
    if request.method == "PUT":
        part = part_of(request.headers.get(CONTENT_RANGE))
        if part.end is not None and part.end <= upload.total and part.total in (None, upload.total):
            return _state(upload, upload.total)
    said = (
        f"This upload is over: the import {upload.import_id} has had its file, or was ended. "
        "Another file needs an import of its own."
    )
    raise Refusal(NOT_FOUND, said)


def _not_yet(upload: OpenUpload, part: Part, size: int) -> Response:
    if part.total is not None and size > part.total:
        raise invalid(CONTENT_RANGE, f"says that the file has {part.total} bytes, but {size} have arrived")
    answer = _state(upload, size)
    answer.status_code = 308
    return answer


def _state(upload: OpenUpload | CompleteUpload, size: int, *, is_complete: bool = False) -> Response:
    until = upload.expires_ms if isinstance(upload, OpenUpload) and not is_complete else None
    data = {
        "import_id": upload.import_id,
        "audience_id": upload.audience_id,
        "bytes_received": size,
        "is_complete": until is None,
        "expires_at": instant_or_none(until),
    }
    headers = {OFFSET: str(size), "Cache-Control": "no-store"}
    if size:
        headers["Range"] = f"bytes=0-{size - 1}"
    return JSONResponse({"data": data}, headers=headers)
