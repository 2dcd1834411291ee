"""What a call costs, in parts: telephony, and the platform."""

from dataclasses import dataclass
from functools import lru_cache

from callwright.service.platform.json_text import json_text
from callwright.service.rules.prices.price_list import Price


@dataclass(frozen=True)
class Cost:
    """The cost of a call. `items` is JSON, for each part its item, seconds and micros, which sum to `micros`."""

    billed_seconds: int
    micros: int
    items: str


@lru_cache(maxsize=8_192)
def cost_of(price: Price, seconds: int) -> Cost:
    """The cost of a call of so many seconds. Cached, because many calls last as long as others."""
    billed, micros = price.billed(seconds), price.call(seconds)
    platform = billed * price.platform // 60
    parts = [("telephony", micros - platform), ("platform", platform)]
    return Cost(billed, micros, json_text([[item, billed, part] for item, part in parts if part]))
