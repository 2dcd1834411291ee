"""A campaign that changes is announced by the real program, on both eras of the protocol."""

from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp.types import (
    EmptyResult,
    ResourceUpdatedNotification,
    SubscribeRequest,
    SubscribeRequestParams,
)

from tests.support.processes.programs import ERAS, Assistant, assistant

both_eras = pytest.mark.parametrize("era", ERAS)


async def draft(found: Assistant) -> str:
    """A campaign that is not started."""
    voice = (await found.use("list_voices", language="en-US"))["data"][0]["id"]
    agent = await found.use("create_agent", name="Ada", voice_id=voice, language="en-US", system_prompt="Say hello.")
    audience = await found.use("create_audience", name="People", rows=[{"phone_number": "+12025550100"}])
    number = await found.use("rent_phone_number", country="US")
    made = await found.use(
        "create_deployment",
        name="First",
        agent_id=agent["id"],
        audience_id=audience["id"],
        phone_number_ids=[number["id"]],
    )
    return made["id"]


@both_eras
async def test_a_change_reaches_whoever_subscribed(era: Literal["legacy", "auto"], tmp_path: Path) -> None:
    heard = anyio.Event()

    async def hears(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            heard.set()

    with anyio.fail_after(120):
        async with assistant(tmp_path, "--data", tmp_path / "data", era=era, hears=hears) as found:
            made = await draft(found)
            uri = f"callwright://deployments/{made}"
            if era == "legacy":
                request = SubscribeRequest(params=SubscribeRequestParams(uri=uri))
                await found.client.session.send_request(request, EmptyResult)
                await found.use("update_deployment", deployment_id=made, name="Second")
                await heard.wait()
            else:
                async with found.client.listen(resource_subscriptions=[uri]) as stream:
                    await found.use("update_deployment", deployment_id=made, name="Second")
                    assert getattr(await anext(aiter(stream)), "uri", None) == uri
            assert "Second" in str(await found.client.read_resource(uri))
    assert found.log.read_text(encoding="utf-8") == ""
