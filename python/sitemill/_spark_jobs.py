"""The jobs that a run of :mod:`sitemill.spark` starts, which end with it."""

from __future__ import annotations

import contextlib
import uuid
from typing import Any, Callable, Iterator, NamedTuple, Optional


def context_of(session: Any) -> Optional[Any]:
    """The context of ``session``; ``None`` with Spark Connect, which has none."""
    try:
        return session.sparkContext
    except (AttributeError, NotImplementedError):
        return None


@contextlib.contextmanager
def cancelled_on_failure(session: Any) -> Iterator[None]:
    """Cancels the jobs that this thread starts in the block and that still run when the block fails. Ctrl-C ends only the call that
    waits for a job. Jobs of other threads go on."""
    tags, tag = _tags_of(session), f"sitemill-{uuid.uuid4()}"
    has_tag = tags is not None and _succeeds(tags.add, tag)
    try:
        yield
    except BaseException:
        if tags is not None and has_tag:
            _succeeds(tags.cancel, tag)
        raise
    finally:
        if tags is not None and has_tag:
            _succeeds(tags.remove, tag)


class _Tags(NamedTuple):
    """Functions that take a tag of the jobs that this thread starts."""

    add: Callable[[str], Any]
    remove: Callable[[str], Any]
    cancel: Callable[[str], Any]


def _tags_of(session: Any) -> Optional[_Tags]:
    """The tags of ``session``; ``None`` if it has none for each thread."""
    context = context_of(session)
    if context is None:
        return _functions(session, "addTag", "removeTag", "interruptTag")
    # The JVM keeps the tags of its own threads. Without `PYSPARK_PIN_THREAD`, those of Python share them.
    if type(context._gateway).__name__ != "ClientServer":
        return None
    return _functions(context, "addJobTag", "removeJobTag", "cancelJobsWithTag")


def _functions(of: Any, *names: str) -> Optional[_Tags]:
    # Only Spark 3.5 and later have them.
    return _Tags(*(getattr(of, name) for name in names)) if all(hasattr(of, name) for name in names) else None


def _succeeds(function: Callable[[str], Any], tag: str) -> bool:
    """Calls ``function``. Some services refuse it, and the failure of the run says more than that of its tag."""
    try:
        function(tag)
    except Exception:
        return False
    return True
