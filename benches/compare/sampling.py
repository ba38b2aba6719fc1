"""Samples the memory and the disk space of a process tree while it runs."""

import os
import re
import stat
import threading

MEMORY_SAMPLE_SECONDS = 0.02
DISK_SAMPLE_SECONDS = 0.5
BYTES_PER_BLOCK = 512


class Sampler(threading.Thread):
    """Calls `sample` at regular intervals, from `watch` to `stop`."""

    def __init__(self, seconds):
        super().__init__(daemon=True)
        self.pid, self.seconds, self.done = None, seconds, threading.Event()

    def watch(self, pid):
        self.pid = pid
        self.start()

    def run(self):
        while not self.done.wait(self.seconds):
            self.sample()

    def stop(self):
        self.done.set()
        self.join()


class Memory(Sampler):
    """The peaks of VmRSS and of RssAnon, each summed over the tree."""

    def __init__(self):
        super().__init__(MEMORY_SAMPLE_SECONDS)
        self.rss_bytes, self.anonymous_bytes = 0, 0

    def sample(self):
        statuses = "".join(read(f"/proc/{pid}/status") for pid in tree(self.pid))
        bytes_of = lambda name: [int(kib) * 1024 for kib in re.findall(name + r":\s+(\d+) kB", statuses)]
        # A peak between two samples is visible at least in the largest process. wait4's ru_maxrss is no use, because
        # it starts at the memory of this program.
        self.rss_bytes = max(self.rss_bytes, sum(bytes_of("VmRSS")), *bytes_of("VmHWM"))
        self.anonymous_bytes = max(self.anonymous_bytes, sum(bytes_of("RssAnon")))


class Disk(Sampler):
    """The peak of the space in files that the tree has open but that have no name any more: sitemill's scratch files."""

    def __init__(self):
        super().__init__(DISK_SAMPLE_SECONDS)
        self.scratch_bytes = 0

    def sample(self):
        files = {}
        for pid in tree(self.pid):
            for status in open_files(pid):
                if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                    files[status.st_dev, status.st_ino] = status.st_blocks * BYTES_PER_BLOCK
        self.scratch_bytes = max(self.scratch_bytes, sum(files.values()))


def open_files(pid):
    """The status of each file that the process has open."""
    folder = f"/proc/{pid}/fd"
    try:
        descriptors = os.listdir(folder)
    except OSError:
        return
    for descriptor in descriptors:
        try:
            yield os.stat(f"{folder}/{descriptor}")
        except OSError:
            # Closed since it was listed.
            continue


def tree(pid):
    """The process and its living descendants."""
    yield pid
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        for child in read(f"/proc/{pid}/task/{thread}/children").split():
            yield from tree(int(child))


def read(path):
    """The text, or an empty string if the process has ended."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
