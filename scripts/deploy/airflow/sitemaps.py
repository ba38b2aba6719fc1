"""Nightly sitemaps, as an Airflow DAG. The report of the run is the result of the task, for those behind it.

`sitemill` must be on the PATH of the worker; SITEMILL_CONFIG names its file of options, and URL_EXPORT the file or directory
that it reads.
"""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta

from airflow.exceptions import AirflowException, AirflowFailException
from airflow.sdk import dag, task

# Another run holds the directory. Of all exit codes the only one that a retry cures.
BUSY = 75
# On SIGTERM a run stops within seconds and leaves the live set as it is.
GRACE_SECONDS = 60


@dag(
    schedule="30 2 * * *",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    tags=["sitemaps"],
)
def sitemaps():
    @task(retries=3, retry_delay=timedelta(minutes=10))
    def build() -> dict:
        source = os.environ.get("URL_EXPORT", "/srv/export")
        command = ["sitemill", "build", "--json", "--log", "json", "--progress", "never", source]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                output, _ = process.communicate()
            except BaseException:
                # The task is being stopped, and the run with it.
                process.terminate()
                process.wait(GRACE_SECONDS)
                raise
        lines = output.splitlines()
        report = json.loads(lines[-1]) if lines else {}
        why = report.get("refused") or report.get("error") or f"exit code {process.returncode}"
        if process.returncode == BUSY:
            raise AirflowException(why)
        if process.returncode != 0:
            raise AirflowFailException(why)
        return report

    @task
    def tell(report: dict) -> str:
        words = f"{report['listed']} URLs in {report['sitemaps']} sitemaps are live"
        print(words)
        return words

    tell(build())


sitemaps()
