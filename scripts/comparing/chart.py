"""The chart: a bar for each side, its length the million URLs that it handles in a second."""

import itertools
import pathlib
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT = 900, 300, 830
MARGIN, HEADING, ROW, BAR = 20, 34, 22, 14
AXIS = "million URLs a second, median of the rounds; longer is quicker"
# Its own background, so that it is read on a page of either kind.
STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
  .page { fill: #ffffff } .title { font-weight: 600 } .side { text-anchor: end } .tick { text-anchor: middle }
  .tick, .axis { fill: #59636e } line { stroke: #d1d9e0 } .ours { fill: #0f7b6c } .theirs { fill: #9aa7b4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .page { fill: #0d1117 } .tick, .axis { fill: #9198a1 } line { stroke: #3d444d }
    .ours { fill: #2fbf9f } .theirs { fill: #656c76 }
  }
"""


def write(file, groups):
    """`groups`: a title, and bars of name, URLs a second and whether it is sitemill."""
    most = max(speed for _, bars in groups for _, speed, _ in bars) / 1e6
    step = tick_step(most)
    end = step * (int(most / step) + 1)
    to_x = lambda millions: LEFT + millions / end * (RIGHT - LEFT)
    rows = sum(HEADING + ROW * len(bars) for _, bars in groups)
    bottom = MARGIN + rows + 6
    shapes = []
    for tick in range(round(end / step) + 1):
        x = to_x(tick * step)
        shapes.append(f'<line x1="{x:.1f}" y1="{MARGIN + HEADING - 8}" x2="{x:.1f}" y2="{bottom}"/>')
        shapes.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 18}">{tick * step:g}</text>')
    shapes.append(f'<text class="axis" x="{LEFT}" y="{bottom + 40}">{AXIS}</text>')
    y = MARGIN
    for title, bars in groups:
        shapes.append(f'<text class="title" x="{MARGIN}" y="{y + 20}">{escape(title)}</text>')
        y += HEADING
        for name, speed, is_ours in bars:
            x, kind = to_x(speed / 1e6), "ours" if is_ours else "theirs"
            shapes.append(f'<text class="side" x="{LEFT - 10}" y="{y + 12}">{escape(name)}</text>')
            shapes.append(f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{max(1, x - LEFT):.1f}" height="{BAR}"/>')
            shapes.append(f'<text x="{x + 6:.1f}" y="{y + 12}">{in_millions(speed)}</text>')
            y += ROW
    height = bottom + 40 + MARGIN
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
           'role="img">', "<title>URLs a second: sitemill and its peers</title>", f"<style>{STYLE}</style>",
           f'<rect class="page" width="{WIDTH}" height="{height}" rx="6"/>', *shapes, "</svg>"]
    pathlib.Path(file).write_text("\n".join(svg) + "\n")


def in_millions(speed):
    """Two digits behind the point, or two that are not zero."""
    return f"{speed / 1e6:.2f}" if speed >= 1e5 else f"{speed / 1e6:.2g}"


def tick_step(most):
    """1, 2 or 5 times a power of ten, so that there are at most eight steps."""
    steps = (digit * 10.0**power for power in itertools.count(-6) for digit in (1, 2, 5))
    return next(step for step in steps if most / step <= 8)
