"""Twilio as a line host sees it whose calls have no sound. Nothing is imported that makes the start of a host slow."""

import sys
from collections.abc import Sequence
from pathlib import Path

from callwright.service.platform.clock.clock import SystemClock
from callwright.service.platform.database.database import Database
from callwright.service.telephony.carriers.media_calls import always
from callwright.service.telephony.carriers.twilio.account import TwilioAccount
from callwright.service.telephony.carriers.twilio.api import TwilioApi
from callwright.service.telephony.carriers.twilio.carrier import TwilioCarrier
from callwright.service.telephony.carriers.twilio.following import FollowTimes
from callwright.service.telephony.carriers.twilio.media_places import MediaPlaces
from callwright.service.telephony.carriers.twilio.reports import TwilioReports
from callwright.service.telephony.lines.media_processes import MediaProcesses
from callwright.service.telephony.media.messages import SpeechServices
from tests.lost_answers import waiting_media
from tests.support.twilio.account import SID, TOKEN

ANSWER_S = 0.7
TIMES = FollowTimes(asks_s=0.5, opens_s=0.5, begins_s=2.0, overdue_s=0.5, gives_up_s=2.0, ends_s=0.2, kept_s=5.0)


def carrier_of(database: Database, media: MediaProcesses, carrier_url: str, public_url: str) -> TwilioCarrier:
    """The carrier."""
    account = TwilioAccount(SID, TOKEN, public_url, public_url, carrier_url)
    return TwilioCarrier(
        "imitation",
        media,
        always(SpeechServices()),
        TwilioApi(account, limit_s=ANSWER_S),
        MediaPlaces(),
        TwilioReports(database, SystemClock()),
        times=TIMES,
    )


def media_command() -> Sequence[str]:
    """The command of a media process that only waits."""
    return (sys.executable, str(Path(waiting_media.__file__)))
