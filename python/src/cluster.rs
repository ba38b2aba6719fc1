//! The steps of a build on a cluster, for `sitemill.spark`. Orders, plans and results are JSON; rows are blocks of bytes.
//!
//! [`driver`] has the steps of the driver. The functions here are the steps of a worker, and [`columns`] has the rows it sends.

mod columns;
mod driver;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sitemill::cluster::{self, RegionBatch, RoutingPlan, RowGroups, WorkOrder};
use sitemill::{Error, ErrorKind, Result, Stop};

use crate::stream::Stream;
use crate::{errors, rows, run};
use columns::{BATCH_BYTES, PackedRows, Rejects, RoutedRows, send};
pub use driver::Driver;

fn closed() -> PyErr {
    PyRuntimeError::new_err("the run has ended")
}

/// Checks that this process reaches the directory of the driver, or the store as `arguments` say.
#[pyfunction]
pub fn check_reachable(py: Python<'_>, arguments: Vec<OsString>, work_order: &str) -> PyResult<()> {
    let checked = py.detach(|| {
        sitemill::cli::embed::build_job(arguments, false)?;
        WorkOrder::from_json(work_order)?.check_reachable()
    });
    checked.map_err(|error| errors::exception(py, &error))
}

/// Checks the options of a task. Returns its memory, if it has a limit, and the bytes that it needs at least.
#[pyfunction]
pub fn check_task(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<(Option<u64>, u64)> {
    let checked = py.detach(|| cluster::Regions::check(&sitemill::cli::embed::build_job(arguments, false)?));
    checked.map_err(|error| errors::exception(py, &error))
}

/// Packs the rows of a partition. The stream has the columns `packed` and `block`: a row for each block, and at the end one with
/// the result.
#[pyfunction]
pub fn pack(
    py: Python<'_>,
    arguments: Vec<OsString>,
    work_order: String,
    rows: Bound<'_, PyAny>,
    candidates: usize,
) -> PyResult<Stream> {
    let stop = Stop::default();
    let (source, feed) = rows::source(&rows, &stop)?;
    let schema = PackedRows::schema();
    Stream::of_batches(py, schema.clone(), feed, stop, None, move |batches, stop| {
        let job = sitemill::cli::embed::build_job(arguments, false)?;
        let mut rows = PackedRows::default();
        let mut emit = |block: Vec<u8>| {
            rows.push(None, Some(&block));
            if rows.bytes < BATCH_BYTES { Ok(()) } else { send(&batches, &schema, rows.take()) }
        };
        let work_order = WorkOrder::from_json(&work_order)?;
        let packed = cluster::pack(&job, &work_order, source, candidates, &mut emit, stop)?;
        rows.push(Some(&packed.to_json()), None);
        send(&batches, &schema, rows.take())?;
        Ok(String::new())
    })
}

/// A file that a task reads by itself: its path, the numbers of the row groups, its columns as `url=page,lastmod=updated`, and
/// whether its rows have other values.
type FilePart = (PathBuf, Vec<usize>, String, bool);

/// Counts the rows of a partition, which consists of row groups of Parquet files.
#[pyfunction]
pub fn count_files(
    py: Python<'_>,
    arguments: Vec<OsString>,
    work_order: &str,
    files: Vec<FilePart>,
    candidates: usize,
) -> PyResult<String> {
    let counted = run::run(py, None, None, &Stop::default(), |_, stop| {
        let job = sitemill::cli::embed::build_job(arguments, false)?;
        let work_order = WorkOrder::from_json(work_order)?;
        cluster::count_row_groups(&job, &work_order, &row_groups(files)?, candidates, stop)
    })?;
    Ok(counted.to_json())
}

/// Sends the rows of the same partition to their regions: a stream with the columns `region` and `block`. The router holds at most
/// about `memory` bytes.
#[pyfunction]
pub fn send_files(
    py: Python<'_>,
    arguments: Vec<OsString>,
    work_order: String,
    plan: String,
    files: Vec<FilePart>,
    memory: usize,
) -> PyResult<Stream> {
    let schema = RoutedRows::schema();
    Stream::of_batches(py, schema.clone(), None, Stop::default(), None, move |batches, stop| {
        let job = sitemill::cli::embed::build_job(arguments, false)?;
        let (work_order, plan) = (WorkOrder::from_json(&work_order)?, RoutingPlan::from_json(&plan)?);
        let mut rows = RoutedRows::default();
        let mut send_on = |region: u32, block: Vec<u8>| {
            rows.push(region, &block);
            if rows.bytes < BATCH_BYTES { Ok(()) } else { send(&batches, &schema, rows.take()) }
        };
        cluster::send_row_groups(&job, &work_order, &plan, &row_groups(files)?, memory, &mut send_on, stop)?;
        send(&batches, &schema, rows.take())?;
        Ok(String::new())
    })
}

fn row_groups(files: Vec<FilePart>) -> Result<Vec<RowGroups>> {
    let wrong = |error| Error::new(ErrorKind::Usage, error);
    let groups = |(path, numbers, columns, has_others): FilePart| {
        Ok(RowGroups { path, numbers, columns: columns.parse().map_err(wrong)?, has_others })
    };
    files.into_iter().map(groups).collect()
}

/// The rejected rows and dropped tags of a partition: a stream with the columns `row`, `reason`, `text` and `tag`.
#[pyfunction]
pub fn rejects(py: Python<'_>, arguments: Vec<OsString>, rows: Bound<'_, PyAny>) -> PyResult<Stream> {
    let stop = Stop::default();
    let (source, feed) = rows::source(&rows, &stop)?;
    let schema = Rejects::schema();
    let mut held = Rejects::default();
    Stream::of_batches(py, schema.clone(), feed, stop, None, move |batches, stop| {
        let job = sitemill::cli::embed::build_job(arguments, false)?;
        let mut emit = |row: cluster::RejectedRow<'_>| {
            held.push(row);
            if held.rows == Rejects::ROWS { send(&batches, &schema, held.take()) } else { Ok(()) }
        };
        cluster::rejects(&job, source, &mut emit, stop)?;
        send(&batches, &schema, held.take())?;
        Ok(String::new())
    })
}

/// Blocks, each with its region.
type Routed<'py> = Vec<(u32, Bound<'py, PyBytes>)>;

/// Distributes the rows of blocks among regions.
#[pyclass]
pub struct Router(Mutex<cluster::Router>);

#[pymethods]
impl Router {
    /// A router that holds at most about `memory` bytes.
    #[new]
    fn new(py: Python<'_>, plan: &str, memory: usize) -> PyResult<Self> {
        let router = py.detach(|| cluster::Router::new(&RoutingPlan::from_json(plan)?, memory));
        Ok(Self(Mutex::new(router.map_err(|error| errors::exception(py, &error))?)))
    }

    /// Takes a block, and returns the blocks of regions that are full.
    fn push<'py>(&self, py: Python<'py>, block: &[u8]) -> PyResult<Routed<'py>> {
        self.route(py, |router, emit| router.push(block, emit))
    }

    /// Returns the rest.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Routed<'py>> {
        self.route(py, cluster::Router::finish)
    }
}

impl Router {
    fn route<'py>(
        &self,
        py: Python<'py>,
        act: impl FnOnce(&mut cluster::Router, &mut dyn FnMut(u32, Vec<u8>) -> Result<()>) -> Result<()> + Send,
    ) -> PyResult<Routed<'py>> {
        let routed = py.detach(|| {
            let mut routed = Vec::new();
            let mut router = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            act(&mut router, &mut |region, block| {
                routed.push((region, block));
                Ok(())
            })
            .map(|()| routed)
        });
        let routed = routed.map_err(|error| errors::exception(py, &error))?;
        Ok(routed.into_iter().map(|(region, block)| (region, PyBytes::new(py, &block))).collect())
    }
}

/// Makes the sitemaps of whole regions.
#[pyclass]
pub struct Regions(Mutex<Option<cluster::Regions>>);

#[pymethods]
impl Regions {
    /// Creates a task without blocks. Blocks go to a file in the directory `scratch`.
    #[new]
    fn new(
        py: Python<'_>,
        arguments: Vec<OsString>,
        work_order: &str,
        plan: &str,
        scratch: PathBuf,
    ) -> PyResult<Self> {
        let open = || {
            let job = sitemill::cli::embed::build_job(arguments, true)?;
            let (work_order, plan) = (WorkOrder::from_json(work_order)?, RoutingPlan::from_json(plan)?);
            cluster::Regions::new(&job, &work_order, &plan, &scratch)
        };
        let regions = py.detach(open).map_err(|error| errors::exception(py, &error))?;
        Ok(Self(Mutex::new(Some(regions))))
    }

    /// Takes a block of a region.
    fn push(&self, py: Python<'_>, region: u32, block: &[u8]) -> PyResult<()> {
        let pushed = py.detach(|| {
            let mut regions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            regions.as_mut().map(|regions| regions.push(region, block))
        });
        pushed.ok_or_else(closed)?.map_err(|error| errors::exception(py, &error))
    }

    /// Makes the sitemaps, and returns the results of all regions.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let regions = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
        let regions = regions.ok_or_else(closed)?;
        let batches = run::run(py, None, None, &Stop::default(), |_, stop| regions.finish(stop))?;
        Ok(batches.iter().map(RegionBatch::to_json).collect())
    }
}
