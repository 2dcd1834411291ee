"""Every setting of the programs: its name, what it is without it, and what it does."""

from callwright.server.line_settings import LINE_SETTINGS
from callwright.server.login_settings import LOGIN_SETTINGS
from callwright.server.mail_settings import MAIL_SETTINGS
from callwright.server.setting import Setting
from callwright.server.speech_settings import SPEECH_SETTINGS
from callwright.tools.toolsets import DEFAULT_PROFILE, PROFILES, TOOLSETS

SETTINGS: tuple[Setting, ...] = (
    Setting("CALLWRIGHT_DATA", "~/.callwright", "Folder for everything the embedded service keeps."),
    Setting(
        "CALLWRIGHT_DATABASE_URL",
        "SQLite in the data folder",
        "Where the service stores: postgresql://user:password@host/name for many processes.",
    ),
    Setting(
        "CALLWRIGHT_BASE_URL",
        "the embedded service",
        "Use the service that runs at this address, version prefix included, for example https://host/v1.",
    ),
    Setting("CALLWRIGHT_API_KEY", "the embedded service's own", "The key for CALLWRIGHT_BASE_URL."),
    Setting(
        "CALLWRIGHT_OPENAPI_URL",
        "/openapi.json there",
        "Where the service at CALLWRIGHT_BASE_URL publishes its OpenAPI document, from which tools gain arguments.",
    ),
    Setting(
        "CALLWRIGHT_SIM_SEED",
        "callwright",
        "Decides everything that is left to chance on the simulated network; the same seed gives the same calls.",
    ),
    Setting(
        "CALLWRIGHT_SIM_TIME_SCALE",
        "inf",
        "How much faster than life the simulated network runs: 1 is as slow as life, inf as fast as possible.",
    ),
    Setting(
        "CALLWRIGHT_CLOCK",
        "now",
        "The moment at which the service's clock starts to run, for tests and rehearsals: 2026-11-21T09:00:00Z. "
        "One set far ahead is believed after a day: until then nothing is deleted by its age and no rent is charged.",
    ),
    Setting(
        "CALLWRIGHT_RULES",
        "the rules of the installed version",
        "A file with newer rules of regions (hours, holidays, caps, consent), which is in force from this start on; "
        "`callwright rules check FILE` checks one.",
    ),
    Setting(
        "CALLWRIGHT_SERVICE_PRICES",
        "none: real calls have the prices of the simulated network, and speech services are not charged",
        "A file with the prices of real calls: what carriers and speech services charge, by provider (docs/costs.md).",
    ),
    Setting(
        "CALLWRIGHT_PROFILE",
        DEFAULT_PROFILE,
        f"Which tools an assistant gets: {', '.join(PROFILES)} (flag `--profile`).",
    ),
    Setting(
        "CALLWRIGHT_TOOLSETS",
        "the profile's",
        f"Toolsets or single tools, with commas, in place of the profile's: {', '.join(TOOLSETS)} (flag `--toolsets`).",
    ),
    Setting(
        "CALLWRIGHT_EXCLUDE_TOOLS",
        "none",
        "Toolsets or single tools, with commas, to leave out whatever else names them (flag `--exclude-tools`).",
    ),
    Setting(
        "CALLWRIGHT_READ_ONLY",
        "false",
        "true leaves only the tools that read, whatever else is said (flag `--read-only`).",
    ),
    Setting(
        "CALLWRIGHT_CONFIRM",
        "real",
        "When a person is asked before something dials or spends: real (where telephones ring or real money moves), "
        "always (on the simulated network too), never (for hosts that ask by themselves).",
    ),
    Setting(
        "CALLWRIGHT_CONFIRM_BY",
        "sentence",
        "How a person agrees whose host cannot ask them: sentence (on the dashboard's page, or by the sentence that "
        "the model sends back), page (on that page alone).",
    ),
    Setting(
        "CALLWRIGHT_REVEAL_NUMBERS",
        "false",
        "true shows contacts' telephone numbers whole to assistants; without it their middle is masked "
        "(flag `--reveal-numbers`).",
    ),
    Setting(
        "CALLWRIGHT_FILES",
        "none",
        "Folders in which import_audience may read files and export_deployment write them, over stdio alone; several "
        "as in PATH (flag `--files`).",
    ),
    Setting(
        "CALLWRIGHT_PUBLIC_URL",
        "none",
        "The address at which others reach the service, without the version prefix: https://voice.example.com. Links "
        "in calls, events and answers begin with it (flag `--public-url`).",
    ),
    Setting("CALLWRIGHT_UPLOAD_MAX_BYTES", "2000000000", "The largest file that may be uploaded to an import."),
    Setting(
        "CALLWRIGHT_PROXIES",
        "none: nobody is believed",
        "Addresses or networks, with commas, of proxies before the service: only from there X-Forwarded-For and "
        "X-Forwarded-Proto are believed. Without them all who come through a proxy share its limits.",
    ),
    Setting(
        "CALLWRIGHT_WEBHOOK_NETWORKS",
        "none",
        "Networks, with commas, that events are sent to and files fetched from although they are not the internet's, "
        "over plain HTTP too, for development: localhost, or ranges such as 127.0.0.0/8 (flag `--webhook-networks`).",
    ),
    Setting(
        "CALLWRIGHT_PAYMENTS",
        "simulated",
        "Who takes the money of top-ups: simulated (play money, on a page of the service), or stripe (real money; see "
        "the page about the wallet).",
    ),
    Setting("CALLWRIGHT_STRIPE_SECRET_KEY", "none", "The secret or restricted key of the Stripe account."),
    Setting(
        "CALLWRIGHT_STRIPE_WEBHOOK_SECRET",
        "none",
        "The signing secret of Stripe's webhook to /payments/stripe/webhook; it begins with whsec_.",
    ),
    Setting(
        "CALLWRIGHT_STRIPE_API_BASE",
        "Stripe's own",
        "Where Stripe's API is, for an imitation of it on this machine: http://127.0.0.1:12111.",
    ),
    *MAIL_SETTINGS,
    *LINE_SETTINGS,
    *SPEECH_SETTINGS,
    *LOGIN_SETTINGS,
)
"""Every setting. The reference page is made from this list."""
