"""The results as Markdown."""

import os
import statistics

from compare import CORES
from compare.measuring import spread
from compare.sampling import read
from compare.verdicts import wall_ratios


def print_table(sides):
    print("\n| side | lines | rounds | wall s, lowest | median | highest | M lines/s | user+sys s | RSS MB "
          "| anonymous MB | gzip bytes/URL |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for side in sides:
        lines, (lowest, wall, highest) = side.corpus.lines, side.spread("wall")
        print(f"| {side.name} | {lines:,} | {len(side.runs)} | {lowest:.2f} | **{wall:.2f}** | {highest:.2f} "
              f"| {lines / wall / 1e6:.3f} | {side.median('cpu'):.2f} | {side.median('rss_bytes') / 1e6:,.0f} "
              f"| {side.median('anonymous_bytes') / 1e6:,.0f} "
              f"| {side.median('gzip_bytes') / side.corpus.distinct:.2f} |")
    print("\nMedians of the rounds, and the lowest and highest times. Memory is the peak of the whole process tree.")


def print_ratios(pairs):
    """The time per line of the first of each pair, relative to the second, round by round."""
    if pairs:
        print("\n| ratio of times per line | rounds | wall, lowest | median | highest | user+sys, median |")
        print("|---|--:|--:|--:|--:|--:|")
    for slow, quick in pairs:
        size = slow.corpus.lines / quick.corpus.lines
        walls = wall_ratios(slow, quick)
        cpus = [a.cpu / b.cpu / size for a, b in zip(slow.runs, quick.runs)]
        note = "" if size == 1 else f" ({slow.corpus.lines:,} lines against {quick.corpus.lines:,})"
        lowest, median, highest = spread(walls)
        print(f"| {slow.name} / {quick.name}{note} | {len(walls)} | {lowest:.2f} | **{median:.2f}** | {highest:.2f} "
              f"| {statistics.median(cpus):.2f} |")


def print_dedup(theirs, ours):
    """The time to find duplicates, as each program measures it."""
    print("\n| duplicates alone | lines | rounds | s, lowest | median | highest | anonymous MB |\n"
          "|---|--:|--:|--:|--:|--:|--:|")
    for side, what in [(ours, ", its survey"), (theirs, "")]:
        lowest, seconds, highest = side.spread("dedup")
        print(f"| {side.name}{what} | {side.corpus.lines:,} | {len(side.runs)} | {lowest:.2f} | **{seconds:.2f}** "
              f"| {highest:.2f} | {side.median('anonymous_bytes') / 1e6:,.0f} |")
    lowest, median, highest = spread([a.dedup / b.dedup for a, b in zip(theirs.runs, ours.runs)])
    print(f"\nRatio: median **{median:.2f}**, {lowest:.2f} to {highest:.2f}. The survey also checks every URL and divides "
          "the set\ninto sitemaps; DuckDB only counts the distinct lines. Neither writes anything. Memory is that of the "
          "whole\nprocess, which for sitemill is the whole job.")


def machine():
    models = [line.split(":")[1].strip() for line in read("/proc/cpuinfo").splitlines() if "model name" in line]
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    model, load = (models or [os.uname().machine])[0], os.getloadavg()[0]
    return f"{CORES} cores of {model}, {gigabytes:.0f} GB, Linux {os.uname().release}, load before the start {load:.1f}"
