"""Where a file is uploaded that is too large for the body of a request."""

from typing import Annotated

from pydantic import Field

from callwright.contract.declaration.field_types import Timestamp
from callwright.contract.declaration.marks import OwnScript

UploadUrl = Annotated[
    OwnScript,
    Field(
        description=(
            "Where the file goes, with PUT: as a whole, or in parts, each with Content-Range. Whoever has the address "
            "can send. Only in this answer, and null where the file came in the request."
        )
    ),
]
UploadEnd = Annotated[
    Timestamp,
    Field(
        description=(
            "How long an uploaded file is waited for: 15 minutes, after each byte an hour, 3 hours in all. Then the "
            "import fails. DELETE at `upload_url` ends it at once."
        )
    ),
]
