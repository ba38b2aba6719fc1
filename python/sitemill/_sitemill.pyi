"""The extension module: see the Python modules for what the functions do."""

from typing import Any, Callable, Mapping, Optional, Sequence

_ProgressCallback = Callable[[str, int, int], object]
_Store = Mapping[str, Any]
_Built = tuple[str, Optional[BaseException], list[str], Optional[BaseException]]

#: The names of all phases.
PHASES: list[str]

def wait_for_threads() -> None: ...
def main(arguments: Sequence[str]) -> int: ...
def build(
    arguments: Sequence[str],
    rows: Optional[Any] = None,
    names: Sequence[tuple[str, str]] = (),
    callback: Optional[_ProgressCallback] = None,
) -> _Built: ...
def clean(arguments: Sequence[str], rows: Optional[Any] = None, names: Sequence[tuple[str, str]] = ()) -> Stream: ...
def check(
    paths: Sequence[str],
    name: Optional[str],
    base_url: Optional[str],
    scope: Optional[str],
    limit_findings: int,
    threads: Optional[int],
    store: _Store,
    callback: Optional[_ProgressCallback],
) -> tuple[list[str], str]: ...
def urls(paths: Sequence[str], name: Optional[str], threads: Optional[int], store: _Store) -> Stream: ...
def diff(
    old: str,
    new: str,
    name: Optional[str],
    memory: Optional[str],
    scratch: Optional[str],
    threads: Optional[int],
    store: _Store,
) -> Stream: ...
def status(directory: str, name: Optional[str], store: _Store) -> list[str]: ...
def rollback(
    directory: str,
    name: Optional[str],
    to: Optional[int],
    robots: Optional[str],
    robots_any_name: bool,
    store: _Store,
    callback: Optional[_ProgressCallback],
) -> tuple[int, int, int, list[str], Optional[BaseException]]: ...
def report_html(report: str) -> str: ...

class Stream:
    """A result that any Arrow library can read, once: ``pyarrow.table(…)``, ``polars.DataFrame(…)``."""

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    @property
    def report_json(self) -> Optional[str]:
        """The counts of the command as JSON, once all rows are read."""
    @property
    def error(self) -> Optional[BaseException]:
        """The exception that has ended the stream after its first batch. The library that reads the stream raises its own."""

_Routed = list[tuple[int, bytes]]

class Driver:
    """The driver of a build on a cluster."""

    def __init__(self, arguments: Sequence[str]) -> None: ...
    def work_order(self) -> str: ...
    def plan(self, packed: Sequence[str]) -> tuple[Optional[str], int]: ...
    def publish(self, packed: Sequence[str], plan: str, batches: Sequence[str], input: str, columns: str) -> _Built: ...
    def fail(self, kind: str, message: str) -> None: ...

class Router:
    """Sends URLs to the regions that hold them."""

    def __init__(self, plan: str, memory: int) -> None: ...
    def push(self, block: bytes) -> _Routed: ...
    def finish(self) -> _Routed: ...

class Regions:
    """Makes the sitemaps of whole regions."""

    def __init__(self, arguments: Sequence[str], work_order: str, plan: str, scratch: str) -> None: ...
    def push(self, region: int, block: bytes) -> None: ...
    def finish(self) -> list[str]: ...

_Part = tuple[str, Sequence[int], str, bool]

def check_reachable(arguments: Sequence[str], work_order: str) -> None: ...
def check_task(arguments: Sequence[str]) -> tuple[Optional[int], int]: ...
def pack(arguments: Sequence[str], work_order: str, rows: Any, candidates: int) -> Stream: ...
def count_files(arguments: Sequence[str], work_order: str, files: Sequence[_Part], candidates: int) -> str: ...
def send_files(
    arguments: Sequence[str], work_order: str, plan: str, files: Sequence[_Part], memory: int
) -> Stream: ...
def rejects(arguments: Sequence[str], rows: Any) -> Stream: ...
