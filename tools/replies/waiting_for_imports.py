"""import_audience: imports the text of a file and waits some seconds for its end."""

from typing import Annotated

from pydantic import Field

from callwright.client.errors import CallwrightError
from callwright.contract.audiences import AudienceImport, GetAudienceImport, get_audience_import
from callwright.tools.arguments.csv_to_import import CsvToImport
from callwright.tools.runtime.tool_context import ToolContext

OPEN = ("uploading", "pending", "importing")
"""States of an import that goes on."""

_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 1.0
_GROWTH = 1.5


class CsvToImportWaiting(CsvToImport):
    """The text of a CSV file to import, and how long to wait for the end."""

    wait_seconds: Annotated[int, Field(ge=0, le=45, description="With csv: how long to wait for its end.")] = 5


async def ended(context: ToolContext, begun: AudienceImport, wait_seconds: float) -> AudienceImport:
    """The import once it has ended, or as it is when the time is up or it cannot be read."""
    clock = context.session.clock
    deadline, pause = clock.monotonic() + wait_seconds, _FIRST_PAUSE_S
    question = GetAudienceImport(id=begun.audience_id, import_id=begun.id)
    while begun.status in OPEN and (left := deadline - clock.monotonic()) > 0:
        await clock.sleep(min(pause, left))
        pause = min(pause * _GROWTH, _LONGEST_PAUSE_S)
        try:
            begun = await context.client.ask(get_audience_import, question)
        except CallwrightError:  # as an error it would be sent again, though it is on its way
            break
    return begun
