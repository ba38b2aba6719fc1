"""Runs the sides in turn and measures them. A time counts only if the output is complete.

Wall time covers the whole process tree. CPU time comes from wait4, which adds up a process and all descendants that it
waited for. Memory is the sum of VmRSS, and of RssAnon, over all living processes of the tree, sampled during the run.
VmRSS includes the mapped input, which the kernel may evict at any time; RssAnon is the memory that a job really holds.
"""

import gzip
import json
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field

from compare import OUT, WORK
from compare.corpora import Corpus, fingerprint
from compare.rounds import rounds
from compare.sampling import Memory

REPORT = WORK / "report.json"
PRINTED = WORK / "stdout"
LOC = re.compile(rb"<loc>\s*([^<]*?)\s*</loc>")


@dataclass
class Run:
    wall: float
    cpu: float
    rss_bytes: int
    anonymous_bytes: int
    gzip_bytes: int = 0
    # The time to find duplicates, measured by the program itself.
    dedup: float = 0.0
    # sitemill's memory limit, from its report.
    budget_bytes: int = 0


@dataclass
class Side:
    """A command, and how it is measured and checked."""

    name: str
    corpus: Corpus
    command: list
    rounds: int
    # None for the default, or if it has no levels.
    level: int | None = None
    # sitemill writes a report; a side that only finds duplicates prints its count and time as JSON.
    is_sitemill: bool = False
    is_dedup_only: bool = False
    # How often it escapes XML's reserved characters; once is correct.
    times_escaped: int = 1
    warm_up: bool = True
    # The run to warm up with, if not the side itself.
    rehearsal: "Side | None" = None
    # Whether the input must be read from disk.
    is_cold: bool = False
    # Whether URLs are compared one by one, which takes memory, or only counted.
    compares_urls: bool = True
    is_judged: bool = False
    runs: list[Run] = field(default_factory=list)

    def median(self, what):
        return statistics.median(getattr(run, what) for run in self.runs)

    def spread(self, what):
        return spread([getattr(run, what) for run in self.runs])


def spread(figures):
    """The lowest, the median, the highest."""
    return min(figures), statistics.median(figures), max(figures)


def take_turns(sides):
    """A warm-up, then the rounds. Every second round runs backwards, so that a side does not always follow the same one."""
    for side in sides:
        shown = ["sitemill", *side.command[1:]] if side.is_sitemill else side.command
        print(f"- {side.name}: `{shlex.join(map(str, shown))}`", flush=True)
        if side.warm_up:
            run_once(side.rehearsal or side)
    for number in rounds(max(side.rounds for side in sides)):
        for side in sides if number % 2 == 0 else reversed(sides):
            if number < side.rounds:
                side.runs.append(run_once(side))
                print(f"  {side.runs[-1].wall:.2f} s: {side.name}", file=sys.stderr)


def run_once(side):
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    # Unwritten data of the previous run must not slow this one down.
    os.sync()
    if side.is_cold:
        evict(side.corpus.path)
    run = measure(side.command)
    run.gzip_bytes = sum(path.stat().st_size for path in OUT.glob("*.gz"))
    if side.is_dedup_only:
        printed = json.loads(PRINTED.read_text())
        run.dedup = printed["seconds"]
        expect(side, "distinct URLs that it counted", printed["distinct"], side.corpus.distinct)
        return run
    if side.is_sitemill:
        report = json.loads(REPORT.read_text())
        REPORT.unlink()
        run.dedup, run.budget_bytes = report["seconds"]["survey"], report["needs"]["memory_bytes"]
        corpus = side.corpus
        for name, wanted in [("lines", corpus.lines), ("listed", corpus.distinct),
                             ("duplicates", corpus.lines - corpus.distinct)]:
            expect(side, f"`{name}` in its report", report[name], wanted)
    if not side.is_judged:
        judge(side)
        side.is_judged = True
    shutil.rmtree(OUT)
    return run


def evict(path):
    """Evicts a file from the page cache."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def judge(side, sitemaps=None):
    """Checks that the sitemaps (default: all in OUT) list every distinct URL once, and nothing else."""
    count, found = 0, 0
    for path in OUT.glob("*.xml.gz") if sitemaps is None else sitemaps:
        xml = gzip.decompress(path.read_bytes())
        count += xml.count(b"<url>")
        # Locations in index files are not counted.
        if side.compares_urls and b"<urlset" in xml[:1000]:
            found += fingerprint(LOC.findall(unescaped(xml, side.times_escaped)))
    expect(side, "URLs in its sitemaps", count, side.corpus.distinct)
    if side.compares_urls and found != side.corpus.fingerprint:
        sys.exit(f"compare: {side.name}: the number of URLs is right, but the URLs differ: no time is reported")


def unescaped(xml, times):
    """Resolves the references that occur in URLs. Tags are matched afterwards, so `&lt;` is not resolved."""
    for _ in range(times):
        for reference, character in [(b"&apos;", b"'"), (b"&#39;", b"'"), (b"&#x27;", b"'"), (b"&amp;", b"&")]:
            if reference in xml:
                xml = xml.replace(reference, character)
    return xml


def expect(side, what, found, wanted):
    if found != wanted:
        sys.exit(f"compare: {side.name}: {what}: {found:,}, but the input has {wanted:,}: no time is reported")


def measure(command, more_samplers=()):
    """One run, with its standard output in PRINTED. `more_samplers` watch it too."""
    with open(PRINTED, "wb") as printed, open(WORK / "stderr", "w+b") as words:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=printed, stderr=words, start_new_session=True)
        memory = Memory()
        samplers = [memory, *more_samplers]
        for sampler in samplers:
            sampler.watch(process.pid)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        wall = time.perf_counter() - begin
        for sampler in samplers:
            sampler.stop()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            words.seek(0)
            last_words = words.read()[-2000:].decode(errors="replace")
            sys.exit(f"compare: `{shlex.join(map(str, command))}`: exit code {process.returncode}\n{last_words}")
    return Run(wall, usage.ru_utime + usage.ru_stime, memory.rss_bytes, memory.anonymous_bytes)
