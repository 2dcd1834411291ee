"""Tools for questions over many calls: what was said where, and how many calls were how."""

from callwright.contract import transcripts as contract
from callwright.contract.transcripts import CallGroup, CallStats, TranscriptMatch

from .text import clock_time, line, lines, moment
from .tool import READS, Tool, one_a_line
from .transcripts import WHAT
from .untrusted import fenced
from .use import Use


def _match(match: TranscriptMatch, use: Use) -> str:
    said = [f"[{turn.turn_index}] {clock_time(turn.start_seconds)} {turn.role}: {turn.text}" for turn in match.snippets]
    left = match.match_count - len(said)
    return lines(
        line(
            match.call_id,
            moment(match.created_at),
            match.outcome,
            match.disposition,
            f"{match.match_count} of {match.turn_count} turns",
            "simulated" if match.simulated else None,
        ),
        fenced(said, tag=use.session.ids(), what=WHAT) if said else None,
        f"{left} more turns match: get_transcript reads them." if said and left > 0 else None,
    )


def _group(group: CallGroup, currency: str) -> str:
    lasted, cost = group.duration_seconds, group.cost
    return line(
        ", ".join(f"{name} {value}" for name, value in group.key.items()) or "none",
        f"{group.calls} calls",
        f"{group.share:.1%}",
        f"{group.answered} answered",
        f"length {clock_time(lasted.p50)} median, {clock_time(lasted.p90)} upper tenth" if lasted else None,
        f"cost {cost.total:.2f} {currency}" if cost else None,
    )


def _stats(stats: CallStats, _: Use) -> str:
    return lines(
        f"{stats.calls} calls, {stats.answered} answered",
        *(_group(group, stats.currency) for group in stats.groups),
        f"{stats.groups_left_out} more groups: narrow the filters." if stats.groups_left_out else None,
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.search_transcripts,
        toolset="calls",
        title="Search transcripts",
        description=(
            "Words or phrases in what was said, over many calls at once: the calls in which they stand, newest "
            "first, with the turns. Use it to answer questions such as who objected to the price; put a phrase in "
            "double quotes, narrow with deployment_id, outcome or speaker. All words must occur in one call. To read "
            "one call whole use get_transcript; to count calls use get_call_stats. Free, changes nothing. Cite call "
            "and turn."
        ),
        hints=READS,
        reply=one_a_line(_match, empty="Nobody said that in these calls."),
        untrusted=("data.snippets.text",),
    ),
    Tool(
        operation=contract.get_call_stats,
        toolset="calls",
        title="Count calls",
        description=(
            "Counts calls by outcome, disposition, agent, deployment, hour, day, language or who answered, with "
            "lengths and cost. Use it for numbers over a campaign instead of listing its calls; filter as in "
            "list_calls. For the counters of a running campaign use get_deployment. Free, changes nothing. Hours and "
            "days are UTC."
        ),
        hints=READS,
        reply=_stats,
    ),
)
