"""Opt-outs that an engine's own disposition misses: what the contact said and pressed on a call decides."""

from dataclasses import replace

from callwright.service.rules.opt_out_words import is_opt_out, is_opt_out_key
from callwright.service.telephony.engine import CallResult

_MACHINES = ("machine_end_beep", "machine_end_silence")


def heard(result: CallResult) -> CallResult:
    """The result with the disposition `do_not_call` if the contact asked, by words or key, not to be called again.

    What a mailbox says is no wish of a person.
    """
    if result.disposition == "do_not_call" or result.answered_by in _MACHINES:
        return result
    asks = is_opt_out_key(result.keys) or any(
        turn.speaker == "contact" and is_opt_out(turn.text, turn.language) for turn in result.turns
    )
    return replace(result, disposition="do_not_call", callback_after_s=None) if asks else result
