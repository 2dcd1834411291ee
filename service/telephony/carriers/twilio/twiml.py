"""What Twilio is told to do with a call, in its markup (Twilio, "TwiML for Programmable Voice")."""

from xml.sax.saxutils import escape, quoteattr

KEY_S = 10
"""Seconds in which a person presses the key, each time."""
_LONGEST_SAID = 3_000
"""Characters of one text. Twilio says 4,096 at most."""


def response(*verbs: str) -> str:
    """A document of instructions."""
    return f'<?xml version="1.0" encoding="UTF-8"?><Response>{"".join(verbs)}</Response>'


HANG_UP = "<Hangup/>"
BUSY, REJECTED = '<Reject reason="busy"/>', "<Reject/>"
"""Refuse a call that comes in before it is answered, so that it costs nothing: as busy, and as not in service."""


def say(text: str, language: str) -> str:
    """Says a text, with a voice of Twilio."""
    return f"<Say language={quoteattr(language)}>{escape(text[:_LONGEST_SAID])}</Say>"


def stream(url: str) -> str:
    """Brings the sound to a websocket, and takes it from there."""
    return f"<Connect><Stream url={quoteattr(url)}/></Connect>"


def go_on(url: str) -> str:
    """Asks there what to do next."""
    return f'<Redirect method="POST">{escape(url)}</Redirect>'


def ask_for_key(url: str, text: str, language: str) -> str:
    """Says a text and waits for one key, which is told there; goes on without one."""
    waits = f'<Gather input="dtmf" numDigits="1" finishOnKey="" timeout="{KEY_S}" method="POST"'
    return f"{waits} action={quoteattr(url)}>{say(text, language)}</Gather>"


def meet(room: str) -> str:
    """Joins the others in a room. Whoever leaves it ends it. Who is there first hears nothing."""
    how = 'beep="false" startConferenceOnEnter="true" endConferenceOnExit="true" waitUrl="" maxParticipants="2"'
    return f"<Dial><Conference {how}>{escape(room)}</Conference></Dial>"


def dial(to: str, *, from_: str, ring_timeout: str, told_url: str, then_url: str) -> str:
    """Calls a number and joins the two. How the called one stands is told at `told_url`; what to do after it is asked
    at `then_url`."""
    how = f'callerId={quoteattr(from_)} timeout="{ring_timeout}" action={quoteattr(then_url)} method="POST"'
    told = f'statusCallback={quoteattr(told_url)} statusCallbackMethod="POST"'
    events = 'statusCallbackEvent="initiated ringing answered completed"'
    return f"<Dial {how}><Number {told} {events}>{escape(to)}</Number></Dial>"
