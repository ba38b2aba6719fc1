"""Tasks that go wrong. The workers import this module."""

from __future__ import annotations

import base64
import glob
import json
import os
import pathlib
import shutil
import signal
import threading
import time
from typing import Any, Iterator

from pyspark import TaskContext

from sitemill import spark


def encoded(text: str) -> str:
    """A name in the file names of the store."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


class _Watched(spark._Produce):
    """A task that writes sitemaps and has a directory to tell the test what it does."""

    def __init__(self, marks: str, *words: Any) -> None:
        super().__init__(*words)
        self.marks = pathlib.Path(marks)

    def mark(self, name: str) -> bool:
        """Leaves a mark. Returns whether it is the first of this name."""
        try:
            (self.marks / name).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def staging(self) -> pathlib.Path:
        """The directory with new sitemaps."""
        order = json.loads(self.work_order)
        if order["out"].startswith("s3://"):
            return self.store() / order["out"].split("://")[1]
        return pathlib.Path(order["out"], ".sitemill/staging", order["provenance"]["run"])

    def store(self) -> pathlib.Path:
        """The directory with all buckets."""
        return pathlib.Path((self.marks.parent / "buckets").read_text())


class FailsAfterwards(_Watched):
    """The first attempt fails when all its files are written, and leaves others that do not belong to the set."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        made = list(super().__call__(batches))
        if TaskContext.get().attemptNumber() == 0:
            if json.loads(self.work_order)["out"].startswith("s3://"):
                self._put_junk()
            else:
                self._write_junk()
            self.mark("failed")
            raise RuntimeError("this attempt fails on purpose")
        self.mark("succeeded")
        yield from made


    def _write_junk(self) -> None:
        (self.staging() / "sitemap-99999-00000000.xml.gz").write_bytes(b"junk")
        for path in sorted(self.staging().glob("*.xml.gz"))[:3]:
            (self.staging() / f"{path.name}.0000000000000001.attempt").write_bytes(b"half")
        # A file of the set that a power failure has emptied.
        max(self.staging().glob("sitemap-[0-8]*.xml.gz")).write_bytes(b"")

    def _put_junk(self) -> None:
        """Copies a sitemap of the run, with what the store notes about it, and damages another."""
        junk = "sitemap-99999-00000000.xml.gz"
        whole = min(self.staging().glob("sitemap-*.xml.gz"))
        bucket, prefix = self.staging().parent.name, self.staging().name
        notes = [
            self.store() / f".bucket-{encoded(bucket)}.object-{encoded(f'{prefix}/{name}')}.metadata.json"
            for name in (whole.name, junk)
        ]
        shutil.copy(whole, self.staging() / junk)
        shutil.copy(*notes)
        max(self.staging().glob("sitemap-[0-8]*.xml.gz")).write_bytes(b"")


class KillsExecutor(_Watched):
    """The first attempt kills its executor: in the middle of its input, or after a number of seconds if it is not 0."""

    def __init__(self, marks: str, seconds: float, *words: Any) -> None:
        super().__init__(marks, *words)
        self.seconds = seconds

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        if self.seconds and self.mark("killed"):
            threading.Timer(self.seconds, self._kill).start()
        return super().__call__(self._killing(batches))

    def _kill(self) -> None:
        # Executor, daemon of Python workers, this process.
        daemon = os.getppid()
        executor = int(pathlib.Path(f"/proc/{daemon}/stat").read_text().rsplit(")", 1)[1].split()[1])
        assert b"CoarseGrainedExecutorBackend" in pathlib.Path(f"/proc/{executor}/cmdline").read_bytes()
        os.kill(executor, signal.SIGKILL)

    def _killing(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            if self.mark("killed"):
                self._kill()
                time.sleep(30)


class Straggles(_Watched):
    """The first attempt of the first task takes minutes, after it has written half of its sitemaps or all of them."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        context = TaskContext.get()
        self.mark(f"task {context.partitionId()} attempt {context.attemptNumber()}")
        made = list(super().__call__(batches))
        if context.partitionId() == 0 and context.attemptNumber() == 0:
            time.sleep(240)
        yield from made


class Waits(_Watched):
    """Writes its sitemaps and never ends."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        list(super().__call__(batches))
        self.mark("waits")
        time.sleep(240)
        raise RuntimeError("nobody has ended this task")


class Lists(_Watched):
    """Tells which sitemaps it has compressed."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        made = list(super().__call__(batches))
        for path in glob.glob(f"{self.staging()}/*.xml.gz"):
            self.mark(os.path.basename(path))
        yield from made


class Touches:
    """Passes rows on, and marks that it has seen them."""

    def __init__(self, marks: str) -> None:
        self.marks = pathlib.Path(marks)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            (self.marks / "rows were read").touch()
            yield batch


class Sleeps(Touches):
    """Marks that it has seen rows, and sleeps until the mark ``go`` is there."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in super().__call__(batches):
            end = time.monotonic() + 240
            while not (self.marks / "go").exists() and time.monotonic() < end:
                time.sleep(0.1)
            yield batch
