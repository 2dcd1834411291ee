"""A media process of tests that waits for the sound of each call, which never comes, until it is told to hang up."""

import json
import sys
from typing import Any


def _say(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Obeys orders until there are none."""
    _say(type="ready", port=1)
    for line in sys.stdin:
        order = json.loads(line)
        if order["type"] == "begin":
            _say(type="listening", call_id=order["request"]["call_id"])
        elif order["type"] == "hang_up":
            _say(type="ended", call_id=order["call_id"], cause=order["cause"], ended_by=order["ended_by"])


if __name__ == "__main__":
    main()
