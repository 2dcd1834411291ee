"""What people call the fields of the contract: one thing has one name in forms, filters, columns and facts.

The contract is written for programs. A field that is not here is called by its name in the contract, with blanks, and
its help is that of the contract.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class FieldName:
    """The name of a field for people.

    `help` takes the place of the contract's; None leaves that. `words` are what its choices are called. `example`
    stands in an empty field. `is_line` makes a long text a field of one line.
    """

    label: str
    help: str | None = None
    words: Mapping[str, str] | None = None
    example: str = ""
    is_line: bool = False


_COLUMNS = "Your list is searched for it by the headings and what stands below them; name it only where that fails."
FIELD_NAMES: Mapping[str, FieldName] = {
    # Agents
    "voice_id": FieldName("Voice", ""),
    "language": FieldName("Language", ""),
    "system_prompt": FieldName(
        "Instructions",
        "What the agent is to do and what it knows, in plain sentences: who it speaks for, what it asks, what it may "
        "promise, when it says goodbye. {{First Name}} inserts that column of your list; {{First Name|there}} says "
        "“there” where the cell is empty.",
    ),
    "welcome_message": FieldName(
        "First words",
        "What the agent says first, also with columns such as {{First Name}}. Empty: it waits until the person speaks.",
    ),
    "variables": FieldName("Columns that it uses"),
    "actor_label": FieldName("By"),
    "restored_from": FieldName("Brought back from"),
    # Audiences
    "default_country": FieldName(
        "Country of numbers without +",
        "Lists of one country write numbers such as (202) 555-0100. Which country is it?",
    ),
    "phone_column": FieldName("Column with the number", _COLUMNS, example="Mobile"),
    "external_id_column": FieldName(
        "Column with your own id", "So that results can be put back into your own system.", example="Patient ID"
    ),
    "timezone_column": FieldName(
        "Column with the time zone",
        "Cells such as America/Chicago. Without one the time zone follows from the number.",
        example="Time zone",
    ),
    "priority_column": FieldName("Column with the priority", "Cells from 0 to 9: the highest is called first."),
    "not_before_column": FieldName("Column with “not before”", "Cells with a day or a moment: nobody calls before it."),
    "language_column": FieldName(
        "Column with the language", "Cells such as es-419, if not everybody speaks the agent's language."
    ),
    "dedupe": FieldName(
        "Which rows are one person",
        "The first row of a person is kept, the others are doubles.",
        {
            "phone": "rows with the same number",
            "external_id": "rows with the same own id",
            "none": "every row is a person of its own",
        },
    ),
    "valid_count": FieldName("People"),
    "invalid_count": FieldName("Refused rows"),
    "duplicate_count": FieldName("Doubles"),
    "last_imported_at": FieldName("Last import"),
    "phone_number": FieldName("Number"),
    "external_id": FieldName("Own id"),
    "timezone": FieldName("Time zone"),
    "declined": FieldName("Says no to"),
    # Campaigns
    "budget_cap": FieldName("Spend at most"),
    "daily_budget_cap": FieldName("The daily spending limit"),
    "consent_column": FieldName("Column that says who agreed"),
    "consent_attested": FieldName("Everybody on this list has agreed"),
    "phone_number_ids": FieldName("The numbers to call from"),
    "calling_hours": FieldName("The hours"),
    "max_attempts": FieldName("Calls to each person"),
    "max_concurrency": FieldName("Calls at a time"),
    "end_at": FieldName("The campaign's end"),
    "start_at": FieldName("The campaign's beginning"),
    "deployment_id": FieldName("Id of the campaign"),
    # Do-not-call list and reviews
    "reason": FieldName("Why"),
    "category": FieldName("What"),
    "code": FieldName("Why"),
    # Numbers
    "country": FieldName("Country", ""),
    "area_code": FieldName("Area code", example="206"),
    "contains": FieldName("Has these digits"),
    "auto_renew": FieldName("Rent it again every month", ""),
    "label": FieldName("Label", "What you call it, for example “front desk”."),
    "max_calls_per_day": FieldName("Most calls a day"),
    # Wallet
    "reference_id": FieldName("About (an id)"),
    # Webhooks and events
    "url": FieldName("Address", "An https:// address of your program, which takes the events.", is_line=True),
    "description": FieldName("What it is for"),
    "overlap_seconds": FieldName("Both secrets sign for so many seconds"),
    "consecutive_failures": FieldName("Failures in a row"),
    "last_success_at": FieldName("Last success"),
    "last_failure_at": FieldName("Last failure"),
    "disabled_reason": FieldName("Disabled because of"),
    "event_type": FieldName("Event"),
    "cause": FieldName("Because of", None, {"replay": "sent again"}),
    "last_response_status": FieldName("Answer"),
    "last_outcome": FieldName("Outcome"),
    "attempt_count": FieldName("Attempts"),
    "next_attempt_at": FieldName("Next attempt"),
    "duration_ms": FieldName("Took (ms)"),
    "response_status": FieldName("Answer"),
    "response_excerpt": FieldName("What it answered"),
    "attempted_at": FieldName("When"),
    # Audit log
    "subject_id": FieldName("About (an id)"),
    "actor_id": FieldName("By"),
    # Lists
    "created_from": FieldName("From (UTC)"),
    "created_before": FieldName("Before (UTC)"),
    "to": FieldName("Number"),
    "contact_name": FieldName("Name"),
}
_NOTHING = FieldName("")


@lru_cache(1_024)
def field_name(name: str) -> FieldName:
    """What people call a field."""
    found = FIELD_NAMES.get(name, _NOTHING)
    return found if found.label else FieldName(name.replace("_", " ").capitalize())


def label_of(name: str) -> str:
    """The name of a field, as it stands beside its value."""
    return field_name(name).label


def word_of(name: str, word: str) -> str:
    """What people call one of the words that a field may have."""
    return (field_name(name).words or {}).get(word) or word.replace("_", " ")
