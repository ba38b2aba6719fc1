"""The command line is part of the package."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import sitemill
from conftest import BASE, pages, program, published

MODULE = [sys.executable, "-m", "sitemill"]


def test_the_module_is_the_command_line(tmp_path):
    (tmp_path / "urls.txt").write_text("\n".join(pages(10)))
    outputs = []
    for number, command in enumerate((MODULE, [program()])):
        out = tmp_path / str(number)
        words = ["build", "--base-url", BASE, "--out", out, "--json", tmp_path / "urls.txt"]
        done = subprocess.run([*command, *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        outputs.append((published(out), json.loads(done.stdout)["listed"]))
    assert outputs[0] == outputs[1]
    assert outputs[0][1] == 10


def test_exit_codes_and_messages_are_those_of_the_program(tmp_path):
    for words in (["build"], ["check", tmp_path / "missing"], ["--version"], ["frobnicate"], ["build", "--help"]):
        done = [subprocess.run([*command, *words], capture_output=True, text=True) for command in (MODULE, [program()])]
        assert (done[0].returncode, done[0].stderr, done[0].stdout) == (done[1].returncode, done[1].stderr, done[1].stdout)


def test_the_console_script_calls_main():
    installed = shutil.which("sitemill", path=os.path.dirname(sys.executable))
    if installed:
        done = subprocess.run([installed, "--version"], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.startswith("sitemill ")
    code = "import sys; sys.argv[1:] = ['--version']; from sitemill.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("sitemill ")


def test_ctrl_c_ends_the_command_line_with_the_exit_code_of_the_signal(tmp_path):
    command = [*MODULE, "build", "--base-url", BASE, "--out", tmp_path / "out"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write("\n".join(pages(1000)).encode())
        process.stdin.flush()
        while not (tmp_path / "out" / ".sitemill").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in (130, -signal.SIGINT)
    assert not (tmp_path / "out" / "sitemap-index-1.xml").exists()


def test_the_version_is_that_of_the_program():
    shown = subprocess.run([program(), "--version"], capture_output=True, text=True).stdout
    assert sitemill.__version__ in ("0", shown.split()[1])
