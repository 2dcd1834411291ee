"""The tool for exports: where a deployment's rows can be had as a file. The rows themselves are not for a model."""

from typing import Annotated
from urllib.parse import urlencode

from pydantic import Field

from callwright.contract.declaration.model import Resource
from callwright.contract.deployments.exports import ExportDeployment, export_deployment
from callwright.tools.runtime.tool import READS, Reply, Tool, data_of, no_text
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import lines

_FIRST_ROWS = {"contacts": "report", "calls": "calls", "outcomes": "outcomes"}
"""The resources with the first rows; those that an import refused are a resource of the audience."""


class ExportedRows(Resource):
    """Where the rows can be had as a file."""

    media_type: str
    url: Annotated[str | None, Field(description="Fetch it over HTTP here, with the API key.")] = None
    resource: Annotated[str | None, Field(description="The first rows, for a model.")] = None


async def asked_of_service(context: ToolContext, asked: ExportDeployment) -> Reply:
    """Where the file is."""
    async with context.client.open(export_deployment, asked) as download:
        media_type = download.media_type  # nothing of it is read: this finds out whether there is such a thing
    query = urlencode({"of": asked.of, "format": asked.format, **_only(asked, "import_id")})
    base_url = context.session.base_url
    url = f"{base_url}/deployments/{asked.id}/export?{query}" if base_url else None
    name = _FIRST_ROWS.get(asked.of)
    resource = f"callwright://deployments/{asked.id}/{name}.csv" if name else None
    found = ExportedRows(media_type=media_type, url=url, resource=resource)
    text = lines(
        f"Fetch it over HTTP with the API key: {url}" if url else None,
        f"A person gets the file with the command: {command_for(asked)}",
        f"The first rows are in the resource {resource}." if resource else None,
    )
    return Reply(text=text, data=data_of(found))


def command_for(asked: ExportDeployment) -> str:
    """The command by which a person gets the file."""
    options = "".join(f" {name} {value}" for name, value in _only(asked, "--import-id").items())
    return f"callwright deployments export {asked.id} --of {asked.of}{options} --format {asked.format} --save FILE"


def _only(asked: ExportDeployment, name: str) -> dict[str, str]:
    """The import whose rejects are asked for, under this name."""
    return {} if asked.import_id is None else {name: asked.import_id}


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=export_deployment,
        toolset="people",
        title="Export a deployment",
        description=(
            "Where all contacts, calls, outcomes or refused rows of a deployment can be had as CSV or Parquet, for a "
            "spreadsheet; the rows do not pass through here. To look at them use list_contacts, list_calls. Free."
        ),
        hints=READS,
        reply=no_text,
        output_model=ExportedRows,
        handler=asked_of_service,
        hidden=frozenset({"masked"}),
        argument_descriptions={
            "of": "contacts: people; calls; outcomes: counts of calls; rejects: rows that imports refused.",
            "format": "csv, or parquet where the service has it.",
        },
    ),
)
