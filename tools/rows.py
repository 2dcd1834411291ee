"""Tools for the people in an audience: adding, importing, listing, and what an import refused."""

from callwright.contract import audiences as contract
from callwright.contract.audiences import AudienceImport, AudienceRow, RowError, RowsAdded

from .text import line, lines, shortened
from .tool import READS, Hints, Tool, one_a_line
from .untrusted import cleaned
from .use import Use

_FILLS = Hints(read_only=False, destructive=False, idempotent=False, open_world=True)
"""Open world: rows that join a running deployment are called."""

_ERRORS_SHOWN = 10


def _refused(error: RowError, _: Use) -> str:
    return line(f"row {error.row_number}", error.code, error.column, error.message, error.value_redacted)


def _added(answer: RowsAdded, use: Use) -> str:
    hidden = len(answer.errors) - _ERRORS_SHOWN
    return lines(
        f"{answer.added} of {answer.received} rows added to {answer.audience_id}, "
        f"{answer.invalid} invalid, {answer.duplicates} duplicates.",
        *(_refused(error, use) for error in answer.errors[:_ERRORS_SHOWN]),
        f"{hidden} more refused rows are in the structured answer." if hidden > 0 else None,
    )


def _row(row: AudienceRow, use: Use) -> str:
    values = [f"{name}={shortened(cleaned(value), 60)}" for name, value in row.values.items()]
    return line(row.id, use.number(row.phone_number), row.country, row.timezone, row.external_id, *values[:8])


def _import(imported: AudienceImport, _: Use) -> str:
    where = f"with id={imported.audience_id} and import_id={imported.id}"
    running = imported.status in ("pending", "importing")
    return lines(
        line(imported.id, imported.status, imported.status_reason, f"{imported.percent}%"),
        f"{imported.added} added, {imported.invalid} invalid, {imported.duplicates} duplicates",
        f"It goes on: get_audience_import {where} shows how far it is." if running else None,
        f"list_import_errors {where} says why rows were refused." if imported.invalid else None,
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.add_audience_rows,
        toolset="audiences",
        title="Add people to an audience",
        description=(
            "Side effect: people added to an audience that a running deployment uses ARE CALLED by it, which costs"
            " money. Adds 1 to 1,000 rows; each is an object with the phone column and the columns the prompt "
            "needs. For a CSV file use import_audience. Bad and double rows are refused one by one and never stop "
            "the others. Gives how many were added and why rows were refused."
        ),
        hints=_FILLS,
        reply=_added,
    ),
    Tool(
        operation=contract.list_audience_rows,
        toolset="audiences",
        title="List people in an audience",
        description=(
            "People in an audience, in the order in which they came, with their columns. Use it to check a list or"
            " to find one person by phone_number or external_id. For how far a campaign is with each person use "
            "list_contacts. Free, changes nothing. Numbers are masked in the text."
        ),
        hints=READS,
        reply=one_a_line(_row, empty="No row fits."),
    ),
    Tool(
        operation=contract.import_audience,
        toolset="audiences",
        title="Import a CSV file",
        description=(
            "Side effect: people imported into an audience that a running deployment uses ARE CALLED by it, which "
            "costs money. Imports the text of a CSV file with a header row, up to about 1 MB; larger files go in "
            "parts, each with the header. The audience must exist: create_audience. A bad row never fails the "
            "import. Gives an import id; get_audience_import shows progress, list_import_errors the refused rows."
        ),
        hints=_FILLS,
        reply=_import,
    ),
    Tool(
        operation=contract.get_audience_import,
        toolset="audiences",
        title="Get an import",
        description=(
            "How far an import is, and how many rows it added or refused. Use it after import_audience until the "
            "state is completed. For the reasons of refused rows use list_import_errors. Free, changes nothing."
        ),
        hints=READS,
        reply=_import,
    ),
    Tool(
        operation=contract.list_import_errors,
        toolset="audiences",
        title="List refused rows of an import",
        description=(
            "The rows an import refused: row number, column, reason, and the value with its middle masked. Use it "
            "after import_audience to tell the person what to repair in the file. Free, changes nothing."
        ),
        hints=READS,
        reply=one_a_line(_refused, empty="This import refused no row."),
    ),
)
