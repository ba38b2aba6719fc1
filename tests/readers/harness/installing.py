"""Installs the dependencies of the readers with pip, npm and Cargo."""

import hashlib
import shlex
import shutil
import subprocess
import sys

from harness import NODE_FOLDER, PYTHON, RUST_TARGET, SOURCES


def install_readers():
    python = [f"{sys.version} {sys.executable}"]
    install("the Python readers", PYTHON.parent.parent, ["requirements.txt", "constraints.txt"], python, [
        [sys.executable, "-m", "venv", PYTHON.parent.parent],
        [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:",
         "--requirement", SOURCES / "requirements.txt", "--constraint", SOURCES / "constraints.txt"],
    ])
    install("npm's sitemap", NODE_FOLDER, ["package.json", "package-lock.json"], [], [
        ["cp", SOURCES / "package.json", SOURCES / "package-lock.json", NODE_FOLDER],
        ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", NODE_FOLDER],
    ])
    # Cargo itself checks what is up to date.
    install_step("the Rust readers", ["cargo", "build", "--locked", "--quiet", "--manifest-path",
                                      SOURCES / "rust/Cargo.toml", "--target-dir", RUST_TARGET])
    install_step("xmllint (package libxml2-utils)", ["xmllint", "--version"])


def install(what, folder, files, words, commands):
    """Skips the installation if the folder was made from the same files."""
    texts = [(SOURCES / file).read_text() for file in files]
    wanted = hashlib.sha256("\0".join([*words, *texts]).encode()).hexdigest()
    stamp = folder / "installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"readers: installing {what} in {folder}", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for command in commands:
        install_step(what, command)
    stamp.write_text(wanted)


def install_step(what, command):
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        reason = (done.stdout + done.stderr).strip()[-1500:] if done.returncode else None
    except OSError as error:
        reason = str(error)
    if reason is not None:
        words = f"{what} cannot be installed, and no reader may be left out"
        sys.exit(f"readers: {words}: `{shlex.join(command)}`: {reason}")
