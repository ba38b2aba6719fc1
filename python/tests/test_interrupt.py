"""Ctrl-C raises KeyboardInterrupt soon, and the live set stays as it is."""

import pathlib
import signal
import subprocess
import sys
import time

import pytest

import sitemill
from conftest import BASE, pages, published

#: A stop takes less than a second; a machine with much else to do may need more.
PATIENCE = 60

START = """
import sys, time, itertools, pyarrow, sitemill
base, out = sys.argv[1:3]
def begun(*_):
    print("begun", flush=True)
"""

ENDLESS = START + """
def rows():
    for number in itertools.count():
        if number == 5000:
            begun()
        yield f"{base}{number}"
rows = rows()
"""
SLOW = START + """
def rows():
    yield base
    begun()
    time.sleep(3600)
rows = rows()
"""
ENDLESS_DICTS = START + """
def rows():
    for number in itertools.count():
        if number == 5000:
            begun()
        yield {"url": f"{base}{number}", "lastmod": None}
rows = rows()
"""
ENDLESS_STREAM = START + """
schema = pyarrow.schema({"url": pyarrow.string()})
def batches():
    for number in itertools.count():
        if number == 5:
            begun()
        yield pyarrow.record_batch({"url": [f"{base}{number}/{row}" for row in range(1000)]}, schema)
rows = pyarrow.RecordBatchReader.from_batches(schema, batches())
"""
SLOW_STREAM = START + """
schema = pyarrow.schema({"url": pyarrow.string()})
def batches():
    yield pyarrow.record_batch({"url": [base]}, schema)
    begun()
    time.sleep(3600)
    yield pyarrow.record_batch({"url": [base]}, schema)
rows = pyarrow.RecordBatchReader.from_batches(schema, batches())
"""
LARGE_TABLE = START + """
numbers = pyarrow.array(range(3_000_000)).cast(pyarrow.string())
import pyarrow.compute
rows = pyarrow.table({"url": pyarrow.compute.binary_join_element_wise(base, numbers, "")})
options = {"progress": begun}
"""

BUILD = """
options = globals().get("options", {})
try:
    sitemill.build(rows, base_url=base, out=out, max_shrink="100%", **options)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""

CLEAN = """
try:
    pyarrow.table(sitemill.clean(rows))
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""


READ = START + """
# The first batch is there when the function returns.
stream = sitemill.clean(f"{base}{number}" for number in itertools.count())
try:
    begun()
    pyarrow.table(stream)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""


def interrupt(code: str, out: pathlib.Path) -> None:
    """Runs `code`, and sends SIGINT when it says that it has begun."""
    command = [sys.executable, "-c", code, BASE, str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "begun\n", process.stderr.read()
            process.send_signal(signal.SIGINT)
            said, errors = process.communicate(timeout=PATIENCE)
            assert (process.returncode, said.splitlines()[-1]) == (7, "interrupted"), errors
        finally:
            process.kill()


SOURCES = {
    "an endless generator": ENDLESS,
    "an endless generator of dictionaries": ENDLESS_DICTS,
    "a generator that waits": SLOW,
    "an endless stream": ENDLESS_STREAM,
    "a stream that waits": SLOW_STREAM,
    "a large table": LARGE_TABLE,
}


@pytest.mark.parametrize("source", SOURCES)
def test_ctrl_c_stops_a_build_and_leaves_the_live_set(source, tmp_path):
    sitemill.build(pages(3), base_url=BASE, out=tmp_path)
    live, status = published(tmp_path), sitemill.status(tmp_path)
    interrupt(SOURCES[source] + BUILD, tmp_path)
    assert published(tmp_path) == live
    assert sitemill.status(tmp_path) == status
    assert list((tmp_path / ".sitemill" / "staging").iterdir()) == []
    assert sitemill.check(tmp_path)


@pytest.mark.parametrize("source", ["a generator that waits", "an endless generator"])
def test_ctrl_c_stops_the_reading_of_a_stream(source, tmp_path):
    interrupt(SOURCES[source] + CLEAN, tmp_path)


def test_ctrl_c_stops_the_reading_of_a_stream_after_its_first_batch(tmp_path):
    interrupt(READ, tmp_path)


FAST = START + """
import os, subprocess, threading
os.mkfifo(out)
subprocess.Popen(["sh", "-c", f"yes {base} > {out}"])
reader = pyarrow.RecordBatchReader.from_stream(sitemill.clean(out))
threading.Timer(0.5, begun).start()
reader.read_all()
"""


@pytest.mark.parametrize("flags", [[], ["-i"]])
def test_ctrl_c_stops_a_library_that_reads_a_fast_stream_and_is_shown(flags, tmp_path):
    command = [sys.executable, *flags, "-c", FAST, BASE, str(tmp_path / "fifo")]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "begun\n", process.stderr.read()
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    if flags:
        # A session follows, with its prompt.
        assert errors.startswith("Traceback ") and errors.count("\nKeyboardInterrupt\n") == 1, errors
        assert "excepthook" not in errors and "SystemExit" not in errors, errors
        return
    assert errors.startswith("Traceback ") and errors.endswith("KeyboardInterrupt\n"), errors
    # In a shell, both are 130.
    assert process.returncode in (130, -signal.SIGINT)


LIVE = START + """
import os, threading
marker = out + "-is-live"
def watch():
    while not os.path.exists(marker):
        time.sleep(0.01)
    begun()
threading.Thread(target=watch).start()
try:
    sitemill.build([base], base_url=base, out=out, max_shrink="100%", then=["sh", "-c", f"touch {marker}; exec sleep 3600"])
except KeyboardInterrupt as stop:
    [of_command, late] = stop.result.warnings
    assert "the command ended with exit code 130" in of_command, of_command
    assert late == "KeyboardInterrupt: raised too late to stop the run", late
    assert stop.result.published and stop.result.listed == 1
    print("interrupted", flush=True)
    sys.exit(7)
"""


def test_ctrl_c_once_the_set_is_live_has_the_report(tmp_path):
    out = tmp_path / "out"
    sitemill.build(pages(3), base_url=BASE, out=out)
    interrupt(LIVE, out)
    assert sitemill.status(out)[0].live.urls == 1


def test_a_signal_handler_of_the_program_is_called(tmp_path):
    received = []

    def rows():
        for number in range(10):
            if number == 5:
                signal.raise_signal(signal.SIGUSR1)
            yield f"{BASE}{number}"

    before = signal.signal(signal.SIGUSR1, lambda *_: received.append(time.monotonic()))
    try:
        assert sitemill.build(rows(), base_url=BASE, out=tmp_path).listed == 10
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(received) == 1
