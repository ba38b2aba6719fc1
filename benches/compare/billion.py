"""Measures sitemill once on very many URLs: time, memory and disk space."""

import json
import shutil
import sys

from compare import OUT, WORK
from compare.measuring import REPORT, expect, measure
from compare.rounds import rounds
from compare.sampling import DISK_SAMPLE_SECONDS, MEMORY_SAMPLE_SECONDS, Disk
from compare.sides import SORTED, sitemill_side

# Upper bounds of the bytes on disk per line. Scratch files have the keys that do not fit into memory: all of them with a small
# --memory. A sorted run needs less for scratch files and sitemaps, because its rows share most of their bytes.
INPUT_BYTES_PER_LINE = 31
GZIP_BYTES_PER_LINE = 6
SCRATCH_BYTES_PER_LINE = 18


def need_disk(lines):
    """Ends the program if the disk has no room for the input, the sitemaps and the scratch files."""
    needed = lines * (INPUT_BYTES_PER_LINE + GZIP_BYTES_PER_LINE + SCRATCH_BYTES_PER_LINE)
    free = shutil.disk_usage(WORK).free
    print(f"- disk: up to {needed / 1e9:,.1f} GB for {lines:,} URLs, {free / 1e9:,.1f} GB free in {WORK}", flush=True)
    if needed > free:
        sys.exit(f"billion: {WORK}: needs up to {needed / 1e9:,.1f} GB, but only {free / 1e9:,.1f} GB are free; free some, or "
                 "build fewer URLs: scripts/billion 100M")


def build_all(args, sitemill, corpus):
    """Builds in input order, and sorted with --sorted; prints a row for each."""
    orders = [[], *([SORTED] if args.sorted else [])]
    sides = [sitemill_side(args, sitemill, corpus, None, 1, order) for order in orders]
    rows = [(side, *build(side)) for _ in rounds(1) for side in sides]
    print("\n| | listed URLs | sitemaps | index files | wall s | survey | produce | publish | ns/line | user+sys s "
          "| anonymous MB | RSS MB | scratch MB | set MB | gzip bytes/URL |\n"
          "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for side, run, scratch_bytes, report in rows:
        seconds = report["seconds"]
        print(f"| {side.name} | {report['listed']:,} | {report['sitemaps']:,} | {report['indexes']:,} "
              f"| **{run.wall:.1f}** | {seconds['survey']:.1f} | {seconds['produce']:.1f} | {seconds['publish']:.1f} "
              f"| {run.wall / corpus.lines * 1e9:.0f} | {run.cpu:.1f} | {run.anonymous_bytes / 1e6:,.0f} "
              f"| {run.rss_bytes / 1e6:,.0f} | {scratch_bytes / 1e6:,.0f} | {run.gzip_bytes / 1e6:,.0f} "
              f"| {run.gzip_bytes / report['listed']:.2f} |")
    print(f"\nMemory and scratch files are peaks, sampled every {MEMORY_SAMPLE_SECONDS * 1000:.0f} and "
          f"{DISK_SAMPLE_SECONDS * 1000:.0f} ms. RSS counts pages of the mapped\ninput, which the kernel may evict.")


def build(side):
    """The run, the peak of its scratch files, and its report, which must list every URL."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    print(f"running {side.name}", file=sys.stderr)
    disk = Disk()
    run = measure(side.command, [disk])
    run.gzip_bytes = sum(path.stat().st_size for path in OUT.glob("*.gz"))
    report = json.loads(REPORT.read_text())
    for name, wanted in [("lines", side.corpus.lines), ("listed", side.corpus.distinct), ("duplicates", 0)]:
        expect(side, f"`{name}` in its report", report[name], wanted)
    return run, disk.scratch_bytes, report
