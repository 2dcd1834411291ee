"""read_conversations: what was said, and what the agent did meanwhile."""

from callwright.contract.calls.conversations import SpokenTurn
from tests.support.tools.fakes import FakeCaller, assistant, server
from tests.support.tools.finding_samples import conversations
from tests.support.tools.results import text_of


async def test_the_call_of_a_tool_is_a_line_with_its_name_and_whether_it_worked() -> None:
    found = conversations()
    found.conversations[0].turns.extend(
        SpokenTurn(index=index, role="system", text="", tool="book", ok=ok) for index, ok in ((4, True), (5, False))
    )
    async with assistant(server(FakeCaller(answers={"read_conversations": found})), "auto") as client:
        said = text_of(await client.call_tool("read_conversations", {}))
    assert "[3] contact: That is too expensive.\n[4] system: called book, which worked\n" in said
    assert "[5] system: called book, which failed\n" in said
