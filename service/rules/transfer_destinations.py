"""Which numbers an agent may hand its calls over to. Pure rules."""

from collections.abc import Collection, Sequence

from phonenumbers import SUPPORTED_REGIONS

from callwright.contract.agents.call_tools import TransferTool
from callwright.service.platform.phone import Undialable, number_facts, read_number
from callwright.service.rules.templates import variables_in
from callwright.service.rules.unfit_tools import Unfit


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
        if isinstance(read, Undialable):
            raise Unfit(f"{field}.to", f"cannot be called: {read.message}")
        if read.e164 != one.to:
            raise Unfit(f"{field}.to", "must be in E.164 form: +, the country's code and the number, without spaces")
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


def is_allowed(to: str, *, from_number: str, countries: Collection[str]) -> bool:
    """Whether a call may be handed over to a number: it can be called at all, and is in the country of the number from
    which the agent calls, or in another one that is allowed."""
    facts = number_facts(to)
    return facts.is_dialable and facts.country in {number_facts(from_number).country, *countries}
