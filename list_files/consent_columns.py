"""Which columns of a list say whether a person agreed to be called, and when, by their names."""

from collections.abc import Iterable
from functools import lru_cache

from callwright.list_files.headings import known_headings, plain_heading

_CONSENT = known_headings(
    "consent|consents|consented|consent given|has consent|consent status|consent to call|consent to be called",
    "call consent|calling consent|phone consent|telephone consent|voice consent|marketing consent|consent marketing",
    "opt in|optin|opted in|opt in status|phone opt in|call opt in|marketing opt in",
    "permission to call|may we call|may call|tcpa consent|express consent|written consent|prior consent|gdpr consent",
    "einwilligung|einwilligung telefon|telefoneinwilligung|werbeeinwilligung|einwilligung werbung",
    "zustimmung|einverstanden|consentement|accord|consentimiento|consiente|consenso|consentimento|toestemming|सहमति",
)
_DATES = known_headings(
    "consent date|date of consent|consented at|consented on|consent at|consent on|consent given at|consent given on",
    "consent time|consent timestamp|opt in date|optin date|opt in at|opt in time|opt in timestamp",
    "opted in at|opted in on|einwilligung am|einwilligung vom|einwilligungsdatum|datum einwilligung",
    "datum der einwilligung|zustimmung am|date consentement|date du consentement|fecha consentimiento",
    "fecha de consentimiento|data consenso|data del consenso|data consentimento|data do consentimento",
    "datum toestemming|toestemming datum",
)
_AFTER = ("date", "at", "on", "time", "timestamp", "datum", "am")
"""What stands behind the name of a column in the name of the one with its date."""


@lru_cache(maxsize=1_024)
def consent_columns_among(columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that are named for the consent to be called, in one of many languages."""
    return tuple(column for column in columns if plain_heading(column) in _CONSENT)


def consent_date_column_among(columns: Iterable[str], consent_column: str | None = None) -> str | None:
    """The column that is named for the date of consent, that of `consent_column` before others; None if there is none.

    `agreed_at` and `agreed date` belong to the column `agreed`.
    """
    plain = {plain_heading(column): column for column in columns}
    own = [f"{plain_heading(consent_column)} {word}" for word in _AFTER] if consent_column else []
    known = (name for name in plain if name in _DATES)
    return next((plain[name] for name in (*own, *known) if name in plain), None)
