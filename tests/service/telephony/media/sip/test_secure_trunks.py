"""Trunks over TLS: whose certificate counts, and encrypted sound. Each has a media process of its own."""

import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from callwright.service.telephony.carriers.sip_trunk import SipTrunk, options_of
from callwright.service.telephony.media.messages import Ended
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.media_process import media_process
from tests.service.telephony.media.sentences import GREETING, QUESTION, YES
from tests.service.telephony.media.sip.sip_calls import Answered, placed
from tests.service.telephony.media.sip.telephone import Telephone, telephone

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]


@dataclass(frozen=True)
class Certificate:
    """A certificate that signs itself, alone and with its key."""

    alone: Path
    with_key: Path


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Certificate]:
    """Two of them, by name."""
    made: dict[str, Certificate] = {}
    for name in ("here", "elsewhere"):
        folder = tmp_path_factory.mktemp(name)
        key, alone, both = folder / "key.pem", folder / "alone.pem", folder / "both.pem"
        subject = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
        subprocess.run([*command, "-keyout", key, "-out", alone], check=True, capture_output=True, timeout=60)
        both.write_bytes(key.read_bytes() + alone.read_bytes())
        made[name] = Certificate(alone, both)
    return made


@asynccontextmanager
async def secured(certificate: Certificate, *parameters: str) -> AsyncGenerator[tuple[Telephone, SipTrunk]]:
    """A telephone over TLS, as a trunk whose certificate is trusted."""
    key = str(certificate.with_key)
    async with telephone(transport="tls", certificate=key, parameters=parameters) as phone:
        yield phone, SipTrunk("127.0.0.1", phone.port + 1, transport="tls", ca_file=str(certificate.alone))


async def test_a_call_over_tls_is_spoken_with_encrypted_sound(line: Line, certificates: dict[str, Certificate]) -> None:
    async with media_process() as own, secured(certificates["here"], "mediaenc=srtp-mand") as (phone, trunk):
        other = Line(own, line.service, line.sounds, line.folder)
        made = await placed(other, replace(trunk, srtp="required"))
        await made.reached("answered")
        call = Answered(made.call_id, own, line.sounds, phone)
        await call.turn("agent", 1)
        await call.say(YES)
        await call.turn("agent", 2)
        await phone.do("hang_up")
        assert (await call.ended()).cause == "contact_hangup"
        assert call.words() == [("agent", GREETING), ("contact", YES), ("agent", QUESTION)]

        plain = await placed(other, trunk)
        ended = await plain.ended()
        assert ended.sip_status == 488  # the telephone takes no sound that is not encrypted
        assert ended.cause == "carrier_rejected"


async def _not_prepared(line: Line, trunk: SipTrunk) -> Ended:
    """The end of a call that cannot be dialled."""
    order = line.order(transport="sip", carrier_options=options_of(trunk))
    await line.media.send(order)
    return await line.media.ended(order.request.call_id)


async def test_a_certificate_that_nobody_signed_gets_no_call_unless_it_is_not_checked(
    line: Line, certificates: dict[str, Certificate]
) -> None:
    async with media_process() as own, secured(certificates["here"]) as (phone, trunk):
        other = Line(own, line.service, line.sounds, line.folder)
        wrong = replace(trunk, ca_file=str(certificates["elsewhere"].alone))
        refused = await (await placed(other, wrong)).ended()
        assert (refused.cause, refused.was_sent) == ("network_error", False)
        assert refused.warnings == (
            "No connection to the SIP trunk could be made. Its certificate may not be trusted.",
        )
        further = await _not_prepared(other, trunk)
        assert further.warnings == (
            "The SIP stack has no trunk: a process can have trunks of one network and with the same certificates only.",
        )
        assert phone.of("incoming") == []
    async with media_process() as own, secured(certificates["here"]) as (phone, trunk):
        other = Line(own, line.service, line.sounds, line.folder)
        call = await placed(other, replace(trunk, ca_file="", verify=False))
        await call.reached("answered")
        await call.hang_up()
        await call.ended()
        await phone.wait_for("closed")
