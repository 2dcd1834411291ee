"""How many people a scheduled campaign calls once it is changed, for the sentence that a person agrees to."""

from collections.abc import Mapping
from typing import Any, cast

from mcp.server.mcpserver.exceptions import ToolError

from callwright.client.errors import Conflict, RuleRejected
from callwright.contract.audiences import GetAudience, get_audience
from callwright.contract.checks.counts import count_of
from callwright.contract.checks.names import named
from callwright.contract.deployments.deployments import (
    UpdateDeployment,
    preview_deployment,
)
from callwright.contract.deployments.previews import PreviewDeployment
from callwright.tools.references.looked_up import looked_up
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.cleaning import cleaned

_NO_CONSENT = "no_consent"


async def people_called(
    context: ToolContext, deployment: Mapping[str, Any], asked: UpdateDeployment, audience: Mapping[str, Any] | None
) -> tuple[str | None, int | None]:
    """The people as text and as a count; None for both where the service does not state how many there are.

    `audience` is a new one in the change. For another audience or consent column, no service counts the people who may
    be called before the change is made: then the text says "at most".
    """
    before, now = _consent_columns(deployment, asked)
    attested, attests = _attested(deployment, asked)
    most, others = now is not None or attests, (now, attests) != (before, attested)
    if audience is None:
        found = await _preview(context, asked.id)
        count, most = found.get("eligible"), most and others
        if isinstance(count, int) and others:
            count += _without_consent(found)
        elif not isinstance(count, int):
            whose = GetAudience(id=str(deployment.get("audience_id")))
            count, most = (await looked_up(context, get_audience, whose)).get("valid_count"), True
    else:
        count = audience.get("valid_count")
    if not isinstance(count, int):
        return None, None
    return f"{'at most ' if most else ''}{count_of(count, 'person', 'people')}", count


def refuse_while_importing(audience: Mapping[str, Any]) -> None:
    """Refuses a change whose people are not counted yet.

    Raises:
        ToolError: an import into the audience has not ended.
    """
    waiting: Any = audience.get("open_imports")
    if waiting:
        raise ToolError(
            f"audience_id: import {cleaned(str(waiting[0]))} has not ended: it is not known yet how many people there "
            "will be. Nobody was asked and nothing was changed. Call again once get_audience shows no open_imports."
        )


def consent_no_longer_asked(deployment: Mapping[str, Any], asked: UpdateDeployment) -> str | None:
    """A sentence if a change removes the consent column, so that people without consent are called too."""
    before, now = _consent_columns(deployment, asked)
    if before is None or now is not None:
        return None
    return f"People without a yes in the column {named(before)} are then called too."


def _consent_columns(deployment: Mapping[str, Any], asked: UpdateDeployment) -> tuple[str | None, str | None]:
    """The column that says who agreed to be called, before the change and after it."""
    before = _compliance(deployment).get("consent_column")
    column = str(before) if before else None
    return column, asked.compliance.consent_column if asked.compliance is not None else column


def _attested(deployment: Mapping[str, Any], asked: UpdateDeployment) -> tuple[bool, bool]:
    """Whether consent is attested, before the change and after it; then whose row says no is left out all the same."""
    before = _compliance(deployment).get("consent_attested") is True
    return before, before if asked.compliance is None else asked.compliance.consent_attested


def _compliance(deployment: Mapping[str, Any]) -> dict[str, Any]:
    shown: Any = deployment.get("compliance")
    return cast("dict[str, Any]", shown) if isinstance(shown, dict) else {}


async def _preview(context: ToolContext, campaign: str) -> dict[str, Any]:
    """The preview of the campaign as it is; empty where a service gives none for a scheduled campaign."""
    try:
        return await looked_up(context, preview_deployment, PreviewDeployment(id=campaign))
    except (Conflict, RuleRejected):
        return {}


def _without_consent(preview: Mapping[str, Any]) -> int:
    groups: Any = preview.get("blocked")
    found: list[Any] = cast("list[Any]", groups) if isinstance(groups, list) else []
    known = [cast("dict[str, Any]", group) for group in found if isinstance(group, dict)]
    counts: list[Any] = [group.get("count") for group in known if group.get("reason") == _NO_CONSENT]
    return sum(count for count in counts if isinstance(count, int))
