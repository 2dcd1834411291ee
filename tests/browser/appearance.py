"""What a page looks like, and whether everybody can use it, measured in the browser."""

from functools import cache
from pathlib import Path
from typing import Any, Protocol

from playwright.async_api import Frame

from tests.support.processes.npm import installed


class Shown(Protocol):
    """Something that shows a page in a frame."""

    @property
    def frame(self) -> Frame:
        """The frame with the page."""
        ...


_CONTRAST = """() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [x, y, z] = [r / 255, g / 255, b / 255].map(linear);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, alpha = 1] = channels(getComputedStyle(at).backgroundColor);
      if (alpha > 0) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (!own || !element.checkVisibility() || ["SCRIPT", "STYLE", "OPTION"].includes(element.tagName)) continue;
    const [one, other] = [light(channels(getComputedStyle(element).color)), light(ground(element))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    found.push([element.id || element.className || element.tagName, Math.round(ratio * 100) / 100]);
  }
  return found;
}"""

LEAST_CONTRAST = 4.5
"""Of text on its ground, for level AA. Source: https://www.w3.org/TR/WCAG22/#contrast-minimum"""


async def pale_texts(host: Shown) -> list[Any]:
    """Texts with too little contrast, and how much they have."""
    found: list[list[Any]] = await host.frame.evaluate(_CONTRAST)
    assert len(found) > 3
    return [entry for entry in found if entry[1] < LEAST_CONTRAST]


async def overhang(host: Shown) -> int:
    """By how many pixels the page is wider than its window."""
    return await host.frame.evaluate("document.documentElement.scrollWidth - window.innerWidth")


async def ground(host: Shown) -> str:
    """The colour of the page."""
    return await host.frame.evaluate("getComputedStyle(document.body).backgroundColor")


@cache
def _axe() -> str:
    folder = installed(Path(__file__).parent / "axe") / "node_modules" / "axe-core"
    return (folder / "axe.min.js").read_text(encoding="utf-8")


_OF_COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe that look at colours. The others find the same in every colour scheme."""
_AXE_RUN = """async (rules) => {
  const only = rules ? { runOnly: { type: "rule", values: rules } } : {};
  const found = await axe.run(document, { resultTypes: ["violations"], ...only });
  return found.violations
    .filter((fault) => ["serious", "critical"].includes(fault.impact))
    .map((fault) => [fault.id, fault.nodes.map((node) => node.target.join(" ")).slice(0, 3)]);
}"""


async def axe_faults(host: Shown, *, only_colours: bool = False) -> list[Any]:
    """What axe finds that is serious or worse: the rule, and where. `only_colours` is for a further colour scheme of a
    page that all rules have seen. Source: https://github.com/dequelabs/axe-core
    """
    if not await host.frame.evaluate("'axe' in window"):
        await host.frame.evaluate(_axe())
    return await host.frame.evaluate(_AXE_RUN, list(_OF_COLOURS) if only_colours else None)
