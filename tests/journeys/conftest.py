"""A service, and a host in front of it, as fixtures.

`@pytest.mark.parametrize` on a test changes `answer`, `way`, `confirm` and `era`.
"""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from callwright.tools.runtime.tool_context import Caller, ConfirmMode
from tests.journeys.hosts import Answer, Era, Host, Person, ScriptedClock, Way, host
from tests.support.fixtures import held, service_options
from tests.support.service import Tenant, open_service


@pytest.fixture
def answer() -> Answer | None:
    """What the person does who is asked; None stands for a host that cannot ask."""
    return "accept"


@pytest.fixture
def way() -> Way:
    """How the host reaches the tools."""
    return "memory"


@pytest.fixture
def confirm() -> ConfirmMode:
    """What the tools ask a person about."""
    return "always"


@pytest.fixture
async def tenant(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> AsyncGenerator[Tenant]:
    """A service with one organization."""
    async with held(open_service(database_url, tmp_path / "service", **service_options(request))) as found:
        yield found


@pytest.fixture
def caller() -> Caller | None:
    """What stands before the typed client."""
    return None


@pytest.fixture
def clock() -> ScriptedClock:
    """The time the tools live by."""
    return ScriptedClock()


@pytest.fixture
async def found(
    tenant: Tenant,
    tmp_path: Path,
    way: Way,
    era: Era,
    answer: Answer | None,
    clock: ScriptedClock,
    confirm: ConfirmMode,
    caller: Caller | None,
) -> AsyncGenerator[Host]:
    """A host with a person."""
    opened = host(tenant, tmp_path, way, era, Person(answer), clock=clock, confirm=confirm, caller=caller)
    async with held(opened) as connected:
        yield connected
