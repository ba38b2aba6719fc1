"""Progress: a function, a line on a terminal, a label in a notebook."""

import os
import pty
import re
import subprocess
import sys
import types

import pyarrow
import pytest

import sitemill
from conftest import BASE, ROOT, pages
from sitemill import _progress, _sitemill


def slow_rows():
    """Rows for more than half a second, after which progress is shown."""
    import time

    for number in range(12):
        time.sleep(0.1)
        yield f"{BASE}{number}"


def test_a_function_may_have_any_attributes(tmp_path):
    class Progress:
        end = 1

        def __call__(self, *words):
            pass

    assert sitemill.build([BASE], base_url=BASE, out=tmp_path, progress=Progress()).published


def test_a_function_is_told_phases_and_counts(tmp_path):
    told = []
    table = pyarrow.table({"url": pages(200_000)})
    sitemill.build(table, base_url=BASE, out=tmp_path, progress=lambda *words: told.append(words))
    phases = list(dict.fromkeys(phase for phase, _, _ in told))
    assert phases and set(phases) <= set(_sitemill.PHASES)
    assert phases[-1] == "produce"
    assert all(isinstance(done, int) and isinstance(total, int) and done >= 0 for _, done, total in told)
    assert any(done for _, done, _ in told)


def test_every_phase_has_words_for_a_line_and_is_documented():
    assert list(_progress._WORDS) == _sitemill.PHASES
    documented = (ROOT / "docs/python.md").read_text("utf-8").split("## Progress")[1].split("##")[0]
    assert [phase for phase in _sitemill.PHASES if f"`{phase}`" not in documented] == []


def test_an_exception_of_the_function_stops_the_run(tmp_path):
    def stop(phase, done, total):
        raise StopAsyncIteration("enough")

    endless = iter(lambda: BASE, None)
    with pytest.raises(StopAsyncIteration, match="enough"):
        sitemill.build(endless, base_url=BASE, out=tmp_path, progress=stop)
    assert not (tmp_path / "sitemap-index-1.xml").exists()


@pytest.mark.parametrize("kind", [RuntimeError, SystemExit])
def test_an_exception_of_the_function_once_the_set_is_live_does_not_lose_the_result(kind, tmp_path):
    sitemill.build(pages(3), base_url=BASE, out=tmp_path)

    def stop_once_set_is_live(number):
        def stop(phase, done, total):
            if sitemill.status(tmp_path)[0].live.number == number:
                raise kind("enough")

        return stop

    calls = [
        ("the new set", 2, lambda stop: sitemill.build(pages(4), base_url=BASE, out=tmp_path, progress=stop)),
        ("set 1", 1, lambda stop: sitemill.rollback(tmp_path, progress=stop)),
    ]
    for words, number, call in calls:
        warning = f"{kind.__name__}: enough: raised too late to stop the run"
        with pytest.warns(RuntimeWarning, match=f"^{warning}; {words} is live$"):
            if issubclass(kind, Exception):
                result = call(stop_once_set_is_live(number))
            else:
                with pytest.raises(kind, match="enough") as raised:
                    call(stop_once_set_is_live(number))
                result = raised.value.result
        assert result.warnings[-1] == warning
        assert sitemill.status(tmp_path)[0].live.number == number


def test_an_exception_of_the_function_is_raised_if_nothing_was_published(tmp_path):
    def stop(phase, done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sitemill.build(pages(3), base_url=BASE, out=tmp_path, dry_run=True, progress=stop)
    with pytest.raises(sitemill.DataRefused, match="nothing was published"):
        sitemill.build(["nonsense://"], base_url=BASE, out=tmp_path, progress=lambda *_: None)


def test_a_terminal_shows_a_line_that_is_removed_at_the_end(tmp_path):
    code = f"""
import sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import sitemill, test_progress
sitemill.build(test_progress.slow_rows(), base_url={BASE!r}, out={str(tmp_path)!r})
"""
    reader, terminal = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", code], stderr=terminal)
    os.close(terminal)
    shown = b""
    try:
        while part := os.read(reader, 4096):
            shown += part
    except OSError:
        # The other side is closed.
        pass
    os.close(reader)
    assert process.wait(60) == 0, shown
    assert re.search(rb"\r\x1b\[K(reading rows|pass 1)[^\r]*\d", shown), shown
    assert shown.endswith(b"\r\x1b[K")


def test_nothing_is_shown_elsewhere_unless_it_is_wanted(tmp_path, capsys):
    sitemill.build(slow_rows(), base_url=BASE, out=tmp_path)
    assert capsys.readouterr().err == ""
    sitemill.build(slow_rows(), base_url=BASE, out=tmp_path, progress=False)
    assert capsys.readouterr().err == ""
    sitemill.build(slow_rows(), base_url=BASE, out=tmp_path, progress=True)
    assert "reading rows" in capsys.readouterr().err


class Handle:
    def __init__(self, shown):
        self.shown = shown

    def update(self, message, raw):
        assert raw
        self.shown.append(message["text/plain"])


def test_a_notebook_shows_a_label_that_is_emptied_at_the_end(tmp_path, monkeypatch):
    shown = []

    def display(message, raw, display_id):
        assert raw and display_id
        shown.append(message["text/plain"])
        return Handle(shown)

    # That of Colab is derived from that of Jupyter.
    shell = type("Shell", (type("ZMQInteractiveShell", (), {}),), {})()
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    sitemill.build(slow_rows(), base_url=BASE, out=tmp_path)
    assert shown[0].startswith("reading rows") and shown[-1] == "" and len(shown) > 2
    shown.clear()
    sitemill.build(slow_rows(), base_url=BASE, out=tmp_path, progress=False)
    assert shown == []


class Replaced:
    """What a program may put in the place of standard error."""

    def write(self, text):
        pass


def test_standard_error_may_be_closed_or_replaced(tmp_path, monkeypatch):
    closed = open(os.devnull, "w")
    closed.close()
    for other in (None, closed, Replaced()):
        monkeypatch.setattr(sys, "stderr", other)
        sitemill.build([BASE], base_url=BASE, out=tmp_path)
        assert sitemill.check(tmp_path)


@pytest.mark.parametrize(
    "phase, done, total, line",
    [
        ("sort", 5, 10, r"sorting:  50 %, \d+ s left"),
        ("sort", 0, 10, r"sorting:   0 %"),
        ("sort", 99, 10, r"sorting: 100 %, 0 s left"),
        ("sort", 1234, 0, r"sorting: 1,234, [\d,]+/s"),
        ("read", 0, 0, r"reading rows: 0 B, 0 B/s"),
        ("read", 1023, 0, r"reading rows: 1023 B, [\d.]+ (B|[KM]iB)/s"),
        ("read", 1024, 0, r"reading rows: 1\.00 KiB, "),
        ("read", (1 << 20) - 1, 0, r"reading rows: 1024\.00 KiB, "),
        ("read", 33_898_205, 0, r"reading rows: 32\.33 MiB, [\d.]+ [MG]iB/s"),
        ("survey", 5 << 60, 0, r"pass 1, .*: 5242880\.00 TiB, "),
    ],
)
def test_a_line_has_the_phase_and_the_share(phase, done, total, line):
    shown = []
    label = type("Label", (_progress._Line,), {"SHOW_AFTER_SECONDS": 0, "show": lambda self, words: shown.append(words)})()
    label(phase, done, total)
    assert re.match(line, shown[0]), shown


def test_without_a_standard_error_nothing_is_shown(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert _progress.progress_callback(True) is None and _progress.progress_callback(None) is None
