"""The settings of lines: how many calls a process carries, the SIP trunk, and the Twilio account."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from callwright.server.setting import BadSetting, Given, Setting

MOST_LINES = 1_000
LONGEST_DRAIN_S = 7_200.0

LINE_SETTINGS: tuple[Setting, ...] = (
    Setting(
        "CALLWRIGHT_LINES",
        "16",
        "How many real calls this process carries at once, in the browser and over SIP; 0 leaves them to others. Needs "
        "the extra live, for SIP sip: pip install '.[sip]' in the clone of Callwright.",
    ),
    Setting(
        "CALLWRIGHT_DRAIN_S",
        "660",
        "How long calls under way may go on after the process was told to stop, in seconds; then they are hung up.",
    ),
    Setting(
        "CALLWRIGHT_SIP_TRUNK",
        "none",
        "The SIP trunk that makes real calls: sip:trunk.example.com;transport=tls (or tcp, udp).",
    ),
    Setting("CALLWRIGHT_SIP_USER", "none", "The user at the SIP trunk, where it asks for one."),
    Setting("CALLWRIGHT_SIP_PASSWORD", "none", "The password of that user."),
    Setting("CALLWRIGHT_SIP_REGISTER", "false", "true registers at the SIP trunk, as telephones do."),
    Setting(
        "CALLWRIGHT_SIP_INBOUND",
        "none",
        "How callers come in from the SIP trunk: register, or the address and port at which the trunk brings them: "
        "0.0.0.0:5060. Without it nobody is answered over SIP.",
    ),
    Setting(
        "CALLWRIGHT_SIP_INBOUND_FROM",
        "the trunk's",
        "The networks that the trunk's callers come from, with commas, such as 203.0.113.0/24. Callers from elsewhere "
        "get the busy tone.",
    ),
    Setting(
        "CALLWRIGHT_SIP_NUMBERS",
        "none",
        "The numbers in E.164, with commas, that are owned at the SIP trunk: only these can be taken in and called "
        "from. Where several organizations share the service, +12025550142=acme is for the one of this name or id.",
    ),
    Setting(
        "CALLWRIGHT_TWILIO_ACCOUNT_SID",
        "none",
        "The Twilio account that makes real calls; it begins with AC. Needs its auth token, and CALLWRIGHT_PUBLIC_URL, "
        "where Twilio asks what to do and brings the sound.",
    ),
    Setting("CALLWRIGHT_TWILIO_AUTH_TOKEN", "none", "The auth token of the Twilio account."),
    Setting(
        "CALLWRIGHT_TWILIO_API_BASE",
        "Twilio's own",
        "Where Twilio's API is: https://api.dublin.ie1.twilio.com for a region, or an imitation on this machine.",
    ),
    Setting(
        "CALLWRIGHT_LINES_URL",
        "CALLWRIGHT_PUBLIC_URL",
        "Where Twilio reaches the sound of the calls of this one process, if several processes carry calls: "
        "https://lines-1.example.com.",
    ),
)
_ACCOUNT_SID = re.compile(r"AC[0-9a-f]{32}")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(?:/[A-Za-z0-9._~/-]*)?")
_HERE = ("http://localhost", "http://127.0.0.1", "http://[::1]")


@dataclass(frozen=True, kw_only=True)
class LineTexts:
    """The settings of lines. What the trunk needs is checked where it is built."""

    count: int = 16
    drain_s: float = 660.0
    sip_trunk: str | None = None
    sip_user: str | None = None
    sip_password: str | None = field(default=None, repr=False)
    sip_registers: bool = False
    sip_inbound: str | None = None
    sip_inbound_from: tuple[str, ...] = ()
    sip_numbers: tuple[str, ...] = ()
    sip_number_owners: Mapping[str, str] = field(default_factory=dict[str, str])
    twilio_account_sid: str | None = None
    twilio_auth_token: str | None = field(default=None, repr=False)
    twilio_api_base: str | None = None
    lines_url: str | None = None


def read_line_settings(given: Given, *, registers: bool, public_url: str | None) -> LineTexts:
    """The settings of lines. Raises `BadSetting`."""
    owners: dict[str, str] = {}
    for word in filter(None, (word.strip() for word in (given("CALLWRIGHT_SIP_NUMBERS") or "").split(","))):
        number, equals, owner = (part.strip() for part in word.partition("="))
        if equals and not owner:
            raise BadSetting(f"CALLWRIGHT_SIP_NUMBERS: {number[:40]}= names no organization")
        owners[number] = owner
    numbers = tuple(owners)
    if wrong := next((one for one in numbers if not (one.startswith("+") and one[1:].isdigit())), None):
        raise BadSetting(
            f"CALLWRIGHT_SIP_NUMBERS must be numbers such as +12025550142, with commas; {wrong[:40]} is none"
        )
    trunk = given("CALLWRIGHT_SIP_TRUNK")
    if numbers and trunk is None:
        raise BadSetting("CALLWRIGHT_SIP_NUMBERS needs CALLWRIGHT_SIP_TRUNK, where the numbers are")
    inbound, inbound_from = given("CALLWRIGHT_SIP_INBOUND"), given("CALLWRIGHT_SIP_INBOUND_FROM")
    if inbound is not None and not numbers:
        raise BadSetting("CALLWRIGHT_SIP_INBOUND needs CALLWRIGHT_SIP_NUMBERS, the numbers that are called")
    if inbound_from is not None and inbound is None:
        raise BadSetting("CALLWRIGHT_SIP_INBOUND_FROM needs CALLWRIGHT_SIP_INBOUND, which lets callers in")
    return LineTexts(
        count=round(_number(given, "CALLWRIGHT_LINES", 16, MOST_LINES)),
        drain_s=_number(given, "CALLWRIGHT_DRAIN_S", 660.0, LONGEST_DRAIN_S),
        sip_trunk=trunk,
        sip_user=given("CALLWRIGHT_SIP_USER"),
        sip_password=given("CALLWRIGHT_SIP_PASSWORD"),
        sip_registers=registers,
        sip_inbound=inbound,
        sip_inbound_from=tuple(filter(None, (one.strip() for one in (inbound_from or "").split(",")))),
        sip_numbers=numbers,
        sip_number_owners={number: owner for number, owner in owners.items() if owner},
        **_twilio(given, public_url),
    )


def _twilio(given: Given, public_url: str | None) -> dict[str, str | None]:
    """The settings of the Twilio account. Raises `BadSetting`."""
    sid, token = given("CALLWRIGHT_TWILIO_ACCOUNT_SID"), given("CALLWRIGHT_TWILIO_AUTH_TOKEN")
    api_base, lines_url = given("CALLWRIGHT_TWILIO_API_BASE"), given("CALLWRIGHT_LINES_URL")
    if sid is None:
        for name, value in (
            ("CALLWRIGHT_TWILIO_AUTH_TOKEN", token),
            ("CALLWRIGHT_TWILIO_API_BASE", api_base),
            ("CALLWRIGHT_LINES_URL", lines_url),
        ):
            if value is not None:
                raise BadSetting(f"{name} needs CALLWRIGHT_TWILIO_ACCOUNT_SID, the account that it is for")
        return {}
    if not _ACCOUNT_SID.fullmatch(sid):
        raise BadSetting(
            "CALLWRIGHT_TWILIO_ACCOUNT_SID must be AC and 32 characters of 0-9 and a-f, as the console shows"
        )
    if token is None:
        raise BadSetting("CALLWRIGHT_TWILIO_ACCOUNT_SID needs CALLWRIGHT_TWILIO_AUTH_TOKEN, from the same page")
    if public_url is None:
        raise BadSetting(
            "CALLWRIGHT_TWILIO_ACCOUNT_SID needs CALLWRIGHT_PUBLIC_URL: Twilio asks there what to do when somebody "
            "answers; docs/twilio.md says how to get one"
        )
    is_imitated = api_base is not None and api_base.startswith(_HERE)
    for name, value in (
        ("CALLWRIGHT_TWILIO_API_BASE", api_base),
        ("CALLWRIGHT_PUBLIC_URL", public_url),
        ("CALLWRIGHT_LINES_URL", lines_url),
    ):
        if value is not None and not _ADDRESS.fullmatch(value):
            raise BadSetting(f"{name} must be an address such as https://voice.example.com")
        if value is not None and not is_imitated and not value.startswith("https://"):
            raise BadSetting(f"{name} must begin with https:// for calls through Twilio")
    return {
        "twilio_account_sid": sid,
        "twilio_auth_token": token,
        "twilio_api_base": api_base and api_base.rstrip("/"),
        "lines_url": lines_url and lines_url.rstrip("/"),
    }


def _number(given: Given, name: str, default: float, most: float) -> float:
    text = given(name)
    if text is None:
        return default
    if not text.isdigit() or float(text) > most:
        raise BadSetting(f"{name} must be a whole number from 0 to {most:,.0f}")
    return float(text)
