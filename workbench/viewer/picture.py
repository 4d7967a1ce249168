"""A picture of an accelerator's cycles as SVG: a bar for each region, and one for all under each dataflow."""

import html
from collections.abc import Sequence
from typing import NamedTuple

from workbench.core.offload import Figures, Offload
from workbench.viewer.offload import own, totals

_PARTS = (("compute", "#1a7f37"), ("fill_drain", "#9a6700"), ("stall", "#cf222e"))
_LABEL, _BAR, _NOTE, _LINE = 330, 560, 190, 18


class Bar(NamedTuple):
    """A label and what it costs."""

    label: str
    figures: Figures


def picture(offload: Offload, title: str) -> str:
    """The picture as the text of an SVG file."""
    flow = own(offload)
    layers = [Bar(f"{r.node}  {r.kind} {r.m}x{r.k}x{r.n}", r.figures[flow]) for r in offload.regions]
    flows = [Bar(f"all regions, {name}", figures) for name, figures in totals(offload).items()]
    body: list[str] = []
    y = _heading(body, 24, f"{title}: cycles by region on {offload.machine['name']}, {flow}")
    y = _legend(body, y)
    y = _bars(body, y, layers)
    y = _heading(body, y + 2 * _LINE, "the same regions under each dataflow")
    y = _bars(body, y, flows)
    size = f'width="{_LABEL + _BAR + _NOTE}" height="{y + 10}"'
    style = "text{font:12px system-ui,sans-serif;fill:#222}.h{font-weight:600;font-size:14px}"
    back = '<rect width="100%" height="100%" fill="#fff"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{style}</style>{back}\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _heading(body: list[str], y: int, text: str) -> int:
    body.append(f'<text class="h" x="10" y="{y}">{html.escape(text)}</text>')
    return y + _LINE


def _legend(body: list[str], y: int) -> int:
    x = _LABEL
    for name, colour in _PARTS:
        body.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        body.append(f'<text x="{x + 16}" y="{y}">{name.replace("_", " / ")}</text>')
        x += 120
    return y + _LINE


def _bars(body: list[str], y: int, bars: Sequence[Bar]) -> int:
    longest = max((b.figures.cycles for b in bars), default=1)
    for label, figures in bars:
        body.append(f'<text x="{_LABEL - 8}" y="{y}" text-anchor="end">{html.escape(label[:52])}</text>')
        x = float(_LABEL)
        for name, colour in _PARTS:
            width = _BAR * getattr(figures, name) / longest
            body.append(f'<rect x="{x:.1f}" y="{y - 11}" width="{width:.1f}" height="13" fill="{colour}"/>')
            x += width
        note = f"{figures.cycles:,} cycles, {figures.utilisation:.0%} used"
        body.append(f'<text x="{x + 6:.1f}" y="{y}">{note}</text>')
        y += _LINE
    return y
