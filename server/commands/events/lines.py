"""Formats events and their deliveries for a terminal, one line each."""

from rich.text import Text

from callwright.contract.event_log import Event
from callwright.contract.webhooks import Delivery
from callwright.server.commands.events.forwarding import EndpointAnswer

_TIME_WIDTH = 14
_TYPE_WIDTH = 29
"""The length of the longest type."""
_ID_WIDTH = 28


def event_line(event: Event, ending: Text | None = None) -> Text:
    """Time, type, subject, and whether it is simulated; at the end the result of sending it."""
    when = event.created_at[5:19].replace("T", " ")
    line = Text.assemble(
        (f"{plain(when, _TIME_WIDTH):<{_TIME_WIDTH}}  ", "dim"),
        (f"{plain(event.type, 60):<{_TYPE_WIDTH}} ", "cyan"),
        f"{plain(event.subject_id or event.id, 60):<{_ID_WIDTH}}",
        (" simulated" if event.simulated else "", "yellow"),
    )
    return line if ending is None else line.append("  ").append(ending)


def ending_of(answered: EndpointAnswer) -> Text:
    """The answer of an endpoint on this machine."""
    if answered.status is None:
        return Text(answered.failure, "red")
    good = 200 <= answered.status < 300
    return Text(f"{answered.status} in {answered.duration_ms} ms", "green" if good else "red")


def delivery_line(event: Event, delivery: Delivery, checked: str | None = None) -> Text:
    """The state of a delivery, for the line below its event. `checked` says whether its signatures match the secret."""
    words, style = _state(delivery)
    line = Text.assemble(
        (f"{'->':>{_TIME_WIDTH}}  ", "dim"),
        (f"{plain(event.type, 60):<{_TYPE_WIDTH}} ", "dim"),
        (f"{plain(event.subject_id or event.id, 60):<{_ID_WIDTH}} ", "dim"),
        (words, style),
    )
    if checked:
        line.append(f", {checked}", "green" if checked == "signature verified" else "red")
    return line


def _state(delivery: Delivery) -> tuple[str, str]:
    answered = "" if delivery.last_response_status is None else f" {delivery.last_response_status}"
    outcome = (delivery.last_outcome or "").replace("_", " ")
    attempt = f"attempt {delivery.attempt_count}"
    if delivery.status == "succeeded":
        return f"arrived{answered}, {attempt}", "green"
    if delivery.status == "pending":
        again = f", again at {delivery.next_attempt_at:%H:%M:%S}" if delivery.next_attempt_at else ""
        return f"{outcome}{answered}, {attempt}{again}", "yellow"
    if delivery.status == "failed":
        return f"{outcome}{answered}, {attempt}, not tried again", "red"
    return f"{delivery.status}: not sent", "red"


def plain(text: str, most: int) -> str:
    """Text of the service without control characters, which a terminal would execute; at most `most` characters."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text[:most])
