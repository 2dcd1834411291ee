"""A media process of tests, without sound: it answers each call by what its number ends with.

Started by `MediaProcesses` with this file as the command. `...1` says two turns and ends, `...2` ends the process in
the middle of the call, `...3` waits for an order to hang up, `...4` writes a line that is no report first.
"""

import json
import os
import sys
from typing import Any


def _say(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _turn(index: int, speaker: str, text: str) -> dict[str, Any]:
    return {
        "index": index,
        "speaker": speaker,
        "text": text,
        "start_s": float(index),
        "end_s": index + 0.5,
        "language": "en-US",
        "source": "policy" if speaker == "agent" else "stt",
    }


def _begin(request: dict[str, Any]) -> None:
    call_id, kind = request["call_id"], request["to"][-1]
    if kind == "4":
        sys.stdout.write("no report\n")
    _say(type="listening", call_id=call_id)
    _say(type="reached", call_id=call_id, stage="answered")
    _say(type="said", call_id=call_id, turn=_turn(0, "agent", "Hello."))
    if kind == "2":
        os._exit(9)
    if kind != "3":
        _say(type="said", call_id=call_id, turn=_turn(1, "contact", "Yes."), keys="")
        _say(type="said", call_id=call_id, turn=_turn(2, "contact", ""), keys="1#")
        _end(call_id, "contact_hangup", "contact", answered_by="human", disposition="goal_met")


def _end(call_id: str, cause: str, ended_by: str, **more: Any) -> None:
    _say(type="ended", call_id=call_id, cause=cause, ended_by=ended_by, **more)


def main() -> None:
    """Obeys orders until there are none."""
    if "broken" in sys.argv:
        raise SystemExit(3)
    _say(type="ready", port=1)
    for line in sys.stdin:
        order = json.loads(line)
        if order["type"] == "begin":
            _begin(order["request"])
        elif order["type"] == "hang_up":
            _end(order["call_id"], order["cause"], order["ended_by"])


if __name__ == "__main__":
    main()
