"""Installs each side with its package manager. A side that cannot be installed is reported and left out."""

import os
import shlex
import shutil
import subprocess
import sys

from compare import PEERS

NPM_PACKAGE = "sitemap@9.0.1"
NPM_FOLDER = PEERS
DUCKDB_PACKAGE = "duckdb==2.0.0"
DJANGO_PACKAGE = "Django==5.2.19"
WRITER_PACKAGE = "xml-sitemap-writer==0.7.0"
GEM_PACKAGE = "sitemap_generator:6.3.0"
GEMS = PEERS / "gems"
PYTHON = PEERS / "venv/bin/python"
CRATES_MANIFEST = "benches/compare/peers/crates/Cargo.toml"
CRATES_FOLDER = PEERS / "crates"
CRATES = CRATES_FOLDER / "release/crates"


def install_tool(tool, package, peer):
    return bool(shutil.which(tool)) or install(peer, as_root(["apt-get", "install", "-y", package]))


def install_npm():
    NPM_FOLDER.mkdir(parents=True, exist_ok=True)
    options = ["--no-audit", "--no-fund", "--no-save", "--prefix", str(NPM_FOLDER)]
    return install("npm's sitemap", ["npm", "install", *options, NPM_PACKAGE])


def install_crates():
    options = ["--release", "--locked", "--quiet", "--manifest-path", CRATES_MANIFEST]
    return install("the crates", ["cargo", "build", *options, "--target-dir", str(CRATES_FOLDER)])


def install_duckdb():
    return install_python_package(DUCKDB_PACKAGE, "DuckDB")


def install_python_package(package, peer):
    # pip is the last part of a new environment.
    environment = [sys.executable, "-m", "venv", str(PYTHON.parent.parent)]
    if not PYTHON.with_name("pip").exists() and not install(peer, environment):
        return False
    return install(peer, [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package])


def install_gem():
    options = ["--conservative", "--no-document", "--install-dir", str(GEMS)]
    return install_tool("gem", "ruby", GEM_PACKAGE) and install(
        f"Ruby's {GEM_PACKAGE}", ["gem", "install", *options, GEM_PACKAGE])


def as_root(command):
    return command if os.geteuid() == 0 else ["sudo", "-n", *command]


def install(what, command):
    """Whether the installation succeeded; prints the reason if not."""
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        reason = done.stderr.strip()[-500:] if done.returncode else None
    except OSError as error:
        reason = str(error)
    if reason is not None:
        print(f"{what}: left out: `{shlex.join(command)}` failed: {reason}", file=sys.stderr)
    return reason is None
