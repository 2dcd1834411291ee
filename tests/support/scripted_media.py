"""A media process of tests, without sound: it answers each call by what its number ends with.

Started by `MediaProcesses` with this file as the command. `...1` says two turns and ends, `...2` ends the process in
the middle of the call, `...3` waits for an order to hang up, `...4` writes a line that is no report first. `...5` is a
machine that hangs up in the middle of the message, `...6` one that hears the whole message, `...7` is busy. `...8`
asks and is answered twice, and presses keys meanwhile. `...9` is with a person for 18 seconds by its words, when the
process ends. `...0` asks a tool, and ends once it may be asked. Where the order wants a recording, its file has what
was said.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from callwright.service.speech.mu_law_files import header

RECORDED = header(16_000) + b"\x00\xff\x80\xff" * 8_000
"""Two seconds in which the agent hums and the other side is silent."""


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


def _begin(order: dict[str, Any]) -> None:
    request = order["request"]
    call_id, kind = request["call_id"], request["to"][-1]
    if kind == "4":
        sys.stdout.write("no report\n")
    _say(type="listening", call_id=call_id)
    if kind == "7":
        _end(call_id, "user_busy", "contact", sip_status=486)
        return
    if order.get("recording") is not None:
        Path(order["recording"]).parent.mkdir(parents=True, exist_ok=True)
        Path(order["recording"]).write_bytes(RECORDED)
    _say(type="reached", call_id=call_id, stage="answered")
    _say(type="said", call_id=call_id, turn=_turn(0, "agent", "Hello."))
    about = {"item": "tts", "provider": "openai", "model": "gpt-4o-mini-tts", "unit": "character"}
    for quantity in (40, 2):
        _say(type="usage", call_id=call_id, **about, quantity=quantity)
    if kind == "9":
        for until_s in (3.0, 18.0):
            leg = {"to": "+12125550177", "answered_s": 3.0, "ended_s": until_s}
            _say(type="person_on_line", call_id=call_id, number=1, leg=leg)
    if kind == "0":
        booking = {"name": "book", "arguments": "{}", "result": "Nobody knows.", "ok": False, "latency_ms": 0}
        turn = {**_turn(1, "system", ""), "language": "", "tool_call": booking}
        _say(type="tool_asks", call_id=call_id, turn=turn)
        return
    if kind in "29":
        os._exit(9)
    if kind in "56":
        is_left = kind == "6"
        verdicts = {"carrier": "human", "words": "machine_end_beep"}
        end = {"answered_by": "machine_end_beep", "machine_verdicts": verdicts, "voicemail_message_left": is_left}
        _end(call_id, "agent_hangup" if is_left else "contact_hangup", "agent" if is_left else "contact", **end)
    elif kind == "8":
        _answers(call_id)
    elif kind != "3":
        _say(type="said", call_id=call_id, turn=_turn(1, "contact", "Yes."), keys="")
        _say(type="said", call_id=call_id, turn=_turn(2, "contact", ""), keys="1#")
        _end(call_id, "contact_hangup", "contact", answered_by="human", disposition="goal_met")


def _answers(call_id: str) -> None:
    """Turns are told when they end, so the first entry of keys comes before a turn that began earlier."""
    _say(type="said", call_id=call_id, turn=_turn(1, "contact", ""), keys="1#")
    for index, speaker, text in ((2, "contact", "When?"), (3, "agent", "At ten."), (4, "contact", "Where?")):
        _say(type="said", call_id=call_id, turn=_turn(index, speaker, text))
    _say(type="said", call_id=call_id, turn=_turn(5, "agent", "Here."))
    parts = {"endpointing": 300, "hearing": 100, "thinking": 200, "speaking": 40}
    _say(type="latency", call_id=call_id, turn_index=3, total_ms=640, parts_ms=parts)
    _say(type="latency", call_id=call_id, turn_index=5, total_ms=900, parts_ms={"thinking": 900})
    _end(call_id, "contact_hangup", "contact", answered_by="human", disposition="goal_met", recorded=True)


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
            _begin(order)
        elif order["type"] == "tool_kept":
            os._exit(9)
        elif order["type"] == "hang_up":
            _end(order["call_id"], order["cause"], order["ended_by"])


if __name__ == "__main__":
    main()
