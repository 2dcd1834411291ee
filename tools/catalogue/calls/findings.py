"""Tools for many calls at once: searching transcripts, and counting calls by group."""

from callwright.contract.calls import transcripts as contract
from callwright.contract.calls.transcripts import CallGroup, CallStats, MoneyAverage, TranscriptMatch
from callwright.contract.checks.counts import count_of
from callwright.tools.media.transcripts import WHAT
from callwright.tools.runtime.tool import READS, Tool
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import amount, clock_time, line, lines, moment, named_id, percent


def _match(match: TranscriptMatch, context: ToolContext) -> str:
    said = [f"[{turn.turn_index}] {clock_time(turn.start_seconds)} {turn.role}: {turn.text}" for turn in match.snippets]
    left = match.match_count - len(said)
    return lines(
        line(
            match.call_id,
            moment(match.created_at),
            match.contact_name,
            named_id(match.external_id),
            match.outcome,
            match.disposition,
            f"{match.match_count} of {count_of(match.turn_count, 'turn')}",
            "simulated" if match.simulated else None,
        ),
        *said,
        context.hint(f"{count_of(left, 'more turn matches', 'more turns match')}; get_transcript reads them.")
        if said and left > 0
        else None,
    )


def _goals(counted: CallGroup | CallStats) -> str | None:
    if not counted.goal_met:
        return None
    return f"{counted.goal_met} goal met ({percent(counted.goal_met, counted.answered)} of answered)"


def _group(group: CallGroup, stats: CallStats) -> str:
    lasted, cost = group.duration_seconds, group.cost
    return line(
        ", ".join(
            f'"{group.names[name]}"' if name in group.names else f"{name} {value}" for name, value in group.key.items()
        )
        or "none",
        count_of(group.calls, "call"),
        percent(group.calls, stats.calls),
        f"{group.answered} answered",
        _goals(group),
        f"{group.hang_ups} hung up early" if group.hang_ups else None,
        f"{lasted.mean:.1f} s on average, median {lasted.p50:.0f}, p90 {lasted.p90:.0f}" if lasted else None,
        _cost(cost, group.answered_cost),
    )


def _cost(cost: MoneyAverage | None, answered: MoneyAverage | None) -> str | None:
    """What calls cost, and the answered ones of them; others may cost too, such as those a machine answered."""
    if cost is None:
        return None
    theirs = f", the answered ones {amount(answered.total)}, {amount(answered.mean)} each" if answered else ""
    return f"cost {amount(cost.total)}{theirs}"


def _stats(stats: CallStats, _: ToolContext) -> str:
    return lines(
        line(
            f"{count_of(stats.calls, 'call')}, {stats.answered} answered, {stats.hang_ups} hung up early by the person",
            _goals(stats),
            f"{stats.duration_seconds.total / 60:.1f} min, {stats.duration_seconds.mean:.1f} s on average"
            if stats.duration_seconds
            else None,
            _cost(stats.cost, stats.answered_cost),
        ),
        *(_group(group, stats) for group in stats.groups),
        f"{count_of(stats.groups_left_out, 'more group')}: narrow the filters." if stats.groups_left_out else None,
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.search_transcripts,
        toolset="calls",
        title="Search transcripts",
        description=(
            "Calls in which all the words or phrases were said, newest first, with the turns. Try several "
            "wordings. To read many calls use read_conversations, one call get_transcript. To count use "
            "get_call_stats. Free."
        ),
        hints=READS,
        reply=_match,
        fenced_as=WHAT,
        empty="Nobody said that in these calls.",
        default_fields=(
            *("call_id", "contact_name", "external_id", "deployment_id", "outcome", "disposition"),
            *("created_at", "match_count", "snippets"),
        ),
        hidden=frozenset(
            {
                "sort",
                "call_type",
                "status",
                "answered_by",
                "contact_id",
                "audience_id",
                "to",
                "language",
                "outcome",
                "fields",
            }
        ),
        argument_descriptions={
            "agent_version": "With agent_id.",
            "query": 'Words that must all occur, a phrase in quotes: "too expensive" price.',
            "snippets": "Turns shown of each call.",
            "disposition": "One of these.",
        },
    ),
    Tool(
        operation=contract.get_call_stats,
        toolset="calls",
        title="Count calls",
        description=(
            "Counts calls in groups, by campaign by default: answered, hang-ups, lengths, cost. Use it instead of "
            "listing calls. A campaign's counters: get_deployment. Free. hour is UTC."
        ),
        hints=READS,
        reply=_stats,
        hidden=frozenset(
            {
                *("call_type", "status", "to", "contact_id", "audience_id", "answered_by", "outcome", "disposition"),
                "language",
            }
        ),
        omitted_fields=frozenset(
            {"answered_cost", "hang_ups", "goal_met", "goal_met_share", "groups_left_out", "currency"}
        ),
        argument_descriptions={
            "agent_version": "With agent_id.",
            "group_by": 'Up to three: ["outcome", "day"].',
        },
        truncation_hint="The largest groups come first. Narrow the filters to see the others.",
    ),
)
