"""sitemill alone, at one size after the other."""

import shutil
import sys

from comparing import WORK
from comparing.corpora import shop
from comparing.measuring import MEMORY_SAMPLE_SECONDS, take_turns
from comparing.sides import sitemill_side

# On disk at a time, for each line of the input: the input; the sitemaps; keys that a build with --memory may spill.
INPUT_BYTES_PER_LINE = 75
GZIP_BYTES_PER_LINE = 25
XML_BYTES_PER_LINE = 120
SPILLED_BYTES_PER_LINE = 24


def scale(args, sitemill):
    level = args.levels[0] if args.levels else None
    need_disk(max(args.scale), level)
    sides = [run(args, sitemill, lines, level) for lines in args.scale]
    print("\n| lines | distinct URLs | rounds | wall s | ns/line | M lines/s | user+sys s | anonymous bytes/URL "
          "| RSS MB | gzip MB | gzip bytes/URL |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for side in sides:
        lines, distinct = side.corpus.lines, side.corpus.distinct
        wall, gzip_bytes = side.median("wall"), side.median("gzip_bytes")
        print(f"| {lines:,} | {distinct:,} | {len(side.runs)} | {wall:.2f} | {wall / lines * 1e9:,.0f} "
              f"| {lines / wall / 1e6:.2f} | {side.median('cpu'):.2f} "
              f"| {side.median('anonymous_bytes') / distinct:.1f} "
              f"| {side.median('rss_bytes') / 1e6:,.0f} | {gzip_bytes / 1e6:,.0f} | {gzip_bytes / distinct:.1f} |")
    print(f"\nMedians of `{sides[0].name}`; bytes/URL for each distinct one. Memory is the peak, sampled every "
          f"{MEMORY_SAMPLE_SECONDS * 1000:.0f} ms; RSS counts the mapped input.")


def run(args, sitemill, lines, level):
    """Measures one size, and makes room for the next."""
    corpus = shop(lines, args.duplicates)
    side = sitemill_side(args, sitemill, corpus, level, args.rounds)
    side.compares_urls = False
    take_turns([side])
    corpus.path.unlink()
    return side


def need_disk(lines, level):
    written = XML_BYTES_PER_LINE if level == 0 else GZIP_BYTES_PER_LINE
    needed = lines * (INPUT_BYTES_PER_LINE + written + SPILLED_BYTES_PER_LINE)
    free = shutil.disk_usage(WORK).free
    print(f"disk: up to {needed / 1e9:,.1f} GB at a time for {lines:,} lines, {free / 1e9:,.1f} GB free in {WORK}",
          flush=True)
    if needed > free:
        sys.exit(f"compare: {WORK}: {lines:,} lines need up to {needed / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB are "
                 "free; free some, or give --scale smaller sizes")
