"""Lists: what a caller may ask of every one of them, and the envelope they come in."""

from typing import Annotated, Generic, TypeVar

from pydantic import Field

from callwright.contract.declaration.marks import OwnText
from callwright.contract.declaration.model import Input, Resource

Item = TypeVar("Item", bound=Resource)

MOST_COUNTED = 10_000
"""So many entries are counted where counting them takes longer than finding them."""


class PageQuery(Input):
    """The paging fields of every list. `page` and `cursor` exclude each other."""

    page: Annotated[
        int | None, Field(ge=1, le=1_000_000, description="Page number, from 1. Leave out when using cursor.")
    ] = None
    per_page: Annotated[int, Field(ge=1, le=200, description="Entries per page, 1 to 200.")] = 50
    cursor: Annotated[
        OwnText | None,
        Field(min_length=1, max_length=2000, description="next_cursor of the previous answer; continues after it."),
    ] = None
    sort: Annotated[
        OwnText | None,
        Field(
            min_length=1,
            max_length=200,
            description="Fields to sort by, comma-separated; a leading - sorts descending.",
        ),
    ] = None


class Pagination(Resource):
    """Where a page stands in its list."""

    page: Annotated[int, Field(description="Ordinal of this page, from 1.")]
    per_page: Annotated[int, Field(description="Entries per page.")]
    total: Annotated[int, Field(description="Entries in the whole list; in cursor mode counted at its first page.")]
    has_more: Annotated[bool, Field(description="Whether entries follow this page.")]
    next_cursor: Annotated[OwnText | None, Field(description="Send as cursor to get the next page.")] = None


class Page(Resource, Generic[Item]):
    """One page of a list."""

    data: list[Item]
    pagination: Pagination
