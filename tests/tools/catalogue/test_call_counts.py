"""get_call_stats: figures that can be worked out from those beside them."""

from tests.support.tools.fakes import FakeCaller, assistant, server
from tests.support.tools.finding_samples import stats
from tests.support.tools.results import text_of


async def test_what_answered_calls_cost_stands_beside_their_average_and_goals_beside_their_share() -> None:
    found = stats()
    (group,) = found.groups
    many = group.model_copy(update={"calls": 11, "answered": 3})
    found = found.model_copy(update={"calls": 52, "groups": [many]})
    async with assistant(server(FakeCaller(answers={"get_call_stats": found})), "auto") as client:
        said = text_of(await client.call_tool("get_call_stats", {"group_by": ["outcome"]}))
    assert "  11 calls  21.2%  3 answered  2 goal met (66.7% of answered)  " in said
    assert "cost 0.025 USD, the answered ones 0.019 USD, 0.006333 USD each" in said
