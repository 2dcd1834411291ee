"""The simulated telephone network: one call in, what became of it out. No clock, no waiting, nothing read or written."""

from callwright.service.engine.call_engine import CallRequest, CallResult
from callwright.service.engine.simulated.reachability import DEFAULT_PROFILE, ReachabilityProfile


def simulate(request: CallRequest, profile: ReachabilityProfile = DEFAULT_PROFILE) -> CallResult:
    """What becomes of the call. The same seed, number, attempt, agent and variables give the same result, always."""
    raise NotImplementedError
