"""Keys of providers: encrypted where they are stored, and in no answer, record or log."""

import logging
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from callwright.client.request import wire_request
from callwright.contract.providers import SetProvider, set_provider
from callwright.service.platform.secret_box import KEY_FILE
from callwright.service.tables.schema import metadata, providers, transcript_words
from callwright.service.telephony.chosen_services import ChosenServices, ProviderUnusable, speech_services_of
from callwright.service.telephony.engine import AgentSnapshot
from tests.support.database.indexed_words import indexed
from tests.support.http.raw_requests import raw_client
from tests.support.resources import refusal
from tests.support.service import Tenant

KEY = "sk-thisIsTheKeyOfTheTests-9f3a"
SHORT = "tiny-key"
FIRST = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
SECOND = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY="
AGENT = AgentSnapshot(id="agt_1", system_prompt="", welcome_message="", language="en-US", voice_id="en-US-ada")


def rows_of_all_tables(connection: Connection) -> str:
    shown: list[Any] = []
    for table in metadata.sorted_tables:
        rows = indexed(connection) if table is transcript_words else connection.execute(select(table))
        shown += [tuple(row) for row in rows]
    return repr(shown)


async def chosen(tenant: Tenant, agent: AgentSnapshot = AGENT, **other: Any) -> ChosenServices:
    settings = replace(tenant.services.settings, **other)
    return await tenant.database.read(speech_services_of, settings, tenant.org_id, agent)


def files_with(folder: Path, *texts: str) -> list[Path]:
    """The files below a folder that have one of these texts."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if any(text.encode() in path.read_bytes() for text in texts)]


@pytest.mark.requirement("PROVIDER-01")
async def test_a_key_is_in_no_answer_no_record_no_log_and_no_byte_that_is_stored(
    tenant: Tenant, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client = tenant.client
    given: dict[str, Any] = {"name": "ours", "kind": "openai"}
    answers: list[Any] = [await client.providers.set(**given, key=KEY, default_for=["hearing"])]
    answers += [await client.providers.set(**given), await client.providers.set(**given, key=KEY + "x")]
    answers += [await client.providers.set(name="short", kind="deepgram", key=SHORT)]
    async with raw_client(tenant) as http:
        for body in (
            {"kind": "openai", "key": KEY, "kee": KEY},
            {"kind": "openai", "key": KEY + "\n"},
            {"kind": "openai", "key": [KEY]},
            {"kind": "openai", "key": KEY * 50},
            {"kind": "deepgram", "key": KEY, "url": "https://example.com"},
            {"kind": KEY, "key": KEY},
        ):
            answer = await http.put("/v1/providers/ours", json=body)
            assert answer.status_code == 400, answer.text
            answers.append(answer.text if body["kind"] != KEY else "")  # a wrong word of another field may be repeated
        answers += [
            (await http.get(f"/v1{path}")).text for path in ("/providers", "/audit_log", "/events", "/overview")
        ]
        answers.append((await http.post("/v1/providers", json={"key": KEY})).text)
    asked = SetProvider(name="ours", kind="openai", key=KEY)
    answers += [asked, wire_request(set_provider, asked), tenant.services.settings]
    assert KEY not in repr(answers)
    assert SHORT not in repr(answers)
    (newest,) = (await client.audit_log.list(action="set_provider", per_page=1)).data
    assert newest.changes == {"kind": {"after": "deepgram"}, "key": {"after": "(secret)"}}
    assert newest.subject_id == "short"
    stored = await tenant.database.read(rows_of_all_tables)
    assert (KEY in stored, SHORT in stored) == (False, False)
    assert "short" in stored
    assert files_with(tmp_path, KEY, SHORT) == []
    assert KEY not in caplog.text
    hearing = (await chosen(tenant, replace(AGENT, hearing_provider="ours"))).services.hearing
    assert hearing is not None
    assert hearing.key == KEY + "x", "it is there all the same"
    assert KEY not in repr(hearing)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
async def test_the_secrets_key_is_made_when_it_is_needed_for_its_owner_alone(tenant: Tenant) -> None:
    file = tenant.services.settings.data / KEY_FILE
    assert not file.exists()
    await chosen(tenant)
    assert not file.exists()
    await tenant.client.providers.set(name="ours", kind="openai", key=KEY)
    assert oct(os.stat(file).st_mode & 0o777) == "0o600"
    made = file.read_text()
    await tenant.client.providers.set(name="other", kind="openai", key=KEY)
    assert file.read_text() == made


@pytest.mark.service(settings={"secrets_key": FIRST})
async def test_a_key_is_read_with_any_of_several_secrets_keys(tenant: Tenant) -> None:
    await tenant.client.providers.set(name="ours", kind="openai", key=KEY, default_for=["thinking"])
    assert not (tenant.services.settings.data / KEY_FILE).exists()
    for keys in (FIRST, f"{SECOND},{FIRST}"):
        assert (await chosen(tenant, secrets_key=keys)).services.thinking.key == KEY
    with pytest.raises(ProviderUnusable, match="Set the provider's key again"):
        await chosen(tenant, secrets_key=SECOND)


@pytest.mark.service(settings={"secrets_key": f"{SECOND},{FIRST}"})
async def test_what_is_set_with_two_secrets_keys_needs_the_first(tenant: Tenant) -> None:
    await tenant.client.providers.set(name="ours", kind="openai", key=KEY, default_for=["hearing"])
    found = (await chosen(tenant, secrets_key=SECOND)).services.hearing
    assert found is not None
    assert found.key == KEY
    with pytest.raises(ProviderUnusable):
        await chosen(tenant, secrets_key=FIRST)


@pytest.mark.requirement("PROVIDER-09")
async def test_a_lost_secrets_key_is_named_and_mended_by_setting_the_key_again(tenant: Tenant) -> None:
    file = tenant.services.settings.data / KEY_FILE
    providers_of = tenant.client.providers
    await providers_of.set(name="ours", kind="openai", key=KEY, default_for=["thinking"])
    file.unlink()
    with pytest.raises(
        ProviderUnusable, match=r"provider ours cannot be read: .*is gone.* Set the provider's key again"
    ):
        await chosen(tenant)
    (still,) = (await providers_of.list()).data
    assert still.has_key
    await providers_of.set(name="other", kind="openai", key=KEY)  # which makes a new file
    with pytest.raises(ProviderUnusable, match="encrypted with another secrets key"):
        await chosen(tenant)
    await providers_of.set(name="ours", kind="openai", key=KEY, default_for=["thinking"])
    assert (await chosen(tenant)).services.thinking.key == KEY


async def test_a_file_that_holds_no_key_is_named_and_not_overwritten(tenant: Tenant) -> None:
    file = tenant.services.settings.data / KEY_FILE
    file.write_text("no key\n")
    async with refusal(400, "invalid_field", "key") as found:
        await tenant.client.providers.set(name="ours", kind="openai", key=KEY)
    assert "holds no secrets key" in str(found[0])
    assert file.read_text() == "no key\n"


@pytest.mark.requirement("PROVIDER-08")
async def test_a_stored_key_is_read_for_its_own_provider_alone(tenant: Tenant, other: Tenant) -> None:
    """Whoever can write into the database cannot have one organization talk with another's key."""
    for one, name in ((tenant, "ours"), (tenant, "mine"), (other, "ours")):
        await one.client.providers.set(name=name, kind="openai", key=KEY, default_for=["hearing"])

    def key_of(connection: Connection, org_id: str, name: str) -> str:
        mine = (providers.c.org_id == org_id) & (providers.c.name == name)
        return connection.execute(select(providers.c.encrypted_key).where(mine)).scalar_one()

    def swap(connection: Connection, stored: str) -> None:
        mine = (providers.c.org_id == tenant.org_id) & (providers.c.name == "mine")
        connection.execute(update(providers).where(mine).values(encrypted_key=stored))

    for org_id, name in ((other.org_id, "ours"), (tenant.org_id, "ours")):
        await tenant.database.write(swap, await tenant.database.read(key_of, org_id, name))
        with pytest.raises(ProviderUnusable, match="stored for something else"):
            await chosen(tenant)


def test_a_start_does_not_load_the_cipher() -> None:
    code = "import sys, callwright.service.app, callwright.server.mcp.app; print('cryptography.fernet' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"
