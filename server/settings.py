"""The programs' settings: one list, read once from flags and the environment; flags override.

The same for `mcp` and `serve`. Errors name the setting and the expected value.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from callwright.server.declared_settings import SETTINGS as SETTINGS
from callwright.server.line_settings import LineTexts, read_line_settings
from callwright.server.login_settings import CompanyLoginSetting, read_company_login
from callwright.server.mail_settings import MailTexts, read_mail
from callwright.server.setting import BadSetting as BadSetting
from callwright.server.setting import Setting as Setting
from callwright.server.speech_settings import SpeechSetting, read_secrets_key, read_speech
from callwright.tools.toolsets import DEFAULT_PROFILE, UnknownTools, enabled_tools, names_of

if TYPE_CHECKING:
    from callwright.tools.runtime.tool_context import ConfirmBy, ConfirmMode

ProviderName = Literal["simulated", "stripe"]

_PUBLIC_URL = re.compile(
    r"https?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:/(?!v1/?$)[A-Za-z0-9._~-]+)*/?"
)
_STRIPE_API = re.compile(r"(?:https://[A-Za-z0-9.-]+|http://(?:localhost|127\.0\.0\.1|\[::1\]))(?::[0-9]{1,5})?/?")
_PROVIDERS: Mapping[str, ProviderName] = {"simulated": "simulated", "stripe": "stripe"}
_CONFIRM_MODES: Mapping[str, "ConfirmMode"] = {"real": "real", "always": "always", "never": "never"}
_CONFIRM_WAYS: Mapping[str, "ConfirmBy"] = {"sentence": "sentence", "page": "page"}
_LOOPBACK = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))


@dataclass(frozen=True, kw_only=True)
class ProgramSettings:
    """The settings of the programs. Of its text only the folder and the address are shown, and no key."""

    data: Path
    database_url: str
    base_url: str | None
    api_key: str | None
    openapi_url: str | None = None
    sim_seed: str
    sim_time_scale: float
    upload_max_bytes: int
    clock_begins_ms: int | None
    rules_file: Path | None = None
    prices_file: Path | None = None
    public_url: str | None = None
    files: tuple[Path, ...] = ()
    webhook_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    profile: str = DEFAULT_PROFILE
    toolsets: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    read_only: bool = False
    reveal_numbers: bool = False
    confirm: "ConfirmMode" = "real"
    confirm_by: "ConfirmBy" = "sentence"
    payments: ProviderName = "simulated"
    stripe_secret_key: str | None = None
    stripe_webhook_secret: str | None = None
    stripe_api_base: str | None = None
    lines: LineTexts = field(default_factory=LineTexts)
    secrets_key: str | None = None
    mail: MailTexts | None = None
    speech: SpeechSetting = field(default_factory=SpeechSetting)
    company_login: CompanyLoginSetting | None = None

    def tools_of(self, profile: str | None = None) -> frozenset[str]:
        """The names of the enabled tools, those of `profile` only if it is given.

        A personal key may have a profile: it gets the tools that both allow. Raises `UnknownTools` for an unknown name.
        """
        own = enabled_tools(
            profile=self.profile, toolsets=self.toolsets, exclude=self.exclude_tools, read_only=self.read_only
        )
        return own if profile is None else own & enabled_tools(profile=profile)

    def __repr__(self) -> str:
        return f"ProgramSettings(data={str(self.data)!r}, base_url={self.base_url!r})"


def read_settings(
    environment: Mapping[str, str] = os.environ,
    *,
    data: Path | None = None,
    database_url: str | None = None,
    files: Sequence[Path] = (),
    webhook_networks: str | None = None,
    profile: str | None = None,
    toolsets: str | None = None,
    exclude_tools: str | None = None,
    read_only: bool | None = None,
    reveal_numbers: bool | None = None,
) -> ProgramSettings:
    """The settings. Raises `BadSetting` naming the first that is wrong."""

    def given(name: str) -> str | None:
        return environment.get(name, "").strip() or None

    folder = (data or Path(given("CALLWRIGHT_DATA") or "~/.callwright")).expanduser().absolute()
    base_url, api_key = given("CALLWRIGHT_BASE_URL"), given("CALLWRIGHT_API_KEY")
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise BadSetting("CALLWRIGHT_BASE_URL must begin with http:// or https://")
    openapi_url = given("CALLWRIGHT_OPENAPI_URL")
    if openapi_url is not None and not openapi_url.startswith(("http://", "https://")):
        raise BadSetting("CALLWRIGHT_OPENAPI_URL must begin with http:// or https://")
    if base_url is not None and api_key is None:
        raise BadSetting("CALLWRIGHT_BASE_URL needs CALLWRIGHT_API_KEY, a key that begins with svc_live_")
    public_url = _public_url(given("CALLWRIGHT_PUBLIC_URL"))
    chosen_toolsets = given("CALLWRIGHT_TOOLSETS") if toolsets is None else toolsets
    settings = ProgramSettings(
        data=folder,
        database_url=_database(database_url or given("CALLWRIGHT_DATABASE_URL"), folder),
        base_url=base_url,
        api_key=api_key,
        openapi_url=openapi_url,
        sim_seed=given("CALLWRIGHT_SIM_SEED") or "callwright",
        sim_time_scale=_scale(given("CALLWRIGHT_SIM_TIME_SCALE")),
        upload_max_bytes=_upload_bytes(given("CALLWRIGHT_UPLOAD_MAX_BYTES")),
        clock_begins_ms=_moment(given("CALLWRIGHT_CLOCK")),
        rules_file=_file("CALLWRIGHT_RULES", given),
        prices_file=_file("CALLWRIGHT_SERVICE_PRICES", given),
        public_url=public_url,
        files=_folders(files or _paths(given("CALLWRIGHT_FILES"))),
        webhook_networks=_networks(
            given("CALLWRIGHT_WEBHOOK_NETWORKS") if webhook_networks is None else webhook_networks,
            "CALLWRIGHT_WEBHOOK_NETWORKS, or --webhook-networks,",
        ),
        proxies=_networks(given("CALLWRIGHT_PROXIES"), "CALLWRIGHT_PROXIES"),
        profile=profile or given("CALLWRIGHT_PROFILE") or DEFAULT_PROFILE,
        toolsets=None if chosen_toolsets is None else names_of(chosen_toolsets),
        exclude_tools=names_of(exclude_tools or given("CALLWRIGHT_EXCLUDE_TOOLS") or ""),
        read_only=_is_true("CALLWRIGHT_READ_ONLY", given) if read_only is None else read_only,
        reveal_numbers=_is_true("CALLWRIGHT_REVEAL_NUMBERS", given) if reveal_numbers is None else reveal_numbers,
        confirm=_confirm(given("CALLWRIGHT_CONFIRM")),
        confirm_by=_confirm_by(given("CALLWRIGHT_CONFIRM_BY")),
        payments=_payments(given),
        stripe_secret_key=given("CALLWRIGHT_STRIPE_SECRET_KEY"),
        stripe_webhook_secret=given("CALLWRIGHT_STRIPE_WEBHOOK_SECRET"),
        stripe_api_base=_stripe_api(given("CALLWRIGHT_STRIPE_API_BASE")),
        lines=read_line_settings(
            given,
            registers=_is_true("CALLWRIGHT_SIP_REGISTER", given),
            public_url=public_url,
        ),
        secrets_key=read_secrets_key(given),
        mail=read_mail(given),
        speech=read_speech(given),
        company_login=read_company_login(given, public_url=public_url),
    )
    try:
        settings.tools_of()
    except UnknownTools as error:
        where = "CALLWRIGHT_PROFILE, CALLWRIGHT_TOOLSETS, CALLWRIGHT_EXCLUDE_TOOLS, or their flags"
        raise BadSetting(f"{where}: {error}") from error
    return settings


def _public_url(text: str | None) -> str | None:
    if text is None:
        return None
    if not _PUBLIC_URL.fullmatch(text):
        expected = "an address without query, user or version prefix, such as https://voice.example.com"
        raise BadSetting(f"CALLWRIGHT_PUBLIC_URL, or --public-url, must be {expected}")
    return text.rstrip("/")


def _database(url: str | None, folder: Path) -> str:
    url = url and url.strip()
    if not url:
        return f"sqlite:///{folder / 'callwright.db'}"
    for prefix in ("postgresql://", "postgres://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url.removeprefix(prefix)
    if url.startswith(("postgresql+psycopg://", "sqlite:///")):
        return url
    raise BadSetting("CALLWRIGHT_DATABASE_URL, or --database, must begin with postgresql:// or sqlite:///")


def _file(name: str, given: Callable[[str], str | None]) -> Path | None:
    if (text := given(name)) is None:
        return None
    file = Path(text).expanduser().absolute()
    if not file.is_file():
        raise BadSetting(f"{name} must name a file that exists; {file} is none")
    return file


def _paths(text: str | None) -> list[Path]:
    return [Path(part) for part in (text or "").split(os.pathsep) if part.strip()]


def _folders(paths: Sequence[Path]) -> tuple[Path, ...]:
    folders = tuple(path.expanduser().absolute() for path in paths)
    for folder in folders:
        if not folder.is_dir():
            raise BadSetting(f"CALLWRIGHT_FILES, or --files, must name folders that exist; {folder} is none")
    return folders


def _networks(text: str | None, where: str) -> tuple[IPv4Network | IPv6Network, ...]:
    networks: list[IPv4Network | IPv6Network] = []
    for word in names_of(text or ""):
        try:
            networks += _LOOPBACK if word == "localhost" else (ip_network(word),)
        except ValueError as error:
            expected = "localhost, or ranges such as 127.0.0.0/8, with commas"
            raise BadSetting(f"{where} must be {expected}; {word} is none") from error
    return tuple(dict.fromkeys(networks))


def _is_true(name: str, given: Callable[[str], str | None]) -> bool:
    text = given(name)
    if text is None:
        return False
    if text.lower() not in ("true", "false", "1", "0", "yes", "no"):
        raise BadSetting(f"{name} must be true or false")
    return text.lower() in ("true", "1", "yes")


def _confirm(text: str | None) -> "ConfirmMode":
    if (mode := _CONFIRM_MODES.get(text or "real")) is None:
        raise BadSetting("CALLWRIGHT_CONFIRM must be real, always or never")
    return mode


def _confirm_by(text: str | None) -> "ConfirmBy":
    if (way := _CONFIRM_WAYS.get(text or "sentence")) is None:
        raise BadSetting("CALLWRIGHT_CONFIRM_BY must be sentence or page")
    return way


def _payments(given: Callable[[str], str | None]) -> ProviderName:
    name = _PROVIDERS.get(given("CALLWRIGHT_PAYMENTS") or "simulated")
    if name is None:
        raise BadSetting("CALLWRIGHT_PAYMENTS must be simulated or stripe")
    if name == "stripe":
        for secret in ("CALLWRIGHT_STRIPE_SECRET_KEY", "CALLWRIGHT_STRIPE_WEBHOOK_SECRET"):
            if given(secret) is None:
                raise BadSetting(f"CALLWRIGHT_PAYMENTS=stripe needs {secret}; docs/wallet.md says where it is")
        if find_spec("stripe") is None:
            from callwright.contract.checks.extras import installing  # `--help` needs nothing of the contract

            raise BadSetting(f"CALLWRIGHT_PAYMENTS=stripe needs the library: {installing('stripe')}")
    return name


def _stripe_api(text: str | None) -> str | None:
    if text is None:
        return None
    if not _STRIPE_API.fullmatch(text):
        expected = "an address without path that begins with https://, or with http:// on this machine"
        raise BadSetting(f"CALLWRIGHT_STRIPE_API_BASE must be {expected}, because the secret key is sent there")
    return text.rstrip("/")


def _scale(text: str | None) -> float:
    if text is None:
        return inf
    try:
        scale = float(text)
    except ValueError:
        scale = 0.0
    if not scale > 0:
        raise BadSetting("CALLWRIGHT_SIM_TIME_SCALE must be a number above zero, or inf")
    return scale


def _upload_bytes(text: str | None) -> int:
    if text is None:
        return 2_000_000_000
    if not re.fullmatch(r"[1-9]\d{0,14}", text):
        raise BadSetting("CALLWRIGHT_UPLOAD_MAX_BYTES must be a whole number of bytes above zero")
    return int(text)


def _moment(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadSetting("CALLWRIGHT_CLOCK must be a moment such as 2026-11-21T09:00:00Z") from error
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1_000)
