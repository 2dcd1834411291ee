"""Remote services: what their OpenAPI document adds to the tools, and how tools are listed for them.

The document is read once a session, in the background after connecting, so that no start waits for it. Such a service
need not return everything in the contract, so definitions promise less about the form of answers.
"""

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from anyio import to_thread
from mcp.server.subscriptions import ToolsListChanged
from mcp.types import Tool as ProtocolTool

if TYPE_CHECKING:
    from callwright.client import Client
    from callwright.server.mcp.session import ServerSession
    from callwright.server.settings import ProgramSettings
    from callwright.tools.arguments.extras import Extras

log = logging.getLogger(__name__)

DOCUMENT_BYTES = 5_000_000
DOCUMENT_LIMIT_S = 5.0


def as_offered(tool: ProtocolTool, session: "ServerSession") -> ProtocolTool:
    """The tool for this session's service, with the arguments that only this service takes."""
    if not session.remote:
        return tool
    further = session.extras.get(tool.name, {})
    schema = tool.input_schema
    if further:
        properties = cast("Mapping[str, Any]", schema.get("properties", {}))
        schema = {**schema, "properties": {**properties, **further}}
    return tool.model_copy(update={"input_schema": schema, "output_schema": _promised(tool.output_schema)})


def _promised(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    """The names of an answer's fields without types, none of them required: clients validate answers against it."""
    if schema is None:
        return None
    names = cast("Mapping[str, Any]", schema.get("properties", {}))
    return {"type": "object", "properties": dict.fromkeys(names, True), "additionalProperties": True}


async def learn(client: "Client", settings: "ProgramSettings", session: "ServerSession") -> None:
    """Reads the service's document, if it has one, and announces that the tools have changed. Never raises."""
    try:
        document = await document_of(client, settings.openapi_url)
        if document is None:
            return
        base_path = urlsplit(settings.base_url or "").path.rstrip("/")
        spelt, extras = await to_thread.run_sync(_understood, document, base_path)
    except Exception:
        log.warning("the service's OpenAPI document was not understood", exc_info=True)
        return
    client.compat.learn_documented(spelt)
    if extras:
        session.extras = extras
        if session.announce is not None:
            await session.announce(session, ToolsListChanged())


async def document_of(client: "Client", chosen: str | None) -> dict[str, Any] | None:
    """The service's OpenAPI document: at the chosen URL, else at the origin or below the base URL."""
    from callwright.client.compat.external_address import json_type
    from callwright.client.errors import CallwrightError

    for url in (chosen,) if chosen else ("/openapi.json", "openapi.json"):
        try:
            async with client.open_address(
                url, accepts=json_type, limit_s=DOCUMENT_LIMIT_S, chosen_by_user=chosen is not None
            ) as found:
                document: Any = json.loads(await found.read(DOCUMENT_BYTES))
        except (CallwrightError, ValueError, RecursionError):
            continue
        if isinstance(document, dict) and "paths" in document:
            return cast("dict[str, Any]", document)
    return None


def _understood(document: dict[str, Any], base_path: str) -> tuple[dict[str, str], "Extras"]:
    """The spelling of the operations there, and the arguments that tools gain."""
    from callwright.client.compat.description import extra_properties, routes
    from callwright.tools.arguments.extras import described
    from callwright.tools.catalogue.registry import TOOLS

    spelt = routes(document, base_path=base_path)
    extras: dict[str, dict[str, dict[str, Any]]] = {}
    for tool in TOOLS:
        if not tool.many:
            own = set(tool.arguments.model_fields)
            found = extra_properties(document, tool.operation, base_path=base_path)
            if further := {name: described(schema) for name, schema in found.items() if name not in own}:
                extras[tool.name] = further
    return spelt, extras
