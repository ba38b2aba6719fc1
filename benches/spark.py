"""Measures `sitemill.spark.build` against `sitemill.build` of the same Parquet files; scripts/spark-bench prepares and runs it.

The sides take turns. On Spark, each round starts a session of two cores and builds twice; the start of the session does not count,
but reading the schema of the files does. CPU time is that of the process that calls and of all processes below it: the JVM, and the
Python processes of the tasks. Before a time is printed, every file of the set has been compared with that of one machine.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "spark-bench"
FILES = 8
SIDES = {"one": "one machine", "files": "Parquet files that tasks read", "rows": "rows that pass through the JVM"}
RULES = {"base_url": "https://www.example.com/", "order": "sorted", "divide": "stable", "on_duplicate": "newest"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    files = WORK / str(arguments.rows)
    if arguments.side is not None:
        print(json.dumps(measure(arguments.side, files)))
        return
    if not files.is_dir():
        generate(files, arguments.rows)
    report([{side: of_side(side, arguments.rows) for side in SIDES} for _ in range(arguments.rounds)])


def generate(files: pathlib.Path, rows: int) -> None:
    """Writes shop URLs in random order to Parquet files, a tenth of them duplicates."""
    import pyarrow
    import pyarrow.parquet

    unfinished = files.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    text = unfinished / "urls.txt"
    words = [str(rows), "--duplicates", "0.1", "--order", "shuffled", "--out", str(text)]
    subprocess.run([ROOT / "scripts" / "urls", *words], check=True, stdout=subprocess.DEVNULL)
    with open(text, "rb") as lines:
        for number in range(FILES):
            urls = [line[:-1] for line in itertools.islice(lines, -(-rows // FILES))]
            table = pyarrow.table({"loc": pyarrow.array(urls, pyarrow.string())})
            pyarrow.parquet.write_table(table, unfinished / f"part-{number}.parquet")
    text.unlink()
    unfinished.rename(files)


def of_side(side: str, rows: int) -> list[dict[str, float]]:
    """The runs of `side` in a process of its own. Their sets are equal to the one of one machine in the same round."""
    words = [sys.executable, __file__, "--side", side, "--rows", str(rows)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{SIDES[side]}:\n{done.stderr}")
    return json.loads(done.stdout)


def measure(side: str, files: pathlib.Path) -> list[dict[str, float]]:
    out = WORK / side
    if side == "one":
        import sitemill

        return [timed(out, lambda: sitemill.build(files, out=out, **RULES))]
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    import sitemill.spark

    session = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g").config("spark.ui.enabled", "false")
    session = session.config("spark.local.dir", str(WORK / "local")).getOrCreate()

    def build() -> None:
        rows = session.read.parquet(str(files))
        # A filter keeps the tasks from reading the files themselves.
        rows = rows if side == "files" else rows.where("loc is not null")
        sitemill.spark.build(rows, out=out, **RULES)

    runs = [timed(out, build) for _ in range(2)]
    session.stop()
    return runs


def timed(out: pathlib.Path, build) -> dict[str, float]:
    shutil.rmtree(out, ignore_errors=True)
    start, cpu = time.monotonic(), cpu_seconds()
    build()
    run = {"cpu": cpu_seconds() - cpu, "wall": time.monotonic() - start}
    compare(out, WORK / "one")
    return run


def compare(out: pathlib.Path, one: pathlib.Path) -> None:
    """Index files have the times at which sitemaps were published. Otherwise, the files must be equal."""
    names = [sorted(entry.name for entry in directory.iterdir() if entry.is_file()) for directory in (out, one)]
    assert names[0] == names[1] and names[0], f"{out} and {one} have different files"
    for name in names[0]:
        contents = [(directory / name).read_bytes() for directory in (out, one)]
        if name.endswith(".xml"):
            contents = [re.sub(rb"<lastmod>[^<]*", b"", content) for content in contents]
        assert contents[0] == contents[1], f"{name} differs in {out} and {one}"


def cpu_seconds() -> float:
    """The CPU time of this process and of all below it, with those that have ended."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for directory in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (directory / "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(directory.name))
        ticks[int(directory.name)] = sum(map(int, fields[11:15]))
    total, waiting = 0, [os.getpid()]
    while waiting:
        process = waiting.pop()
        total += ticks.get(process, 0)
        waiting += children.get(process, [])
    return total / os.sysconf("SC_CLK_TCK")


def report(rounds: list[dict[str, list[dict[str, float]]]]) -> None:
    """Prints medians over the rounds. The ratio is that of CPU times in the same round."""
    print("| | CPU s | wall s | CPU time by that of one machine |\n|---|--:|--:|--:|")
    for side, title in SIDES.items():
        for run in range(len(rounds[0][side])):
            own = [of_sides[side][run] for of_sides in rounds]
            ratios = [of_sides[side][run]["cpu"] / of_sides["one"][0]["cpu"] for of_sides in rounds]
            cpu, wall = (statistics.median(of_run[unit] for of_run in own) for unit in ("cpu", "wall"))
            when = "" if side == "one" else [", new session", ", second run"][run]
            spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
            print(f"| {title}{when} | {cpu:.1f} | {wall:.1f} | {spread} |")


if __name__ == "__main__":
    main()
