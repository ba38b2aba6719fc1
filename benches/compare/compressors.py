"""Compressors alone, on the XML that sitemill writes: common tools and, in the benchmark `compressors`, both engines of
sitemill. All compress the same documents, round by round.

Times are CPU times of one thread. Unlike the benchmark, a tool also has to start and to read and write files. `cat`,
which writes more, gives an upper bound for this. Thresholds are checked with and without that time subtracted from a
tool's.
"""

import gzip
import shutil
import statistics
import subprocess
import sys
from collections import defaultdict

from compare import OUT, WORK
from compare.installing import install_tool
from compare.measuring import LOC, PRINTED, judge, measure
from compare.rounds import rounds
from compare.sides import sitemill_side
from compare.verdicts import Verdict, at_least, print_verdicts

XML = WORK / "xml"
LOCS = WORK / "locs.txt"
# Command for one thread, package, levels.
TOOLS = [("gzip", "gzip", [6]), ("pigz -p 1", "pigz", range(1, 10)),
         ("libdeflate-gzip", "libdeflate-tools", range(1, 13)),
         ("igzip", "isal", range(0, 4))]
OURS, ZLIB = "engine records", "engine flate2"
# No level of sitemill may be both larger and slower than a level of these.
NOT_TO_WIN_BOTH = ["libdeflate-gzip", "igzip"]


def compressors(args, sitemill, corpora):
    tools = [(tool, level) for tool, package, levels in TOOLS if install_tool(tool.split()[0], package, tool)
             for level in levels if not args.levels or level in args.levels or tool in ["gzip", "igzip"]]
    for corpus in corpora:
        documents = written_by_sitemill(args, sitemill, corpus)
        times, sizes = defaultdict(list), {}
        for _ in rounds(args.rounds):
            for tool, level in tools:
                run, size = compress([*tool.split(), f"-{level}", "-c", "-k"], documents)
                times[tool, level].append(run.cpu / corpus.distinct * 1e9)
                sizes[tool, level] = size / corpus.distinct
            times["cat", ""].append(measure(["cat", *documents]).cpu / corpus.distinct * 1e9)
            sizes["cat", ""] = PRINTED.stat().st_size / corpus.distinct
            for engine, level, ns, size in benchmark():
                if not args.levels or level in args.levels:
                    times[f"engine {engine}", level].append(ns)
                    sizes[f"engine {engine}", level] = size
        print(f"\n| {corpus.title}: {corpus.distinct:,} | level | ns/URL | bytes/URL |\n|---|--:|--:|--:|")
        for (compressor, level), figures in times.items():
            size = sizes[compressor, level]
            print(f"| {compressor} | {level} | {statistics.median(figures):.0f} | {size:.2f} |")
        print(f"\nTime on the processor, one thread, median of {args.rounds}. The engines are sitemill's: "
              "`cargo bench --bench compressors`.")
        print_verdicts(verdicts(times, sizes))


def verdicts(times, sizes):
    """Both are keyed by compressor and level. `times`: nanoseconds per URL in each round; `sizes`: bytes per URL."""
    ours = [of for of in times if of[0] == OURS]

    def ratio(theirs, own, less=0.0):
        """The time of a tool relative to `own`, after subtracting `less` times that of `cat`."""
        times_of_rounds = zip(times[theirs], times[own], times["cat", ""])
        return statistics.median((a - less * cat) / b for a, b, cat in times_of_rounds)

    def best_ratio(theirs):
        """The ratio to sitemill's fastest level that is as small; 0 if there is none."""
        return max((ratio(theirs, own) for own in ours if sizes[own] <= sizes[theirs]), default=0.0)

    for less, words in [(0, ""), (1, ", its time less that of `cat`")]:
        for tool in NOT_TO_WIN_BOTH:
            levels = [of for of in times if of[0] == tool]
            worse = [f"{own[1]} than {of[1]}" for of in levels for own in ours
                     if sizes[own] > sizes[of] and ratio(of, own, less) < 1]
            found = ", ".join(worse) or "never"
            if levels:
                yield Verdict(f"our levels both larger and slower than {tool}{words}", "never", found, not worse)
    if zlib := [of for of in times if of[0] == ZLIB]:
        worst = min(zlib, key=best_ratio)
        yield at_least(f"time of zlib-rs at its best level, {worst[1]}, against one of ours as small", 1.5,
                       best_ratio(worst))
    if ("gzip", 6) in times:
        yield at_least("time of `gzip -6`, against one of ours as small", 5, best_ratio(("gzip", 6)))


def written_by_sitemill(args, sitemill, corpus):
    """Writes the uncompressed XML of the sitemaps, and LOCS, the input of the benchmark."""
    for folder in [OUT, XML]:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    side = sitemill_side(args, sitemill, corpus, 1, rounds=1)
    subprocess.run(side.command, check=True)
    judge(side)
    documents = []
    with open(LOCS, "wb") as locs:
        for packed in sorted(OUT.glob("*.xml.gz")):
            xml = gzip.decompress(packed.read_bytes())
            locs.writelines(loc + b"\n" for loc in LOC.findall(xml))
            documents.append(XML / packed.stem)
            documents[-1].write_bytes(xml)
    return list(map(str, documents))


def compress(command, documents):
    """The run and the size of its output, which is checked by decompression."""
    run = measure([*command, *documents])
    packed = PRINTED.read_bytes()
    if gzip.decompress(packed) != b"".join(open(document, "rb").read() for document in documents):
        sys.exit(f"compare: {' '.join(command)}: what it wrote is not what it was given")
    return run, len(packed)


def benchmark():
    """One round: engine, level, nanoseconds and bytes per URL."""
    command = ["cargo", "bench", "--quiet", "--bench", "compressors", "--", "--test", str(LOCS.absolute())]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = [line.split() for line in printed.splitlines()]
    return [(row[0], int(row[1]), float(row[2]), float(row[3])) for row in rows if len(row) == 4 and row[1].isdigit()]
