"""A store for the tests: s3s-fs, which keeps each bucket as a directory and rejects requests with a wrong key."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import threading
from typing import Any, Mapping

ROOT = pathlib.Path(__file__).resolve().parents[2]

ACCESS_KEY = "AKIATESTSOFSITEMILL0"
SECRET_KEY = "vErY/SecreT+keyOfTheTestsOfSitemill+0123"

#: The credentials, as the tools of AWS have them.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY, "AWS_REGION": "us-east-1"}


def program() -> pathlib.Path:
    """The server, which scripts/python-test and scripts/spark-test install."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return pathlib.Path(os.environ.get("SITEMILL_S3S_FS", target / "cloud/bin/s3s-fs"))


class Store:
    """A running server, with the bucket ``test``. What is published in it can be looked at as files."""

    def __init__(self, root: pathlib.Path, environment: Mapping[str, str] = os.environ) -> None:
        self.root = root
        (root / "test").mkdir(parents=True)
        assert program().exists(), f"{program()} is not there: scripts/python-test and scripts/spark-test install it"
        command = [str(program()), "--access-key", ACCESS_KEY, "--secret-key", SECRET_KEY, "--host", "127.0.0.1", "--port", "0"]
        # It ends with the tests, even if they are killed.
        if shutil.which("setpriv"):
            command[:0] = ["setpriv", "--pdeathsig", "KILL"]
        self.process = subprocess.Popen(
            [*command, str(root)],
            env={**environment, "RUST_LOG": "s3s_fs=info"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.endpoint = self._address()
        # It waits if nobody reads what it says.
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def _address(self) -> str:
        said = []
        for line in self.process.stdout:
            said.append(line)
            if "http://" in line:
                return "http://" + line.split("http://")[1].strip()
        raise AssertionError("".join(said))

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.kill()
        self.process.wait()

    def url(self, prefix: str) -> str:
        """The location of a prefix."""
        return f"s3://test/{prefix}"

    def directory(self, url: str) -> pathlib.Path:
        """The directory in which the server keeps the objects of a location."""
        return self.root / url.split("://")[1]
