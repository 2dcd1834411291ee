"""Which engine makes a deployment's calls: the one for the provider of its numbers.

A further engine is a folder beside `simulated`, and one line here.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from callwright.service.telephony.engine import CallEngine, EngineParts
from callwright.service.telephony.legs.line_engine import LineEngine
from callwright.service.telephony.simulated.engine import SimulatedEngine

EngineFactory = Callable[[EngineParts], CallEngine]
BROWSER, SIP, SIMULATED, TWILIO = "browser", "sip", "simulated", "twilio"
ENGINES: Mapping[str, EngineFactory] = {
    SIMULATED: SimulatedEngine,
    SIP: partial(LineEngine, carrier=SIP),
    TWILIO: partial(LineEngine, carrier=TWILIO, tells_charges=True),
    BROWSER: partial(LineEngine, carrier=BROWSER),
}
"""Engines by the provider of the numbers they call from (`phone_numbers.provider`); that of talks in the browser, which
have no number, is `browser`."""


class NoEngine(Exception):
    """Nothing here can call from the numbers; the text says why, without the numbers."""


def factory_of(providers: Sequence[str], engines: Mapping[str, EngineFactory] = ENGINES) -> EngineFactory:
    """The factory of a deployment's engine, by the providers of its numbers.

    Raises:
        NoEngine: it has no number, numbers of several providers, or a provider without an engine here.
    """
    if len(providers) != 1:
        raise NoEngine(f"the numbers must have one provider, not {', '.join(providers) or 'none'}")
    if providers[0] not in engines:
        raise NoEngine(f"no engine here calls from numbers of {providers[0]}")
    return engines[providers[0]]
