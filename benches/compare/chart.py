"""The chart: a panel for each corpus, with a bar for the speed of each side in million URLs per second."""

import dataclasses
import itertools
import pathlib
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT = 980, 400, 900
MARGIN, HEADING, ROW, BAR, GAP, TICKS = 20, 26, 20, 14, 10, 36
AXIS = "million URLs per second: median, lowest and highest of the rounds; longer is faster"
# With its own background, so that it is readable on light and dark pages.
STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
  .page { fill: #ffffff } .title { font-weight: 600 } .side { text-anchor: end } .tick { text-anchor: middle }
  .value { paint-order: stroke; stroke: #ffffff; stroke-width: 4px }
  .group, .tick, .axis { fill: #59636e } line { stroke: #d1d9e0 }
  .range { stroke: #1f2328 } .ours { fill: #0f7b6c } .theirs { fill: #9aa7b4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .page { fill: #0d1117 } .value { stroke: #0d1117 } .group, .tick, .axis { fill: #9198a1 }
    line { stroke: #3d444d } .range { stroke: #e6edf3 } .ours { fill: #2fbf9f } .theirs { fill: #656c76 }
  }
"""


@dataclasses.dataclass
class Bar:
    """Speeds are in URLs per second."""

    name: str
    lowest: float
    median: float
    highest: float
    is_ours: bool


def write(file, panels):
    """Each panel is a title and groups; each group is a title and a list of Bars. All panels have the same scale, so that
    they can be compared."""
    most = max(bar.highest for _, groups in panels for _, bars in groups for bar in bars) / 1e6
    step = tick_step(most)
    ticks = [tick * step for tick in range(int(most / step) + 2)]
    to_x = lambda millions: LEFT + millions / ticks[-1] * (RIGHT - LEFT)
    shapes, y = [], MARGIN
    for title, groups in panels:
        # On the same line as the title of the first group.
        shapes.append(f'<text class="title" x="{MARGIN}" y="{y + 12}">{escape(title)}</text>')
        for group, bars in groups:
            shapes.append(f'<text class="group" x="{LEFT}" y="{y + 12}">{escape(group)}</text>')
            top, y = y + HEADING - 4, y + HEADING
            bottom = y + ROW * (len(bars) - 1) + BAR + 4
            for x in map(to_x, ticks):
                shapes.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}"/>')
            for bar in bars:
                kind = "ours" if bar.is_ours else "theirs"
                lowest, median, highest = (to_x(speed / 1e6) for speed in [bar.lowest, bar.median, bar.highest])
                width = max(1, median - LEFT)
                shapes.append(f'<text class="side" x="{LEFT - 10}" y="{y + 12}">{escape(bar.name)}</text>')
                shapes.append(f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}"/>')
                shapes.append(f'<line class="range" x1="{lowest:.1f}" y1="{y + BAR / 2}" x2="{highest:.1f}" '
                              f'y2="{y + BAR / 2}"/>')
                shapes.append(f'<text class="value" x="{highest + 6:.1f}" y="{y + 12}">{in_millions(bar.median)}</text>')
                y += ROW
            y += GAP
        for tick in ticks:
            shapes.append(f'<text class="tick" x="{to_x(tick):.1f}" y="{bottom + 16}">{tick:g}</text>')
        y += TICKS
    shapes.append(f'<text class="axis" x="{LEFT}" y="{y - 4}">{AXIS}</text>')
    height = y + MARGIN
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
           'role="img">', "<title>URLs per second: sitemill and its peers</title>", f"<style>{STYLE}</style>",
           f'<rect class="page" width="{WIDTH}" height="{height}" rx="6"/>', *shapes, "</svg>"]
    pathlib.Path(file).write_text("\n".join(svg) + "\n")


def in_millions(speed):
    """Two decimals, or two significant digits for small numbers."""
    return f"{speed / 1e6:.2f}" if speed >= 1e5 else f"{speed / 1e6:.2g}"


def tick_step(most):
    """1, 2 or 5 times a power of ten, for at most eight steps."""
    steps = (digit * 10.0**power for power in itertools.count(-6) for digit in (1, 2, 5))
    return next(step for step in steps if most / step <= 8)
