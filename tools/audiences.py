"""Tools for audiences themselves. Their rows and imports are in `rows.py`."""

from callwright.contract import audiences as contract
from callwright.contract.audiences import Audience

from .text import line, lines, listed, moment
from .tool import ADDS, CHANGES, READS, Gone, Tool, one_a_line
from .use import Use


def _entry(audience: Audience, _: Use) -> str:
    return line(audience.id, audience.name, audience.status, f"{audience.valid_count} of {audience.row_count} callable")


def _whole(audience: Audience, use: Use) -> str:
    refused = audience.invalid_count + audience.duplicate_count
    sparse = [f"{column.name} {column.fill_rate:.0%}" for column in audience.columns if column.fill_rate < 1]
    return lines(
        _entry(audience, use),
        line(
            f"{audience.invalid_count} invalid, {audience.duplicate_count} duplicates" if refused else None,
            f"phone column {audience.phone_column}",
            f"default country {audience.default_country}" if audience.default_country else None,
            f"last import {moment(audience.last_imported_at)}" if audience.last_imported_at else None,
        ),
        f"columns: {listed([column.name for column in audience.columns])}" if audience.columns else "no columns yet",
        f"not always filled: {listed(sparse)}" if sparse else None,
    )


def _made(audience: Audience, use: Use) -> str:
    hint = (
        None if audience.row_count else "It is empty: import_audience takes a CSV file, add_audience_rows takes rows."
    )
    return lines(_whole(audience, use), hint)


def _gone(gone: Gone, _: Use) -> str:
    return f"Deleted audience {gone.id} and its rows."


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.list_audiences,
        toolset="audiences",
        title="List audiences",
        description=(
            "Audiences (lists of people to call), newest first. Use it to find an audience_id or to see whether a "
            "list is there already; for columns and quality of one use get_audience, for the people "
            "list_audience_rows. Free, changes nothing. Gives id, name, state and how many can be called."
        ),
        hints=READS,
        reply=one_a_line(_entry, empty="No audience fits. create_audience makes one."),
    ),
    Tool(
        operation=contract.create_audience,
        toolset="audiences",
        title="Create an audience",
        description=(
            "Makes a list of people to call, empty or with up to 1,000 rows. Costs nothing and calls nobody. A row"
            " is an object: the phone column and every column the agent's prompt needs, for example first_name. "
            "Set default_country where numbers lack a + and country code, else those rows are refused. For a CSV "
            "file make it empty, then use import_audience; for rows of an audience that exists use "
            "add_audience_rows. Bad and double rows are counted, never lost silently. Gives the id, counts and "
            "columns."
        ),
        hints=ADDS,
        reply=_made,
    ),
    Tool(
        operation=contract.get_audience,
        toolset="audiences",
        title="Get an audience",
        description=(
            "One audience: state, how many rows can be called, how many are invalid or double, its columns and how"
            " well they are filled. Use it before create_deployment to check that the columns the agent needs are "
            "there. For the people themselves use list_audience_rows. Free, changes nothing."
        ),
        hints=READS,
        reply=_whole,
    ),
    Tool(
        operation=contract.update_audience,
        toolset="audiences",
        title="Change an audience",
        description=(
            "Changes name, description or notes of an audience; the old ones are overwritten. Costs nothing. It "
            "does not touch the people in it: use add_audience_rows or import_audience for those. Gives the "
            "audience after the change."
        ),
        hints=CHANGES,
        reply=_whole,
    ),
    Tool(
        operation=contract.delete_audience,
        toolset="audiences",
        title="Delete an audience",
        description=(
            "Deletes an audience with all its rows for good. Costs nothing. Refused while a deployment that is not"
            " finished uses it: cancel_deployment first. Ask the person before deleting. Gives the id that is "
            "gone."
        ),
        hints=CHANGES,
        reply=_gone,
    ),
)
