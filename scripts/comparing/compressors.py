"""Compressors alone, on the XML that sitemill writes: the tools that others compress with and, in the benchmark
`compressors`, the two engines of sitemill; round by round, on the same documents.

All are timed by the processor, on one thread. A tool also has to start and to read and write files, which the benchmark
has not; `cat`, which writes more, shows what that takes at most.
"""

import gzip
import shutil
import statistics
import subprocess
import sys
from collections import defaultdict

from comparing import OUT, WORK
from comparing.installing import install_tool
from comparing.measuring import LOC, PRINTED, judge, measure
from comparing.sides import sitemill_side

XML = WORK / "xml"
LOCS = WORK / "locs.txt"
# Each on one thread; its package; its levels.
TOOLS = [("pigz -p 1", "pigz", range(1, 10)), ("libdeflate-gzip", "libdeflate-tools", range(1, 13)),
         ("igzip", "isal", range(1, 4))]


def compressors(args, sitemill, corpora):
    tools = [(tool, level) for tool, package, levels in TOOLS if install_tool(tool.split()[0], package, tool)
             for level in levels if not args.levels or level in args.levels or tool == "igzip"]
    for corpus in corpora:
        documents = written_by_sitemill(args, sitemill, corpus)
        times, sizes = defaultdict(list), {}
        for number in range(args.rounds):
            print(f"round {number + 1}: {corpus.title}", file=sys.stderr)
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
        for (compressor, level), rounds in times.items():
            size = sizes[compressor, level]
            print(f"| {compressor} | {level} | {statistics.median(rounds):.0f} | {size:.2f} |")
        print(f"\nTime on the processor, one thread, median of {args.rounds}. The engines are sitemill's: "
              "`cargo bench --bench compressors`.")


def written_by_sitemill(args, sitemill, corpus):
    """The XML of its sitemaps, unpacked; and LOCS, the same as the benchmark takes it."""
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
    """The run and its bytes, once they were read back."""
    run = measure([*command, *documents])
    packed = PRINTED.read_bytes()
    if gzip.decompress(packed) != b"".join(open(document, "rb").read() for document in documents):
        sys.exit(f"compare: {' '.join(command)}: what it wrote is not what it was given")
    return run, len(packed)


def benchmark():
    """One round: engine, level, nanoseconds and bytes a URL."""
    command = ["cargo", "bench", "--quiet", "--bench", "compressors", "--", "--test", str(LOCS.absolute())]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = [line.split() for line in printed.splitlines()]
    return [(row[0], int(row[1]), float(row[2]), float(row[3])) for row in rows if len(row) == 4 and row[1].isdigit()]
