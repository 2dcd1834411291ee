"""The imitated carrier as line hosts see it."""

import anyio
import httpx2 as httpx

from callwright.service.telephony.engine import CallRequest, CallResult
from callwright.service.telephony.legs.carrier import (
    Charge,
    Found,
    HangUpAsked,
    LegRequest,
    NotSent,
    Refused,
    ToldStage,
    Unknown,
)

REQUEST_S = 0.7
LOOK_S = 0.1


class HttpCarrier:
    """Places calls by one POST each, which is never repeated."""

    name = "imitation"
    lists_calls = True
    unheard_ends = False

    def __init__(self, url: str) -> None:
        self._http = httpx.AsyncClient(base_url=url, timeout=REQUEST_S, trust_env=False)
        self._placed: dict[str, str] = {}

    async def place(self, leg: LegRequest) -> str | None:
        leg.check_in_time()
        try:
            answer = await self._http.post("/calls", json={"to": leg.call.to})
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise NotSent("no connection") from error
        except httpx.HTTPError as error:
            raise Unknown(type(error).__name__) from error
        if answer.status_code >= 500:
            raise Unknown(str(answer.status_code))
        if answer.status_code >= 400:
            result = CallResult(
                call_id=leg.call.call_id, outcome="failed", hangup_cause="carrier_rejected", ended_by="carrier"
            )
            raise Refused(str(answer.status_code), result)
        return answer.json()["id"]

    async def ended(
        self, leg: LegRequest, provider_call_id: str | None, told: ToldStage, hang_up: HangUpAsked
    ) -> CallResult:
        while provider_call_id is not None:
            try:
                if hang_up.is_asked:
                    await self.hang_up(provider_call_id)
                if (await self._http.get(f"/calls/{provider_call_id}")).json()["is_over"]:
                    break
            except httpx.HTTPError:
                pass  # it is asked again
            await anyio.sleep(LOOK_S)
        return CallResult(call_id=leg.call.call_id, outcome="no_answer", hangup_cause="no_answer", ended_by="carrier")

    async def find(self, call: CallRequest, *, placing_ms: int) -> Found:
        try:
            ids = (await self._http.get("/calls", params={"to": call.to})).json()["ids"]
        except httpx.HTTPError:
            return Found("none")
        if len(ids) > 1:
            return Found("several")
        return Found("one", ids[0]) if ids else Found("none")

    async def hang_up(self, provider_call_id: str) -> None:
        (await self._http.delete(f"/calls/{provider_call_id}")).raise_for_status()

    async def charge_of(self, provider_call_id: str) -> Charge | None:
        return None
