"""Progress: a line on a terminal, a label in a notebook, or a call to the caller's function."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any, Callable, Optional, Union

#: Called with the name of the phase, the number of units done, and the total (0 if unknown).
ProgressCallback = Callable[[str, int, int], None]

_WORDS = {
    "read": "reading rows",
    "survey": "pass 1, cleaning and finding duplicates",
    "sort": "sorting",
    "split": "dividing URLs among sites and sections",
    "produce": "pass 2, writing sitemaps",
    "urls": "reading",
}

#: Phases that count bytes; the others count URLs.
_IN_BYTES = ("read", "survey")


def progress_callback(progress: Union[bool, ProgressCallback, None]) -> Optional[Any]:
    """The function that receives progress; ``None`` if nothing is shown."""
    if callable(progress):
        return progress
    if progress is not None and not progress:
        return None
    if _is_notebook():
        return _Notebook()
    # Programs without a console have no standard error.
    if sys.stderr is not None and (progress or _is_terminal()):
        return _Terminal()
    return None


def end(callback: Optional[Any]) -> None:
    """Removes the progress line."""
    if isinstance(callback, _Line):
        callback.end()


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except Exception:
        # Standard error is closed, or a program has replaced it by something else.
        return False


def _is_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    # Colab and others have shells of their own, which are derived from that of Jupyter.
    return any(base.__name__ == "ZMQInteractiveShell" for base in type(shell).__mro__)


def _amount(phase: str, number: float) -> str:
    """An amount in the unit of the phase."""
    if phase not in _IN_BYTES:
        return f"{number:,.0f}"
    power = min((int(number) | 1).bit_length() - 1, 49) // 10
    return f"{number / 1024**power:.{2 if power else 0}f} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


class _Line:
    """A line of text that is replaced as the work goes on."""

    #: Short runs show nothing.
    SHOW_AFTER_SECONDS = 0.5

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._phase = ""

    def __call__(self, phase: str, done: int, total: int) -> None:
        if phase != self._phase:
            self._phase, self._since = phase, time.monotonic()
        now = time.monotonic()
        if now - self._begun < self.SHOW_AFTER_SECONDS:
            return
        words = _WORDS.get(phase, phase)
        elapsed = max(now - self._since, 1e-3)
        if total:
            left = elapsed * max(total - done, 0) / done if done else 0
            share = min(100 * done // total, 100)
            self.show(f"{words}: {share:3d} %, {left:.0f} s left")
        else:
            self.show(f"{words}: {_amount(phase, done)}, {_amount(phase, done / elapsed)}/s")

    def show(self, line: str) -> None:
        raise NotImplementedError

    def end(self) -> None:
        raise NotImplementedError


class _Terminal(_Line):
    shown = False

    def show(self, line: str) -> None:
        self.shown = True
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    def end(self) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class _Notebook(_Line):
    handle: Any = None

    def show(self, line: str) -> None:
        display = importlib.import_module("IPython.display").display

        message = {"text/plain": line}
        if self.handle is None:
            self.handle = display(message, raw=True, display_id=True)
        else:
            self.handle.update(message, raw=True)

    def end(self) -> None:
        if self.handle is not None:
            self.handle.update({"text/plain": ""}, raw=True)
