"""The texts of the description: about the API, each noun and each operation."""

import sys
from typing import Any

from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.declaration.pagination import PageQuery
from callwright.contract.surface import OPERATIONS
from callwright.service.rest.routes import PREFIX

_PER_PAGE = PageQuery.model_fields["per_page"].default
ABOUT = f"""Voice agents, campaigns, phone numbers and calls, for programs and assistants.

- **Keys.** Every request carries `Authorization: Bearer svc_live_…`. The key says whose data it is; an `org_id` in a
  body or a query has no effect. Another organization's id is answered like one that does not exist.
- **Answers.** A resource comes as `{{"data": …}}`, a list as `{{"data": […], "pagination": …}}`. Every answer has an
  `X-Request-Id`. Further fields may be added at any time.
- **Lists.** `page` and `per_page` (default {_PER_PAGE}), or `cursor` with the `next_cursor` of the page before;
  `filter[<field>]=<value>`, where several values are separated by commas; `sort=-created_at,name`.
- **Changes.** A PATCH changes the fields it names. Only a field that may be empty takes null, and is empty then: a
  client must leave out what it does not mean to change, and not write it out as null.
- **Settings.** A PUT sets the whole thing: what is left out is empty, unless the field says otherwise.
- **Trying again.** A POST with an `Idempotency-Key` may be sent again safely.
- **Limits.** Requests are counted for each key, by the second for each group of endpoints and by the day. Answers say
  where the key stands; 429 says how long to wait.
- **Problems.** `{{"error": {{"type", "code", "message", "field", "request_id"}}}}`; problems with keys and origins are
  flat: `{{"error": "<code>", "message", "request_id"}}`. A path that does not exist is answered 404, a method that a
  path does not have 405 with `Allow`. HEAD is answered like GET.
- **Versions.** `{PREFIX}` is the version; `/api{PREFIX}` is the same. Within a version, fields are only added.
"""


def about_operation(operation: AnyOperation) -> str:
    """The description of an operation, beyond its summary."""
    words = [" ".join((operation.takes.__doc__ or operation.summary).split())]
    if operation.method == "PATCH":
        words.append("Fields that are left out stay as they are; null empties a field that may be null.")
    if operation.counting:
        words.append(operation.counting)
    if operation.creator_bound == "owner":
        words.append("The user who made the key must be an owner of the organization.")
    elif operation.creator_bound is not None:
        words.append("The user who made the key must still be a member of the organization.")
    if operation.creator_bound == "member_with_email":
        words.append("That user needs an e-mail address.")
    if operation.rate_share < 1:
        words.append(f"A key may make {operation.rate_share:.0%} of its plan's requests per second here.")
    if operation.deprecated is not None:
        words.append(f"Deprecated; ends at {operation.deprecated.sunset:%Y-%m-%d}.")
    return " ".join(words)


def about_nouns() -> dict[str, str]:
    """The nouns in the order of their operations, each with its description in the contract."""
    said: dict[str, str] = {}
    for operation in OPERATIONS.values():
        module: Any = sys.modules[operation.takes.__module__]
        said.setdefault(operation.noun, " ".join((module.__doc__ or "").split()))
    return said
