"""The websocket by which Twilio brings the sound of a call: it is passed on to the media process that has the call."""

from collections.abc import MutableMapping
from typing import Any

from starlette.responses import Response
from starlette.websockets import WebSocket

from callwright.service.rest.lines.passing_on import passed_on
from callwright.service.services import Services
from callwright.service.telephony.carriers.twilio.account import MEDIA_PATH
from callwright.service.telephony.carriers.twilio.media_places import MediaPlaces
from callwright.service.telephony.legs import carrier_reports
from callwright.service.telephony.legs.leg_tokens import hash_of, is_call_id


class TwilioMedia:
    """Answers the websockets of calls. `places` is None if this process carries none."""

    def __init__(self, services: Services, places: MediaPlaces | None) -> None:
        self._services, self._places = services, places

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Answers one websocket: once for each call, to whoever has the token of its leg. Nothing else is here."""
        if scope["type"] != "websocket":
            await Response("Only the sound of calls comes here.\n", 404, media_type="text/plain")(scope, receive, send)
            return
        socket = WebSocket(scope, receive, send)
        path: str = scope["path"].removeprefix(scope.get("root_path", ""))
        call_id, _, token = path.removeprefix(MEDIA_PATH).partition("/")
        if self._places is None or not await self._is_open(call_id, token):
            await socket.close()  # before it is accepted: the answer is 403
            return
        place = self._places.take(call_id)
        if place is None:
            await socket.close()
            return
        await socket.accept()
        await passed_on(socket, place.port, place.token, call_id)

    async def _is_open(self, call_id: str, token: str) -> bool:
        read = self._services.database.read
        return is_call_id(call_id) and await read(carrier_reports.has_token, call_id, hash_of(token))
