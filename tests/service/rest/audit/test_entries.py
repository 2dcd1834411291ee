"""What a write leaves in the audit log, seen through the typed client and by hand."""

import hashlib
import json
from typing import Any

import pytest
from sqlalchemy import select

from callwright.client import Client
from callwright.contract.declaration.operation import OPERATIONS
from callwright.service.rest.audit.recorded_values import BEGINNING, LONG_TEXT, MOST_BYTES
from callwright.service.tables.schema import api_keys, audit_log, transcripts
from tests.support.calls.held_calls import held_call
from tests.support.calls.stored_calls import put_call
from tests.support.campaigns import run
from tests.support.http.raw_requests import AsyncClient
from tests.support.resources import agent, audience, draft, number, row
from tests.support.reviews import open_review
from tests.support.service import OWNED, Tenant
from tests.support.tasks import tasks_within

SECRETS = ("whsec_a1b2c3marked", "svc_live_a1b2c3marked", "svc_mcp_a1b2c3marked")
CONTACT = "+12125550187"
PRIVATE = "MARKED words of a person"


async def entries(tenant: Tenant, action: str | None = None) -> list[Any]:
    statement = select(audit_log).where(audit_log.c.org_id == tenant.org_id).order_by(audit_log.c.at, audit_log.c.id)
    if action is not None:
        statement = statement.where(audit_log.c.action == action)
    return await tenant.database.read(lambda connection: list(connection.execute(statement).all()))


async def changes(tenant: Tenant, action: str) -> dict[str, Any]:
    """The changes of the only entry of an action."""
    (entry,) = await entries(tenant, action)
    return json.loads(entry.changes)


@pytest.mark.requirement("AUTH-44")
async def test_a_change_is_kept_with_each_field_before_and_after(tenant: Tenant, http: AsyncClient) -> None:
    made = await agent(tenant, metadata={"team": "a"})
    body = {"name": "Eve", "language": "en-US", "metadata": {"team": "b"}}
    answer = await http.patch(f"/v1/agents/{made.id}", json=body, headers={"X-Callwright-Tool": "update_agent"})
    (entry,) = await entries(tenant, "update_agent")
    key = select(api_keys.c.id).where(api_keys.c.org_id == tenant.org_id)
    assert entry.actor == await tenant.database.read(lambda c: c.execute(key).scalar_one())
    assert (entry.subject, entry.tool) == (made.id, "update_agent")
    assert entry.request_id == answer.headers["x-request-id"]
    assert json.loads(entry.changes) == {
        "metadata": {"before": {"team": "a"}, "after": {"team": "b"}},
        "name": {"before": "Ada", "after": "Eve"},
    }


@pytest.mark.requirement("AUTH-23")
async def test_a_change_that_changes_nothing_is_an_entry_without_changes(tenant: Tenant) -> None:
    made = await agent(tenant)
    await tenant.client.agents.update(id=made.id, name="Ada")
    assert await changes(tenant, "update_agent") == {}


async def test_a_provider_that_is_set_anew_is_kept_with_what_fell_away_by_being_left_out(tenant: Tenant) -> None:
    providers, key = tenant.client.providers, "sk-thisIsTheKeyOfTheTests-9f3a"
    await providers.set(name="mind", kind="openai", key=key, roles=["thinking"], model="a", default_for=["thinking"])
    await providers.set(name="mind", kind="openai", key=key, roles=["thinking"], model="b")
    first, second = [json.loads(entry.changes) for entry in await entries(tenant, "set_provider")]
    assert first["default_for"] == {"after": ["thinking"]}
    assert second == {
        "default_for": {"before": ["thinking"], "after": []},
        "key": {"after": "(secret)"},
        "model": {"before": "a", "after": "b"},
    }


async def test_a_value_that_is_cleared_is_null_afterwards(tenant: Tenant, http: AsyncClient) -> None:
    made = await draft(tenant, budget_cap={"amount": "25.00"})
    path = f"/v1/deployments/{made.deployment.id}"
    assert (await http.patch(path, json={"budget_cap": None})).status_code == 200
    cap = {"amount": "25.000000", "currency": "USD"}
    assert await changes(tenant, "update_deployment") == {"budget_cap": {"before": cap, "after": None}}


@pytest.mark.requirement("AUTH-44")
async def test_an_action_is_kept_as_what_it_changed(tenant: Tenant) -> None:
    deployment_id = (await draft(tenant)).deployment.id
    for act in ("start", "pause", "resume", "cancel"):
        await getattr(tenant.client.deployments, act)(id=deployment_id)
    kept = {act: await changes(tenant, f"{act}_deployment") for act in ("start", "pause", "resume", "cancel")}
    assert kept["start"].pop("started_at")["before"] is None
    assert kept["cancel"].pop("completed_at")["before"] is None
    assert kept == {
        "start": {"status": {"before": "draft", "after": "active"}},
        "pause": {
            "status": {"before": "active", "after": "paused"},
            "status_reason": {"before": None, "after": "manual"},
        },
        "resume": {
            "status": {"before": "paused", "after": "active"},
            "status_reason": {"before": "manual", "after": None},
        },
        "cancel": {
            "status": {"before": "active", "after": "cancelled"},
            "status_reason": {"before": None, "after": "manual"},
        },
    }


@pytest.mark.requirement("AUTH-44")
async def test_a_creation_is_kept_with_the_fields_that_were_sent(tenant: Tenant) -> None:
    made = await agent(tenant, system_prompt="Say hello.")
    (entry,) = await entries(tenant, "create_agent")
    assert entry.subject == made.id
    assert json.loads(entry.changes) == {
        "language": {"after": "en-US"},
        "name": {"after": "Ada"},
        "system_prompt": {"after": "Say hello."},
        "voice_id": {"after": "en-US-ada"},
    }
    campaign = await draft(tenant, auto_start=True)
    kept = await changes(tenant, "create_deployment")
    assert (kept["auto_start"], kept["status"]) == ({"after": True}, {"after": "active"})
    assert kept["phone_number_ids"] == {"after": [campaign.number.id]}


@pytest.mark.requirement("AUTH-44")
async def test_a_deletion_is_kept_with_what_was_there(tenant: Tenant) -> None:
    people = await audience(tenant, "People", rows=[row(1), row(2)])
    await tenant.client.audiences.delete(id=people.id)
    kept = await changes(tenant, "delete_audience")
    assert kept["name"] == {"before": "People"}
    assert kept["valid_count"] == {"before": 2}
    assert {tuple(side) for side in kept.values()} == {("before",)}
    assert {"updated_at", "columns", "metadata", "description"}.isdisjoint(kept)


async def test_a_number_that_is_given_back_stays_with_its_new_state(tenant: Tenant) -> None:
    rented = await number(tenant)
    await tenant.client.phone_numbers.release(id=rented.id)
    kept = await changes(tenant, "release_phone_number")
    assert kept["status"] == {"before": "active", "after": "released"}
    assert set(kept) == {"status", "renews_at", "released_at"}


async def test_rows_are_kept_as_counts_alone(tenant: Tenant) -> None:
    people = await audience(tenant, rows=[row(1), row(2)])
    assert (await changes(tenant, "create_audience"))["rows"] == {"after": {"count": 2}}
    await tenant.client.audiences.add_rows(id=people.id, rows=[row(2), row(3), {"phone_number": "none"}])
    assert await changes(tenant, "add_audience_rows") == {
        "rows": {"after": {"count": 3}},
        "received": {"after": 3},
        "added": {"after": 1},
        "invalid": {"after": 1},
        "duplicates": {"after": 1},
    }
    csv = "phone_number,first_name\n+12125550100,Ada\n"
    importing = await tenant.client.audiences.import_csv(id=people.id, csv=csv)
    (entry,) = await entries(tenant, "import_audience")
    assert entry.subject == people.id
    assert json.loads(entry.changes) == {
        "csv": {"after": {"characters": len(csv)}},
        "id": {"after": importing.id},
        "status": {"after": "pending"},
    }


async def test_a_long_text_is_kept_by_its_length_its_digest_and_its_beginning(tenant: Tenant) -> None:
    whole, long = "a" * LONG_TEXT, "Zoë " * 2_000
    made = await agent(tenant, system_prompt=whole)
    await tenant.client.agents.update(id=made.id, system_prompt=long)
    kept = await changes(tenant, "update_agent")
    digest = hashlib.sha256(long.encode()).hexdigest()
    short = {"characters": len(long), "sha256": digest, "begins": long[:BEGINNING]}
    assert kept == {"system_prompt": {"before": whole, "after": short}}


async def test_changes_that_take_too_much_room_are_kept_by_name(tenant: Tenant) -> None:
    notes = {f"note {index}": "x" * 500 for index in range(50)}
    made = await agent(tenant)
    await tenant.client.agents.update(id=made.id, name="Eve", metadata=notes)
    (entry,) = await entries(tenant, "update_agent")
    assert json.loads(entry.changes) == {"fields": ["metadata", "name"], "too_long": True}
    assert len(entry.changes) < MOST_BYTES


async def test_changes_at_the_same_time_are_each_kept_with_what_was_there_just_before(tenant: Tenant) -> None:
    made = await agent(tenant, "agent 0")
    async with tasks_within(30) as tasks:
        for index in range(1, 17):
            tasks.start_soon(rename, tenant.client, made.id, f"agent {index}")
    kept = [json.loads(entry.changes) for entry in await entries(tenant, "update_agent")]
    assert [set(change) for change in kept] == [{"name"}] * 16
    after = {change["name"]["before"]: change["name"]["after"] for change in kept}
    name, seen = "agent 0", 0
    while name in after:
        name, seen = after[name], seen + 1
    assert (name, seen) == ((await tenant.client.agents.get(id=made.id)).name, 16)


async def rename(client: Client, agent_id: str, name: str) -> None:
    await client.agents.update(id=agent_id, name=name)


async def write_everything(tenant: Tenant, http: AsyncClient) -> set[str]:
    """Every operation that writes, once at least, with secrets, numbers and private words wherever they fit."""
    secret = " and ".join(SECRETS)
    notes = {"secret": "hunter2", "api_key": "hunter2", SECRETS[0]: SECRETS[1], "call": f"ring {CONTACT} or {secret}"}
    words: dict[str, Any] = {"name": f"{SECRETS[0]} {CONTACT}", "metadata": notes}
    people = {**row(), "phone_number": CONTACT, "first_name": PRIVATE, PRIVATE: PRIVATE}
    csv = f"phone_number,first_name\n{CONTACT},{PRIVATE}\n"
    speaker: dict[str, Any] = {"voice_id": "en-US-ada", "language": "en-US"}
    rented: dict[str, Any] = {"country": "US", "label": secret, "metadata": notes}
    done: set[str] = set()

    async def does(operation: str, path: str = "", **body: Any) -> dict[str, Any]:
        promised = OPERATIONS[operation]
        where = path or promised.path
        sent = None if promised.method == "DELETE" else body
        answer = await http.request(promised.method, f"/v1{where}", json=sent)
        assert answer.status_code == promised.status, answer.text
        done.add(promised.audited_as or operation)
        return answer.json()["data"] if answer.content else {}

    prompt = f"Ring {CONTACT} with {secret}. {PRIVATE[6:]}"
    made = await does("create_agent", **words, **speaker, system_prompt=prompt, welcome_message=secret)
    at = f"/agents/{made['id']}"
    await does("update_agent", at, name=f"Eve {secret}", system_prompt=prompt * 40, metadata={CONTACT: CONTACT})
    asks = {"type": "http", "name": "free_times", "description": prompt[:200], "url": "https://example.com/free"}
    await does("set_call_tools", f"{at}/call-tools", call_tools=[asks | {"secret_headers": ["Authorization"]}])
    kept = {"tool": "free_times", "header": "Authorization", "value": secret}
    await does("set_call_tool_secret", f"{at}/call-tool-secrets", **kept)
    spare = await does("create_agent", **{**words, "name": "spare"}, **speaker, system_prompt=prompt * 40)
    await does("delete_agent", f"/agents/{spare['id']}")
    listed = await does("create_audience", **words, description=prompt, rows=[people])
    at = f"/audiences/{listed['id']}"
    await does("update_audience", at, description=f"{CONTACT} {secret}", metadata=notes)
    await does("add_audience_rows", f"{at}/rows", rows=[people, {**people, "phone_number": "+12125550188"}])
    spare = await does("create_audience", **{**words, "name": "spare"}, rows=[people])
    await does("import_audience", f"/audiences/{spare['id']}/imports", csv=csv)
    await does("delete_audience", f"/audiences/{spare['id']}")
    calls_from, called, spare = [await does("rent_phone_number", **rented) for _ in range(3)]
    await does("update_phone_number", f"/phone_numbers/{calls_from['id']}", label=prompt[:200], metadata=notes)
    routing = f"/phone_numbers/{called['id']}/inbound_routing"
    away = {"action": "forward", "forward_to": CONTACT}
    await does("set_inbound_routing", routing, url=f"https://hooks.invalid/{SECRETS[0]}", fallback=away)
    await does("test_inbound_routing", f"{routing}/test")
    await does("remove_inbound_routing", routing)
    await does("import_phone_number", number=OWNED[0], label=secret, metadata=notes)
    await does("talk_to_agent", f"/agents/{made['id']}/talk", variables={PRIVATE: PRIVATE})
    await does("release_phone_number", f"/phone_numbers/{spare['id']}")
    parts: dict[str, Any] = {
        "agent_id": made["id"],
        "audience_id": listed["id"],
        "phone_number_ids": [calls_from["id"]],
    }
    campaign = await does("create_deployment", **words, **parts)
    at = f"/deployments/{campaign['id']}"
    await does("update_deployment", at, name=f"Ring {secret}", metadata={"token": "hunter2"})
    for act in ("start", "pause", "resume", "cancel"):
        await does(f"{act}_deployment", f"{at}/{act}")
    single = {"agent_id": made["id"], "phone_number_id": calls_from["id"], "to": CONTACT}
    await does("place_call", **single, variables={"first_name": PRIVATE, PRIVATE: PRIVATE})
    spare = await does("clone_deployment", f"{at}/clone", name="spare")
    await does("delete_deployment", f"/deployments/{spare['id']}")
    bound: dict[str, Any] = {
        "agent_id": made["id"],
        "phone_number_id": called["id"],
        "after_hours": away,
        "overflow": away,
    }
    signing = f"{SECRETS[0]}{'x' * 20}"
    provider = "/providers/ours"
    await does(
        "set_provider", provider, kind="openai", key="sk-hunter2-a1b2c3marked", url=f"https://example.com/{signing}"
    )
    await does("remove_provider", provider)
    await does("create_inbound_deployment", **{**words, "name": "in"}, **bound)
    await does("simulate_inbound_call", f"/phone_numbers/{called['id']}/simulated_callers", caller=CONTACT)
    await does("talk_to_number", f"/phone_numbers/{called['id']}/talk", caller=CONTACT)
    address: dict[str, Any] = {"url": f"https://example.com/{signing}", "description": prompt, "metadata": notes}
    hook = await does("create_webhook", **address, events=["*"], secret=signing)
    at = f"/webhooks/{hook['id']}"
    await does("update_webhook", at, description=f"{CONTACT} {secret}", url=f"https://example.org/{signing}")
    await does("rotate_webhook_secret", f"{at}/rotate_secret", secret=f"{signing}y")
    tried = await does("test_webhook", f"{at}/test")
    await does("replay_webhook", f"{at}/replay")
    await does("replay_event", f"/events/{tried['event_id']}/replay", webhook_id=hook["id"])
    await does("update_wallet", "/wallet", low_balance_threshold={"amount": "20.00"})
    await does("delete_webhook", at)
    spoken: dict[str, Any] = {
        "to_number": CONTACT,
        "variables": json.dumps(people),
        "unanswered_questions": '["MARKED"]',
    }
    listed = await does("add_do_not_call", entries=[{"number": CONTACT, "note": f"{PRIVATE} {secret}"}])
    await does("import_do_not_call", csv=f"number,note\n+12125550188,{PRIVATE}\n")
    await does("remove_do_not_call", f"/do_not_call/{listed['entries'][0]['id']}")
    review = await open_review(tenant, campaign["id"])
    await does("decide_compliance_review", f"/compliance_reviews/{review}/decide", decision="approve", note="Seen.")
    question = {
        "tool": "start_deployment",
        "about": "0" * 64,
        "mark": "0" * 8,
        "question": f"Call {CONTACT} {PRIVATE}.",
    }
    await does("ask_confirmation", "/confirmations", **question)
    await does("export_person", "/people/export", number=CONTACT)
    await does("delete_person", "/people/delete", number=CONTACT, confirm=True)
    call_id = await put_call(tenant, ended_at=None, status="in_progress", outcome=None, **spoken)
    await does("hang_up_call", f"/calls/{call_id}/hangup")
    await does("resolve_call", f"/calls/{await held_call(tenant, campaign['id'])}/resolve", placed=True)
    judged: dict[str, Any] = {"disposition": "not_interested", "note": f"{PRIVATE} {secret}"}
    await does("correct_disposition", f"/calls/{await put_call(tenant, **spoken)}/disposition", **judged)
    return done


@pytest.mark.requirement("AUTH-45")
@pytest.mark.service(extra_dollars=100)
async def test_no_secret_no_number_of_others_and_nothing_private_is_ever_kept(
    tenant: Tenant, http: AsyncClient
) -> None:
    done = await write_everything(tenant, http)
    written = "\n".join(repr(tuple(entry)) for entry in await entries(tenant))
    kept = {entry.action for entry in await entries(tenant)}
    assert done == {operation.audited_as or name for name, operation in OPERATIONS.items() if operation.writes}
    assert done <= kept
    for marked in ("a1b2c3marked", "hunter2", CONTACT, CONTACT[1:], "2125550188", "MARKED", tenant.api_key):
        assert marked not in written
    assert "(secret)" in written
    assert "+12•" in written


@pytest.mark.requirement("AUTH-45")
@pytest.mark.service(workers=True)
async def test_a_campaign_leaves_no_number_of_a_contact_and_no_spoken_word(tenant: Tenant) -> None:
    people = [{"phone_number": f"+1415555{1000 + index}", "first_name": f"Zebulon{index}"} for index in range(8)]
    await run(tenant, people)
    read = tenant.database.read
    talks = await read(lambda connection: connection.execute(select(transcripts.c.turns)).scalars().all())
    written = "\n".join(repr(tuple(entry)) for entry in await entries(tenant))
    prompts = await changes(tenant, "create_agent")
    said = {turn["text"] for talk in talks for turn in json.loads(talk)}
    assert len(said) > 8
    config = json.dumps(prompts)
    assert not [text for text in said if text in written and text not in config]
    assert "Zebulon" not in written
    assert not [person for person in people if person["phone_number"][2:] in written]


async def test_the_number_that_an_organization_rents_is_its_own_and_stands_whole(
    tenant: Tenant, http: AsyncClient
) -> None:
    found = (await http.get("/v1/phone_numbers/available?filter[country]=US")).json()["data"][0]["number"]
    rented = await tenant.client.phone_numbers.rent(country="US", number=found)
    assert (await changes(tenant, "rent_phone_number"))["number"] == {"after": rented.number}
