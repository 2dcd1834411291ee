"""Deliveries are woken by the dialler of their process: they do not wait for their next look."""

from pathlib import Path

import anyio
import pytest

from callwright.service.platform.wake_signal import WakeNotifier
from callwright.service.webhooks import dispatcher
from callwright.service.webhooks.dispatcher import Dispatcher
from callwright.service.workers.supervisor import Supervisor
from tests.support.campaigns import draft, people
from tests.support.webhooks.delivering import delivering

HOUR_S = 3600.0


async def test_a_call_that_ended_is_told_at_once(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "IDLE_S", HOUR_S)
    async with delivering(database_url, tmp_path) as at:  # requests notify others, and the clock stands still
        campaign = await draft(at.tenant, people(1, sim_outcome="answered"))
        await at.deliver()
        await at.subscribe("a", "deployment.paused", "call.completed")
        await at.happen()
        notifier = WakeNotifier()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Dispatcher(at.services, notifier, at.endpoints).run)
            await at.endpoints.got(1)  # from here on it looks when it is woken, or in an hour
            await at.tenant.client.deployments.start(id=campaign.id)
            tasks.start_soon(Supervisor(at.services, notifier).run)
            await at.endpoints.got(2)
            tasks.cancel_scope.cancel()
        assert b'"call.completed"' in at.endpoints.requests[1].body
