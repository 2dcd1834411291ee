"""Whether a process can carry calls, and if not, what to install or set."""

from importlib.util import find_spec

from callwright.contract.checks.extras import installing

NOT_INSTALLED = f"speech and media are not installed in the service: {installing('live')}"
NO_LINES = "this process has no lines: set CALLWRIGHT_LINES to the number of calls that it may carry at once"


def why_no_lines(lines: int) -> str | None:
    """Why a process with so many lines carries no calls; None if it does."""
    if find_spec("pipecat") is None:
        return NOT_INSTALLED
    return None if lines > 0 else NO_LINES
