"""How long a conversation waits for what does not come."""

FAREWELL_S = 4.0
"""Seconds in which a goodbye of the other side is waited for."""
LONGEST_SAYING_S = 90.0
"""A turn of the agent that is not over after so many seconds counts as over."""
MOST_FAILURES = 3
"""Answers of the model that may fail, one after the other, before the call ends."""
