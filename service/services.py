"""The objects that the layers of the service share: database, clock, ids, recordings, a way to wake the workers."""

from collections.abc import Callable
from dataclasses import dataclass, field

from callwright.service.platform.clock.clock import Clock
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.listing import Cursors
from callwright.service.platform.ids import Ids
from callwright.service.platform.outgoing.posted import ReadyPoster
from callwright.service.platform.own_address import OwnAddress
from callwright.service.rules.plan_id import StartPlanSeal
from callwright.service.settings import ServiceSettings
from callwright.service.speech.recordings import Recordings
from callwright.service.tables.request_limits import RequestLimits


@dataclass
class Ending:
    """Whether this process ends: it lets the calls on its lines end, and takes no more."""

    is_begun: bool = False


@dataclass
class Terminal:
    """Shows something to who runs the process, and keeps it nowhere: the terminal of `callwright serve`."""

    show: Callable[[str], None] | None = None
    """Set by the program that has a terminal; None if no program does."""


@dataclass(frozen=True)
class Services:
    """The service's parts, made once by `app.running`."""

    settings: ServiceSettings
    database: Database
    clock: Clock
    ids: Ids
    cursors: Cursors
    start_plan_seal: StartPlanSeal
    recordings: Recordings
    limits: RequestLimits
    wake: Callable[[], None]
    """Tells the workers that something may be due."""
    own_address: OwnAddress
    routing_endpoints: ReadyPoster
    """What asks the routing webhooks of numbers while their callers wait."""
    ending: Ending = field(default_factory=Ending)
    terminal: Terminal = field(default_factory=Terminal)
    used_keys: dict[str, int] = field(default_factory=dict[str, int])
    """Keys used since the last sweep and when; bounded by the number of keys."""

    def record_key_use(self, key_id: str) -> None:
        """Remembers that a key was used now; the sweep stores it."""
        self.used_keys[key_id] = self.clock.now_ms()
