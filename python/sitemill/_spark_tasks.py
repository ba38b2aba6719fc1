"""The tasks of :mod:`sitemill.spark`: what its workers do. They are pickled, so they hold nothing but words and numbers."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Iterator, Optional, Sequence

from . import _sitemill
from ._errors import SitemillError

#: Memory of a task that sends rows to their regions.
ROUTER_BYTES = 64 << 20


def keep_modules() -> None:
    """Exempts what is loaded from the search for garbage. A process of Spark runs one task after another, and searches everything
    after each."""
    import gc

    global _modules_are_kept
    if not _modules_are_kept:
        gc.freeze()
        _modules_are_kept = True


_modules_are_kept = False


class InArrow:
    """A task for ``mapInArrow`` that passes values of columns to another task, and its results on as the column ``name``."""

    def __init__(self, task: Any, columns: Sequence[str], name: str) -> None:
        self.task, self.columns, self.name = task, columns, name

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        rows = (row for batch in batches for row in zip(*(map(_value, batch.column(name)) for name in self.columns)))
        for result in self.task(rows):
            column = pyarrow.array([result], pyarrow.string())
            yield pyarrow.RecordBatch.from_arrays([column], names=[self.name])


def _value(scalar: Any) -> Any:
    return scalar.as_py()


class Check:
    """A task that looks for the directory of the driver, or its bucket. Its results are problems: the arguments of ``_errors.make``,
    as JSON."""

    def __init__(self, arguments: list[str], work_order: str) -> None:
        self.arguments, self.work_order = arguments, work_order

    def __call__(self, rows: Iterator[Any]) -> Iterator[str]:
        import platform

        keep_modules()
        for _ in rows:
            try:
                _sitemill.check_reachable(self.arguments, self.work_order)
            except SitemillError as error:
                # A task that fails is repeated, and its message ends up in the middle of a stack trace.
                message = f"{error} (worker on {platform.node()})"
                yield json.dumps([error.kind, error.exit_code, message, error.path, getattr(error, "errno", None)])


class Pack:
    """A task that packs the rows of a partition."""

    def __init__(self, arguments: list[str], work_order: str, candidates: int, columns: list[str]) -> None:
        self.arguments, self.work_order, self.candidates, self.columns = arguments, work_order, candidates, columns

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        keep_modules()
        reader = _reader(batches)
        if reader is None:
            # An empty partition reports a result, too.
            reader = pyarrow.table({name: pyarrow.array([], pyarrow.binary()) for name in self.columns})
        yield from pyarrow.RecordBatchReader.from_stream(
            _sitemill.pack(self.arguments, self.work_order, reader, self.candidates)
        )


class Rejects:
    """A task that finds the rejected rows of a partition."""

    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        reader = _reader(batches)
        if reader is not None:
            for batch in pyarrow.RecordBatchReader.from_stream(_sitemill.rejects(self.arguments, reader)):
                yield batch.select(["reason", "text", "tag"])


def _reader(batches: Iterator[Any]) -> Optional[Any]:
    """The batches of a partition as a stream; ``None`` if there are none."""
    import itertools

    import pyarrow

    batches = map(_with_bytes, batches)
    first = next(batches, None)
    if first is None:
        return None
    return pyarrow.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))


def _with_bytes(batch: Any) -> Any:
    """The batch with bytes instead of strings, because Spark does not check that strings are UTF-8. Nothing is copied. If Spark
    did it, it would copy each string."""
    import pyarrow

    same_bytes = {pyarrow.string(): pyarrow.binary(), pyarrow.large_string(): pyarrow.large_binary()}
    columns = [column.view(same_bytes[column.type]) if column.type in same_bytes else column for column in batch.columns]
    return pyarrow.RecordBatch.from_arrays(columns, names=batch.schema.names)


class Route:
    """A task that sends the rows of blocks to their regions."""

    def __init__(self, plan: str) -> None:
        self.plan = plan

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        keep_modules()
        router = _sitemill.Router(self.plan, ROUTER_BYTES)
        for batch in batches:
            for block in batch.column("block"):
                # The result of a partition is in a row without a block.
                if block.is_valid:
                    yield from _blocks(router.push(block.as_py()))
        yield from _blocks(router.finish())


def _blocks(routed: list[tuple[int, bytes]]) -> Iterator[Any]:
    import pyarrow

    if routed:
        regions, blocks = zip(*routed)
        columns = [pyarrow.array(regions, pyarrow.int32()), pyarrow.array(blocks, pyarrow.binary())]
        yield pyarrow.RecordBatch.from_arrays(columns, names=["region", "block"])


class Produce:
    """A task that writes the sitemaps of whole regions. It takes pairs of a region and a block; its results are batches as JSON."""

    def __init__(self, arguments: list[str], work_order: str, plan: str) -> None:
        self.arguments, self.work_order, self.plan = arguments, work_order, plan

    def __call__(self, blocks: Iterator[tuple[int, bytes]]) -> Iterator[str]:
        keep_modules()
        scratch = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or tempfile.gettempdir()
        regions = _sitemill.Regions(self.arguments, self.work_order, self.plan, scratch)
        for region, block in blocks:
            regions.push(region, block)
        yield from regions.finish()
