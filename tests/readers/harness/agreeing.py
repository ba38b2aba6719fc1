"""Compares the records that a reader found with the expected ones."""

import sys

from harness.records import Record, typed_urls, without_tags


def agree(reader, sites, expected):
    """Prints a line if the reader reads every site as `expected`; otherwise exits with the first difference."""
    for site in sites:
        wanted = [expected(typed.record) for typed in typed_urls(site.base_url)]
        for _, difference in differences(map(reader.seen_by, wanted), reader.read(site)):
            sys.exit(f"readers: {reader.name} {reader.version()}, protocol {site.protocol}: {difference}")
    tags = "URLs agree" if expected is without_tags else "URLs, tags agree"
    remark = f"; {reader.remark}" if reader.remark else ""
    protocols = " and ".join(site.protocol for site in sites)
    print(f"{reader.name} {reader.version()}: {len(wanted):,} {tags} (protocols {protocols}{remark})", flush=True)


def differences(wanted, found):
    """Pairs of a URL and a description of its difference, in the order of `wanted`."""
    found_at = {}
    for record in found:
        if record.loc in found_at:
            yield record.loc, f"{record.loc}: read twice"
        found_at[record.loc] = record
    for record in wanted:
        read = found_at.pop(record.loc, None)
        if read is None:
            yield record.loc, f"{record.loc}: not read"
            continue
        for tag, want, have in zip(Record._fields, record, read):
            if have not in (want if isinstance(want, tuple) else (want,)):
                yield record.loc, f"{record.loc}: {tag}: read {have!r}, expected {want!r}"
    for loc in found_at:
        yield loc, f"{loc}: read, but not expected"
