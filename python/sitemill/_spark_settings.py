"""Settings of the session that steps of :mod:`sitemill.spark` need."""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import TYPE_CHECKING, Any, Iterator, Mapping

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Blocks that Spark passes to Python together, about two megabytes.
BLOCKS_PER_BATCH = 32

#: Settings while Spark packs rows without nested values. With any other maximum of bytes, Spark 4 adds up the bytes of the batch
#: after each row. The number of rows is enough of a limit, as in Spark 3.
FOR_ROWS = {
    "spark.sql.execution.arrow.maxBytesPerBatch": (1 << 31) - 1,
    "spark.sql.execution.arrow.maxRecordsPerBatch": 8192,
}

#: Settings while blocks are cached. The usual number of records is meant for rows; as many blocks are hundreds of megabytes of the
#: JVM's heap for each task.
FOR_CACHE = {"spark.sql.inMemoryColumnarStorage.batchSize": BLOCKS_PER_BATCH}

#: Settings while Spark moves blocks. The usual number of records is meant for rows; as many blocks could be a whole region. The size
#: of a partition is no reason to change the plan.
FOR_BLOCKS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": BLOCKS_PER_BATCH,
    "spark.sql.adaptive.enabled": "false",
}

#: For each session, the lock of the step that has changed its settings.
_LOCKS: "weakref.WeakKeyDictionary[Any, threading.RLock]" = weakref.WeakKeyDictionary()
_LOCK_OF_LOCKS = threading.Lock()


@contextlib.contextmanager
def settings(session: Any, values: Mapping[str, Any]) -> Iterator[None]:
    """Changes settings of the session for a while. Such steps of several builds in one session run one after the other: each
    needs its own values until its tasks have started, and restores those that it has found."""
    with _LOCK_OF_LOCKS:
        # Threads may have different objects for one session of the JVM.
        lock = _LOCKS.setdefault(getattr(session, "_jsparkSession", session), threading.RLock())
    with lock:
        before = {name: session.conf.get(name, None) for name in values}
        try:
            for name, value in values.items():
                session.conf.set(name, value)
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    session.conf.unset(name)
                else:
                    session.conf.set(name, value)


def for_rows(rows: "DataFrame") -> Mapping[str, Any]:
    """The settings for the columns of ``rows``. A list of images or videos can be long."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    nested = any(isinstance(field.dataType, (ArrayType, MapType, StructType)) for field in rows.schema)
    return {} if nested else FOR_ROWS
