"""Explains why an event did or did not arrive at a subscription. No text of an endpoint's answer is quoted."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from callwright.contract.attempts import AttemptOutcome
from callwright.contract.checks.counts import first_of
from callwright.contract.event_log import Arrival
from callwright.contract.events import EVERY, WEBHOOK_DISABLED, WEBHOOK_TEST
from callwright.service.platform.clock.clock import instant_or_none

MOST_NAMED = 5
"""Names of events that a sentence lists."""
SOON = "Look again in some seconds."
_REPLAY = "replay the event"
_TEST = "send another test"
_ENABLE = "enable the subscription"
_DISABLED: dict[str, str] = {
    "manual": "somebody disabled it",
    "consecutive_failures": "it was disabled because too many events in a row had failed",
    "endpoint_gone": "it was disabled because its endpoint had answered 410, which means that it is gone for good",
}
_FAILED: dict[AttemptOutcome, str] = {
    "timeout": "the endpoint did not answer in time",
    "dns_failed": "the name of the host could not be looked up",
    "forbidden_address": "the host leads to an address to which nothing is sent",
    "connection_failed": "no connection to the endpoint could be made",
    "tls_failed": "no secure connection to the endpoint could be made",
    "bad_answer": "the endpoint's answer was no answer in HTTP",
}
_REPAIR: dict[AttemptOutcome, str] = {
    "redirected": "set the URL of the subscription to where it redirects to, which the attempt in the log names",
    "server_error": "repair what failed, which the endpoint's own log says",
    "timeout": "let the endpoint answer 2xx within 5 seconds and do slow work afterwards",
    "dns_failed": "correct the host in the URL of the subscription, or its entry in the DNS",
    "forbidden_address": "give the subscription a URL whose host has a public address",
    "connection_failed": "see that the endpoint runs and lets connections from the internet in",
    "tls_failed": "give the endpoint a certificate that is valid for its host, with all between it and the root",
    "bad_answer": "let the endpoint answer in HTTP, with a 2xx status",
}
_REFUSED: dict[int, str] = {
    401: "see that the endpoint checks signatures with the secret of this subscription, and asks for nothing else",
    404: "correct the path in the URL of the subscription, or make the endpoint there",
    405: "let the endpoint take POST, or correct the path in the URL of the subscription",
    410: "bring the endpoint back, or give the subscription another URL",
    413: "let the endpoint take bodies of 20 KB",
    429: "let the endpoint take more events at a time",
}
_REFUSED[403] = _REFUSED[401]
_ACCEPT = "let the endpoint answer 2xx to this event"


@dataclass(frozen=True)
class ArrivalExplanation:
    """Whether an event arrived at a subscription, why, and what to do next; empty if there is nothing to do."""

    arrival: Arrival
    explanation: str
    next_step: str


def of_delivery(
    webhook: Row[Any], delivery: Row[Any], last: Row[Any] | None, *, arrived_ms: int | None
) -> ArrivalExplanation:
    """Explains a delivery. `last` is its latest attempt; `arrived_ms` is when an earlier delivery arrived."""
    if delivery.attempt_started_at is not None and delivery.status in ("missed", "cancelled"):
        ended = "disabled" if delivery.status == "missed" else "deleted"
        why = f"{_under_way(delivery)} It is not sent again by itself, because the subscription was {ended} meanwhile."
        return ArrivalExplanation(delivery.status, why, SOON)
    words = _OF_STATUS[delivery.status](webhook, delivery, last)
    if words.arrival in ("arrived", "cancelled"):
        return words
    explanation, next_step = words.explanation, words.next_step
    if webhook.deleted_at is not None:
        explanation += f" The subscription was deleted at {_at(webhook.deleted_at)}."
    if arrived_ms is not None:
        explanation, next_step = f"{explanation} An earlier delivery arrived at {_at(arrived_ms)}.", ""
    return ArrivalExplanation(words.arrival, explanation, next_step)


def without_delivery(webhook: Row[Any], event: Row[Any]) -> ArrivalExplanation:
    """Explains why there is no delivery."""
    if event.type == WEBHOOK_TEST.name and event.subject_id != webhook.id:
        return ArrivalExplanation("not_subscribed", "A test goes to the subscription that is tested alone.", "")
    if event.type == WEBHOOK_DISABLED.name and event.subject_id == webhook.id:
        return ArrivalExplanation("not_subscribed", "It is about this subscription, and so goes to the other ones.", "")
    wanted: list[str] = json.loads(webhook.events)
    if not {EVERY, event.type} & set(wanted):
        add = f"add {event.type} to the events of the subscription"
        return ArrivalExplanation(
            "not_subscribed", f"It wants {_names(wanted)}, not {event.type}.", _again(webhook, add)
        )
    if event.fanned_out_at is None:
        return ArrivalExplanation("waiting", "The event is about to be queued for its subscriptions.", SOON)
    if webhook.created_at >= event.fanned_out_at:
        made = f"The subscription was made at {_at(webhook.created_at)}, after the event."
        return ArrivalExplanation("subscribed_later", made, _again(webhook))
    return ArrivalExplanation(
        "not_subscribed", f"It did not want {event.type} when it happened; now it does.", _again(webhook)
    )


def _arrived(webhook: Row[Any], delivery: Row[Any], last: Row[Any] | None) -> ArrivalExplanation:
    replayed = " when it was replayed" if delivery.cause == "replay" else ""
    answer = f"The endpoint answered {delivery.last_response_status}"
    return ArrivalExplanation(
        "arrived",
        f"Arrived at {_at(delivery.finished_at)}{replayed}, at attempt {delivery.attempt_count}. "
        f"{answer}; what it did with it is in its own log.",
        "",
    )


def _under_way(delivery: Row[Any]) -> str:
    begun = _at(delivery.attempt_started_at)
    return f"Attempt {delivery.attempt_count + 1} is under way since {begun}."


def _waiting(webhook: Row[Any], delivery: Row[Any], last: Row[Any] | None) -> ArrivalExplanation:
    tried = f"{_tried(last)} " if last is not None else ""
    if delivery.attempt_started_at is not None:
        return ArrivalExplanation("waiting", f"{tried}{_under_way(delivery)}", SOON)
    due = _at(delivery.next_attempt_at)
    if last is None:
        return ArrivalExplanation(
            "waiting", f"It is queued and was not sent yet; the first attempt is due at {due}.", SOON
        )
    fix = _repair(last)
    step = f"{_sentence(fix)} It is sent again by itself." if fix else SOON
    return ArrivalExplanation("waiting", f"{tried}The next attempt is due at {due}.", step)


def _failed(webhook: Row[Any], delivery: Row[Any], last: Row[Any] | None) -> ArrivalExplanation:
    if last is None:  # the log of attempts was cut off before the delivery
        return ArrivalExplanation(
            "failed", "It failed; its attempts are not in the log any more.", _again(webhook, delivery=delivery)
        )
    many = delivery.attempt_count > 1
    why = f"None of {delivery.attempt_count} attempts arrived. {_tried(last)}" if many else _tried(last)
    if last.outcome in ("rejected", "redirected", "forbidden_address"):
        why += " This is not tried again."
    if last.url != webhook.url:
        return ArrivalExplanation(
            "failed", f"{why} That was at {last.url}; the URL was changed since.", _again(webhook, delivery=delivery)
        )
    return ArrivalExplanation("failed", why, _again(webhook, _repair(last), delivery=delivery))


def _missed(webhook: Row[Any], delivery: Row[Any], last: Row[Any] | None) -> ArrivalExplanation:
    tried = f"{_tried(last)} Then the subscription was disabled." if last is not None else None
    if webhook.status == "active":
        why = tried or "The subscription was disabled when the event happened, so nothing was sent."
        return ArrivalExplanation(
            "missed", f"{why} It is enabled again since {_at(webhook.enabled_at)}.", _again(webhook, delivery=delivery)
        )
    reason = _DISABLED.get(webhook.disabled_reason or "", "it was disabled")
    since = f"It is disabled since {_at(webhook.disabled_at)}: {reason}."
    fix = "" if webhook.disabled_reason == "manual" else "repair the endpoint"
    return ArrivalExplanation(
        "missed", f"{tried or 'Nothing was sent.'} {since}", _again(webhook, fix, delivery=delivery, many=True)
    )


def _cancelled(webhook: Row[Any], delivery: Row[Any], last: Row[Any] | None) -> ArrivalExplanation:
    tried = f"{_tried(last)} " if last is not None else ""
    when = f" at {_at(webhook.deleted_at)}" if webhook.deleted_at is not None else ""
    why = f"{tried}It was not sent any more, because the subscription was deleted{when}."
    return ArrivalExplanation("cancelled", why, _again(webhook, delivery=delivery))


_OF_STATUS = {"succeeded": _arrived, "pending": _waiting, "failed": _failed, "missed": _missed, "cancelled": _cancelled}


def _tried(last: Row[Any]) -> str:
    """The result of an attempt, as a sentence."""
    if last.outcome == "interrupted":
        stopped = "was interrupted, because the service was stopped; the event may have arrived"
        return f"Attempt {last.number} at {_at(last.started_at)} {stopped}."
    return f"Attempt {last.number} at {_at(last.started_at)} did not arrive: {_cause(last)}."


def _cause(last: Row[Any]) -> str:
    status = last.response_status
    if last.outcome == "redirected":
        return f"the endpoint answered {status}, which leads elsewhere, and redirects are not followed"
    if status is not None:
        return f"the endpoint answered {status}"
    return last.detail.rstrip(".") if last.detail else _FAILED.get(last.outcome, "it failed")


def _repair(last: Row[Any]) -> str:
    """What to repair; empty if there is nothing."""
    if last.outcome == "rejected":
        return _REFUSED.get(last.response_status, _ACCEPT)
    return _REPAIR.get(last.outcome, "")


def _again(webhook: Row[Any], *first: str, delivery: Row[Any] | None = None, many: bool = False) -> str:
    """The steps to have the event sent again. A test is not replayed; another test is sent."""
    is_test = delivery is not None and delivery.event_type == WEBHOOK_TEST.name
    replay = _TEST if is_test else f"{_REPLAY}, or all that was missed" if many else _REPLAY
    if webhook.deleted_at is not None:
        return _sentence(f"create another subscription, then {replay}")
    steps = [step for step in first if step]
    if webhook.status != "active":
        steps.append(_ENABLE)
    return _sentence(", then ".join([*steps, replay]))


def _names(events: list[str]) -> str:
    return first_of(events, MOST_NAMED)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _at(ms: int) -> str:
    return instant_or_none(ms) or "an unknown moment"
