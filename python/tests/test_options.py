"""Every option of the command line is a keyword argument of the same name."""

import inspect
import json
import pathlib
import re

import numpy
import pyarrow
import pytest

import sitemill
from conftest import BASE, pages, run
from sitemill import _options

#: Flags that make no sense for a function, which returns its report and raises its errors.
NOT_FOR_FUNCTIONS = {"help", "version", "json", "quiet", "config", "log"}
#: Arguments without a flag: rows and paths are words, and names of columns are in --columns.
ONLY_FOR_FUNCTIONS = {"rows", "paths", "old", "new", "directory", "url", "lastmod", "changefreq", "priority", "alternates", "images", "videos", "news"}
#: The directory of these is their only argument, and needs no name.
POSITIONAL = {"status": {"out"}, "rollback": {"out"}}
#: The formats of what a command prints, and options of commands whose results are streams in Python.
FORMS = {"clean": {"progress"}, "urls": {"tsv"}, "diff": {"tsv"}}


def flags(command: str) -> set[str]:
    helped = run(command, "--help")
    assert helped.returncode == 0, helped.stderr
    return {flag.replace("-", "_") for flag in re.findall(r"^ +(?:-\w, )?--([a-z-]+)", helped.stdout, re.MULTILINE)}


@pytest.mark.parametrize("command", ["build", "clean", "check", "urls", "diff", "status", "rollback"])
def test_every_flag_is_a_keyword_and_every_keyword_a_flag(command):
    keywords = set(inspect.signature(getattr(sitemill, command)).parameters)
    of_command = flags(command) - NOT_FOR_FUNCTIONS - FORMS.get(command, set()) - POSITIONAL.get(command, set())
    assert of_command - keywords == set(), "flags without a keyword"
    assert keywords - of_command - ONLY_FOR_FUNCTIONS - {"progress"} == set(), "keywords without a flag"


def test_every_keyword_of_build_is_documented():
    documented = set(re.findall(r"\w+", sitemill.build.__doc__))
    assert set(inspect.signature(sitemill.build).parameters) <= documented


def test_options_have_the_effect_of_their_flags(desk):
    table = pyarrow.table({"url": [*pages(300), BASE + "page/5", "http://x/"], "lastmod": ["1700000000"] * 302})
    path = desk.parquet(table)
    cases = [
        dict(order="sorted", urls_per_sitemap=100),
        dict(divide="stable", urls_per_sitemap=100, sitemaps_per_index=2),
        dict(lastmod_unit="seconds", default_priority=0.7, default_changefreq="daily"),
        dict(bytes_per_sitemap="10K", level=9, gzip_engine="flate2"),
        dict(scope="any", on_duplicate="newest", lastmod_unit="seconds"),
        dict(exclude=["/page/1", "5$"], include="page|x"),
        dict(memory="256M", threads=1, max_rejects="50%", keep="3d", keep_sets=1),
    ]
    built = [desk.build(table, **options) for options in cases]
    for options, found in zip(cases, built):
        given = {name: value if isinstance(value, list) else [value] for name, value in options.items()}
        words = [f"--{name.replace('_', '-')}={value}" for name, values in given.items() for value in values]
        assert found == desk.command(path, *words), options
    # Else the options would have no effect.
    assert len({str(sorted(found.files.items())) for found in built}) == len(cases)


def test_files_for_reports_are_written(tmp_path):
    names = ("rejects", "diff", "report", "html", "metrics", "robots")
    files = {name: tmp_path / f"{name}.txt" for name in names if name != "robots"} | {"robots": tmp_path / "robots.txt"}
    sitemill.build([BASE, "http://x/"], base_url=BASE, out=tmp_path / "out", **files)
    assert all(path.stat().st_size for path in files.values())
    assert "https://www.example.com/sitemap-index-1.xml" in files["robots"].read_text()


def test_rejected_rows_of_clean_are_written(tmp_path):
    rejected = tmp_path / "rejects.tsv"
    table = pyarrow.table(sitemill.clean([BASE, "nonsense://"], rejects=rejected))
    assert table["url"].to_pylist() == [BASE]
    header, line = rejected.read_text("utf-8").splitlines()
    assert header.startswith("input\t") and line.split("\t")[:2] == ["rows", "2"] and "nonsense" in line


def test_rules_for_urls_are_keywords_of_build_and_clean(tmp_path):
    robots, patterns = tmp_path / "robots.txt", tmp_path / "patterns"
    robots.write_text("User-agent: Bot\nDisallow: /cart\n")
    patterns.write_text("# comment\n/draft/\n")
    rows = ["/a", "/draft/1", "/cart/1", "http://old.example/b", "https://www.example.com/c.pdf"]
    rules = dict(
        relative_to=BASE,
        rewrite={"http://old.example/": BASE, "http://": "https://"},
        exclude=r"\.pdf$",
        exclude_file=[patterns],
        respect_robots=robots,
        robots_agent="bot",
    )
    report = sitemill.build(iter(rows), base_url=BASE, out=tmp_path / "out", **rules)
    assert (report.listed, report.excluded_total) == (2, 3)
    assert report.excluded == {r"exclude=\.pdf$": 1, "exclude=/draft/": 1, "disallow=/cart": 1}
    assert report.raw["rewritten"] == {f"http://old.example/={BASE}": 1, "http://=https://": 0}
    assert "excluded: disallow=/cart" in report._repr_html_()
    stream = sitemill.clean(iter(rows), **rules)
    assert pyarrow.table(stream)["url"].to_pylist() == [BASE + "a", BASE + "b"]
    assert json.loads(stream.report_json)["excluded"] == report.excluded
    with pytest.raises(sitemill.UsageError, match="include='/a\\('.*column 3: unclosed group"):
        sitemill.build(iter(rows), base_url=BASE, out=tmp_path / "out", include="/a(")
    with pytest.raises(sitemill.InputError):
        sitemill.clean(iter(rows), respect_robots=tmp_path / "missing")


@pytest.mark.parametrize("iterable", [tuple, set, iter, numpy.array, lambda words: (word for word in words)])
def test_several_values_may_be_any_iterable(desk, iterable):
    found = desk.build(pages(20), exclude=iterable(["/page/1", "/page/2$"]))
    assert found == desk.build(pages(20), exclude=["/page/1", "/page/2$"]) and found.counts["listed"] == 8


def test_a_value_of_a_type_that_no_option_has_is_refused(tmp_path):
    def check(wanted, **options):
        for function in (sitemill.build, sitemill.clean):
            given = {"base_url": BASE, "out": tmp_path / "out"} if function is sitemill.build else {}
            with pytest.raises(TypeError, match=wanted):
                function(iter(pages(3)), **given, **options)

    check("exclude has a value of type Pattern; give its pattern as a str", exclude=re.compile("page"))
    check("exclude has a value of type Pattern", exclude=["a", re.compile("page")])
    check("exclude has a value of type bytes; give a str", exclude=b"page")
    check("include has a value of type NoneType", include=[None])
    check("exclude has a value of type bool", exclude=[True])
    check("exclude has a value of type object", exclude=object())
    check("columns has a value of type dict", columns={"url": "page"})
    assert not (tmp_path / "out").exists()
    with pytest.raises(TypeError, match="sitemap_header has a value of type dict"):
        sitemill.rollback(tmp_path, sitemap_header={"Cache-Control": "max-age=300"})


def compare(path, **options):
    return sitemill.diff(path, path, **options)


@pytest.mark.parametrize("threads", [0, -1, 1 << 64, 1 << 70])
def test_a_number_of_threads_is_at_least_one(tmp_path, threads):
    sitemill.build(pages(3), base_url=BASE, out=tmp_path)
    bound = f"at most {(1 << 64) - 1}" if threads > 0 else "1 or more"
    for call in (sitemill.urls, sitemill.check, compare):
        with pytest.raises(sitemill.UsageError, match=f"^threads={threads}: give {bound}$"):
            call(tmp_path, threads=threads)
        assert call(tmp_path, threads=numpy.int64(1))


def test_a_value_of_a_wrong_type_is_refused_with_the_name_of_its_argument(tmp_path):
    sitemill.build(pages(3), base_url=BASE, out=tmp_path)

    def check(calls, **options):
        [(name, value)] = options.items()
        for call in calls:
            with pytest.raises(TypeError, match=f"^{name} has a value of type {type(value).__name__}; give "):
                call(tmp_path, **options)

    def build(path, **options):
        return sitemill.build(pages(3), base_url=BASE, out=path, **options)

    of_sets = (sitemill.check, sitemill.urls, compare, sitemill.status, sitemill.rollback)
    for value in (b"x", ["x"], object()):
        for name in ("name", "endpoint", "state"):
            check(of_sets, **{name: value})
        check([sitemill.check], scope=value)
        check([compare], scratch=value)
        check([sitemill.rollback], robots=value)
        for call in (sitemill.check, sitemill.urls):
            with pytest.raises(TypeError, match=f"^paths has a value of type {type(value).__name__}"):
                call(value)
        for call in (sitemill.status, sitemill.rollback):
            with pytest.raises(TypeError, match=f"^directory has a value of type {type(value).__name__}"):
                call(value)
        with pytest.raises(TypeError, match=f"^new has a value of type {type(value).__name__}"):
            sitemill.diff(tmp_path, value)
    for value in ("3", 1.5, True):
        check([sitemill.check, sitemill.urls, compare], threads=value)
        check([sitemill.check], limit_findings=value)
        check([sitemill.rollback], to=value)
    for value in (1, "yes"):
        check([sitemill.rollback], robots_any_name=value)
        check([build], dry_run=value)
        check([build, sitemill.rollback], allow_unsafe_store=value)


@pytest.mark.parametrize("out", ["file:///tmp/x", "FILE:///tmp/x", "file:/tmp/x", "dbfs:/mnt/x", pathlib.Path("file:///tmp/x")])
def test_a_url_of_a_directory_is_refused(tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sitemill.UsageError, match="give the path alone|give .* a plain path"):
        sitemill.build(pages(3), base_url=BASE, out=out)
    with pytest.raises(sitemill.SitemillError):
        sitemill.status(out)
    assert not any(tmp_path.iterdir())


def test_sections_are_the_same_from_tables_dictionaries_and_files(desk):
    rows = [{"url": url, "type": ["shoes", "hats", None][at % 3]} for at, url in enumerate(pages(30))]
    table = pyarrow.Table.from_pylist(rows)
    expected = desk.command(desk.parquet(table), "--section-column=type")
    assert any("sitemap-shoes-index-1.xml" in name for name in expected.files)
    for given in (table, rows, iter(rows)):
        assert desk.build(given, section_column="type") == expected
    numbered = table.rename_columns(["0", "1"])
    for given in (numbered, numbered.to_pandas(), numbered.to_pylist()):
        assert desk.build(given, url="0", section_column="1") == expected
    beside = table.rename_columns(["url", "1"]).append_column("section", [["x"] * 30])
    for given in (beside, beside.to_pandas(), beside.to_pylist()):
        assert desk.build(given, section_column="1") == expected
    with pytest.raises(TypeError, match="section_column is of type int; give the name of the column as a str"):
        desk.build(table, section_column=1)
    by_path = desk.build(table, section_by_path=True, sections_max=5)
    assert by_path.files != expected.files
    with pytest.raises(sitemill.UsageError):
        sitemill.build(rows, base_url=BASE, out="x", section_column="type", section_by_path=True)


def test_an_index_of_pandas_with_a_name_is_a_column(tmp_path):
    import pandas

    frame = pandas.DataFrame({"lastmod": ["2024-05-01"] * 3}, index=pandas.Index(pages(3), name="url"))
    assert sitemill.build(frame, base_url=BASE, out=tmp_path).listed == 3


def test_a_dry_run_changes_nothing_and_says_what_would_change(tmp_path):
    out = tmp_path / "out"
    dry = sitemill.build(pages(3), base_url=BASE, out=out, dry_run=True)
    assert (dry.published, dry.listed, dry.dry_run["new_sitemaps"]) == (False, 3, 1)
    assert not out.exists() and "dry run" in dry._repr_html_()
    built = sitemill.build(pages(3), base_url=BASE, out=out)
    assert built.published and built.dry_run is None


def test_sets_with_names_share_a_directory(tmp_path):
    for name, last in [(None, 3), ("blog", 4), ("blog", 5)]:
        sitemill.build(pages(last), base_url=BASE, out=tmp_path, name=name)
    assert [(found.name, found.live.urls) for found in sitemill.status(tmp_path)] == [(None, 3), ("blog", 5)]
    assert len(pyarrow.table(sitemill.urls(tmp_path, name="blog"))) == 5 and sitemill.check(tmp_path, name="blog")
    assert len(pyarrow.table(sitemill.diff(tmp_path, tmp_path, name="blog"))) == 0
    assert sitemill.rollback(tmp_path, name="blog").urls == 4
    assert [found.live.urls for found in sitemill.status(tmp_path, name="blog")] == [4]
    with pytest.raises(sitemill.UsageError, match="such as blog"):
        sitemill.build(pages(3), base_url=BASE, out=tmp_path, name="Blog")
    with pytest.raises(sitemill.UsageError, match="such as blog"):
        sitemill.check(tmp_path, name="Blog")


@pytest.mark.parametrize("command", ["tee '{to}'", ["tee", "{to}"]])
def test_a_command_runs_once_the_set_is_live(tmp_path, command):
    to = tmp_path / "the report.json"
    words = command.format(to=to) if isinstance(command, str) else [word.format(to=to) for word in command]
    built = sitemill.build(pages(3), base_url=BASE, out=tmp_path / "out", then=words)
    assert built.raw["then"] == {"command": ["tee", str(to)], "exit_code": 0}
    assert '"listed": 3' in to.read_text()


def test_sitemaps_from_elsewhere_are_listed(tmp_path):
    news = tmp_path / "news.xml"
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    news.write_text(f'<urlset xmlns="{namespace}"><url><loc>{BASE}news</loc><lastmod>2024-05-01</lastmod></url></urlset>')
    built = sitemill.build(pages(3), base_url=BASE, out=tmp_path, also=iter([news, BASE + "videos.xml"]))
    assert (built.sitemaps, built.raw["also"]) == (1, 2)
    index = (tmp_path / "sitemap-index-1.xml").read_text()
    assert f"<loc>{BASE}news.xml</loc><lastmod>2024-05-01</lastmod>" in index
    assert f"<loc>{BASE}videos.xml</loc></sitemap>" in index


def test_switches_are_truth_values_and_other_options_are_not(tmp_path):
    given = dict(base_url=BASE, out=tmp_path / "out")
    assert sitemill.build([], **given, allow_empty=numpy.bool_(True), dry_run=numpy.bool_(False)).published
    for option in ("max_rejects", "threads", "keep", "exclude"):
        for value in (True, False, numpy.bool_(False)):
            with pytest.raises(TypeError, match=f"{option} has a value of type bool"):
                sitemill.build(pages(3), **given, **{option: value})
    parameters = inspect.signature(sitemill.build).parameters.values()
    assert {parameter.name for parameter in parameters if parameter.default is False} == set(_options._SWITCHES)


def test_a_path_is_not_a_number(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for options in (dict(out=5), dict(out="out", rejects=5), dict(out="out", also=[5]), dict(out="out", state=1.5)):
        with pytest.raises(TypeError, match="has a value of type (int|float); give a str or a path"):
            sitemill.build(pages(3), base_url=BASE, **options)
    assert not any(tmp_path.iterdir())


def test_a_surrogate_in_an_option_is_a_usage_error(tmp_path):
    with pytest.raises(sitemill.UsageError, match=r"exclude='\\ud800' has a surrogate"):
        sitemill.build(pages(3), base_url=BASE, out=tmp_path, exclude=["a", "\ud800"])


def test_the_option_of_a_wrong_command_is_named(tmp_path):
    for command in (5, 1.5, b"true", pathlib.Path("/bin/true"), ["echo", None], ["echo", b"x"], {"echo"}):
        with pytest.raises(TypeError, match="then has a value of type"):
            sitemill.build(pages(3), base_url=BASE, out=tmp_path, then=command)
    for option in (dict(then=["echo", "\udce9"]), dict(exclude="\udce9"), dict(then="echo \udce9")):
        with pytest.raises(sitemill.UsageError, match=f"{[*option][0]}='.*' has a surrogate"):
            sitemill.build(pages(3), base_url=BASE, out=tmp_path, **option)


def test_a_small_number_is_read(tmp_path):
    with pytest.raises(sitemill.UsageError, match="default_priority"):
        sitemill.build(pages(3), base_url=BASE, out=tmp_path, default_priority=-1e-05)
    assert sitemill.build(pages(3), base_url=BASE, out=tmp_path, default_priority=0.00001).listed == 3


def test_options_for_stores_are_refused_for_local_paths(tmp_path):
    diff = lambda path, **options: sitemill.diff(path, path, **options)
    for call in (sitemill.check, sitemill.urls, diff, sitemill.status, sitemill.rollback):
        with pytest.raises(sitemill.UsageError, match=f"^state is for sets in stores, and {tmp_path} is local; leave it out$"):
            call(tmp_path, state="s3://private/shop")
        with pytest.raises(sitemill.UsageError, match="^endpoint is for locations in stores, and this command has none"):
            call(tmp_path, endpoint="https://minio.example.com")
    with pytest.raises(sitemill.UsageError, match="^index_header is for sets in stores"):
        sitemill.rollback(tmp_path, index_header="Cache-Control: max-age=60")


def test_relative_urls_in_a_list_are_refused_with_a_way_out(tmp_path):
    urls = ["/a", "/b"]
    for rows in (urls, tuple(urls), urls[:1]):
        with pytest.raises(sitemill.UsageError, match="'/a': no such file; .*; for relative URLs, give iter"):
            sitemill.build(rows, relative_to=BASE, base_url=BASE, out=tmp_path)
    assert sitemill.build(iter(urls), relative_to=BASE, base_url=BASE, out=tmp_path).listed == 2
    file = tmp_path / "urls.txt"
    file.write_text("/a\n/b\n")
    assert pyarrow.table(sitemill.clean([str(file)], relative_to=BASE)).num_rows == 2
    with pytest.raises(sitemill.InputError, match="missing"):
        sitemill.clean([str(file), str(tmp_path / "missing")], relative_to=BASE)
