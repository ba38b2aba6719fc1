"""Measures sitemill at several sizes in turn, round by round."""

import shutil
import statistics
import sys

from compare import WORK
from compare.corpora import shop
from compare.measuring import take_turns
from compare.page import section
from compare.sampling import MEMORY_SAMPLE_SECONDS
from compare.sides import first_level, sitemill_side
from compare.tables import print_ratios
from compare.verdicts import at_most, print_verdicts, wall_ratios

# Bytes on disk per line: every input; the sitemaps of the longest one; the keys that it may spill with --memory.
INPUT_BYTES_PER_LINE = 75
GZIP_BYTES_PER_LINE = 25
XML_BYTES_PER_LINE = 120
SPILLED_BYTES_PER_LINE = 24
# The size with which the others are compared.
LINES_OF_NORM = 10_000_000
# Allowed memory relative to --memory: 10 % more, for memory that is not counted.
BUDGET_SHARE_MAX = 1.1


def scale(args, sitemill):
    section("Scale, from the disk" if args.is_cold else "Scale")
    level = first_level(args)
    need_disk(args.scale, level)
    inputs = [shop(lines, args.duplicates) for lines in args.scale]
    sides = [side(args, sitemill, corpus, level, args.build_options) for corpus in inputs]
    plain_options = without_memory(args.build_options)
    has_budget = plain_options != args.build_options
    plain = [side(args, sitemill, corpus, level, plain_options) for corpus in inputs] if has_budget else []
    take_turns([*sides, *plain])
    print_sizes([*sides, *plain], args.is_cold)
    pairs = list(zip(sides, plain))
    if pairs:
        print_ratios(pairs)
        print_verdicts(verdicts_of_budget(pairs))
        if over := [held for held, _ in pairs if budget_share(held) > BUDGET_SHARE_MAX]:
            sys.exit(f"compare: {over[0].name}: {over[0].corpus.lines:,} lines: it uses {budget_share(over[0]):.2f} "
                     "times what --memory allows")
    else:
        print_verdicts(verdicts_of_sizes(sides))


def side(args, sitemill, corpus, level, options):
    made = sitemill_side(args, sitemill, corpus, level, args.rounds, options=options)
    made.compares_urls, made.is_cold, made.warm_up = False, args.is_cold, not args.is_cold
    return made


def without_memory(options):
    """The build options without `--memory SIZE` or `--memory=SIZE`."""
    left = [option for option in options if not option.startswith("--memory=")]
    if "--memory" in left:
        at = left.index("--memory")
        del left[at:at + 2]
    return left


def norm_of(sides):
    return min(sides, key=lambda side: abs(side.corpus.lines - LINES_OF_NORM))


def print_sizes(sides, is_cold):
    norm = norm_of(sides)
    print("\n| | lines | distinct URLs | rounds | wall s, lowest | median | highest | ns/line "
          f"| against {norm.corpus.lines:,} | user+sys s | anonymous bytes/URL | RSS MB | gzip MB | gzip bytes/URL |\n"
          "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for side in sides:
        lines, distinct = side.corpus.lines, side.corpus.distinct
        (lowest, wall, highest), gzip_bytes = side.spread("wall"), side.median("gzip_bytes")
        print(f"| {side.name} | {lines:,} | {distinct:,} | {len(side.runs)} | {lowest:.2f} | **{wall:.2f}** "
              f"| {highest:.2f} | {wall / lines * 1e9:,.0f} | {statistics.median(wall_ratios(side, norm)):.2f} "
              f"| {side.median('cpu'):.2f} | {side.median('anonymous_bytes') / distinct:.1f} "
              f"| {side.median('rss_bytes') / 1e6:,.0f} | {gzip_bytes / 1e6:,.0f} | {gzip_bytes / distinct:.2f} |")
    from_where = "disk and was not cached" if is_cold else "memory if it fits"
    print(f"\nMedians of the rounds, and the lowest and highest times; bytes/URL count distinct URLs. The "
          f"input is\nread from {from_where}. Memory is the peak, sampled every {MEMORY_SAMPLE_SECONDS * 1000:.0f} ms; "
          "RSS counts the mapped input.")


def verdicts_of_sizes(sides):
    """Sizes below the norm have no threshold, because the fixed costs of a run dominate."""
    norm = norm_of(sides)
    for side in sides:
        lines, distinct = side.corpus.lines, side.corpus.distinct
        if lines > norm.corpus.lines:
            ratio = statistics.median(wall_ratios(side, norm))
            yield at_most(f"time per line, {lines:,} lines, against {norm.corpus.lines:,}", 1.25, ratio)
        if lines >= LINES_OF_NORM:
            held = side.median("anonymous_bytes") / distinct
            yield at_most(f"anonymous bytes per distinct URL, {lines:,} lines", 20, held)


def verdicts_of_budget(pairs):
    for held, plain in pairs:
        lines = f"{held.corpus.lines:,} lines"
        ratio = statistics.median(wall_ratios(held, plain))
        yield at_most(f"time with --memory, against without, {lines}", 1.6, ratio)
        yield at_most(f"anonymous memory, against --memory, {lines}", BUDGET_SHARE_MAX, budget_share(held))


def budget_share(side):
    """The highest memory use of any round."""
    return max(run.anonymous_bytes / run.budget_bytes for run in side.runs)


def need_disk(sizes, level):
    written = XML_BYTES_PER_LINE if level == 0 else GZIP_BYTES_PER_LINE
    needed = sum(sizes) * INPUT_BYTES_PER_LINE + max(sizes) * (written + SPILLED_BYTES_PER_LINE)
    free, words = shutil.disk_usage(WORK).free, ", ".join(f"{lines:,}" for lines in sizes)
    print(f"- disk: up to {needed / 1e9:,.1f} GB for {words} lines, {free / 1e9:,.1f} GB free in {WORK}", flush=True)
    if needed > free:
        sys.exit(f"compare: {WORK}: {words} lines need up to {needed / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB are "
                 "free; free some, or give --scale smaller sizes")
