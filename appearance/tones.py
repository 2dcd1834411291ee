"""How states, outcomes and dispositions are coloured, wherever one is shown."""

import json
from collections.abc import Mapping

TONES: Mapping[str, str] = {
    **dict.fromkeys(("active", "answered", "transferred", "goal_met", "interested", "ready", "completed"), "good"),
    **dict.fromkeys(("succeeded", "approved", "good", "current"), "good"),
    **dict.fromkeys(("scheduled", "in_progress", "ringing", "importing", "pending", "open"), "accent"),
    **dict.fromkeys(("paused", "callback_requested", "resting", "past_due", "draft", "no_answer", "busy"), "warm"),
    **dict.fromkeys(("failed", "invalid_number", "disabled", "do_not_call", "rejected", "missed", "suspended"), "bad"),
}
"""One that is not named is grey."""


def tones_script() -> str:
    """The same for scripts: a constant `TONES`."""
    return f"const TONES = {json.dumps(TONES)};\n"
