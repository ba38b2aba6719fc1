"""Results of commands, as typed objects."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Optional, Sequence

from . import _sitemill


def _table(caption: str, rows: Iterable[tuple[str, int | str]]) -> str:
    """A table of HTML for a notebook."""
    from html import escape

    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:right'>"
        f"{escape(value) if isinstance(value, str) else format(value, ',')}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{escape(caption)}</caption>{cells}</table>"


@dataclass(frozen=True)
class Report:
    """The outcome of every row of a build, and what was published.

    ``lines == blank + listed + duplicates + rejected_total + excluded_total`` holds in every report.

    Attributes:
        published: whether the set is live.
        lines: all rows of the input.
        blank: rows without a value.
        listed: URLs in the sitemaps.
        duplicates: rows whose URL is listed from another row.
        rejected: rejects by reason.
        excluded: rows that filters or a robots.txt leave out, by rule: ``exclude=`` and a pattern, ``not-included``, or
            ``disallow=`` and a pattern of the robots.txt. Rules that excluded nothing have a count of zero.
        dropped_tags: tags that could not be written, by reason; their URLs are listed without them.
        sitemaps: number of sitemaps.
        indexes: number of index files.
        index_urls: the URLs of the index files, for robots.txt and search consoles.
        xml_bytes: bytes of all sitemaps before compression.
        gzip_bytes: bytes of the sitemap files; an estimate in a dry run.
        seconds: seconds of each phase, and ``total``.
        warnings: failures after the set was live, such as an earlier set that could not be removed, and notes on what the set
            replaces, such as index files that something else had changed; the notes also in a dry run.
        raw: the complete JSON report of the command line, as a dictionary.
    """

    published: bool
    lines: int
    blank: int
    listed: int
    duplicates: int
    rejected: Mapping[str, int]
    excluded: Mapping[str, int]
    dropped_tags: Mapping[str, int]
    sitemaps: int
    indexes: int
    index_urls: Sequence[str]
    xml_bytes: int
    gzip_bytes: int
    seconds: Mapping[str, float]
    warnings: Sequence[str] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def _of(cls, text: str, warnings: Sequence[str]) -> "Report":
        raw = json.loads(text)
        names = [known.name for known in dataclasses.fields(cls) if known.name not in ("warnings", "raw")]
        return cls(**{name: raw[name] for name in names}, warnings=tuple(warnings), raw=raw)

    @property
    def dry_run(self) -> Optional[Mapping[str, int]]:
        """What a dry run would have changed: numbers of new, kept and removed sitemaps, of index files, and estimated bytes."""
        return self.raw.get("dry_run")

    @property
    def rejected_total(self) -> int:
        """All rejects."""
        return sum(self.rejected.values())

    @property
    def excluded_total(self) -> int:
        """All rows that rules leave out."""
        return sum(self.excluded.values())

    @property
    def unused_columns(self) -> Sequence[str]:
        """Columns or keys of the input that were not read."""
        columns = [given["columns"] for given in self.raw.get("inputs", ()) if given.get("columns")]
        return tuple(dict.fromkeys(name for of_input in columns for name in of_input["unused"]))

    def html(self) -> str:
        """Returns the report as an HTML page without scripts."""
        return _sitemill.report_html(json.dumps(self.raw))

    def _repr_html_(self) -> str:
        rows: list[tuple[str, int | str]] = [
            ("rows", self.lines),
            ("listed", self.listed),
            ("duplicates", self.duplicates),
            ("blank", self.blank),
            *((f"rejected: {reason}", count) for reason, count in self.rejected.items() if count),
            *((f"excluded: {rule}", count) for rule, count in self.excluded.items() if count),
            *((f"dropped: {reason}", count) for reason, count in self.dropped_tags.items() if count),
            ("sitemaps", self.sitemaps),
            ("bytes of sitemaps", self.gzip_bytes),
        ]
        if self.unused_columns:
            rows.append(("columns that were not used", ", ".join(self.unused_columns)))
        state = "dry run" if self.dry_run else "published" if self.published else "not published"
        return _table(f"{self.raw.get('base_url', '')}: {state}", rows)


@dataclass(frozen=True)
class Finding:
    """A violation of the protocol in a published file.

    Attributes:
        file: the file.
        entry: the number of the entry, from 1; ``None`` for the file as a whole.
        rule: the name of the rule.
        words: what is wrong.
    """

    file: str
    entry: Optional[int]
    rule: str
    words: str

    def __str__(self) -> str:
        entry = "" if self.entry is None else f"entry {self.entry}: "
        return f"{self.file}: {entry}{self.rule}: {self.words}"


@dataclass(frozen=True)
class CheckReport:
    """The result of a check. It is true if there are no findings.

    Attributes:
        findings: the first findings, up to ``limit_findings``.
        total: the number of all findings.
        urls: URLs that were read.
        sitemaps: sitemaps that were read.
        indexes: index files that were read.
        raw: all counts, as a dictionary.
    """

    findings: Sequence[Finding]
    total: int
    urls: int
    sitemaps: int
    indexes: int
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def _of(cls, findings: Sequence[str], text: str) -> "CheckReport":
        raw = json.loads(text)
        names = [known.name for known in dataclasses.fields(Finding)]
        parsed = [json.loads(finding) for finding in findings]
        found = tuple(Finding(**{name: finding[name] for name in names}) for finding in parsed)
        return cls(found, raw["findings"], raw["urls"], raw["sitemaps"], raw["indexes"], raw)

    def __bool__(self) -> bool:
        return self.total == 0

    def _repr_html_(self) -> str:
        counts = [("sitemaps", self.sitemaps), ("index files", self.indexes), ("URLs", self.urls), ("findings", self.total)]
        found = [(f"{finding.rule} in {finding.file}", finding.words) for finding in self.findings]
        return _table("check: no findings" if self else "check: findings", [*counts, *found])


@dataclass(frozen=True)
class KeptSet:
    """A set that is live or kept.

    Attributes:
        number: its number, which ``rollback(to=…)`` takes.
        published: when it was published.
        replaced: when it was replaced; ``None`` for the live set.
        urls: its URLs.
        sitemaps: its sitemaps.
        raw: everything that is known, as a dictionary.
    """

    number: int
    published: str
    replaced: Optional[str]
    urls: int
    sitemaps: int
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def _of(cls, raw: Mapping[str, Any]) -> "KeptSet":
        return cls(raw["number"], raw["published"], raw.get("replaced"), raw["urls"], raw["sitemaps"], raw)


@dataclass(frozen=True)
class Status:
    """The sets of a directory.

    Attributes:
        directory: the directory.
        live: the live set.
        earlier: the kept sets, the newest first.
        name: the name of the set, if it has one.
        raw: everything that is known, as a dictionary.
    """

    directory: str
    live: KeptSet
    earlier: Sequence[KeptSet]
    name: Optional[str] = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def _of(cls, text: str) -> "Status":
        raw = json.loads(text)
        earlier = tuple(KeptSet._of(kept) for kept in raw["earlier"])
        return cls(raw["directory"], KeptSet._of(raw["live"]), earlier, raw.get("name"), raw)

    def _repr_html_(self) -> str:
        sets = [("live", self.live), *(("rolled back" if kept.raw.get("withdrawn") else "kept", kept) for kept in self.earlier)]
        rows = [(f"set {one.number}, {state}, published {one.published}", f"{one.urls:,} URLs") for state, one in sets]
        return _table(self.directory if self.name is None else f"{self.directory}: {self.name}", rows)


class Statuses(list[Status]):
    """The sets that ``status`` finds: a list that notebooks show as tables."""

    def _repr_html_(self) -> str:
        return "".join(found._repr_html_() for found in self)


@dataclass(frozen=True)
class RolledBack:
    """The result of a rollback.

    Attributes:
        replaced: the number of the set that was live.
        live: the number of the set that is live now.
        urls: its URLs.
        warnings: failures after the set was live.
    """

    replaced: int
    live: int
    urls: int
    warnings: Sequence[str] = ()

    def _repr_html_(self) -> str:
        rows = [(f"set {self.live}, live", f"{self.urls:,} URLs"), (f"set {self.replaced}", "replaced")]
        return _table("rollback", rows)
