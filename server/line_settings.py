"""The settings of lines: how many calls a process carries, and the SIP trunk."""

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
        "CALLWRIGHT_SIP_NUMBERS",
        "none",
        "The numbers in E.164, with commas, that are owned at the SIP trunk: only these can be taken in and called "
        "from. Where several organizations share the service, +12025550142=acme is for the one of this name or id.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class LineTexts:
    """The settings of lines. What the trunk needs is checked where it is built."""

    count: int = 16
    drain_s: float = 660.0
    sip_trunk: str | None = None
    sip_user: str | None = None
    sip_password: str | None = field(default=None, repr=False)
    sip_registers: bool = False
    sip_numbers: tuple[str, ...] = ()
    sip_number_owners: Mapping[str, str] = field(default_factory=dict[str, str])


def read_line_settings(given: Given, *, registers: bool) -> LineTexts:
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
    return LineTexts(
        count=round(_number(given, "CALLWRIGHT_LINES", 16, MOST_LINES)),
        drain_s=_number(given, "CALLWRIGHT_DRAIN_S", 660.0, LONGEST_DRAIN_S),
        sip_trunk=trunk,
        sip_user=given("CALLWRIGHT_SIP_USER"),
        sip_password=given("CALLWRIGHT_SIP_PASSWORD"),
        sip_registers=registers,
        sip_numbers=numbers,
        sip_number_owners={number: owner for number, owner in owners.items() if owner},
    )


def _number(given: Given, name: str, default: float, most: float) -> float:
    text = given(name)
    if text is None:
        return default
    if not text.isdigit() or float(text) > most:
        raise BadSetting(f"{name} must be a whole number from 0 to {most:,.0f}")
    return float(text)
