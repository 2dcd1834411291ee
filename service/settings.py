"""The service's settings: one frozen object, made by the program that starts the service and passed to its parts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from math import inf
from pathlib import Path
from typing import Literal

ProviderName = Literal["simulated", "stripe"]


@dataclass(frozen=True, kw_only=True)
class PaymentSettings:
    """Who takes the money of top-ups. The secrets are not shown.

    Stripe needs both secrets. `stripe_api_base` is where its API is, None for Stripe's own.
    """

    provider: ProviderName = "simulated"
    stripe_secret_key: str | None = field(default=None, repr=False)
    stripe_webhook_secret: str | None = field(default=None, repr=False)
    stripe_api_base: str | None = None


@dataclass(frozen=True, kw_only=True)
class LineSettings:
    """The lines of one process, on which calls are really made: over SIP, and in the browser.

    `count` is how many calls it carries at once; 0: none, because other processes carry them. `drain_s` is how long
    calls under way may go on, in seconds, after the process was told to stop.
    """

    count: int = 16
    drain_s: float = 660.0
    sip_trunk: str | None = None
    """The SIP trunk that makes calls: `sip:host;transport=tls`. User and password are for one that asks for them."""
    sip_user: str | None = None
    sip_password: str | None = field(default=None, repr=False)
    sip_registers: bool = False
    sip_inbound: str | None = None
    """How callers come in from the SIP trunk: `register`, or the address and port at which it brings them."""
    sip_inbound_from: tuple[str, ...] = ()
    """The networks they come from; empty: the trunk's own addresses."""
    sip_numbers: tuple[str, ...] = ()
    """The numbers in E.164 that are owned at the SIP trunk: only these can be imported, and called from."""
    sip_number_owners: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those of them that one organization alone may import, each with its name or id."""
    twilio_account_sid: str | None = None
    """The Twilio account that makes calls, and its auth token. Twilio asks this service back at its public URL."""
    twilio_auth_token: str | None = field(default=None, repr=False)
    twilio_api_base: str | None = None
    """Where Twilio's API is; None for Twilio's own."""
    lines_url: str | None = None
    """Where a carrier's websocket reaches this process; None: at the public URL."""

    @property
    def rings(self) -> bool:
        """Whether telephones ring: there is a carrier."""
        return self.sip_trunk is not None or self.twilio_account_sid is not None


@dataclass(frozen=True, kw_only=True)
class InstalledService:
    """A service of the installation that hears, thinks or speaks. The key is not shown.

    `url` is None for the kind's own address, `model` and `voice` for what is usual there.
    """

    kind: Literal["openai", "deepgram", "elevenlabs", "cartesia"]
    url: str | None = None
    key: str | None = field(default=None, repr=False)
    model: str | None = None
    voice: str | None = None


@dataclass(frozen=True, kw_only=True)
class SpeechSettings:
    """What hears, thinks and speaks on live calls where no provider is set; None for what is built in, which hears
    nothing.
    """

    hearing: InstalledService | None = None
    thinking: InstalledService | None = None
    speaking: InstalledService | None = None


@dataclass(frozen=True, kw_only=True)
class MailSettings:
    """The server that sends mails, and the address they come from. The password is not shown."""

    host: str
    port: int
    security: Literal["none", "starttls", "tls"]
    sender: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class CompanyLoginSettings:
    """A company's OpenID Connect provider. The secret is not shown; None for a provider that gives none."""

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    name: str = "your company"
    organization: str | None = None
    """The organization that new people join, by name or id; None: only users who are there already get in."""
    role: Literal["owner", "member", "viewer"] = "viewer"
    """The role of new people."""


@dataclass(frozen=True, kw_only=True)
class ServiceSettings:
    """The settings of a service.

    `sim_time_scale` is how much faster than real time the simulated network runs; `inf` is as fast as possible.
    `clock_begins_ms` is the moment the service's clock starts at (milliseconds since the epoch), for rehearsals.
    """

    data: Path
    database_url: str
    sim_seed: str = "callwright"
    sim_time_scale: float = inf
    clock_begins_ms: int | None = None
    recordings_max_bytes: int = 1_000_000_000
    upload_max_bytes: int = 2_000_000_000
    """The largest file that may be uploaded."""
    espeak_library: str | None = None
    allowed_origins: tuple[str, ...] = ()
    webhook_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """Ranges of private networks to which events may be sent and providers may be, over plain HTTP too: for development
    and for services of one's own."""
    rules_file: Path | None = None
    """A file with the rules of regions, taken into the database at the start if it is newer than all that are known."""
    prices_file: Path | None = None
    """The price list of the installation for real lines, taken into the database at the start."""
    starts_paused: bool = False
    """Whether every campaign is paused before anything is dialled, for a copy of a service that runs elsewhere."""
    public_url: str | None = None
    """The address at which others reach the service, without the version prefix and without a slash at its end."""
    deployment_lease_ms: int = 10_000
    """How long a process that drives a deployment may be silent before another one takes over."""
    delivery_lease_ms: int = 10_000
    """How long a process that sends to a webhook subscription may be silent before another one takes over."""
    payments: PaymentSettings = field(default_factory=PaymentSettings)
    """Who takes the money of top-ups."""
    lines: LineSettings = field(default_factory=LineSettings)
    """The lines of this process."""
    secrets_key: str | None = field(default=None, repr=False)
    """Encrypts the keys of providers: 32 bytes in base64, or several with commas of which the first one encrypts. None:
    the data folder has a file with it."""
    mail: MailSettings | None = None
    """The server that sends mails; without one, links are shown where they are made."""
    speech: SpeechSettings = field(default_factory=SpeechSettings)
    """What hears, thinks and speaks where no provider is set."""
    company_login: CompanyLoginSettings | None = None
    """By whom people log in to the dashboard beside links and passkeys."""
