"""What came of calls, as charts: of a campaign, or of all calls of some days."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.contract.calls.transcripts import MOST_READ, get_call_stats
from callwright.contract.deployments.deployments import get_deployment
from callwright.service.dashboard.html.charts import Bar, Chart, best_answered, most_frequent, tallied
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor
from callwright.service.platform.clock.clock import moment

SHOWN_DAYS = 30
"""So many days of all calls are shown if the address names none."""
OF_ALL = "/calls/results"
MOST_DAYS = 200
"""Days that stand beside each other; of more, only those with calls."""
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_NAMES = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
_HOURS = tuple(f"{hour:02}" for hour in range(24))
Groups = Sequence[Mapping[str, Any]]


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def of_campaign(request: Request, visitor: Visitor) -> Response:
        campaign = await visitor.ask.one(get_deployment, id=request.path_params["id"])
        days = _Days(request, None)
        found = {} if days.fault else await _results(visitor, days, deployment_id=[campaign["id"]])
        back = f"/campaigns/{campaign['id']}"
        context = {**_context(days), **found, "back": back, "back_words": "To the campaign"}
        title = f"Results of {campaign['name']}"
        return shown(visitor, "/campaigns", "results.html", title, context, status=days.status)

    async def of_all(request: Request, visitor: Visitor) -> Response:
        today = moment(pages.visitors.services.clock.now_ms()).date()
        days = _Days(request, today - timedelta(days=SHOWN_DAYS - 1))
        found = {} if days.fault else await _results(visitor, days, call_type=["outbound", "inbound"])
        context = {**_context(days), **found, "back": "/calls", "back_words": "To the calls"}
        return shown(visitor, OF_ALL, "results.html", "Results of all calls", context, status=days.status)

    return [
        pages.route("/campaigns/{id}/results", of_campaign, here="/campaigns"),
        pages.route(OF_ALL, of_all, here=OF_ALL),
    ]


class _Days:
    """The days that the address names, of UTC, and what is wrong with them."""

    def __init__(self, request: Request, begin: date | None) -> None:
        self.texts = {name: request.query_params.get(name, "").strip() for name in ("from", "to")}
        if begin is not None and not any(self.texts.values()):
            self.texts["from"] = begin.isoformat()
        self.fault = ""
        self.first, self.last = self._day("from"), self._day("to")
        if self.first and self.last and self.first > self.last:
            self.fault = "The first day comes after the last one."

    @property
    def status(self) -> int:
        return 400 if self.fault else 200

    def _day(self, name: str) -> date | None:
        if not self.texts[name]:
            return None
        try:
            found = date.fromisoformat(self.texts[name])
        except ValueError:
            found = None
        if found is None or not 2000 <= found.year < 2100:
            self.fault = f"{name}: write a day such as 2026-11-28, from the year 2000 on."
            return None
        return found

    def bounds(self) -> dict[str, str]:
        """The moments between which calls were made, as an operation takes them."""
        found: dict[str, str] = {}
        if self.first is not None:
            found["created_from"] = _begin(self.first)
        if self.last is not None:
            found["created_before"] = _begin(self.last + timedelta(days=1))
        return found


def _begin(day: date) -> str:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).isoformat().replace("+00:00", "Z")


def _context(days: _Days) -> dict[str, Any]:
    texts = days.texts
    nothing: dict[str, Any] = {"stats": None, "charts": [], "read_from": None, "most_read": MOST_READ, "left_out": 0}
    return {**nothing, "from_day": texts["from"], "to_day": texts["to"], "fault": days.fault}


async def _results(visitor: Visitor, days: _Days, **filters: Any) -> dict[str, Any]:
    """Four questions to `get_call_stats`: a plan that allows five requests a second answers the page at once."""
    asked = {**filters, **days.bounds()}
    by_day = await visitor.ask.one(get_call_stats, **asked, group_by=["day"])
    if not by_day["calls"]:
        return {"stats": by_day}
    ends = await visitor.ask.one(get_call_stats, **asked, group_by=["agent_version", "outcome", "disposition"])
    read_from = _read_from(by_day)
    charts = [_days_chart(by_day["groups"])]
    if read_from != "nothing":
        few = {**asked, **({"created_from": _begin(date.fromisoformat(read_from))} if read_from else {})}
        of_callees = await visitor.ask.one(get_call_stats, **few, group_by=["callee_weekday", "callee_hour"])
        of_numbers = await visitor.ask.one(get_call_stats, **few, group_by=["phone_number_id"])
        charts += [*_callee_charts(of_callees["groups"]), *_number_charts(of_numbers["groups"])]
    charts += _end_charts(ends["groups"])
    return {"stats": by_day, "charts": charts, "read_from": read_from, "left_out": ends["groups_left_out"]}


def _read_from(by_day: Mapping[str, Any]) -> str | None:
    """From which day on the newest calls are few enough to be read; None: all of them, `nothing`: no whole day."""
    if by_day["calls"] <= MOST_READ:
        return None
    left, found = MOST_READ, "nothing"
    for group in sorted(by_day["groups"], key=lambda group: group["key"]["day"], reverse=True):
        left -= group["calls"]
        if left < 0:
            break
        found = group["key"]["day"]
    return found


def _days_chart(groups: Groups) -> Chart:
    found = tallied(groups, lambda group: group["key"]["day"])
    first, last = (date.fromisoformat(day) for day in (min(found), max(found)))
    span = (last - first).days + 1
    names = [(first + timedelta(days=at)).isoformat() for at in range(span)] if span <= MOST_DAYS else sorted(found)
    bars = [found.get(name, Bar(name)) for name in names]
    marks = tuple(dict.fromkeys((names[0], names[len(names) // 2], names[-1]) if len(names) > 2 else names))
    finding = best_answered(bars, named=lambda day: f"on {day}")
    return Chart("By day (UTC)", "Day", bars, finding, marks)


def _callee_charts(groups: Groups) -> list[Chart]:
    by_hour = tallied(groups, lambda group: group["key"].get("callee_hour"))
    by_weekday = tallied(groups, lambda group: group["key"].get("callee_weekday"))
    if not by_hour:
        return []
    hours = [by_hour.get(hour, Bar(hour)) for hour in _HOURS]
    weekdays = [by_weekday.get(day, Bar(day)) for day in _WEEKDAYS]
    at = best_answered(hours, named=lambda hour: f"between {hour}:00 and {int(hour) + 1:02}:00")
    on = best_answered(weekdays, named=lambda day: f"on {_NAMES[_WEEKDAYS.index(day)]}")
    return [
        Chart("By hour where the person is", "Hour", hours, at, ("00", "06", "12", "18", "23")),
        Chart("By weekday where the person is", "Weekday", weekdays, on, _WEEKDAYS),
    ]


def _number_charts(groups: Groups) -> list[Chart]:
    def label(group: Mapping[str, Any]) -> str:
        own_id = group["key"].get("phone_number_id")
        return "none of ours" if own_id is None else group["names"].get("phone_number_id", own_id)

    bars = _largest_first(tallied(groups, label))
    return [
        Chart("By own number", "Number", bars, best_answered(bars, named=lambda name: f"from {name}"), is_list=True)
    ]


def _end_charts(groups: Groups) -> list[Chart]:
    def version(group: Mapping[str, Any]) -> str:
        key = group["key"]
        name = group["names"].get("agent_id", key["agent_id"])
        return f"{name}, version {key['agent_version']}" if "agent_version" in key else name

    versions = _largest_first(tallied(groups, version))
    outcomes = _largest_first(tallied(groups, lambda group: group["key"].get("outcome", "no outcome yet")))
    dispositions = _largest_first(tallied(groups, lambda group: group["key"].get("disposition")))
    said = best_answered(versions, named=lambda name: f"with {name}")
    charts = [Chart("By version of the agent", "Version", versions, said, is_list=True)]
    for title, of, bars in (("By outcome", "Outcome", outcomes), ("By disposition", "Disposition", dispositions)):
        if bars:
            finding = most_frequent(bars, sum(bar.calls for bar in bars))
            charts.append(Chart(title, of, bars, finding, is_list=True, toned=True))
    return charts


def _largest_first(found: Mapping[str, Bar]) -> list[Bar]:
    return sorted(found.values(), key=lambda bar: (-bar.calls, bar.label))
