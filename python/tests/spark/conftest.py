"""Fixtures of the tests on Spark. scripts/spark-test installs what they need."""

from __future__ import annotations

import importlib.util
import pathlib
from typing import Any, Iterator

import pytest

if importlib.util.find_spec("pyspark") is None:
    # scripts/spark-test fails if there are no tests.
    collect_ignore_glob = ["*.py"]
else:
    pytest.register_assert_rewrite("cluster")
    import cluster


@pytest.fixture
def marks(tmp_path: pathlib.Path) -> pathlib.Path:
    """The directory in which tasks leave files for the tests."""
    directory = tmp_path / "marks"
    directory.mkdir()
    return directory


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A store of objects."""
    with cluster.bucket.Store(tmp_path_factory.mktemp("store")) as started:
        yield started


@pytest.fixture(params=["directory", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Any:
    """Where a test publishes: a directory, or a prefix of a bucket."""
    if request.param == "directory":
        return cluster.Place(tmp_path / "out", tmp_path / "out", {})
    store = request.getfixturevalue("store")
    # Tasks that go wrong look there.
    (tmp_path / "buckets").write_text(str(store.root))
    url = store.url(tmp_path.name)
    return cluster.Place(url, store.directory(url), {"endpoint": store.endpoint})


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The directory for the rows that several tests read."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def spark(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The session of a module, which says in MASTER and CONFIG what it wants."""
    master = request.getfixturevalue("standalone").url if request.module.MASTER is None else request.module.MASTER
    session = cluster.session(master, tmp_path_factory.mktemp("local"), request.module.CONFIG)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A master with two workers, which differ in their addresses."""
    with cluster.Standalone(tmp_path_factory.mktemp("standalone")) as started:
        yield started


@pytest.fixture(scope="session")
def small(work: pathlib.Path) -> Any:
    return cluster.Rows(work / "small", cluster.small, cluster.OPTIONS)


@pytest.fixture(scope="session")
def flat(work: pathlib.Path) -> Any:
    return cluster.Rows(work / "flat", cluster.flat, cluster.OPTIONS)


@pytest.fixture(params=["rows", "files"])
def rows_or_files(request: pytest.FixtureRequest) -> Any:
    """Rows that Spark reads, and rows of files that tasks read by themselves."""
    return request.getfixturevalue("small" if request.param == "rows" else "flat")


@pytest.fixture(scope="session")
def large(work: pathlib.Path) -> Any:
    return cluster.Rows(work / "large", cluster.large, cluster.LARGE_OPTIONS)
