"""The result of a call that was ended before its time: by a request, or because no money is left for it."""

from dataclasses import replace

from callwright.service.rules.prices.transfer_prices import legs_until
from callwright.service.telephony.engine import CallResult, EarlyEnd
from callwright.service.telephony.transfers import CallTransfer


def cut_short(result: CallResult, after_s: float, end: EarlyEnd | None = None) -> CallResult:
    """The result of a call that was ended `after_s` after dialling began, by request unless `end` says otherwise."""
    if after_s >= result.ended_s:
        return result
    end = end or EarlyEnd()
    answered = result.answered_s is not None and result.answered_s <= after_s
    spoken_s = after_s - result.answered_s if answered and result.answered_s is not None else 0.0
    turns = [turn for turn in result.turns if turn.start_s < spoken_s]
    if turns and turns[-1].end_s > spoken_s:
        turns[-1] = replace(turns[-1], end_s=round(spoken_s, 3), interrupted=True)
    transfer = _as_of(result.transfer, spoken_s) if answered else None
    taken_over = transfer is not None and transfer.is_bridged
    return replace(
        result,
        outcome="transferred" if taken_over else "answered" if answered else "cancelled",
        disposition=result.disposition if taken_over else "incomplete" if answered else None,
        hangup_cause=end.cause if answered else "originator_cancel",
        ended_by=end.ended_by,
        answered_by=result.answered_by if answered else None,
        initiated_s=min(result.initiated_s, after_s),
        ringing_s=result.ringing_s if result.ringing_s is not None and result.ringing_s <= after_s else None,
        answered_s=result.answered_s if answered else None,
        ended_s=after_s,
        turns=turns if answered else (),
        unanswered_questions=(),
        callback_after_s=None,
        callback_said=None,
        transfer=transfer,
        transfer_legs=legs_until(result.transfer_legs, spoken_s) if answered else (),
    )


def _as_of(transfer: CallTransfer | None, spoken_s: float) -> CallTransfer | None:
    """A transfer as it was when the call ended. One that was under way has failed then."""
    if transfer is None or transfer.started_s > spoken_s:
        return None
    if transfer.at_s <= spoken_s:
        return transfer
    return replace(transfer, status="failed", cause="hung_up", at_s=round(spoken_s, 3))
