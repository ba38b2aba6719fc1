"""Measures what sections and patterns cost: sitemill with each of these options, against sitemill without."""

import dataclasses
import statistics

from compare import WORK
from compare.forms import csv_row
from compare.measuring import spread, take_turns
from compare.sides import first_level, sitemill_side
from compare.tables import print_ratios, print_table
from compare.verdicts import at_most, print_verdicts, wall_ratios

SECTIONS = 20

# Ten patterns, none of which matches a URL of a shop: with a literal each, and with one or two that look at every URL.
LITERALS = ["/private/", "/cart/", "/checkout", "/login", r"\?sort=", "[?&]session(id)?=", "/tag/.*/feed", "(?i)/print/"]
PATTERNS = {
    "each with a literal": [*LITERALS, "utm_source=", r"\.pdf$"],
    "one without a literal": [*LITERALS, "utm_source=", "[0-9]{9}"],
    "two without a literal": [*LITERALS, "[^/]{100,}", "[0-9]{9}"],
}

SECTIONS_MAX, PATTERNS_MAX = 1.1, 1.5


def options(args, sitemill, corpora):
    for corpus in corpora:
        csv = dataclasses.replace(corpus, path=with_sections(corpus))
        side = lambda name, of, *more: named(
            name, sitemill_side(args, sitemill, of, first_level(args), args.rounds, more), is_csv=of is csv)
        lines, by_path = side("lines", corpus), side("lines, --section-by-path", corpus, "--section-by-path")
        rows, by_column = side("CSV", csv), side("CSV, --section-column", csv, "--section-column", "type")
        dry = side("--dry-run", corpus, "--dry-run")
        filtered = [side(f"--dry-run, {what}", corpus, "--dry-run", *excluding(patterns))
                    for what, patterns in PATTERNS.items()]
        take_turns([lines, by_path, rows, by_column, dry, *filtered])
        sections = [(by_path, lines), (by_column, rows)]
        print_table([lines, by_path, rows, by_column])
        print_ratios(sections)
        print_patterns(dry, filtered)
        print_verdicts([at_most(f"{slow.name} / {quick.name}", SECTIONS_MAX, statistics.median(wall_ratios(slow, quick)))
                        for slow, quick in sections])
        csv.path.unlink()


def print_patterns(dry, filtered):
    """The time of the survey, as sitemill reports it, and of the whole dry run, which also estimates bytes."""
    print("\n| ten patterns / none | rounds | survey, lowest | median | highest | dry run, median |\n"
          "|---|--:|--:|--:|--:|--:|")
    verdicts = []
    for side in filtered:
        lowest, median, highest = spread([a.dedup / b.dedup for a, b in zip(side.runs, dry.runs)])
        verdicts.append(at_most(f"survey: {side.name}", PATTERNS_MAX, median))
        whole = statistics.median(wall_ratios(side, dry))
        print(f"| {side.name} | {len(side.runs)} | {lowest:.2f} | **{median:.2f}** | {highest:.2f} | {whole:.2f} |")
    print_verdicts(verdicts)


def named(name, side, is_csv):
    side.name = name
    # Only plain text has one URL per line, with which the output can be compared. A dry run has no output, only counts.
    side.compares_urls, side.is_judged = not is_csv, "--dry-run" in name
    return side


def excluding(patterns):
    return [word for pattern in patterns for word in ["--exclude", pattern]]


def with_sections(corpus):
    """Writes the corpus as CSV, each row with a section that has nothing to do with its URL."""
    path = WORK / "sections.csv"
    with open(corpus.path) as lines, open(path, "w") as csv:
        csv.write("loc,type\n")
        for number, line in enumerate(lines):
            url = line.rstrip("\n")
            section = number * 0x9E3779B1 % 2**32 * SECTIONS >> 32
            csv.write(csv_row(url, f"type-{section}"))
    return path
