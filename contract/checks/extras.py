"""How an optional part of the installation is added. Every message that asks for one says it with these words.

The program is on no package index, and a package of its name there is not ours. So the command installs from a clone.
"""

from typing import Literal

Extra = Literal["live", "sip", "stripe"]


def installing(extra: Extra) -> str:
    """What to do, to follow a colon: `pip install '.[sip]' in the clone of Callwright, ...`."""
    return f"pip install '.[{extra}]' in the clone of Callwright, into the environment that runs it"
