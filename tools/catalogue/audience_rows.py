"""Tools for the people in an audience: adding, importing, listing, and rows that an import refused."""

from callwright.contract import audiences as contract
from callwright.contract.audiences import (
    AudienceImport,
    AudienceRow,
    GetAudienceImport,
    ListImportErrors,
    RowError,
    RowsAdded,
    get_audience_import,
    list_import_errors,
)
from callwright.contract.checks.counts import count_of
from callwright.tools.arguments.arguments import narrowed
from callwright.tools.confirmation import what_to_confirm
from callwright.tools.replies.untyped_answers import untyped_reply
from callwright.tools.replies.waiting_for_imports import OPEN, CsvToImportWaiting, ended
from callwright.tools.runtime.tool import READS, Hints, Projection, Reply, Tool, data_of, no_text, projected
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.untrusted.fence import fenced
from callwright.tools.untrusted.untrusted_fields import untrusted_paths
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import line, lines, listed, named_id, shortened

_FILLS = Hints(read_only=False, destructive=False, idempotent=False, open_world=True)
"""Open world: rows that join a running deployment are called."""

_ERRORS_SHOWN = 10
_ERRORS_READ = 200
REFUSED = tuple(f"errors.{path}" for path in untrusted_paths(RowError))
"""The parts of an answer about an import that hold text of the file."""
_VALUES_SHOWN = 8


class ImportSummary(Projection):
    """The progress of an import."""

    id: str
    audience_id: str
    status: str
    status_reason: str | None = None
    percent: int
    added: int
    invalid: int
    duplicates: int


class ImportDetails(ImportSummary):
    """An import with the first rows it refused."""

    total_rows: int | None = None
    errors: list[RowError] = []
    errors_not_shown: int | None = None


def _refused(error: RowError, _: ToolContext) -> str:
    facts = (error.column, error.message, error.value_redacted)
    where = f"row {error.row_number}" + (f" in line {error.line}" if error.line else "")
    return line(
        where,
        named_id(error.external_id),
        error.code,
        *(shortened(cleaned(fact), 100) if fact else None for fact in facts),
    )


def refusals(errors: list[RowError], context: ToolContext) -> str | None:
    """The first ten refused rows as text, fenced, since they hold text of a file."""
    said = [_refused(error, context) for error in errors[:_ERRORS_SHOWN]]
    return fenced(said, tag=context.session.ids(), what="Refused rows.") if said else None


def _added(answer: RowsAdded, context: ToolContext) -> str:
    hidden = len(answer.errors) - _ERRORS_SHOWN
    return lines(
        f"{answer.added} of {count_of(answer.received, 'row')} added to {answer.audience_id}, "
        f"{answer.invalid} invalid, {count_of(answer.duplicates, 'duplicate')}.",
        refusals(answer.errors, context),
        f"{count_of(hidden, 'more refused row is', 'more refused rows are')} in the structured answer."
        if hidden > 0
        else None,
    )


def _row(row: AudienceRow, context: ToolContext) -> str:
    values = [f"{cleaned(name)}={shortened(cleaned(value), 60)}" for name, value in row.values.items()]
    hidden = len(values) - _VALUES_SHOWN
    return line(
        row.id,
        row.name,
        context.number(row.phone_number),
        row.country,
        row.timezone,
        shortened(row.external_id, 60) if row.external_id else None,
        *values[:_VALUES_SHOWN],
        f"and {count_of(hidden, 'more column')}" if hidden > 0 else None,
        f"another row says no in {listed([cleaned(name) for name in row.declined], most=3)}" if row.declined else None,
    )


def _speed(imported: AudienceImport) -> str | None:
    if imported.seconds_left is None:
        return None
    return f"{imported.rows_per_second or 0:,} rows a second, about {imported.seconds_left:,} s left"


def _import(imported: AudienceImport, context: ToolContext) -> str:
    where = f"with audience_id={imported.audience_id} and import_id={imported.id}"
    running = imported.status in OPEN
    goes_on = "It waits for its file" if imported.status == "uploading" else "It goes on"
    return lines(
        line(imported.id, imported.status, imported.status_reason, f"{imported.percent}%", _speed(imported)),
        f"{imported.added} added, {imported.invalid} invalid, {imported.duplicates} duplicates",
        context.hint(f"{goes_on}: get_audience_import {where} shows how it ends.") if running else None,
    )


async def _found(context: ToolContext, asked: GetAudienceImport) -> Reply:
    return await shown_import(context, await context.client.ask(get_audience_import, asked))


async def _imported(context: ToolContext, asked: CsvToImportWaiting) -> Reply:
    """The import as it ended with the rows it refused, or how far it is."""
    key = context.key or context.session.ids()
    found = await context.client.ask_lenient(
        contract.import_audience, narrowed(asked, contract.ImportAudience), idempotency_key=key
    )
    if found.answer is None:
        return untyped_reply(found.data, context)
    return await shown_import(context, await ended(context, found.answer, asked.wait_seconds))


async def shown_import(context: ToolContext, imported: AudienceImport) -> Reply:
    """An import, and once it has ended the first rows it refused."""
    reason = context.hint(imported.status_reason) if imported.status_reason is not None else None
    if reason is not None:
        imported = imported.model_copy(update={"status_reason": reason})
    refused = imported.invalid + imported.duplicates
    errors: list[RowError] = []
    if refused and imported.status not in OPEN:
        # Doubles of people who were there before are left out of answers, so more are read than are shown.
        question = ListImportErrors(id=imported.audience_id, import_id=imported.id, per_page=_ERRORS_READ)
        errors = (await context.client.ask(list_import_errors, question)).data[:_ERRORS_SHOWN]
    left = refused - len(errors)
    where = f"with audience_id={imported.audience_id} and import_id={imported.id}"
    text = lines(
        _import(imported.model_copy(update={"status_reason": None}), context),
        # It may name columns of the file.
        fenced([cleaned(reason)], tag=context.session.ids(), what="Why, with words of the file.") if reason else None,
        context.hint("update_audience corrects phone_column or default_country; then import again.")
        if imported.status == "failed"
        else None,
        refusals(errors, context),
        f"{count_of(left, 'more refused row')}." if errors and left > 0 else None,
        context.hint(f"list_import_errors {where} shows them all.") if errors and left > 0 else None,
    )
    found = projected(ImportDetails, imported).model_copy(
        update={"errors": errors, "errors_not_shown": left if errors and left > 0 else None}
    )
    return Reply(text=text, data=data_of(found), untrusted=REFUSED)


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.add_audience_rows,
        toolset="audiences",
        title="Add people to an audience",
        description=(
            "Side effect: people added to an audience that a running campaign uses ARE CALLED, which costs money. "
            "Adds 1 to 1,000 rows; bad and double ones are refused with the reason. For a CSV file use "
            "import_audience."
        ),
        hints=_FILLS,
        reply=_added,
        confirmation=what_to_confirm.add_rows,
        argument_descriptions={"rows": 'Such as [{"phone": "+12025550100", "first_name": "Ada"}].'},
        collapsed=frozenset({"rows"}),
        truncation_hint="Correct the refused rows that are shown and add them again to learn about the others.",
    ),
    Tool(
        operation=contract.list_audience_rows,
        toolset="people",
        title="List people in an audience",
        description=(
            "People in an audience, in the order in which they came, with their columns. Use it to check a list, or to "
            "find one person by phone_number or external_id. For how far a campaign is with each person use "
            "list_contacts. Free. Numbers are masked."
        ),
        hints=READS,
        reply=_row,
        fenced_as="Rows of an audience.",
        empty="No row fits.",
        default_fields=("id", "external_id", "name", "phone_number", "values"),
        example="timezone",
        hidden=frozenset({"sort"}),
    ),
    Tool(
        operation=contract.import_audience,
        toolset="audiences",
        title="Import a CSV file",
        description=(
            "Side effect: people imported into an audience that a running campaign uses ARE CALLED, which costs money. "
            "Imports the text of a CSV file, over 1 MB in parts, each with the header row. For a few people use "
            "add_audience_rows."
        ),
        hints=_FILLS,
        reply=_import,
        handler=_imported,
        confirmation=what_to_confirm.import_file,
        output_model=ImportDetails,
        omitted_fields=frozenset({"audience_id", "status_reason", "percent", "total_rows", "errors_not_shown"}),
        input_model=CsvToImportWaiting,
        hidden=frozenset({"file", "url"}),
    ),
    Tool(
        operation=contract.get_audience_import,
        toolset="audiences",
        title="Get an import",
        description=(
            "How far an import is, how many rows it added, and the first ten it refused with the reason. For "
            "every refused row use list_import_errors. Free."
        ),
        hints=READS,
        reply=no_text,
        output_model=ImportDetails,
        omitted_fields=frozenset({"audience_id", "status_reason", "total_rows", "percent", "errors_not_shown"}),
        handler=_found,
    ),
    Tool(
        operation=contract.list_import_errors,
        toolset="people",
        title="List refused rows of an import",
        description=(
            "Every row an import refused: row number, column, reason, and the value with its middle masked. Use it to "
            "tell the person what to repair in the file. For counts and the first ten use get_audience_import. Free."
        ),
        hints=READS,
        reply=_refused,
        fenced_as="Refused rows.",
        empty="This import refused no row.",
        default_fields=("row_number", "line", "external_id", "column", "code", "message", "value_redacted"),
        hidden=frozenset({"sort"}),
    ),
)
