"""The modules of scripts/readers. Paths are relative to the root of the repository, the current directory of that script."""

import pathlib

SOURCES = pathlib.Path("tests/readers")
INSTALLED = pathlib.Path("target/readers")
PYTHON = INSTALLED / "venv/bin/python"
NODE_FOLDER = INSTALLED / "npm"
RUST_TARGET = INSTALLED / "rust"
RUST_READER = RUST_TARGET / "debug/readers"
SCHEMAS = pathlib.Path("testdata/schemas")

PROTOCOLS = {
    "0.9": "http://www.sitemaps.org/schemas/sitemap/0.9",
    "0.84": "http://www.google.com/schemas/sitemap/0.84",
}
URLS_PER_SITEMAP = 300
SITEMAPS_PER_INDEX = 4
