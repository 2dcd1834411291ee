"""Which numbers an agent may hand its calls over to. Pure rules."""

from collections.abc import Collection, Sequence
from typing import Any

from phonenumbers import SUPPORTED_REGIONS

from callwright.contract.agents.call_tools import CallTool, TransferTool
from callwright.contract.checks.counts import first_of
from callwright.contract.checks.names import quoted
from callwright.service.platform.phone import AMBIGUOUS_COUNTRY, Undialable, number_facts, read_number
from callwright.service.rules.templates import variables_in
from callwright.service.rules.unfit_tools import Unfit

_MOST_NUMBERS = 3
_E164 = "+, the country's code and the number without the 0 before it, without spaces"


def columns_of(tool: TransferTool) -> Sequence[str]:
    """The audience columns that the sentences of a tool need."""
    return [name for one in tool.destinations for text in (one.summary, one.say_before) for name in variables_in(text)]


def check(tool: TransferTool, place: str) -> None:
    """Raises `Unfit` for a destination that cannot be called, and for a country that there is not. `place` is the field
    of the tool."""
    for index, country in enumerate(tool.countries):
        if country not in SUPPORTED_REGIONS:
            raise Unfit(
                f"{place}.countries.{index}", f"must be a country's code of ISO 3166-1, such as US or DE; not {country}"
            )
    names: list[str] = []
    for index, one in enumerate(tool.destinations):
        field = f"{place}.destinations.{index}"
        if one.name in names:
            raise Unfit(f"{field}.name", f"must be unique; {one.name} stands before already")
        names.append(one.name)
        read = read_number(one.to)
        if isinstance(read, Undialable) and read.code != AMBIGUOUS_COUNTRY:
            raise Unfit(f"{field}.to", f"cannot be called: {read.message}")
        if isinstance(read, Undialable) or read.e164 != one.to:
            raise Unfit(f"{field}.to", f"must be in E.164 form: {_E164}")
        if one.kind == "cold" and one.confirm_key is not None:
            raise Unfit(f"{field}.confirm_key", "is for warm transfers: in a cold one nobody asks the person for a key")


def check_countries(tool: TransferTool, place: str, own: Collection[str]) -> None:
    """Raises `Unfit` for a destination in a country that is neither in `countries` nor in `own`, those of the numbers
    from which the organization calls."""
    for index, one in enumerate(tool.destinations):
        country = number_facts(one.to).country
        if country not in own and country not in tool.countries:
            raise Unfit(
                f"{place}.destinations.{index}.to",
                f"is in {country}, where none of your numbers is; add {country} to countries to allow it",
            )


def transfers_in(tools: Sequence[CallTool]) -> list[TransferTool]:
    """The tools that hand a call over."""
    return [tool for tool in tools if isinstance(tool, TransferTool)]


def advice_on_destinations(tools: Sequence[TransferTool], from_numbers: Sequence[str]) -> list[str]:
    """A warning for each destination that may not be called from all of these numbers."""
    found: list[str] = []
    for tool in tools:
        for one in tool.destinations:
            given: dict[str, Any] = {"to": one.to, "countries": tool.countries}
            barred = [number for number in from_numbers if not is_allowed(from_number=number, **given)]
            country = number_facts(one.to).country
            if barred and country is not None:
                found.append(
                    f"the destination {quoted(one.name)}, {one.to}, may not be called from "
                    f"{first_of(barred, _MOST_NUMBERS)}: add {country} to countries of the tool {tool.name}"
                )
    return found


def is_allowed(to: str, *, from_number: str, countries: Collection[str]) -> bool:
    """Whether a call may be handed over to a number: it can be called at all, and is in the country of the number from
    which the agent calls, or in another one that is allowed."""
    facts = number_facts(to)
    return facts.is_dialable and facts.country in {number_facts(from_number).country, *countries}
