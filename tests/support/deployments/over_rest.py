"""A campaign over REST, in a service that runs as a process of its own."""

from typing import Any

import httpx2 as httpx

from tests.support.campaigns import people
from tests.support.processes.programs import START_S, Serving

PEOPLE = 40
EVERYBODY = sorted(person["phone_number"] for person in people(PEOPLE))
SLOWLY = {"CALLWRIGHT_SIM_TIME_SCALE": "30"}


def rest_client(service: Serving, key: str) -> httpx.Client:
    return httpx.Client(
        base_url=service.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=START_S, trust_env=False
    )


def data_of(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()["data"]


def start_campaign(http: httpx.Client, name: str = "Reminders", **more: object) -> str:
    """The id of a campaign that runs, or waits for its moment."""
    voice = data_of(http.get("/voices", params={"per_page": 1}))[0]["id"]
    agent = data_of(
        http.post("/agents", json={"name": name, "voice_id": voice, "language": "en-US", "system_prompt": "Hello."})
    )
    rows = people(PEOPLE, sim_outcome="answered", sim_intent="yes")
    audience = data_of(http.post("/audiences", json={"name": name, "rows": rows}))
    number = data_of(http.post("/phone_numbers", json={"country": "US"}))
    parts = {"agent_id": agent["id"], "audience_id": audience["id"], "phone_number_ids": [number["id"]]}
    pace = {"max_concurrency": 3, "calls_per_second": 2.0}
    deployment = data_of(http.post("/deployments", json={"name": name, **parts, **pace, **more}))
    data_of(http.post(f"/deployments/{deployment['id']}/start"))
    return deployment["id"]


def state_of(http: httpx.Client, deployment_id: str) -> tuple[str, str | None]:
    found = data_of(http.get(f"/deployments/{deployment_id}"))
    return found["status"], found["status_reason"]


def attempts_of(http: httpx.Client, deployment_id: str) -> int:
    return int(data_of(http.get(f"/deployments/{deployment_id}"))["stats"]["attempts"])


def rung_of(http: httpx.Client, deployment_id: str) -> list[str]:
    """The numbers that rang, once for each time. One that was claimed and not dialled before a stop fails instead."""
    found = data_of(http.get("/calls", params={"filter[deployment_id]": deployment_id, "per_page": 100}))
    return sorted(call["to"] for call in found if call["hangup_cause"] != "platform_error")


def health_of(service: Serving) -> tuple[int, Any]:
    answer = httpx.get(f"{service.root}/healthz", timeout=START_S, trust_env=False)
    return answer.status_code, answer.json()
