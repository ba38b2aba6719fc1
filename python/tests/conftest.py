"""Helpers of the tests: builds from Python and with the command line, and compares what they publish."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import signal
import subprocess
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

import sitemill

BASE = "https://www.example.com/"
ROOT = pathlib.Path(__file__).resolve().parents[2]

# All times that a set shows are then equal.
os.environ["SOURCE_DATE_EPOCH"] = "1700000000"

# A shell starts its background jobs with SIGINT ignored, and a process that the tests interrupt would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def program() -> str:
    """The command line program."""
    given = os.environ.get("SITEMILL")
    places = [given] if given else [ROOT / "target" / profile / "sitemill" for profile in ("debug", "release")]
    found = [str(place) for place in places if os.path.exists(place)]
    assert found, f"SITEMILL={given}: no such file" if given else "build the command line program first: cargo build"
    return found[0]


def run(*words: Any, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Runs the command line program."""
    command = [program(), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def published(out: pathlib.Path) -> dict[str, bytes]:
    """Every published file with its bytes; not what sitemill keeps in .sitemill, which has random numbers."""
    files = [path for path in out.rglob("*") if path.is_file() and ".sitemill" not in path.parts]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def rejects(path: pathlib.Path) -> list[list[str]]:
    """The lines of a reject file without the name of the input."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [[field for field in line.split("\t")][1:] for line in lines]


COUNTS = ("lines", "blank", "listed", "duplicates", "rejected", "excluded", "dropped_tags", "sitemaps", "xml_bytes", "gzip_bytes")


class Built:
    """What a build published, counted and rejected."""

    def __init__(self, out: pathlib.Path, report: Any, rejected: pathlib.Path) -> None:
        self.files = published(out)
        self.counts = {name: report[name] for name in COUNTS}
        self.rejects = rejects(rejected)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Built) and vars(self) == vars(other)

    def __repr__(self) -> str:
        return f"{self.counts} {self.rejects} {sorted(self.files)}"


class Desk:
    """Builds in a new directory each time."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        self.number = 0

    def new(self, name: str) -> pathlib.Path:
        self.number += 1
        return self.directory / f"{self.number}-{name}"

    def build(self, rows: Any, **options: Any) -> Built:
        """Builds from Python."""
        out, rejected = self.new("out"), self.new("rejects.tsv")
        options = {"base_url": BASE, "allow_empty": True, **options}
        report = sitemill.build(rows, out=out, rejects=rejected, **options)
        return Built(out, report.raw, rejected)

    def command(self, path: pathlib.Path, *words: str) -> Built:
        """Builds from a file with the command line."""
        out, rejected = self.new("out"), self.new("rejects.tsv")
        done = run("build", f"--base-url={BASE}", "--out", out, "--rejects", rejected, "--json", "--allow-empty", *words, path)
        assert done.returncode == 0, done.stderr
        return Built(out, json.loads(done.stdout), rejected)

    def parquet(self, table: pyarrow.Table) -> pathlib.Path:
        path = self.new("rows.parquet")
        pyarrow.parquet.write_table(table, path)
        return path

    def csv(self, rows: list[dict[str, Any]]) -> pathlib.Path:
        path = self.new("rows.csv")
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return path

    def jsonl(self, rows: list[dict[str, Any]]) -> pathlib.Path:
        path = self.new("rows.jsonl")
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        return path


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    return Desk(tmp_path)


def page(number: int) -> str:
    return f"{BASE}page/{number}"


def pages(count: int) -> list[str]:
    return [page(number) for number in range(count)]
