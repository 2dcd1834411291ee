"""The Twilio account that makes calls, and the addresses of this service that Twilio is given."""

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

from callwright.service.settings import LineSettings

API_BASE = "https://api.twilio.com"
PATH = "/lines/twilio/"
"""What Twilio asks of this service is below this path."""
INCOMING = "incoming"
"""Who answers a call that comes in is asked there, after `PATH`: the address that the numbers of the account have."""
PERSON = "person/"
"""What is asked about the call to a person who is to take another one over is below this, after `PATH`."""
PersonRoute = Literal["answer", "key", "again", "taken", "missed", "status", "dialled"]
MEDIA_PATH = f"{PATH}media/"


@dataclass(frozen=True)
class TwilioAccount:
    """An account, and where Twilio reaches this service: at `public_url` any process, at `lines_url` the one that has a
    call."""

    sid: str
    auth_token: str = field(repr=False)
    public_url: str
    lines_url: str
    api_base: str = API_BASE

    @property
    def incoming_url(self) -> str:
        """What to do is asked there when somebody calls a number of the account."""
        return f"{self.public_url}{PATH}{INCOMING}"

    def answer_url(self, call_id: str, token: str) -> str:
        """What to do is asked there when somebody answers."""
        return self._address("answer", call_id, token)

    def status_url(self, call_id: str, token: str) -> str:
        """How the call stands is told there."""
        return self._address("status", call_id, token)

    def machine_url(self, call_id: str, token: str) -> str:
        """Who answered is told there."""
        return self._address("amd", call_id, token)

    def person_url(self, what: PersonRoute, call_id: str, token: str) -> str:
        """What the call to a person asks and tells who is to take over the call with this id."""
        return self._address(f"{PERSON}{what}", call_id, token)

    def _address(self, what: str, call_id: str, token: str) -> str:
        return f"{self.public_url}{PATH}{what}?{urlencode({'call': call_id, 't': token})}"


def account_of(lines: LineSettings, public_url: str | None) -> TwilioAccount | None:
    """The account of a process; None if it has none, or no address at which Twilio reaches it."""
    if lines.twilio_account_sid is None or lines.twilio_auth_token is None or public_url is None:
        return None
    return TwilioAccount(
        lines.twilio_account_sid,
        lines.twilio_auth_token,
        public_url,
        lines.lines_url or public_url,
        lines.twilio_api_base or API_BASE,
    )


def media_url(host_url: str, call_id: str, token: str) -> str:
    """The websocket of a call's sound, at the host that has the call."""
    scheme, _, rest = host_url.partition("://")
    return f"{'ws' if scheme == 'http' else 'wss'}://{rest}{MEDIA_PATH}{call_id}/{token}"
