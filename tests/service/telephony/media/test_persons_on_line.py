"""How long a person is on the line whom a media process has called, as it tells its host."""

import pytest

from callwright.service.telephony.media.messages import PersonOnLine
from callwright.service.telephony.media.sound.sound_clock import SoundClock
from callwright.service.telephony.media.transfers.time_on_line import TimeOnLine

FIRST, SECOND = "+12125550177", "+12125550178"


@pytest.mark.requirement("COST-10")
def test_a_person_is_told_from_the_answer_every_15_seconds_and_at_the_end() -> None:
    now_s, told = [100.0], list[PersonOnLine]()
    clock = SoundClock(lambda: now_s[0])
    clock.start()
    on_line = TimeOnLine("cal_1", clock, told.append)

    def pass_s(seconds: int) -> None:
        for _ in range(seconds):
            now_s[0] += 1
            on_line.tick()

    pass_s(5)
    on_line.answered(FIRST)
    pass_s(40)
    on_line.gone()
    pass_s(60)
    on_line.answered(SECOND)
    on_line.gone()
    on_line.gone()
    assert [(each.number, each.leg.to, each.leg.answered_s, each.leg.ended_s) for each in told] == [
        *((1, FIRST, 5.0, until_s) for until_s in (5.0, 20.0, 35.0, 45.0)),
        *((2, SECOND, 105.0, 105.0) for _ in range(2)),
    ]
