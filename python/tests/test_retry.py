"""Rows of a call that was refused can be given to the next one, and streams that are left behind do not harm the interpreter."""

import json
import subprocess
import sys
import threading

import pyarrow
import pytest

import sitemill
from conftest import BASE, pages

COUNT = 5000
SCHEMA = pyarrow.schema({"url": pyarrow.string()})


def stream():
    batches = (pyarrow.record_batch({"url": [url]}, SCHEMA) for url in pages(COUNT))
    return pyarrow.RecordBatchReader.from_batches(SCHEMA, batches)


ROWS = {
    "strings": lambda: (url for url in pages(COUNT)),
    "dictionaries": lambda: ({"url": url} for url in pages(COUNT)),
    "stream": stream,
    "result": lambda: sitemill.clean(stream()),
}


@pytest.fixture
def busy(tmp_path):
    """A directory that another build holds."""
    begun, go_on = threading.Event(), threading.Event()

    def slow():
        begun.set()
        go_on.wait(60)
        yield BASE

    out = tmp_path / "busy"
    other = threading.Thread(target=sitemill.build, args=(slow(),), kwargs=dict(base_url=BASE, out=out))
    other.start()
    assert begun.wait(60)
    yield out
    go_on.set()
    other.join()


@pytest.mark.parametrize("kind", ROWS)
def test_a_refused_call_leaves_the_rows_to_the_next_one(kind, busy, tmp_path):
    rows, out = ROWS[kind](), tmp_path / "out"
    for _ in range(3):
        with pytest.raises(sitemill.UsageError):
            sitemill.build(rows, base_url=BASE, out=out, level=11)
        with pytest.raises(sitemill.UsageError):
            sitemill.clean(rows, include="(")
        with pytest.raises(sitemill.Busy):
            sitemill.build(rows, base_url=BASE, out=busy)
        with pytest.raises(sitemill.OutputError):
            sitemill.build(rows, base_url=BASE, out=out, report=tmp_path / "no" / "report")
        if kind == "stream":
            with pytest.raises(sitemill.DataRefused, match="no column page"):
                sitemill.build(rows, base_url=BASE, out=out, url="page")
    assert sitemill.build(rows, base_url=BASE, out=out).listed == COUNT


START = """
import sys, time, pyarrow, sitemill
base, out = sys.argv[1:]
batch = pyarrow.record_batch({"url": [base] * 10_000})
def batches():
    while True:
        yield batch
        time.sleep(0.05)
rows = pyarrow.RecordBatchReader.from_batches(batch.schema, batches())
"""

LEAVES = {
    "refused": "sitemill.build(rows, base_url=base, out=out, level=11)",
    "stopped": """
def stop(phase, done, total):
    raise SystemExit("enough")
sitemill.build(rows, base_url=base, out=out, progress=stop)
""",
    "not read": "stream = sitemill.clean(rows)",
    "read in part": """
stream = pyarrow.RecordBatchReader.from_stream(sitemill.clean(rows))
stream.read_next_batch()
sys.exit(1)
""",
}


@pytest.mark.parametrize("way", LEAVES)
def test_the_interpreter_ends_while_a_stream_runs_code_of_python(way, tmp_path):
    done = subprocess.run([sys.executable, "-c", START + LEAVES[way], BASE, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == (0 if way == "not read" else 1) and "Fatal" not in done.stderr, done.stderr


DAEMON = """
import itertools, sys, threading, time, pyarrow, sitemill
base, out = sys.argv[1:]
begun = threading.Event()
def rows():
    for number in itertools.count():
        time.sleep(0.01)
        begun.set()
        yield base + str(number)
def build():
    sitemill.build(rows(), base_url=base, out=out)
def read():
    pyarrow.table(sitemill.clean(rows()))
def again():
    table = pyarrow.table({"url": [base]})
    while True:
        sitemill.build(table, base_url=base, out=out, dry_run=True)
        begun.set()
def end():
    assert sitemill.build([base], base_url=base, out=out + "-at-exit").listed == 1
    print("ended", flush=True)
import atexit, _thread
# Functions are called in the opposite order, and that of sitemill is already there.
atexit.unregister(sitemill._sitemill.wait_for_threads)
atexit.register(end)
atexit.register(sitemill._sitemill.wait_for_threads)
threading.Thread(target=globals()[KIND], daemon=True).start()
begun.wait()
"""


@pytest.mark.parametrize("kind", ["build", "read", "again"])
def test_a_daemon_thread_does_not_abort_the_interpreter(kind, tmp_path):
    code = DAEMON.replace("KIND", repr(kind))
    for number in range(5):
        command = [sys.executable, "-c", code, BASE, str(tmp_path / str(number))]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr


ENDS = """
import itertools, sys, threading, time, pyarrow, sitemill
base, out = sys.argv[1:]
begun = threading.Event()
def batches():
    for number in itertools.count():
        time.sleep(0.05)
        if number == 10:
            begun.set()
        yield pyarrow.record_batch({"url": [base]})
def build():
    rows = pyarrow.RecordBatchReader.from_batches(pyarrow.schema({"url": pyarrow.string()}), batches())
    sitemill.build(rows, base_url=base, out=out, report=out + ".json")
threading.Thread(target=build, daemon=True).start()
begun.wait()
"""


def test_a_run_that_the_end_of_the_interpreter_stops_is_interrupted(tmp_path):
    for number in range(3):
        out = tmp_path / str(number)
        done = subprocess.run([sys.executable, "-c", ENDS, BASE, str(out)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "Fatal" not in done.stderr, done.stderr
        report = json.loads(out.with_suffix(".json").read_text())
        assert report["exit_code"] == 130, report["error"]
