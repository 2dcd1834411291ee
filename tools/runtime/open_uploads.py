"""Uploads that a call has begun and not ended, so that a later call with the same file goes on with them."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a session is made at the start, which does not wait for the contract
    from callwright.contract.audiences import AudienceImport

MOST_OPEN = 16


@dataclass(frozen=True)
class OpenUpload:
    """An import that waits for its file, the address to which that goes, and until when."""

    begun: "AudienceImport"
    url: str
    expires_at: datetime


class OpenUploads:
    """The uploads of a session, by audience and content. Of more than 16 the oldest are forgotten: they begin anew."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, str], OpenUpload] = OrderedDict()
        self._looked_at: OrderedDict[tuple[str, str], int] = OrderedDict()

    def find(self, audience_id: str, digest: str, *, now_s: float) -> OpenUpload | None:
        """The upload of this content into this audience, if it can go on."""
        found = self._open.get((audience_id, digest))
        return found if found is not None and now_s < found.expires_at.timestamp() else None

    def keep(self, digest: str, upload: OpenUpload) -> None:
        """Remembers an upload that has begun."""
        self._open[upload.begun.audience_id, digest] = upload
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)

    def latest(self, digest: str, upload: OpenUpload) -> OpenUpload:
        """The upload as it was kept last."""
        return self._open.get((upload.begun.audience_id, digest), upload)

    def wait_until(self, digest: str, upload: OpenUpload, expires_at: datetime) -> None:
        """Remembers until when the service waits now, since more has arrived."""
        self.keep(digest, replace(upload, expires_at=expires_at))

    def rows_looked_at(self, audience_id: str, digest: str) -> int:
        """How many rows of this content were looked at before, for this audience."""
        return self._looked_at.get((audience_id, digest), 0)

    def look_at(self, audience_id: str, digest: str, rows: int) -> None:
        """Remembers how many rows were looked at."""
        self._looked_at[audience_id, digest] = rows
        if len(self._looked_at) > MOST_OPEN:
            self._looked_at.popitem(last=False)

    def end(self, digest: str, upload: OpenUpload) -> None:
        """Forgets an upload that is complete, or cannot go on."""
        self._open.pop((upload.begun.audience_id, digest), None)
