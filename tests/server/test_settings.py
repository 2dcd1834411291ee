"""Settings: defaults, precedence, and a sentence for each wrong value."""

import sys
from ipaddress import ip_network
from math import inf
from pathlib import Path

import pytest

from callwright.server.embedded.mail import mail_settings
from callwright.server.embedded.payments import payment_settings
from callwright.server.settings import SETTINGS, BadSetting, ProgramSettings, read_settings
from callwright.tools.toolsets import enabled_tools

KEY = f"svc_live_{'0' * 48}"
ACCOUNT = f"AC{'0' * 32}"
TWILIO = {"CALLWRIGHT_TWILIO_ACCOUNT_SID": ACCOUNT, "CALLWRIGHT_TWILIO_AUTH_TOKEN": "secret"}


def given(**environment: str) -> ProgramSettings:
    return read_settings({f"CALLWRIGHT_{name}": value for name, value in environment.items()})


def test_without_any_setting_everything_is_embedded_and_in_the_home_folder() -> None:
    settings = read_settings({})
    assert settings.data == Path.home() / ".callwright"
    assert settings.database_url == f"sqlite:///{Path.home() / '.callwright' / 'callwright.db'}"
    assert (settings.base_url, settings.api_key, settings.clock_begins_ms) == (None, None, None)
    assert (settings.sim_seed, settings.sim_time_scale) == ("callwright", inf)


def test_flags_win_over_the_environment(tmp_path: Path) -> None:
    environment = {"CALLWRIGHT_DATA": "/elsewhere", "CALLWRIGHT_DATABASE_URL": "postgresql://host/other"}
    settings = read_settings(environment, data=tmp_path, database_url="postgresql://host/mine")
    assert (settings.data, settings.database_url) == (tmp_path, "postgresql+psycopg://host/mine")


def test_a_relative_folder_becomes_an_absolute_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert given(DATA="mine").data == tmp_path / "mine"


def test_values_of_blanks_count_as_not_set() -> None:
    assert given(BASE_URL=" ", API_KEY="", SIM_SEED="  ", CLOCK="", SIM_TIME_SCALE="") == read_settings({})


@pytest.mark.parametrize("prefix", ["postgresql://", "postgres://", "postgresql+psycopg://"])
def test_every_spelling_of_postgres_leads_to_its_driver(prefix: str) -> None:
    assert given(DATABASE_URL=f"{prefix}me:secret@host/name").database_url == (
        "postgresql+psycopg://me:secret@host/name"
    )


def test_another_sqlite_file_is_taken_as_it_is() -> None:
    assert given(DATABASE_URL="sqlite:////srv/x.db").database_url == "sqlite:////srv/x.db"


@pytest.mark.parametrize(("text", "scale"), [("1", 1.0), ("0.5", 0.5), ("600", 600.0), ("inf", inf)])
def test_the_time_scale_is_any_number_above_zero(text: str, scale: float) -> None:
    assert given(SIM_TIME_SCALE=text).sim_time_scale == scale


@pytest.mark.parametrize("text", ["2026-11-21T09:00:00Z", "2026-11-21T10:00:00+01:00", "2026-11-21T09:00:00"])
def test_the_clock_takes_a_moment_and_reads_one_without_offset_as_utc(text: str) -> None:
    assert given(CLOCK=text).clock_begins_ms == 1_795_251_600_000


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("BASE_URL", "host/v1", "http:// or https://"),
        ("BASE_URL", "ftp://host/v1", "http:// or https://"),
        ("BASE_URL", "https://host/v1", "CALLWRIGHT_API_KEY"),
        ("DATABASE_URL", "mysql://host/name", "postgresql:// or sqlite:///"),
        ("DATABASE_URL", "name", "postgresql:// or sqlite:///"),
        ("SIM_TIME_SCALE", "fast", "a number above zero"),
        ("SIM_TIME_SCALE", "0", "a number above zero"),
        ("SIM_TIME_SCALE", "-1", "a number above zero"),
        ("SIM_TIME_SCALE", "nan", "a number above zero"),
        ("PROFILE", "boss", "analyst, operator, builder, all"),
        ("TOOLSETS", "calls,dialing", "context, agents"),
        ("EXCLUDE_TOOLS", "start", "start_deployment"),
        ("READ_ONLY", "maybe", "true or false"),
        ("CLOCK", "tomorrow", "2026-11-21T09:00:00Z"),
        ("CLOCK", "1795251600", "2026-11-21T09:00:00Z"),
        ("WEBHOOK_NETWORKS", "everywhere", "127.0.0.0/8"),
        ("WEBHOOK_NETWORKS", "127.0.0.1/8", "127.0.0.0/8"),
        ("WEBHOOK_NETWORKS", "localhost, ::1/129", "::1/129 is none"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_expected(name: str, value: str, expected: str) -> None:
    with pytest.raises(BadSetting) as caught:
        given(**{name: value})
    assert f"CALLWRIGHT_{name}" in str(caught.value)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("text", "networks"),
    [
        ("", ()),
        ("127.0.0.0/8", ("127.0.0.0/8",)),
        ("localhost", ("127.0.0.0/8", "::1/128")),
        ("localhost, 10.1.0.0/16,::1, 10.1.0.0/16", ("127.0.0.0/8", "::1/128", "10.1.0.0/16")),
        ("192.168.7.9", ("192.168.7.9/32",)),
    ],
)
def test_opened_networks_are_ranges_addresses_or_localhost(text: str, networks: tuple[str, ...]) -> None:
    assert given(WEBHOOK_NETWORKS=text).webhook_networks == tuple(ip_network(network) for network in networks)


def test_proxies_are_believed_only_where_they_are_named() -> None:
    assert given().proxies == ()
    assert given(PROXIES="10.0.0.7, ::1").proxies == (ip_network("10.0.0.7"), ip_network("::1"))
    with pytest.raises(BadSetting, match=r"^CALLWRIGHT_PROXIES must be localhost, or ranges .*; proxy is none$"):
        given(PROXIES="proxy")


def test_the_flag_for_networks_wins_over_the_environment() -> None:
    environment = {"CALLWRIGHT_WEBHOOK_NETWORKS": "10.0.0.0/8"}
    assert read_settings(environment, webhook_networks="localhost").webhook_networks[0] == ip_network("127.0.0.0/8")
    assert read_settings(environment, webhook_networks="").webhook_networks == ()


def test_without_a_word_the_tools_are_those_of_a_builder() -> None:
    assert read_settings({}).tools_of() == enabled_tools(profile="builder")


def test_profile_toolsets_and_filters_are_read_from_the_environment() -> None:
    assert given(PROFILE="analyst").tools_of() == enabled_tools(profile="analyst")
    assert given(TOOLSETS="calls, get_agent", EXCLUDE_TOOLS="get_call").tools_of() == enabled_tools(
        toolsets=("calls", "get_agent"), exclude=("get_call",)
    )
    for text, only in (("true", True), ("1", True), ("yes", True), ("False", False), ("no", False)):
        assert given(READ_ONLY=text).tools_of() == enabled_tools(read_only=only)


def test_flags_for_tools_win_over_the_environment() -> None:
    environment = {
        "CALLWRIGHT_PROFILE": "all",
        "CALLWRIGHT_TOOLSETS": "removal",
        "CALLWRIGHT_EXCLUDE_TOOLS": "calls",
        "CALLWRIGHT_READ_ONLY": "false",
    }
    settings = read_settings(
        environment, profile="analyst", toolsets="calls,numbers", exclude_tools="get_call", read_only=True
    )
    assert settings.tools_of() == enabled_tools(toolsets=("calls", "numbers"), exclude=("get_call",), read_only=True)


def test_a_persons_profile_narrows_the_programs_own_and_never_widens_it() -> None:
    assert given(PROFILE="operator").tools_of("all") == enabled_tools(profile="operator")
    assert given(PROFILE="all").tools_of("analyst") == enabled_tools(profile="analyst")
    assert given(READ_ONLY="true").tools_of("all") == enabled_tools(read_only=True)


def test_the_key_is_not_in_the_representation() -> None:
    settings = given(BASE_URL="https://host/v1", API_KEY=KEY)
    assert settings.api_key == KEY
    assert KEY not in repr(settings)
    assert KEY not in f"{settings}"


def test_every_setting_is_listed_once_with_its_words() -> None:
    names = [setting.variable for setting in SETTINGS]
    assert len(set(names)) == len(names)
    assert all(setting.help and setting.default for setting in SETTINGS)
    assert {f"CALLWRIGHT_{name}" for name in ("DATA", "DATABASE_URL", "BASE_URL", "API_KEY", "CLOCK")} <= set(names)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("https://voice.example.com", "https://voice.example.com"),
        ("https://voice.example.com:8443/calls/", "https://voice.example.com:8443/calls"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("", None),
    ],
)
def test_a_public_address_is_kept_without_its_last_slash(text: str, found: str | None) -> None:
    assert given(PUBLIC_URL=text).public_url == found


@pytest.mark.parametrize(
    "text",
    ["voice.example.com", "ftp://x", "https://x/v1", "https://x/?a=b", "https://a@x", "https://x/#b", "https://"],
)
def test_a_public_address_that_is_none_is_named(text: str) -> None:
    with pytest.raises(BadSetting, match="CALLWRIGHT_PUBLIC_URL"):
        given(PUBLIC_URL=text)


STRIPE = {"PAYMENTS": "stripe", "STRIPE_SECRET_KEY": "sk_test_0", "STRIPE_WEBHOOK_SECRET": "whsec_0"}


def test_topups_are_simulated_unless_stripe_is_named_with_both_secrets() -> None:
    assert given().payments == "simulated"
    settings = given(**STRIPE, STRIPE_API_BASE="http://127.0.0.1:12111/")
    assert (settings.payments, settings.stripe_api_base) == ("stripe", "http://127.0.0.1:12111")
    shown = f"{settings!r} {payment_settings(settings)!r}"
    assert not [secret for secret in ("sk_test_0", "whsec_0") if secret in shown]


@pytest.mark.parametrize("missing", ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"])
def test_stripe_without_a_secret_is_refused_by_its_name(missing: str) -> None:
    with pytest.raises(BadSetting, match=f"CALLWRIGHT_PAYMENTS=stripe needs CALLWRIGHT_{missing}"):
        given(**{name: value for name, value in STRIPE.items() if name != missing})


def test_stripe_without_its_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stripe", None)
    with pytest.raises(BadSetting, match=r"pip install '\.\[stripe\]'"):
        given(**STRIPE)


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(BadSetting, match="CALLWRIGHT_PAYMENTS must be simulated or stripe"):
        given(PAYMENTS="paypal")


@pytest.mark.parametrize("address", ["http://stripe.example.com", "ftp://127.0.0.1", "https://host/path", "x"])
def test_the_secret_key_is_sent_in_the_clear_to_this_machine_alone(address: str) -> None:
    with pytest.raises(BadSetting, match="CALLWRIGHT_STRIPE_API_BASE must be an address"):
        given(STRIPE_API_BASE=address)


def test_owned_numbers_are_for_all_organizations_or_for_one() -> None:
    trunk = {"SIP_TRUNK": "sip:trunk.example.com"}
    lines = given(**trunk, SIP_NUMBERS="+12025550142, +12025550143 = acme").lines
    assert lines.sip_numbers == ("+12025550142", "+12025550143")
    assert lines.sip_number_owners == {"+12025550143": "acme"}
    with pytest.raises(BadSetting, match="names no organization"):
        given(**trunk, SIP_NUMBERS="+12025550142=")


def test_callers_of_the_trunk_come_to_its_numbers_from_its_networks() -> None:
    trunk = {"SIP_TRUNK": "sip:trunk.example.com", "SIP_NUMBERS": "+12025550142"}
    lines = given(**trunk, SIP_INBOUND="0.0.0.0:5060", SIP_INBOUND_FROM="192.0.2.0/24, 198.51.100.7").lines
    assert (lines.sip_inbound, lines.sip_inbound_from) == ("0.0.0.0:5060", ("192.0.2.0/24", "198.51.100.7"))
    with pytest.raises(BadSetting, match="SIP_INBOUND needs CALLWRIGHT_SIP_NUMBERS"):
        given(SIP_TRUNK="sip:trunk.example.com", SIP_INBOUND="register")
    with pytest.raises(BadSetting, match="SIP_INBOUND_FROM needs CALLWRIGHT_SIP_INBOUND"):
        given(**trunk, SIP_INBOUND_FROM="192.0.2.0/24")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"CALLWRIGHT_TWILIO_ACCOUNT_SID": "AC1"}, "CALLWRIGHT_TWILIO_ACCOUNT_SID must be AC"),
        (
            {"CALLWRIGHT_TWILIO_AUTH_TOKEN": "secret"},
            "CALLWRIGHT_TWILIO_AUTH_TOKEN needs CALLWRIGHT_TWILIO_ACCOUNT_SID",
        ),
        ({"CALLWRIGHT_LINES_URL": "https://x.example"}, "CALLWRIGHT_LINES_URL needs CALLWRIGHT_TWILIO_ACCOUNT_SID"),
        ({"CALLWRIGHT_TWILIO_ACCOUNT_SID": ACCOUNT}, "needs CALLWRIGHT_TWILIO_AUTH_TOKEN"),
        (TWILIO, "needs CALLWRIGHT_PUBLIC_URL"),
        (TWILIO | {"CALLWRIGHT_PUBLIC_URL": "http://x.example"}, "CALLWRIGHT_PUBLIC_URL must begin with https://"),
        (
            TWILIO | {"CALLWRIGHT_PUBLIC_URL": "https://x.example", "CALLWRIGHT_LINES_URL": "x.example"},
            "CALLWRIGHT_LINES_URL must be an address",
        ),
    ],
)
def test_what_calls_through_twilio_lack_is_named(tmp_path: Path, given: dict[str, str], named: str) -> None:
    with pytest.raises(BadSetting, match=named) as kept:
        read_settings(given, data=tmp_path)
    assert "secret" not in str(kept.value)


def test_a_twilio_account_is_taken_with_its_public_address(tmp_path: Path) -> None:
    settings = read_settings(TWILIO | {"CALLWRIGHT_PUBLIC_URL": "https://x.example/"}, data=tmp_path)
    assert settings.lines.twilio_account_sid == ACCOUNT
    assert "secret" not in repr(settings.lines)


MAIL = {"SMTP_URL": "smtps://ann:s%40cret@mail.example.com", "MAIL_FROM": "callwright@example.com"}


@pytest.mark.parametrize(
    ("url", "port", "security"),
    [
        ("smtps://mail.example.com", 465, "tls"),
        ("smtp+starttls://mail.example.com", 587, "starttls"),
        ("smtp://mail.example.com:2525/", 2525, "none"),
    ],
)
def test_a_mail_server_has_a_port_and_a_kind_of_tls(url: str, port: int, security: str) -> None:
    found = mail_settings(given(SMTP_URL=url, MAIL_FROM=MAIL["MAIL_FROM"]))
    assert found is not None
    assert (found.host, found.port, found.security, found.user) == ("mail.example.com", port, security, None)


def test_the_password_of_the_mail_server_is_read_and_not_shown() -> None:
    settings = given(**MAIL)
    found = mail_settings(settings)
    assert found is not None
    assert (found.user, found.password, found.sender) == ("ann", "s@cret", "callwright@example.com")
    assert not any(
        "s@cret" in text or "s%40cret" in text for text in (repr(settings), repr(found), repr(settings.mail))
    )
    assert mail_settings(given()) is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"SMTP_URL": "https://ann:hidden@mail.example.com"}, "CALLWRIGHT_SMTP_URL must be"),
        ({"SMTP_URL": "smtps://mail.example.com:hidden"}, "CALLWRIGHT_SMTP_URL must be"),
        ({"SMTP_URL": "smtps://mail.example.com/hidden"}, "CALLWRIGHT_SMTP_URL must be"),
        ({"SMTP_URL": "smtps://"}, "CALLWRIGHT_SMTP_URL must be"),
        ({"SMTP_URL": ""}, "CALLWRIGHT_SMTP_URL is needed"),
        ({"MAIL_FROM": ""}, "CALLWRIGHT_MAIL_FROM is needed"),
        ({"MAIL_FROM": "Ann <ann@example.com>"}, "CALLWRIGHT_MAIL_FROM must be"),
        ({"MAIL_FROM": "ann"}, "CALLWRIGHT_MAIL_FROM must be"),
    ],
)
def test_a_wrong_mail_setting_is_named_without_its_value(changed: dict[str, str], said: str) -> None:
    with pytest.raises(BadSetting, match=said) as refused:
        given(**{**MAIL, **changed})
    assert "hidden" not in str(refused.value)
