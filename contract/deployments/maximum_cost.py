"""The most that calls can cost: what may be said with the words "at most", and how it is said.

Any call may be answered, by a person or by a mailbox, and last as long as the deployment lets it; whoever was called
may be called again until their attempts are used up, because a short call, a mailbox or a wish to be called back leads
to another attempt and is charged all the same. Money is in millionths of a dollar.
"""

from dataclasses import dataclass

from callwright.contract.deployments.call_price import CURRENCY, MICROS, CallPrice

_CENT = MICROS // 100


@dataclass(frozen=True)
class MaximumCost:
    """What a deployment may cost from now on, at most."""

    calls: int
    """What all calls cost if each is as dear as it can be."""
    cap: int | None
    """What is left of the budget cap; no call is made beyond it. None without a cap."""
    overrun: int = 0
    """What calls that are under way when the cap is reached may cost beyond it."""

    @property
    def micros(self) -> int:
        """The most there is to pay."""
        return self.calls if self.cap is None else min(self.calls, self.cap + self.overrun)


def maximum_cost(
    price: CallPrice,
    *,
    people: int,
    attempts: int,
    longest_s: int,
    concurrency: int,
    cap: int | None,
    under_way: int = 0,
    least_held_back: int | None = None,
) -> MaximumCost:
    """The maximum cost for so many people who would be called, at the highest `price` among them. `cap` is what is left
    of the budget cap.

    Before a call is dialled the cap has to leave room for what is held back for it: at least `least_held_back`, if it
    is less for some people. On each line one call may be under way that becomes up to a minute longer than is covered.
    """
    calls = (people + under_way) * attempts * price.call(longest_s)
    if cap is None:
        return MaximumCost(calls, None)
    held_back = price.held_back if least_held_back is None else least_held_back
    lines = max(under_way, min(concurrency, people + under_way, cap // held_back if held_back else people))
    return MaximumCost(calls, cap, max(0, min(price.overrun(lines, longest_s), calls - cap)))


def cost_said(*, cap: int | None, overrun: int, high: int, more: bool = False) -> str:
    """What a run costs at most, as a part of a sentence: `for at most 54.00 USD`. `more` is for what is added."""
    added = " more" if more else ""
    if cap is None:
        return f"for at most {rounded_up(high)}{added}"
    beyond = f" and what calls under way cost beyond it, {rounded_up(overrun)}"
    return f"for at most {money_said(cap)}{added}{beyond if overrun else ''}"


def rounded_up(micros: int) -> str:
    """An amount in whole cents, never less than it is."""
    return money_said(-(-micros // _CENT) * _CENT)


def money_said(micros: int) -> str:
    """`54.00 USD`: two places, and more only where they say something."""
    whole, part = divmod(micros, MICROS)
    return f"{whole}.{f'{part:06d}'.rstrip('0').ljust(2, '0')} {CURRENCY}"
