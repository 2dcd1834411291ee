"""Warnings about a call that follow from its request, whatever happens on it."""

from collections.abc import Iterator

from callwright.service.rules.templates import placeholders_in, values_of
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.simulated.conversation.persona import Persona
from callwright.service.telephony.simulated.conversation.phrases import bank_of
from callwright.service.telephony.simulated.steering import Steering


def warnings_of(request: CallRequest, steering: Steering) -> Iterator[str]:
    """Steering that is not understood, and variables without a value."""
    yield from steering.problems
    agent, variables = request.agent, request.variables
    has_come_in = request.answering is not None
    templates = [agent.welcome_message, agent.system_prompt]
    if not has_come_in and request.voicemail.detection and request.voicemail.action == "leave_message":
        templates.append(request.voicemail.message)
    missing: dict[str, None] = {}
    for template in templates:
        places = placeholders_in(template)
        values = values_of(places, variables) if places else ()
        for place, value in zip(places, values, strict=True):
            if value is None or (has_come_in and not value.strip()):
                missing[place.name] = None
    for name in missing:
        if has_come_in:
            yield f"The variable '{name}' has no value for this caller: what needs it is left out."
        else:
            yield f"The variable '{name}' has no value for this contact."


def language_warnings(persona: Persona, request: CallRequest) -> tuple[str, ...]:
    """A warning about a contact whose language has no phrases."""
    if persona.language == request.agent.language or bank_of(persona.language) is not None:
        return ()
    return (f"There are no phrases in '{persona.language}': the contact speaks English.",)
