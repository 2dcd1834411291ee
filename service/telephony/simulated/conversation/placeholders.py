"""Placeholders for the simulated conversation, which reads only names of letters, digits and `_` in its sentences."""

from dataclasses import replace

from callwright.service.rules.templates import is_plain, numbered, values_of, variables_in
from callwright.service.telephony.engine import CallRequest


def with_plain_placeholders(request: CallRequest) -> CallRequest:
    """The request with every placeholder under a plain name, and with its value; the same one where all are plain.

    A placeholder may be the name of a column as people write it, with blanks and marks, and have a default.
    """
    agent, voicemail, columns = request.agent, request.voicemail, request.variables
    if all(
        is_plain(template) and all(name in columns for name in variables_in(template))
        for template in (agent.welcome_message, agent.system_prompt, voicemail.message)
    ):
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
