"""import_audience that waits."""

from typing import Any

import pytest
from mcp.types import CallToolResult

from callwright.client.errors import ServiceTimeout
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, FakeClock, assistant, server
from tests.support.tools.results import text_of

CSV = "phone_number\n+12025550100\n"


async def sent(looks: Any, **more: Any) -> tuple[CallToolResult, list[str], FakeClock]:
    caller = FakeCaller(answers=samples.answers() | {"get_audience_import": looks})
    clock = FakeClock()
    async with assistant(server(caller, clock=clock), "2026-07-28") as client:
        result = await client.call_tool("import_audience", {"audience_id": "aud_1", "csv": CSV, **more})
    names = caller.names()
    return result, names[names.index("import_audience") :], clock


async def test_an_import_is_answered_with_its_end_and_the_rows_it_refused() -> None:
    looks = [samples.imported(status="importing"), samples.imported(status="completed_with_errors", invalid=1)]
    result, asked, clock = await sent(looks)
    assert asked == ["import_audience", "get_audience_import", "get_audience_import", "list_import_errors"]
    assert (result.structured_content or {})["status"] == "completed_with_errors"
    assert "Refused rows." in text_of(result)
    assert sum(clock.slept) < 1


async def test_an_import_that_goes_on_says_where_to_look() -> None:
    result, _, clock = await sent(samples.imported(status="importing"), wait_seconds=3)
    assert sum(clock.slept) == pytest.approx(3)
    assert "get_audience_import with audience_id=aud_1 and import_id=" in text_of(result)


async def test_nobody_waits_where_no_wait_is_wanted() -> None:
    _, asked, clock = await sent(samples.imported(), wait_seconds=0)
    assert (asked, clock.slept) == (["import_audience"], [])


async def test_an_import_that_cannot_be_followed_is_not_an_error_for_it_would_be_sent_again() -> None:
    result, asked, _ = await sent(ServiceTimeout("late", request_sent=True, repeatable=True))
    assert not result.is_error
    assert asked == ["import_audience", "get_audience_import"]
    assert "It goes on" in text_of(result)
