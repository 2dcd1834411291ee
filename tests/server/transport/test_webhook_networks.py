"""Networks that an operator opens for events reach the service, from either program; wrong ones end it by name."""

from ipaddress import ip_network
from pathlib import Path

import pytest

from callwright.server.commands.mcp import arguments_of
from callwright.server.embedded.embedded import service_of
from callwright.server.settings import read_settings
from tests.support.processes.programs import run


async def test_the_service_has_the_networks_that_were_opened(tmp_path: Path) -> None:
    for text, networks in (("", ()), ("localhost", (ip_network("127.0.0.0/8"), ip_network("::1/128")))):
        settings = read_settings({}, data=tmp_path, webhook_networks=text)
        async with service_of(settings) as (service, _):
            assert service.services.settings.webhook_networks == networks


def test_the_flag_of_the_tool_server_is_read() -> None:
    assert arguments_of(["--webhook-networks", "10.0.0.0/8"]).webhook_networks == "10.0.0.0/8"
    assert arguments_of([]).webhook_networks is None


@pytest.mark.parametrize("program", ["mcp", "serve"])
def test_a_network_that_is_none_ends_the_program(program: str, tmp_path: Path) -> None:
    # The name `mcp` alone is the fast way in, which takes every flag.
    done = run(tmp_path, program, "--webhook-networks", "everywhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert "CALLWRIGHT_WEBHOOK_NETWORKS, or --webhook-networks, must be localhost" in " ".join(done.stderr.split())
    assert "everywhere is none" in " ".join(done.stderr.split())
