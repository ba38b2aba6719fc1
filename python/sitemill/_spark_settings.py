"""Settings of the session that steps of :mod:`sitemill.spark` need."""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import TYPE_CHECKING, Any, Iterator, Mapping

from ._columns import CELLS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Blocks that Spark passes to Python together, about two megabytes.
BLOCKS_PER_BATCH = 32

#: The limits of a batch of rows that Spark passes to Python. Only Spark 4 has one of bytes.
_RECORDS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"

#: Settings while Spark packs short rows. With any other maximum of bytes, Spark 4 adds up the bytes of the batch after each row. The
#: number of rows is enough of a limit, as in Spark 3.
FOR_SHORT_ROWS = {_BYTES: (1 << 31) - 1, _RECORDS: 8192}

#: Settings while blocks are cached. The usual number of records is meant for rows; as many blocks are hundreds of megabytes of the
#: JVM's heap for each task.
FOR_CACHE = {"spark.sql.inMemoryColumnarStorage.batchSize": BLOCKS_PER_BATCH}

#: Settings while Spark moves blocks. The usual number of records is meant for rows; as many blocks could be a whole region. The size
#: of a partition is no reason to change the plan.
FOR_BLOCKS = {
    _RECORDS: BLOCKS_PER_BATCH,
    "spark.sql.adaptive.enabled": "false",
}

#: For each session, the lock of the step that has changed its settings.
_LOCKS: "weakref.WeakKeyDictionary[Any, threading.RLock]" = weakref.WeakKeyDictionary()
_LOCK_OF_LOCKS = threading.Lock()


@contextlib.contextmanager
def settings(session: Any, values: Mapping[str, Any]) -> Iterator[None]:
    """Changes settings of the session for a while. Such steps of several builds in one session run one after the other: each
    needs its own values until its tasks have started, and restores those that it has found. Limits of batches that the user has set
    are never raised."""
    with _LOCK_OF_LOCKS:
        # Threads may have different objects for one session of the JVM.
        lock = _LOCKS.setdefault(getattr(session, "_jsparkSession", session), threading.RLock())
    with lock:
        before = {name: session.conf.get(name, None) for name in values}
        try:
            for name, value in values.items():
                session.conf.set(name, _within(before[name], name, value))
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    session.conf.unset(name)
                else:
                    session.conf.set(name, value)


def _within(found: Any, name: str, value: Any) -> Any:
    """The value that the setting ``name`` gets if the user has set it to ``found``."""
    # In Spark, zero or fewer rows means no limit. A byte limit that the user has set always wins: ours means no limit.
    is_limit = found is not None and (name == _BYTES or name == _RECORDS and 0 < int(found) < value)
    return found if is_limit else value


def for_rows(rows: "DataFrame") -> Mapping[str, Any]:
    """The settings for the columns of ``rows``. A list of images or videos can be long, also as text."""
    return {} if any(cell in rows.columns for cell in CELLS) else FOR_SHORT_ROWS
