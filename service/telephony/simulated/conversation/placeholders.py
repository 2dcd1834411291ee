"""Placeholders for the simulated conversation, which reads only names of letters, digits and `_` in its sentences."""

from dataclasses import replace
from functools import lru_cache

from callwright.service.rules.templates import is_plain, numbered, values_of, variables_in
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.simulated.conversation.unknown_values import without_unknown


def with_plain_placeholders(request: CallRequest) -> CallRequest:
    """The request with every placeholder under a plain name, and with its value; the same one where all are plain.

    A placeholder may be the name of a column as people write it, with blanks and marks, and have a default. Of a call
    that has come in, what needs a variable without a value is left out.
    """
    if request.answering is not None:
        request = _for_caller(request)
    agent, voicemail, columns = request.agent, request.voicemail, request.variables
    names = _names_if_plain(agent.welcome_message, agent.system_prompt, voicemail.message)
    if names is not None and names <= columns.keys():
        return request
    variables: dict[str, str] = {}
    texts: list[str] = []
    for prefix, template in (
        ("welcome", agent.welcome_message),
        ("prompt", agent.system_prompt),
        ("voicemail", voicemail.message),
    ):
        text, places = numbered(template, prefix)
        texts.append(text)
        values = enumerate(values_of(places, columns))
        variables.update((f"{prefix}{index}", value) for index, value in values if value is not None)
    welcome, prompt, message = texts
    return replace(
        request,
        agent=replace(agent, welcome_message=welcome, system_prompt=prompt),
        voicemail=replace(voicemail, message=message),
        variables=variables,
    )


def _for_caller(request: CallRequest) -> CallRequest:
    agent, columns = request.agent, request.variables
    welcome, prompt = (without_unknown(text, columns) for text in (agent.welcome_message, agent.system_prompt))
    if welcome == agent.welcome_message and prompt == agent.system_prompt:
        return request
    return replace(request, agent=replace(agent, welcome_message=welcome, system_prompt=prompt))


@lru_cache(maxsize=256)
def _names_if_plain(*templates: str) -> frozenset[str] | None:
    """The names in templates whose placeholders are all plain; None where one is not."""
    if not all(map(is_plain, templates)):
        return None
    return frozenset(name for template in templates for name in variables_in(template))
