"""The documents tell the truth."""

import os
import pydoc
import re
import subprocess
import sys

import sitemill
from conftest import ROOT
from sitemill import _progress


def first_example(path: str) -> str:
    return re.search(r"```python\n(.*?)```", (ROOT / path).read_text("utf-8"), re.DOTALL)[1]


def run_example(code: str, directory) -> str:
    # Warnings would be failures of the example.
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=directory, capture_output=True, text=True, env=absolute())
    assert done.returncode == 0, done.stderr
    return done.stdout


def absolute():


    return {**os.environ, "PYTHONPATH": str(ROOT / "python")}


def test_the_first_examples_run(tmp_path):
    said = run_example(first_example("docs/python.md"), tmp_path)
    assert said.splitlines()[0] == "2 URLs in 1 sitemap; 1 rejected"
    assert "https://www.example.com/shop?id=7&lang=de" in said
    (tmp_path / "2").mkdir()
    assert run_example(first_example("python/README.md"), tmp_path / "2") == "2 URLs in 1 sitemap\n"


def test_the_document_names_all_that_is_public():
    document = (ROOT / "docs" / "python.md").read_text("utf-8")
    errors = [name for name in sitemill.__all__ if isinstance(getattr(sitemill, name), type) and issubclass(getattr(sitemill, name), sitemill.SitemillError)]
    assert len(errors) == 9
    for name in errors:
        assert f"`{name}`" in document, name


def test_the_document_names_all_phases():
    document = (ROOT / "docs" / "python.md").read_text("utf-8")
    for phase in _progress._WORDS:
        assert f"`{phase}`" in document, phase


def test_help_describes_everything_that_is_public():
    shown = pydoc.plain(pydoc.render_doc(sitemill))
    for name in sitemill.__all__:
        assert getattr(sitemill, name).__doc__, name
        assert re.search(rf"\b{name}\b", shown), name
