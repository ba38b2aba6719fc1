//! The driver: opens the run, plans the regions and publishes.

use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use sitemill::cli::embed::{BuildInSteps, caught};
use sitemill::cluster::{self, Packed, Planned, RegionBatch, RoutingPlan};
use sitemill::{Error, ErrorKind, Progress, Result, Stop};

use super::closed;
use crate::commands::{Built, built, is_live};
use crate::{errors, run};

/// The driver of a run. It holds the lock of the directory until it publishes or fails.
#[pyclass]
pub struct Driver(Mutex<Option<Running>>);

/// A run that has neither published nor failed.
struct Running {
    driver: cluster::Driver,
    steps: BuildInSteps,
    /// Ends the run, also while it publishes.
    stop: Stop,
}

#[pymethods]
impl Driver {
    /// Opens the directory that `arguments` name, and the files for its reports.
    #[new]
    fn new(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<Self> {
        let stop = Stop::default();
        let running = run::run(py, None, None, &stop, |_, stop| {
            let mut steps = BuildInSteps::begin(arguments)?;
            match steps.job().and_then(|job| cluster::Driver::open(&job, stop)) {
                Ok(driver) => Ok(Running { driver, steps, stop: stop.clone() }),
                Err(error) => Err(steps.fail(error)),
            }
        })?;
        Ok(Self(Mutex::new(Some(running))))
    }

    /// The instructions for the workers.
    fn work_order(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |driver| driver.work_order().to_json())
    }

    /// Plans the regions. Returns the plan and the number of regions; or no plan, and the number of candidates that every task
    /// must report at least.
    fn plan(&self, py: Python<'_>, packed: Vec<String>) -> PyResult<(Option<String>, usize)> {
        let planned = self.with(py, |driver| driver.plan(&read(&packed, Packed::from_json)?))?;
        match planned.map_err(|error| errors::exception(py, &error))? {
            Planned::Ready(plan) => Ok((Some(plan.to_json()), plan.regions() as usize)),
            Planned::MoreCandidates(candidates) => Ok((None, candidates)),
        }
    }

    /// Publishes the set, and writes the reports. `columns` are those of the input as in a report, as JSON.
    fn publish(
        &self,
        py: Python<'_>,
        packed: Vec<String>,
        plan: &str,
        batches: Vec<String>,
        input: &str,
        columns: &str,
    ) -> PyResult<Built> {
        let Running { mut driver, steps, stop } = py.detach(|| self.take()).ok_or_else(closed)?;
        let work = |_: &dyn Progress, stop: &Stop| {
            let publish = || {
                let (packed, plan) = (read(&packed, Packed::from_json)?, RoutingPlan::from_json(plan)?);
                let batches = read(&batches, RegionBatch::from_json)?;
                let columns = serde_json::from_str(columns);
                driver.set_columns(
                    columns.map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?,
                );
                driver.publish_without_then(&packed, &plan, batches, input)
            };
            steps.end(caught(publish), stop)
        };
        let (outcome, raised) = run::publish(py, None, None, &stop, is_live, work)?;
        Ok(built(py, outcome, raised))
    }

    /// Releases the directory, removes the files that the workers have written, and writes the reports of a failure: its kind and
    /// its message.
    fn fail(&self, py: Python<'_>, kind: &str, message: String) {
        py.detach(|| {
            if let Some(Running { driver, steps, .. }) = self.take() {
                drop(driver);
                let _ = steps.fail(Error::new(errors::kind_of(kind), message));
            }
        });
    }
}

impl Driver {
    /// Does `act` while other Python threads run.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut cluster::Driver) -> T + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            running.as_mut().map(|running| act(&mut running.driver))
        });
        done.ok_or_else(closed)
    }

    fn take(&self) -> Option<Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Reads several messages.
fn read<T>(messages: &[String], parse: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    messages.iter().map(|message| parse(message)).collect()
}
