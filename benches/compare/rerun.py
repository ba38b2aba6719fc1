"""Measures sitemill's reruns on the same input and on one with a renamed stretch, and the switch to a set of many
sitemaps."""

import dataclasses
import itertools
import json
import os
import shutil
import statistics
import sys

from compare import OUT, WORK
from compare.corpora import shop
from compare.measuring import LOC, REPORT, expect, judge, measure, spread
from compare.page import section
from compare.rounds import rounds
from compare.sides import first_level, sitemill_side
from compare.verdicts import at_most, print_verdicts

CHANGED_SHARE = 0.01
# Inserted into the path of every renamed line.
RENAMED = (b"://www.example.com/", b"://www.example.com/renamed/")
# The size of each write, the same for both inputs: it determines the page sizes in the kernel's cache, and with them
# the cost of mapping the file.
WRITE_BYTES = 8 << 20
SITEMAPS_COMMITTED = 10_000
URLS_PER_COMMITTED = 100


def rerun(args, sitemill):
    section("The night after")
    whole = shop(args.urls or 10_000_000, "0")
    is_sorted = "sorted" in args.build_options
    before, after = night_after_sorted(whole) if is_sorted else night_after(whole)
    sides = {divide: [sitemill_side(args, sitemill, corpus, first_level(args), args.rounds, ["--divide", divide])
                      for corpus in [before, after]] for divide in ["fill", "stable"]}
    nights = {divide: [] for divide in sides}
    for number in rounds(args.rounds):
        for divide, (ours, changed) in sides.items():
            last = three_nights(ours, changed, must_judge=number == 0)
            nights[divide].append(last)
            print(f"  {divide}: {last.full:.2f}, {last.unchanged:.2f}, {last.changed:.2f} s",
                  file=sys.stderr)
    print(f"\n| {before.lines:,} lines | full s | unchanged s | its share | 1 % changed s | its share | new sitemaps "
          "| their share |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for divide, all_nights in nights.items():
        median = lambda what: statistics.median(getattr(night, what) for night in all_nights)
        # The median, with the lowest and the highest.
        all_three = lambda what: "**{1:.2f}** ({0:.2f}–{2:.2f})".format(
            *spread([getattr(night, what) for night in all_nights]))
        print(f"| `--divide {divide}` | {all_three('full')} | {all_three('unchanged')} "
              f"| {all_three('unchanged_share')} | {all_three('changed')} | {all_three('changed_share')} "
              f"| {median('new'):.0f} of {median('sitemaps'):.0f} | {median('new_share') * 100:.1f} % |")
    print(f"\nMedians of {args.rounds} rounds, with the lowest and the highest; shares of time are those of the full "
          "run of the\nsame round.")
    stable = lambda what: statistics.median(getattr(night, what) for night in nights["stable"])
    print_verdicts([at_most("% of the sitemaps new, 1 % changed, `--divide stable`", 2, stable("new_share") * 100),
                    at_most("% of the time of a full run, the same", 40, stable("changed_share") * 100)])


@dataclasses.dataclass
class Nights:
    """Seconds of three runs. The second and third replace the set of the previous one."""

    full: float
    unchanged: float
    changed: float
    # The sitemaps of the last run, and the number of new ones.
    sitemaps: int
    new: int

    unchanged_share = property(lambda self: self.unchanged / self.full)
    changed_share = property(lambda self: self.changed / self.full)
    new_share = property(lambda self: self.new / self.sitemaps)


def night_after(corpus):
    """The corpus, and a copy with a renamed stretch of lines in the middle."""
    with open(corpus.path, "rb") as file:
        head = file.read(corpus.bytes // 2) + file.readline()
        stretch = b"".join(itertools.islice(file, int(corpus.lines * CHANGED_SHARE)))
        tail = file.read()
    renamed = stretch.replace(*RENAMED)
    return (written(corpus, "before", head + stretch + tail), written(corpus, "after", head + renamed + tail))


def night_after_sorted(corpus):
    """The corpus, and a copy in which the URLs of a stretch of the site are renamed: adjacent ones in the order of URLs."""
    lines = corpus.path.read_bytes().splitlines(keepends=True)
    begin, end = len(lines) // 2, len(lines) // 2 + int(len(lines) * CHANGED_SHARE)
    in_order = sorted(lines)
    first, last = in_order[begin], in_order[end]
    del in_order
    renamed = (line[:-1] + b"-renamed\n" if first <= line < last else line for line in lines)
    return (written(corpus, "before", b"".join(lines)), written(corpus, "after", b"".join(renamed)))


def written(corpus, name, text):
    path = WORK / f"{name}.txt"
    with open(path, "wb", buffering=0) as file:
        for begin in range(0, len(text), WRITE_BYTES):
            file.write(text[begin:begin + WRITE_BYTES])
    return dataclasses.replace(corpus, path=path, bytes=len(text))


def three_nights(ours, changed, must_judge):
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    full = build(ours)
    first = live()
    if must_judge:
        judge(ours, first)
    unchanged = build(ours)
    expect(ours, "sitemaps that are new though nothing changed", len(set(live()) - set(first)), 0)
    last = build(changed)
    now = live()
    if must_judge:
        judge(changed, now)
    return Nights(full, unchanged, last, len(now), len(set(now) - set(first)))


def build(side):
    """Seconds of one run over the existing set. Every line must be listed."""
    os.sync()
    seconds = measure(side.command).wall
    report = json.loads(REPORT.read_text())
    expect(side, "`listed` in its report", report["listed"], side.corpus.distinct)
    return seconds


def live():
    """The sitemaps that the index files list, without earlier ones in the directory."""
    return [OUT / os.path.basename(loc.decode()) for index in sorted(OUT.glob("sitemap-index-*.xml"))
            for loc in LOC.findall(index.read_bytes())]


def commit(args, sitemill):
    section("The switch to a set of many sitemaps")
    corpus = shop(SITEMAPS_COMMITTED * URLS_PER_COMMITTED, "0")
    side = sitemill_side(args, sitemill, corpus, first_level(args), args.rounds,
                         ["--urls-per-sitemap", str(URLS_PER_COMMITTED)])
    publish, total = [], []
    for number in rounds(args.rounds):
        shutil.rmtree(OUT, ignore_errors=True)
        OUT.mkdir()
        build(side)
        if number == 0:
            judge(side, live())
        expect(side, "sitemaps", len(live()), SITEMAPS_COMMITTED)
        seconds = json.loads(REPORT.read_text())["seconds"]
        publish.append(seconds["publish"])
        total.append(seconds["total"])
        print(f"  {publish[-1]:.2f} of {total[-1]:.2f} s", file=sys.stderr)
    print(f"\n{SITEMAPS_COMMITTED:,} sitemaps: index files and the switch to the set took {min(publish):.2f} to "
          f"{max(publish):.2f} s of {statistics.median(total):.2f} s in all; rounds: {args.rounds}.")
    print_verdicts([at_most(f"seconds to publish {SITEMAPS_COMMITTED:,} sitemaps", 5, statistics.median(publish))])
