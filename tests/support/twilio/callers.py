"""Somebody calls a number of the account that the imitation of Twilio is of."""

from xml.etree import ElementTree

from tests.support.twilio.imitation import PlacedCall, Twilio
from tests.support.twilio.instructions import perform
from tests.support.twilio.telephone import Telephone

ANONYMOUS = "+266696687"
"""What Twilio shows for a caller who withholds the number."""
_LONGEST_S = 14_400


def calls_in(twilio: Twilio, number: str, from_: str, telephone: Telephone, url: str) -> PlacedCall:
    """The number rings. What to do is asked at `url`; the telephone is over once the call is."""
    form = {"To": [number], "From": [from_], "Url": [url], "TimeLimit": [str(_LONGEST_S)]}
    call = twilio.add(form)
    call.status = "ringing"
    assert twilio.tasks is not None
    twilio.tasks.start_soon(_come_in, twilio, call, telephone)
    return call


async def _come_in(twilio: Twilio, call: PlacedCall, telephone: Telephone) -> None:
    try:
        form = twilio.form(call, "ringing") | {"Direction": "inbound"}
        call.requests.append(("incoming", form))
        answer = await twilio.post(call["Url"], form)
        call.twiml.append(answer.text)
        verbs = ElementTree.fromstring(answer.text) if answer.status_code == 200 else None
        if verbs is None or not len(verbs):
            call.status = "failed"
        elif verbs[0].tag == "Reject":
            call.status = "busy" if verbs[0].attrib.get("reason") == "busy" else "no-answer"
        else:
            call.status = "in-progress"
            await perform(twilio, call, telephone, answer.text)
            call.status = "completed"
    finally:
        telephone.is_over.set()
