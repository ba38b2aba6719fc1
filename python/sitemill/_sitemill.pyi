"""The native half: see the Python half for what the functions do."""

from typing import Any, Callable, Mapping, Optional, Sequence

_Tell = Callable[[str, int, int], object]
_Store = Mapping[str, Any]

def main(words: Sequence[str]) -> int: ...
def build(
    words: Sequence[str], rows: Optional[Any] = None, tell: Optional[_Tell] = None
) -> tuple[str, Optional[BaseException], list[str]]: ...
def clean(words: Sequence[str], rows: Optional[Any] = None) -> Stream: ...
def check(
    paths: Sequence[str],
    name: Optional[str],
    base_url: Optional[str],
    scope: Optional[str],
    limit_findings: int,
    threads: Optional[int],
    store: _Store,
    tell: Optional[_Tell],
) -> tuple[list[str], str]: ...
def urls(paths: Sequence[str], name: Optional[str], threads: Optional[int], store: _Store) -> Stream: ...
def diff(
    old: str,
    new: str,
    name: Optional[str],
    memory: Optional[int],
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
    tell: Optional[_Tell],
) -> tuple[int, int, int, list[str]]: ...
def report_html(report: str) -> str: ...

class Stream:
    """A result that any Arrow library can read, once: ``pyarrow.table(…)``, ``polars.DataFrame(…)``."""

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...
    @property
    def report_json(self) -> Optional[str]:
        """The counts of the command as JSON, once all rows are read."""

_Routed = list[tuple[int, bytes]]
_Built = tuple[str, Optional[BaseException], list[str]]

class Driver:
    """The driver of a build on a cluster."""

    def __init__(self, words: Sequence[str]) -> None: ...
    def order(self) -> str: ...
    def plan(self, packed: Sequence[str]) -> tuple[Optional[str], int]: ...
    def publish(self, packed: Sequence[str], plan: str, batches: Sequence[str], input: str) -> _Built: ...
    def close(self) -> None: ...

class Router:
    """Sends URLs to the regions that hold them."""

    def __init__(self, plan: str, memory: int) -> None: ...
    def push(self, block: bytes) -> _Routed: ...
    def finish(self) -> _Routed: ...

class Regions:
    """Makes the sitemaps of whole regions."""

    def __init__(self, words: Sequence[str], order: str, plan: str, scratch: str) -> None: ...
    def push(self, region: int, block: bytes) -> None: ...
    def finish(self) -> list[str]: ...

def check_reachable(words: Sequence[str], order: str) -> None: ...
def pack(words: Sequence[str], order: str, rows: Any, candidates: int) -> Stream: ...
def rejects(words: Sequence[str], rows: Any) -> Stream: ...
