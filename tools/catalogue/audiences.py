"""Tools for audiences themselves. Those for their rows and imports are in `audience_rows.py`."""

from typing import Annotated

from pydantic import Field

from callwright.contract import audiences as contract
from callwright.contract.audiences import Audience, GetAudience, NewAudience, RowError, get_audience
from callwright.contract.checks.counts import count_of
from callwright.contract.declaration.field_types import Timestamp
from callwright.tools.arguments.arguments import narrowed
from callwright.tools.catalogue.audience_rows import refusals
from callwright.tools.replies.size_limit import count_that_fits
from callwright.tools.runtime.tool import ADDS, CHANGES, READS, Projection, Reply, Tool, data_of, deleted, projected
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.untrusted.fence import fenced
from callwright.tools.untrusted.untrusted_fields import untrusted_paths
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import json_bytes, line, lines, listed, moment, shortened

_COLUMN_BYTES = 5_000
"""Bytes of the columns in one answer, in its text and in its data each."""
_LONGEST_SAMPLE = 60


class ColumnSummary(Projection):
    """A column of an audience."""

    name: str
    type: str
    sample: str | None = None
    fill_rate: float


class AudienceSummary(Projection):
    """An audience after it was created or changed."""

    id: str
    name: str
    status: str
    phone_column: str | None = None
    row_count: int
    valid_count: int
    invalid_count: int
    duplicate_count: int


class CreatedAudience(AudienceSummary):
    """A new audience, with the first rows it refused."""

    errors: list[RowError] = []


class AudienceDetails(AudienceSummary):
    """An audience with its columns."""

    description: str
    default_country: str | None = None
    last_imported_at: Timestamp | None = None
    columns: list[ColumnSummary]
    column_count: int = 0


class GetAudienceInParts(GetAudience):
    """The audience, and the column to begin with."""

    columns_from: Annotated[int, Field(ge=0, description="First column to give of many, from 0.")] = 0


def _entry(audience: Audience, _: ToolContext) -> str:
    return line(audience.id, audience.name, audience.status, f"{audience.valid_count} of {audience.row_count} callable")


def _state(audience: Audience, context: ToolContext) -> str:
    refused = audience.invalid_count + audience.duplicate_count
    return lines(
        _entry(audience, context),
        line(
            f"{audience.invalid_count} invalid, {audience.duplicate_count} duplicates" if refused else None,
            f"default country {audience.default_country}" if audience.default_country else None,
            f"last import {moment(audience.last_imported_at)}" if audience.last_imported_at else None,
        ),
    )


def _columns(place: str, names: str, audience: Audience, context: ToolContext) -> str:
    """The names of columns, fenced, since they come from the header row of a file."""
    if not audience.columns:
        return "no columns yet"
    said = [f"{place}: {names}", f"phone column: {audience.phone_column or 'found in the first rows that come'}"]
    return fenced(said, tag=context.session.ids(), what="Columns of the audience.")


def _short(audience: Audience, context: ToolContext) -> str:
    names = [column.name for column in audience.columns]
    return lines(_state(audience, context), _columns("columns", listed(names), audience, context))


def _made(audience: NewAudience, context: ToolContext) -> str:
    empty = "It is empty. import_audience takes a CSV file. add_audience_rows takes rows."
    return lines(
        _short(audience, context),
        refusals(audience.errors, context),
        None if audience.row_count else context.hint(empty),
    )


async def _found(context: ToolContext, asked: GetAudienceInParts) -> Reply:
    """The audience with its columns, or with those that fit from the requested one on."""
    audience = await context.client.ask(get_audience, narrowed(asked, GetAudience))
    begin = asked.columns_from
    columns = [
        ColumnSummary(
            name=cleaned(column.name),
            type=column.type,
            sample=None if column.sample is None else shortened(cleaned(column.sample), _LONGEST_SAMPLE),
            fill_rate=column.fill_rate,
        )
        for column in audience.columns
    ]
    rest = columns[begin:]
    shown = rest[: count_that_fits([json_bytes(data_of(column)) for column in rest], _COLUMN_BYTES)]
    end = begin + len(shown)
    whole = len(shown) == len(columns)
    place = "columns" if whole else f"columns {begin} to {end - 1} of {len(columns)}"
    words = [column.name if column.fill_rate == 1 else f"{column.name} ({column.fill_rate:.0%})" for column in shown]
    text = lines(
        _state(audience, context),
        _columns(place, ", ".join(words), audience, context),
        "A percentage says in how many rows a column is filled." if any("%)" in word for word in words) else None,
        f"{count_of(len(columns) - end, 'more column')}: call again with columns_from={end}"
        if end < len(columns)
        else None,
    )
    found = projected(AudienceDetails, audience).model_copy(update={"columns": shown, "column_count": len(columns)})
    return Reply(text=text, data=data_of(found), untrusted=tuple(untrusted_paths(Audience, AudienceDetails)))


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.list_audiences,
        toolset="audiences",
        title="List audiences",
        description=(
            "Audiences (lists of people to call), newest first, with how many can be called. For one use "
            "get_audience. Free."
        ),
        hints=READS,
        reply=_entry,
        empty="No audience fits. create_audience makes one.",
        default_fields=("id", "name", "status", "row_count", "valid_count"),
        hidden=frozenset({"created_from", "created_before", "sort", "fields"}),
    ),
    Tool(
        operation=contract.create_audience,
        toolset="audiences",
        title="Create an audience",
        description=(
            "Makes a list of people to call, empty or with up to 1,000 rows. Free; calls nobody. For a CSV make "
            "it empty, then use import_audience. To add to one use add_audience_rows. Bad and double rows are named, "
            "not kept."
        ),
        hints=ADDS,
        reply=_made,
        output_model=CreatedAudience,
        omitted_fields=frozenset({"phone_column", "invalid_count", "duplicate_count"}),
        hidden=frozenset({"metadata", "description"}),
        collapsed=frozenset({"rows"}),
        argument_descriptions={
            "name": "Unique.",
            "rows": 'Such as [{"phone": "+12025550100", "first_name": "Ada"}].',
            "phone_column": "Left out: found.",
            "default_country": "ISO country of numbers without +, such as US.",
            "timezone_column": "IANA zones.",
            "external_id_column": "Your own ids.",
            "priority_column": "0 to 9; 9 is called first.",
            "not_before_column": "ISO time; no call before.",
            "language_column": "Tag of what to speak.",
            "dedupe": "Of the same person the first row is kept.",
        },
    ),
    Tool(
        operation=contract.get_audience,
        toolset="audiences",
        title="Get an audience",
        description=(
            "One audience: how many rows can be called, are invalid or double, and how well its columns are "
            "filled. For how far a campaign is with its people use list_contacts. Free."
        ),
        hints=READS,
        reply=_state,
        input_model=GetAudienceInParts,
        output_model=AudienceDetails,
        omitted_fields=frozenset(
            {
                *("description", "default_country", "last_imported_at", "column_count", "phone_column"),
                *("invalid_count", "duplicate_count"),
            }
        ),
        handler=_found,
    ),
    Tool(
        operation=contract.update_audience,
        toolset="audiences",
        title="Change an audience",
        description=(
            "Overwrites the name; phone_column and default_country only while it has no rows. Free. To "
            "add people use add_audience_rows or import_audience."
        ),
        hints=CHANGES,
        reply=_short,
        output_model=AudienceSummary,
        omitted_fields=frozenset({"phone_column", "row_count", "valid_count", "invalid_count", "duplicate_count"}),
        argument_descriptions={
            "name": "Unique.",
            "phone_column": "The column with the number.",
            "default_country": "ISO country of numbers without a +.",
        },
        hidden=frozenset({"metadata", "description"}),
    ),
    Tool(
        operation=contract.delete_audience,
        toolset="audiences",
        title="Delete an audience",
        description=(
            "Deletes an audience with all its rows for good; refused while an unfinished campaign uses it. Ask "
            "the person first. To rename one use update_audience. Free."
        ),
        hints=CHANGES,
        reply=deleted("Deleted audience {id} and its rows."),
    ),
)
