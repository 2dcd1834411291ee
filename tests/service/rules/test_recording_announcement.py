"""Whether the agent says that its calls are recorded."""

import pytest

from callwright.contract.deployments.dialling import Recording
from callwright.service.rules.recording_announcement import announces


@pytest.mark.parametrize("needs", [False, True])
@pytest.mark.parametrize(
    ("announcement", "says"),
    [("auto", {False: False, True: True}), ("always", dict.fromkeys((False, True), True)), ("never", {})],
)
def test_it_is_said_always_never_or_where_the_region_asks_for_it(
    announcement: str, says: dict[bool, bool], needs: bool
) -> None:
    settings = Recording.model_validate({"announcement": announcement})
    assert announces(settings, needs) is says.get(needs, False)


@pytest.mark.parametrize("announcement", ["auto", "always", "never"])
def test_nothing_is_said_of_a_call_that_is_not_recorded(announcement: str) -> None:
    settings = Recording.model_validate({"enabled": False, "announcement": announcement})
    assert not announces(settings, True)
