"""Nightly sitemaps, as an Airflow DAG. The task returns the report of the run, for downstream tasks.

`sitemill` must be on the PATH of the worker. SITEMILL_CONFIG names its options file, and URL_EXPORT its input file or
directory.
"""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta

from airflow.exceptions import AirflowException, AirflowFailException
from airflow.sdk import dag, task

# Another run holds the directory. This is the only exit code for which a retry helps.
BUSY = 75
# On SIGTERM, a run stops within seconds and leaves the live set unchanged.
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
                # If the task is stopped, stop the run too.
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
