"""Tools that say why calls were allowed."""

from callwright.contract.calls import evidence as contract
from callwright.contract.calls.evidence import CallEvidence, CallEvidenceWithHistory, ContactDecision
from callwright.contract.checks.counts import count_of
from callwright.contract.checks.names import quoted
from callwright.tools.runtime.tool import READS, Tool
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import line, lines, listed, moment

_RULES_SHOWN = 12
_LONGEST_SAID = 60


def _entry(call: CallEvidence, context: ToolContext) -> str:
    if call.rules_version is None:
        return line(call.call_id, moment(call.created_at), "made before evidence was kept")
    rules = [rule.id if rule.verified else f"{rule.id} (unverified)" for rule in call.rules[:_RULES_SHOWN]]
    return line(
        call.call_id,
        context.number(call.to),
        f"{call.local_time} {call.time_zones[0] if call.time_zones else ''}".strip(),
        f"in {listed(call.regions[:5])}" if call.regions else "in no known region",
        f"allowed by {listed(rules)}" if rules else None,
        f"rules {call.rules_version}",
        _consent(call),
        f"{count_of(call.calls_in_24_hours or 0, 'call')} to the number in 24 hours before",
        "simulated" if call.simulated else None,
        _resolved(call),
    )


def _resolved(call: CallEvidence) -> str | None:
    """What a person said of a call of which nobody knew whether the telephone rang."""
    if call.resolved is None:
        return None
    rang = "rang" if call.resolved.placed else "did not ring"
    return f"{call.resolved.actor_id} said at {moment(call.resolved.resolved_at)} that it {rang}"


def _consent(call: CallEvidence) -> str | None:
    """On which consent the call was allowed; nothing where it needed none."""
    if call.consent_column:
        answer = f" says {quoted(call.consent_answer, most=_LONGEST_SAID)}" if call.consent_answer else ""
        said = f"consent in column {cleaned(call.consent_column)}{answer}"
    elif call.consent_basis == "attested":
        said = "consent attested"
    else:
        return None
    dated = f" since {quoted(call.consent_date, most=_LONGEST_SAID)}" if call.consent_date else ""
    kept = f", kept in {quoted(call.consent_reference, most=_LONGEST_SAID)}" if call.consent_reference else ""
    return f"{said}{dated}{kept}"


def _decision(one: ContactDecision) -> str:
    until = f"until {moment(one.until)}" if one.until else None
    return line(moment(one.decided_at), one.decision, f"by {one.rule}", until)


def _whole(call: CallEvidenceWithHistory, context: ToolContext) -> str:
    before = ["Before:", *(_decision(one) for one in call.history)] if call.history else []
    return lines(_entry(call, context), *before)


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.get_call_evidence,
        toolset="compliance",
        title="Why a call was allowed",
        description=(
            "Why one call was allowed: rules and their version, region, time zone, local time, consent, calls before, "
            "and what deferred it. Use it when somebody complains. Free."
        ),
        hints=READS,
        reply=_whole,
    ),
    Tool(
        operation=contract.list_evidence,
        toolset="compliance",
        title="Why calls were allowed",
        description="The same for all calls of a deployment, or of a day: created_from, created_before. Free.",
        hints=READS,
        reply=_entry,
        empty="No call fits.",
        default_fields=("call_id", "to", "local_time", "time_zones", "regions", "rules_version"),
        hidden=frozenset({"sort"}),
    ),
)
