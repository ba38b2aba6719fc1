"""The results as Markdown."""

import os
import statistics

from compare import CORES
from compare.measuring import read
from compare.verdicts import wall_ratios


def print_table(sides):
    print("\n| side | lines | rounds | wall s | ns/line | M lines/s | user+sys s | RSS MB | anonymous MB "
          "| gzip bytes/URL |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for side in sides:
        lines, wall, gzip_bytes = side.corpus.lines, side.median("wall"), side.median("gzip_bytes")
        print(f"| {side.name} | {lines:,} | {len(side.runs)} | {wall:.2f} | {wall / lines * 1e9:,.0f} "
              f"| {lines / wall / 1e6:.3f} | {side.median('cpu'):.2f} | {side.median('rss_bytes') / 1e6:,.0f} "
              f"| {side.median('anonymous_bytes') / 1e6:,.0f} | {gzip_bytes / side.corpus.distinct:.2f} |")
    print("\nMedians of the rounds; memory is the peak of the whole process tree.")


def print_ratios(pairs):
    """The time per line of the first of each pair, relative to the second, round by round."""
    if pairs:
        print("\n| ratio per line | rounds | wall, median | lowest to highest | user+sys, median |")
        print("|---|--:|--:|--:|--:|")
    for slow, quick in pairs:
        size = slow.corpus.lines / quick.corpus.lines
        walls = wall_ratios(slow, quick)
        cpus = [a.cpu / b.cpu / size for a, b in zip(slow.runs, quick.runs)]
        note = "" if size == 1 else f" ({slow.corpus.lines:,} lines against {quick.corpus.lines:,})"
        print(f"| {slow.name} / {quick.name}{note} | {len(walls)} | **{statistics.median(walls):.2f}** "
              f"| {min(walls):.2f} to {max(walls):.2f} | {statistics.median(cpus):.2f} |")


def print_dedup(theirs, ours):
    """The time to find duplicates, as each program measures it."""
    print("\n| duplicates alone | lines | rounds | s | ns/line | anonymous MB |\n|---|--:|--:|--:|--:|--:|")
    for side, what in [(ours, ", its survey"), (theirs, "")]:
        lines, seconds = side.corpus.lines, side.median("dedup")
        print(f"| {side.name}{what} | {lines:,} | {len(side.runs)} | {seconds:.2f} | {seconds / lines * 1e9:,.0f} "
              f"| {side.median('anonymous_bytes') / 1e6:,.0f} |")
    ratios = [a.dedup / b.dedup for a, b in zip(theirs.runs, ours.runs)]
    print(f"\nRatio: median **{statistics.median(ratios):.2f}**, {min(ratios):.2f} to {max(ratios):.2f}. The survey "
          "also checks every URL and\ndivides the set into sitemaps; DuckDB only counts the distinct lines. Neither "
          "writes anything. Memory\nis that of the whole process, which for sitemill is the whole job.")


def machine():
    models = [line.split(":")[1].strip() for line in read("/proc/cpuinfo").splitlines() if "model name" in line]
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    model, load = (models or [os.uname().machine])[0], os.getloadavg()[0]
    return f"{CORES} cores of {model}, {gigabytes:.0f} GB, Linux {os.uname().release}, load before the start {load:.1f}"
