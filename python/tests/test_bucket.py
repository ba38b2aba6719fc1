"""Sets in buckets, with the functions of Python. tests/cloud tests what happens in the bucket."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading

import pyarrow
import pytest

import bucket
import sitemill
from conftest import BASE, pages, published
from sitemill import _paths, _sitemill
from test_errors import check_words, failure
from test_interrupt import BUILD, SOURCES, interrupt

KEYS = [name for name in os.environ if name.startswith("AWS_")]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with bucket.Store(tmp_path_factory.mktemp("store")) as started:
        yield started


@pytest.fixture(autouse=True)
def credentials(monkeypatch, tmp_path):
    """Credentials in the environment, which a test may change, and none from elsewhere."""
    for name in KEYS:
        monkeypatch.delenv(name)
    for name, value in bucket.CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def out(store, request):
    """A location that no other test has."""
    return store.url(request.node.name.split("[")[0])


@pytest.fixture
def build(store, out):
    def run(rows, **options):
        return sitemill.build(rows, **{"base_url": BASE, "out": out, "endpoint": store.endpoint, **options})

    return run


def test_a_set_in_a_bucket_is_that_of_a_directory_and_all_functions_know_it(store, out, build, tmp_path):
    table = pyarrow.table({"url": pages(3000)})
    for rows in (table.slice(0, 2000), table):
        report = build(rows, urls_per_sitemap=100)
        sitemill.build(rows, base_url=BASE, out=tmp_path, urls_per_sitemap=100)
    assert report.published
    assert published(store.directory(out)) == published(tmp_path)
    at = {"endpoint": store.endpoint}
    assert sitemill.check(out, **at).urls == 3000
    assert pyarrow.table(sitemill.urls(out, **at))["loc"].to_pylist() == pages(3000)
    (found,) = sitemill.status(out, **at)
    assert (found.live.urls, [kept.urls for kept in found.earlier]) == (3000, [2000])
    assert len(pyarrow.table(sitemill.diff(tmp_path, out, **at))) == 0
    back = sitemill.rollback(out, index_header="Cache-Control: max-age=60", **at)
    assert back.urls == 2000
    changed = pyarrow.table(sitemill.diff(tmp_path, out, **at))
    assert set(changed["change"].to_pylist()) == {"removed"} and len(changed) == 1000
    assert sitemill.check(out, **at).urls == 2000


def test_the_state_may_be_in_another_place(store, out, build):
    state = store.url("private/shop")
    at = {"endpoint": store.endpoint, "state": state}
    for count in (3, 4):
        build(pages(count), state=state)
    assert not (store.directory(out) / ".sitemill").exists()
    assert (store.directory(state) / ".sitemill/manifest.json").exists()
    assert sitemill.check(out, **at).urls == 4
    assert sitemill.status(out, **at)[0].live.urls == 4
    assert sitemill.rollback(out, **at).urls == 3
    assert len(pyarrow.table(sitemill.diff(out, out, **at))) == 0


def test_headers_are_those_that_were_given(store, out, build):
    build(pages(3), sitemap_header=["Cache-Control: max-age=77"], index_header="Cache-Control: max-age=66")
    kept = "".join(path.read_text() for path in store.root.glob(".bucket-*.metadata.json"))
    assert "max-age=77" in kept and "max-age=66" in kept
    error = failure(lambda: build(pages(3), sitemap_header="Content-Encoding: gzip"))
    assert isinstance(error, sitemill.UsageError) and "sitemap_header" in str(error)
    error = failure(lambda: sitemill.rollback(out, sitemap_header="nonsense", endpoint=store.endpoint))
    assert isinstance(error, sitemill.UsageError) and "sitemap_header" in str(error)


def test_a_stream_needs_its_settings_until_it_is_read_or_deleted(store, out, build, monkeypatch):
    build(pages(3))
    monkeypatch.setenv("AWS_ENDPOINT_URL", store.endpoint)
    stream = sitemill.urls(out, endpoint=store.endpoint)
    assert "another call uses stores with other settings" in str(failure(lambda: sitemill.status(out)))
    del stream
    assert sitemill.status(out)[0].live.urls == 3
    for function, inputs in ((sitemill.urls, out), (sitemill.clean, store.url("urls.txt"))):
        (store.root / "test/urls.txt").write_text("".join(url + "\n" for url in pages(3)))
        stream = function(inputs, endpoint=store.endpoint)
        assert len(pyarrow.table(stream)) == 3
        assert sitemill.status(out)[0].live.urls == 3


def test_a_call_that_was_interrupted_no_longer_needs_its_settings(store, out, build):
    build(pages(3))
    connections = []
    with socket.create_server(("127.0.0.1", 0)) as silent:

        def interrupt_request():
            connections.append(silent.accept())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt_request).start()
        with pytest.raises(KeyboardInterrupt):
            sitemill.urls(out, endpoint="http://127.0.0.1:%d" % silent.getsockname()[1])
        assert len(pyarrow.table(sitemill.urls(out, endpoint=store.endpoint))) == 3
    for connection, _ in connections:
        connection.close()


def test_the_state_of_the_call_before_does_not_apply_to_web_servers(store, out):
    failure(lambda: sitemill.status(out, state=store.url("private"), endpoint=store.endpoint))
    error = failure(lambda: sitemill.check("https://a.example/sitemap.xml", "https://b.example/sitemap.xml"))
    assert "state" not in str(error) and "download it" in str(error)


def test_a_call_that_would_change_the_settings_of_a_running_one_is_refused(store, out, build, tmp_path):
    sitemill.build(pages(3), base_url=BASE, out=tmp_path)
    at, header = {"endpoint": store.endpoint}, {"sitemap_header": "Cache-Control: max-age=78"}

    def rows():
        yield from pages(3)
        for call in (
            lambda: sitemill.status(out),
            lambda: sitemill.urls(out, state=store.url("private"), **at),
            lambda: build(pages(3), out=out + "-2"),
        ):
            error = failure(call)
            assert isinstance(error, sitemill.UsageError) and "another call uses stores with other settings" in str(error)
            check_words(error)
        # These need the same settings, or none. The check of a task publishes nothing.
        task = ["--order=sorted", "--divide=stable", "--on-duplicate=newest", "--endpoint", store.endpoint]
        _sitemill.check_task(["--base-url", BASE, "--out", out, *task])
        assert build(pages(2), out=out + "-2", **header).listed == 2
        assert sitemill.check(out + "-2", **at).urls == 2
        assert sitemill.check(tmp_path).urls == 3

    assert build(rows(), **header).listed == 3
    kept = [path.read_text() for path in store.root.glob(".bucket-*.metadata.json")]
    assert sum("max-age=78" in one for one in kept) == 2
    assert build(pages(4)).published


def test_credentials_and_the_endpoint_are_read_by_each_call(store, out, build, monkeypatch, tmp_path):
    build(pages(3))
    monkeypatch.setitem(os.environ, "AWS_SECRET_ACCESS_KEY", "wrong/" + bucket.SECRET_KEY)
    error = failure(lambda: build(pages(4)))
    assert isinstance(error, sitemill.OutputError) and (error.kind, error.exit_code) == ("permission", 77)
    assert "AWS_ACCESS_KEY_ID" in str(error) and str(out) in str(error)
    os.environ["AWS_SECRET_ACCESS_KEY"] = bucket.SECRET_KEY
    os.environ["AWS_ENDPOINT_URL"] = store.endpoint
    try:
        assert sitemill.build(pages(5), base_url=BASE, out=out).listed == 5
        assert sitemill.status(out)[0].live.urls == 5
    finally:
        del os.environ["AWS_ENDPOINT_URL"]
    for name in bucket.CREDENTIALS:
        monkeypatch.delenv(name)
    profiles = tmp_path / "credentials"
    key, secret = bucket.ACCESS_KEY, bucket.SECRET_KEY
    profiles.write_text(f"[night]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\nregion = us-east-1\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(profiles))
    monkeypatch.setenv("AWS_PROFILE", "night")
    assert build(pages(6)).listed == 6
    monkeypatch.setenv("AWS_PROFILE", "day")
    assert failure(lambda: build(pages(6))).kind == "permission"


def test_failures_have_their_kind_and_no_key(store, out, build, monkeypatch):
    at = {"endpoint": store.endpoint}
    build(pages(3))
    live = sitemill.status(out, **at)
    cases = [
        (lambda: build(pages(3), out="s3://no-such-bucket/a"), sitemill.OutputError, 73, "s3://no-such-bucket"),
        (lambda: build(pages(3), out="ftp://host/a"), sitemill.UsageError, 2, "s3://, gs:// and az://"),
        (lambda: build(pages(3), state="/tmp"), sitemill.UsageError, 2, "state"),
        (lambda: sitemill.check(out + "/nothing", **at), sitemill.InputError, 66, "nothing"),
        (lambda: sitemill.status(out + "/nothing", **at), sitemill.DataRefused, 65, "nothing"),
        (lambda: sitemill.rollback(out + "/nothing", **at), sitemill.SitemillError, None, "nothing"),
        (lambda: build(pages(1)), sitemill.DataRefused, 65, "max_shrink"),
    ]
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", bucket.SECRET_KEY)
    for call, kind, exit_code, words in cases:
        error = failure(call)
        check_error(error, kind, exit_code, words)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x" + bucket.SECRET_KEY)
    for call in (
        lambda: build(pages(3)),
        lambda: sitemill.check(out, **at),
        lambda: sitemill.urls(out, **at),
        lambda: sitemill.status(out, **at),
        lambda: sitemill.diff(out, out, **at),
        lambda: sitemill.rollback(out, **at),
    ):
        check_error(failure(call), sitemill.OutputError, 77, out)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", bucket.SECRET_KEY)
    assert sitemill.status(out, **at) == live


def check_error(error, kind, exit_code, words):
    assert isinstance(error, kind), repr(error)
    assert exit_code in (None, error.exit_code), repr(error)
    assert words in str(error), error
    assert bucket.SECRET_KEY not in repr(error) + str(error.__cause__)
    check_words(error)


def test_a_second_build_of_a_prefix_is_busy(store, out, build):
    begun, go_on = threading.Event(), threading.Event()

    def slow():
        yield BASE
        begun.set()
        go_on.wait(60)

    first = threading.Thread(target=build, args=(slow(),))
    first.start()
    assert begun.wait(60)
    for _ in range(100):
        if (store.directory(out) / ".sitemill/journal.json").exists():
            break
        threading.Event().wait(0.1)
    error = failure(lambda: build(pages(3)))
    go_on.set()
    first.join()
    assert isinstance(error, sitemill.Busy) and error.exit_code == 75
    check_words(error)


@pytest.mark.parametrize("source", ["an endless generator", "a generator that waits", "a large table"])
def test_ctrl_c_stops_a_build_and_leaves_the_live_set(source, store, out, build, monkeypatch):
    build(pages(3))
    live = published(store.directory(out))
    monkeypatch.setenv("AWS_ENDPOINT_URL", store.endpoint)
    interrupt(SOURCES[source] + BUILD, out)
    assert published(store.directory(out)) == live
    assert sitemill.check(out)
    assert build(pages(4)).listed == 4


def test_a_path_of_pathlib_is_refused_with_a_way_out(out, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    collapsed = pathlib.Path("s3://test/a")
    for call in (
        lambda: sitemill.build(pages(3), base_url=BASE, out=collapsed),
        lambda: sitemill.build(pages(3), base_url=BASE, out=str(collapsed)),
        lambda: sitemill.build(pages(3), base_url=BASE, out=out, state=collapsed),
        lambda: sitemill.build(collapsed, base_url=BASE, out=out),
        lambda: sitemill.build([collapsed], base_url=BASE, out=out),
        lambda: sitemill.check(collapsed),
        lambda: sitemill.urls(collapsed),
        lambda: sitemill.diff(out, collapsed),
        lambda: sitemill.status(collapsed),
        lambda: sitemill.rollback(collapsed),
    ):
        error = failure(call)
        assert isinstance(error, sitemill.UsageError) and 'pass the string "s3://test/a"' in str(error)
    assert list(tmp_path.iterdir()) == []


def test_locations_in_a_list_are_inputs_and_not_pages():
    assert _paths.paths(["s3://bucket/a.csv", "gs://bucket/b.csv"]) == ["s3://bucket/a.csv", "gs://bucket/b.csv"]
    assert _paths.paths(["a.csv", "az://bucket/b.csv"]) == ["a.csv", "az://bucket/b.csv"]
    assert _paths.paths([BASE, "s3://bucket/b.csv"]) is None


def test_the_example_of_the_documentation_runs(store, monkeypatch, capsys):
    monkeypatch.setenv("AWS_ENDPOINT_URL", store.endpoint)
    page = (bucket.ROOT / "docs/python.md").read_text("utf-8")
    example = page.split("## Buckets")[1].split("```python\n")[1].split("```")[0]
    exec(example.replace("s3://shop-sitemaps/", store.url("")), {})
    assert capsys.readouterr().out == "1 URL in s3://test/maps\n"


FORK = """
import os, signal, sys, sitemill
out = sys.argv[1]
assert sitemill.check(out)
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(0 if sitemill.check(out) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_process_that_was_forked_reaches_the_store(out, build, store, monkeypatch):
    build(pages(3))
    monkeypatch.setenv("AWS_ENDPOINT_URL", store.endpoint)
    done = subprocess.run([sys.executable, "-c", FORK, out], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
