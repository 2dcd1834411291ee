"""`callwright doctor`: checks a service, or the data folder if no service is named, and prints the results."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace

from rich.console import Console

from callwright.client import Client
from callwright.client.compat.description import routes
from callwright.client.compat.network_place import Resolve, resolved
from callwright.client.transport import ApiKey, AsyncBaseTransport, Bounds, Transport, httpx
from callwright.server.commands.doctor import folder
from callwright.server.commands.doctor.checkup import CheckResult, Report, Section, Support, show
from callwright.server.commands.doctor.lines import line_checks
from callwright.server.commands.doctor.service import (
    LIMIT_S,
    clock_finding,
    key_finding,
    network,
    prefix_finding,
    probe_prefixes,
)
from callwright.server.commands.doctor.tools import document_findings, probed, spelling_finding, tool_support
from callwright.server.commands.output.json_text import print_json
from callwright.server.mcp.remote import document_of
from callwright.server.settings import ProgramSettings


async def run(settings: ProgramSettings, as_json: bool = False) -> int:
    """Prints the results. Returns 1 if a check found a fault, else 0."""
    report = await report_of(settings)
    if as_json:
        print_json({"healthy": report.healthy, **asdict(report)})
    else:
        show(report, Console(highlight=False))
    return 0 if report.healthy else 1


async def report_of(
    settings: ProgramSettings,
    *,
    transport: AsyncBaseTransport | None = None,
    resolve: Resolve = resolved,
    now: Callable[[], float] = time.time,
) -> Report:
    """Checks the service that the settings name, or the data folder if they name none."""
    if settings.base_url is None or settings.api_key is None:
        report = await folder.report_of(settings)
        checks = await line_checks(settings, transport=transport)
        return replace(report, sections=[*report.sections, Section(title="Real calls", findings=checks)])
    base = httpx.URL(settings.base_url)
    reached = [] if transport is not None else await network(base, resolve)
    sections = [Section(title="Connection", findings=reached)] if reached else []
    if any(finding.state == "bad" for finding in reached):
        return Report(about=settings.base_url, sections=sections)
    bounds = Bounds(connect_s=LIMIT_S / 2, read_s=LIMIT_S, total_s=LIMIT_S)
    service = Transport(settings.base_url, ApiKey(settings.api_key), transport=transport, bounds=bounds)
    try:
        found = await probe_prefixes(service)
    finally:
        await service.close()
    answered = list(found.values())
    clock = clock_finding(answered, now)
    findings = [prefix_finding(base, found), key_finding(answered, settings.api_key), *([clock] if clock else [])]
    tools: Mapping[str, Support] = {}
    if any(seen.kind == "list" for seen in answered):
        more, tools = await _offered(settings.base_url, settings.api_key, settings.openapi_url, transport)
        findings += more
    return Report(
        about=settings.base_url, sections=[*sections, Section(title="Service", findings=findings)], tools=tools
    )


async def _offered(
    base_url: str, api_key: str, openapi_url: str | None, transport: AsyncBaseTransport | None
) -> tuple[list[CheckResult], Mapping[str, Support]]:
    """The tools that work with the service, by its answers and by its OpenAPI document."""
    async with Client(base_url, api_key, transport=transport, timeout_s=LIMIT_S) as client:
        probe = await probed(client)
        document = await document_of(client, openapi_url)
        findings = [spelling_finding(client, probe), *document_findings(document, base_url)]
    base_path = httpx.URL(base_url).path.rstrip("/")
    return findings, tool_support(probe, None if document is None else routes(document, base_path=base_path))
