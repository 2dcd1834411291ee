"""What is said in the tests of live calls. No sentence has a pause inside: it would be heard as two. Most sound
finished to the model that ends turns, others take two seconds longer."""

import math

GREETING = "Hello this is Ada calling from Northwind."
WELCOME = "Hello this is the AI assistant of Northwind."
"""Says what has to be said to who calls in, so that nothing is added."""
QUESTION = "Does Tuesday suit you?"
PRICE = "The check costs twenty euros."
YES = "That suits me very well."
COST = "How much does it cost?"
STOP = "Please stop calling me."
WAIT = "No thank you not today."
MACHINE = "Please leave a message after the tone."
MESSAGE = "This is Ada and we will try again tomorrow."
ASIDE = "Okay."
LATER = "My neighbour waters the plants in summer."
PERSON = "I want to talk to a real person."
CALENDAR = "The calendar please."
SUMMARY = "Maria Keller is on the line about her boiler."
LONG = (
    "Hello this is Ada and I would like to tell you about everything that we have done since the beginning of the year "
    "because there is a great deal of it and all of it will interest you very much indeed"
)
PROMPT = f"You are Ada from Northwind.\n- Ask whether Tuesday suits them.\n{PRICE}"
CONTACT = (YES, COST, STOP, WAIT, MACHINE, ASIDE, LATER, PERSON, CALENDAR)
AGENT = (GREETING, WELCOME, QUESTION, PRICE, MESSAGE, SUMMARY)


def beep(seconds: float = 0.5) -> bytes:
    """The tone of an answering machine."""
    samples = (int(8_000 * math.sin(2 * math.pi * 1_000 * at / 16_000)) for at in range(int(seconds * 16_000)))
    return b"".join(sample.to_bytes(2, "little", signed=True) for sample in samples)
