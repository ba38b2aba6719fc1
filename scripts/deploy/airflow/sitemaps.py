"""Nightly sitemaps, as an Airflow DAG. The task returns the report of the run, for downstream tasks.

The Python package `sitemill` must be installed where tasks run. URL_EXPORT names the input file or directory.
"""

import os
from datetime import UTC, datetime, timedelta

from airflow.exceptions import AirflowFailException
from airflow.sdk import dag, task


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
        # Airflow imports this file every few seconds, and not only where tasks run.
        import sitemill

        try:
            report = sitemill.build(
                os.environ.get("URL_EXPORT", "/srv/export"),
                base_url="https://www.example.com/",
                out="/var/www/html",
                robots="/var/www/html/robots.txt",
                # Suspicious data is not published, and the live set stays.
                max_rejects="1%",
                max_dropped_tags="5%",
                max_shrink="20%",
                expect_lines="1000..",
                metrics="/var/lib/prometheus/node-exporter/sitemill.prom",
                progress=False,
            )
        except sitemill.Busy:
            # Another run holds the directory. This is the only failure for which a retry helps.
            raise
        except sitemill.SitemillError as error:
            raise AirflowFailException(str(error)) from error
        return report.raw

    @task
    def tell(report: dict) -> str:
        words = f"{report['listed']} URLs in {report['sitemaps']} sitemaps are live"
        print(words)
        return words

    tell(build())


sitemaps()
