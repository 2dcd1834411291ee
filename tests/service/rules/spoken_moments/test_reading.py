"""When a person wants to be called, read from what they say. It is said on a Friday, the 27th of November, at 13:05."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.rules.spoken_moments.reading import asks_for_call, names_moment_alone, spoken_moment
from callwright.service.rules.spoken_moments.spoken_moment import ClockTime, SpokenMoment

SAID = datetime(2026, 11, 27, 13, 5, tzinfo=ZoneInfo("Europe/Berlin"))
GERMAN = {
    "Rufen Sie mich bitte morgen um 15 Uhr wieder an.": "28.11. 15:00",
    "Rufen Sie mich nächste Woche Mittwoch um halb drei an.": "02.12. 14:30",
    "Bitte rufen Sie am Freitag um 10 Uhr an.": "04.12. 10:00",
    "Rufen Sie mich am 3. Dezember um 11 Uhr an.": "03.12. 11:00",
    "Rufen Sie am 3.12. um 11 an.": "03.12. 11:00",
    "Rufen Sie am dritten Dezember um viertel vor elf an.": "03.12. 10:45",
    "Rufen Sie am einundzwanzigsten Januar um zwanzig nach drei an.": "21.01. 15:20",
    "Heute Nachmittag um vier rufen Sie bitte noch mal an.": "27.11. 16:00",
    "Können Sie mich in einer Stunde anrufen?": "27.11. 14:05",
    "In einer halben Stunde bitte anrufen.": "27.11. 13:35",
    "Rufen Sie in anderthalb Stunden an.": "27.11. 14:35",
    "Rufen Sie in zwei Wochen wieder an.": "11.12. 13:05",
    "Rufen Sie mich übermorgen früh an.": "29.11. 10:00",
    "Morgen früh um acht können Sie mich anrufen.": "28.11. 08:00",
    "Am Dienstagnachmittag bitte wieder anrufen.": "01.12. 15:00",
    "Bitte melden Sie sich Montag morgen um neun.": "30.11. 09:00",
    "Guten Morgen, rufen Sie mich heute Abend um sieben an.": "27.11. 19:00",
    "Rufen Sie mich um fünf vor halb drei an.": "27.11. 14:25",
    "Rufen Sie mich um 17:30 Uhr an.": "27.11. 17:30",
    "Rufen Sie mich um siebzehn Uhr dreißig an.": "27.11. 17:30",
    "Rufen Sie mich um eins an.": "28.11. 13:00",
    "Rufen Sie bitte nicht vor zehn Uhr an.": "28.11. 10:00",
    "Heute geht es nicht, rufen Sie morgen an.": "28.11. 13:05",
    "Nicht morgen, rufen Sie am Montag um neun an.": "30.11. 09:00",
    "Ich bin bis Freitag im Urlaub, rufen Sie mich am Montag an.": "30.11. 13:05",
    "Rufen Sie zwischen zwei und vier an.": "27.11. 14:00",
}
ENGLISH = {
    "Call me back on Friday at ten.": "04.12. 10:00",
    "Please call me tomorrow at 3 pm": "28.11. 15:00",
    "Can you call me in two hours?": "27.11. 15:05",
    "Call me in an hour and a half.": "27.11. 14:35",
    "Call me in half an hour.": "27.11. 13:35",
    "Call me back in the afternoon, in about three hours.": "27.11. 16:05",
    "Call me at half past two on Wednesday next week.": "02.12. 14:30",
    "Give me a call the day after tomorrow around noon.": "29.11. 12:00",
    "Could you ring me at a quarter to four?": "27.11. 15:45",
    "Call me on December 3rd at 11.": "03.12. 11:00",
    "Call me on the twenty-first of January at five thirty.": "21.01. 17:30",
    "Call me tomorrow morning.": "28.11. 10:00",
    "Call me this evening.": "27.11. 18:00",
    "Call me again next week.": "04.12. 13:05",
    "I can't today, call me tomorrow.": "28.11. 13:05",
    "I am in a meeting at three, call me at five.": "27.11. 17:00",
    "Try me on Monday, ten thirty.": "30.11. 10:30",
    "Can you phone on Tuesday at 2.30 p.m.?": "01.12. 14:30",
    "Please don't call before ten.": "28.11. 10:00",
    "Call me today at nine.": "27.11. 21:00",
}
WISHES = [*(("de", *one) for one in GERMAN.items()), *(("en", *one) for one in ENGLISH.items())]


def local(moment: SpokenMoment | None) -> str | None:
    return None if moment is None else f"{moment.at(SAID).astimezone(SAID.tzinfo):%d.%m. %H:%M}"


@pytest.mark.requirement("CALLTOOL-16")
@pytest.mark.parametrize(("language", "said", "moment"), WISHES)
def test_a_wish_for_a_call_is_heard_with_its_moment(language: str, said: str, moment: str) -> None:
    assert asks_for_call(said, language)
    assert local(spoken_moment(said, language)) == moment


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "Warum rufen Sie mich um acht an?"),
        ("de", "Von wo rufen Sie heute an?"),
        ("de", "Ich werde Sie morgen um acht anrufen."),
        ("de", "Ich brauche den Termin um zehn."),
        ("de", "Rufen Sie mich später noch einmal an."),
        ("de", "Rufen Sie vor zehn Uhr an."),
        ("en", "Why do you call me at ten?"),
        ("en", "I'll call you tomorrow at 3."),
        ("en", "Don't call me on Friday."),
        ("en", "Call me at 555 1234."),
        ("en", "Call me back later."),
        ("en", "Wednesday at three, please."),
        ("fr", "Rappelez-moi demain à dix heures."),
    ],
)
def test_what_asks_for_no_call_or_names_no_moment_is_none(language: str, said: str) -> None:
    assert not asks_for_call(said, language)


@pytest.mark.parametrize(
    ("language", "said", "is_alone"),
    [
        ("de", "Heute Nachmittag um vier …", True),
        ("de", "Nein, lieber morgen um zehn.", True),
        ("de", "Ja, aber um drei habe ich einen Termin.", False),
        ("en", "No, tomorrow at 3.", True),
        ("en", "Yes, but I have a meeting at three.", False),
        ("en", "No.", False),
    ],
)
def test_a_moment_stands_alone_if_hardly_anything_else_is_said(language: str, said: str, is_alone: bool) -> None:
    assert names_moment_alone(said, language) == is_alone


def test_a_time_of_today_that_has_passed_is_tomorrow() -> None:
    assert local(spoken_moment("Call me today at noon.", "en")) == "28.11. 12:00"
    assert local(spoken_moment("Rufen Sie mich heute um neun Uhr früh an.", "de")) == "28.11. 09:00"


def test_a_wall_clock_keeps_its_hour_over_the_end_of_summer_time() -> None:
    before = datetime(2026, 10, 24, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    moment = SpokenMoment(days=1, clock_time=ClockTime(10)).at(before)
    assert moment == datetime(2026, 10, 25, 9, tzinfo=UTC)


NUMBERS = st.sampled_from(["one", "2", "half", "halb", "30", "99", "eins", "first", "31", "0", "24", "1,5"])
WORDS = st.sampled_from(
    [
        *("at", "um", "call me", "rufen Sie", "in", "hours", "Stunden", "weeks", "of", "february", "Februar", ".", ":"),
        *("uhr", "pm", "a.m.", "quarter to", "viertel vor", "next week", "Freitag", "friday", "morgen", "today", "vor"),
    ]
)


@given(st.lists(NUMBERS | WORDS, max_size=12), st.sampled_from(["de", "en"]), st.datetimes(
    datetime(2024, 1, 1), datetime(2035, 1, 1)
))  # fmt: skip
def test_no_words_name_a_moment_that_has_passed_or_is_further_away_than_a_leap_day(
    said: list[str], language: str, when: datetime
) -> None:
    at = when.replace(tzinfo=ZoneInfo("America/New_York"))
    moment = spoken_moment(" ".join(said), language)
    if moment is not None:
        assert timedelta(0) < moment.at(at) - at.astimezone(UTC) < timedelta(days=8 * 366 + 2)
