//! The steps of a build on a cluster, for `sitemill.spark`. Orders, plans and results are JSON; rows are blocks of bytes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{BinaryBuilder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crossbeam_channel::Sender;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sitemill::cli::embed::{BuildInSteps, caught};
use sitemill::cluster::{self, Packed, Planned, RegionBatch, RoutingPlan, RowGroups, WorkOrder};
use sitemill::{Error, ErrorKind, Progress, Result, Stop};

use crate::commands::{Built, built, is_live};
use crate::stream::{Batch, Stream};
use crate::{errors, rows, run};

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
            let steps = BuildInSteps::begin(arguments)?;
            match steps.job().and_then(|job| cluster::Driver::open(&job, stop)) {
                Ok(driver) => Ok(Running { driver, steps, stop: stop.clone() }),
                Err(error) => Err(steps.fail(error)),
            }
        })?;
        Ok(Self(Mutex::new(Some(running))))
    }

    /// The instructions for the workers.
    fn order(&self) -> PyResult<String> {
        self.with(|driver| driver.order().to_json())
    }

    /// Plans the regions. Returns the plan and the number of regions; or no plan, and the number of candidates that every task
    /// must report at least.
    fn plan(&self, py: Python<'_>, packed: Vec<String>) -> PyResult<(Option<String>, usize)> {
        let planned = self.with(|driver| driver.plan(&read(&packed, Packed::from_json)?))?;
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
        let Running { driver, steps, stop } = self.take().ok_or_else(closed)?;
        let work = |_: &dyn Progress, stop: &Stop| {
            let publish = || {
                let (packed, plan) = (read(&packed, Packed::from_json)?, RoutingPlan::from_json(plan)?);
                let batches = read(&batches, RegionBatch::from_json)?;
                let mut outcome = driver.publish(&packed, &plan, batches, input)?;
                for input in &mut outcome.report.inputs {
                    let columns = serde_json::from_str(columns);
                    input.columns =
                        Some(columns.map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?);
                }
                Ok(outcome)
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
    fn with<T>(&self, act: impl FnOnce(&mut cluster::Driver) -> T) -> PyResult<T> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.as_mut().map(|running| act(&mut running.driver)).ok_or_else(closed)
    }

    fn take(&self) -> Option<Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn closed() -> PyErr {
    PyRuntimeError::new_err("the run has ended")
}

/// Reads several messages.
fn read<T>(messages: &[String], parse: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    messages.iter().map(|message| parse(message)).collect()
}

/// Checks that this process reaches the directory of the driver, or the store as `arguments` say.
#[pyfunction]
pub fn check_reachable(py: Python<'_>, arguments: Vec<OsString>, order: &str) -> PyResult<()> {
    let checked = py.detach(|| {
        sitemill::cli::embed::build_job(arguments)?;
        WorkOrder::from_json(order)?.check_reachable()
    });
    checked.map_err(|error| errors::exception(py, &error))
}

/// Checks the options of a task. Returns its memory, if it has a limit, and the bytes that it needs at least.
#[pyfunction]
pub fn check_task(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<(Option<u64>, u64)> {
    let checked = py.detach(|| cluster::Regions::check(&sitemill::cli::embed::build_job(arguments)?));
    checked.map_err(|error| errors::exception(py, &error))
}

/// Packs the rows of a partition. The stream has the columns `packed` and `block`: a row for each block, and at the end one with
/// the result.
#[pyfunction]
pub fn pack(
    py: Python<'_>,
    arguments: Vec<OsString>,
    order: String,
    rows: Bound<'_, PyAny>,
    candidates: usize,
) -> PyResult<Stream> {
    let stop = Stop::default();
    let (source, feed) = rows::source(&rows, &stop)?;
    let schema: SchemaRef = Arc::new(Schema::new(vec![
        Field::new("packed", DataType::Utf8, true),
        Field::new("block", DataType::Binary, true),
    ]));
    Stream::of_batches(py, schema.clone(), feed, stop, move |batches, stop| {
        let job = sitemill::cli::embed::build_job(arguments)?;
        let mut rows = PackedRows::default();
        let mut emit = |block: Vec<u8>| {
            rows.push(None, Some(&block));
            if rows.bytes < BATCH_BYTES { Ok(()) } else { send(&batches, &schema, rows.take()) }
        };
        let order = WorkOrder::from_json(&order)?;
        let packed = cluster::pack(&job, &order, source, candidates, &mut emit, stop)?;
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
    order: &str,
    files: Vec<FilePart>,
    candidates: usize,
) -> PyResult<String> {
    let counted = run::run(py, None, None, &Stop::default(), |_, stop| {
        let job = sitemill::cli::embed::build_job(arguments)?;
        let order = WorkOrder::from_json(order)?;
        cluster::count_row_groups(&job, &order, &row_groups(files)?, candidates, stop)
    })?;
    Ok(counted.to_json())
}

/// Sends the rows of the same partition to their regions: a stream with the columns `region` and `block`. The router holds at most
/// about `memory` bytes.
#[pyfunction]
pub fn send_files(
    py: Python<'_>,
    arguments: Vec<OsString>,
    order: String,
    plan: String,
    files: Vec<FilePart>,
    memory: usize,
) -> PyResult<Stream> {
    let schema: SchemaRef = Arc::new(Schema::new(vec![
        Field::new("region", DataType::UInt32, false),
        Field::new("block", DataType::Binary, false),
    ]));
    Stream::of_batches(py, schema.clone(), None, Stop::default(), move |batches, stop| {
        let job = sitemill::cli::embed::build_job(arguments)?;
        let (order, plan) = (WorkOrder::from_json(&order)?, RoutingPlan::from_json(&plan)?);
        let mut rows = RoutedRows::default();
        let mut send_on = |region: u32, block: Vec<u8>| {
            rows.push(region, &block);
            if rows.bytes < BATCH_BYTES { Ok(()) } else { send(&batches, &schema, rows.take()) }
        };
        cluster::send_row_groups(&job, &order, &plan, &row_groups(files)?, memory, &mut send_on, stop)?;
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

/// Bytes of the blocks of a batch: an engine does the same work for a batch of one block.
const BATCH_BYTES: usize = 1 << 20;

/// Blocks and their regions as columns.
#[derive(Default)]
struct RoutedRows {
    regions: UInt32Builder,
    blocks: BinaryBuilder,
    /// Bytes of the blocks.
    bytes: usize,
}

impl RoutedRows {
    fn push(&mut self, region: u32, block: &[u8]) {
        self.regions.append_value(region);
        self.blocks.append_value(block);
        self.bytes += block.len();
    }

    fn take(&mut self) -> Vec<ArrayRef> {
        self.bytes = 0;
        vec![Arc::new(self.regions.finish()), Arc::new(self.blocks.finish())]
    }
}

/// Blocks and results as columns.
#[derive(Default)]
struct PackedRows {
    packed: StringBuilder,
    blocks: BinaryBuilder,
    /// Bytes of the blocks.
    bytes: usize,
}

impl PackedRows {
    fn push(&mut self, packed: Option<&str>, block: Option<&[u8]>) {
        self.packed.append_option(packed);
        self.blocks.append_option(block);
        self.bytes += block.map_or(0, <[u8]>::len);
    }

    fn take(&mut self) -> Vec<ArrayRef> {
        self.bytes = 0;
        vec![Arc::new(self.packed.finish()), Arc::new(self.blocks.finish())]
    }
}

/// The rejected rows and dropped tags of a partition: a stream with the columns `row`, `reason`, `text` and `tag`.
#[pyfunction]
pub fn rejects(py: Python<'_>, arguments: Vec<OsString>, rows: Bound<'_, PyAny>) -> PyResult<Stream> {
    let stop = Stop::default();
    let (source, feed) = rows::source(&rows, &stop)?;
    let mut held = Rejects::default();
    Stream::of_batches(py, Rejects::schema(), feed, stop, move |batches, stop| {
        let job = sitemill::cli::embed::build_job(arguments)?;
        let mut emit = |row: cluster::RejectedRow<'_>| {
            held.push(row);
            if held.rows == Rejects::ROWS { send(&batches, &Rejects::schema(), held.take()) } else { Ok(()) }
        };
        cluster::rejects(&job, source, &mut emit, stop)?;
        send(&batches, &Rejects::schema(), held.take())?;
        Ok(String::new())
    })
}

/// Rejected rows as columns.
#[derive(Default)]
struct Rejects {
    numbers: UInt64Builder,
    reasons: StringBuilder,
    texts: BinaryBuilder,
    tags: BinaryBuilder,
    rows: usize,
}

impl Rejects {
    /// Rows of a batch.
    const ROWS: usize = 4096;

    fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("row", DataType::UInt64, false),
            Field::new("reason", DataType::Utf8, false),
            Field::new("text", DataType::Binary, false),
            Field::new("tag", DataType::Binary, true),
        ]))
    }

    fn push(&mut self, row: cluster::RejectedRow<'_>) {
        self.numbers.append_value(row.row);
        self.reasons.append_value(row.reason);
        self.texts.append_value(row.text);
        self.tags.append_option(row.tag);
        self.rows += 1;
    }

    fn take(&mut self) -> Vec<ArrayRef> {
        self.rows = 0;
        vec![
            Arc::new(self.numbers.finish()),
            Arc::new(self.reasons.finish()),
            Arc::new(self.texts.finish()),
            Arc::new(self.tags.finish()),
        ]
    }
}

fn send(batches: &Sender<Batch>, schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<()> {
    let batch = RecordBatch::try_new(schema.clone(), columns);
    let batch = batch.map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
    batches.send(Ok(batch)).map_err(|_| Error::new(ErrorKind::Io, "the engine has stopped reading"))
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
        let router = RoutingPlan::from_json(plan).and_then(|plan| cluster::Router::new(&plan, memory));
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
        order: &str,
        plan: &str,
        scratch: PathBuf,
    ) -> PyResult<Self> {
        let open = || {
            let job = sitemill::cli::embed::build_job(arguments)?;
            let (order, plan) = (WorkOrder::from_json(order)?, RoutingPlan::from_json(plan)?);
            cluster::Regions::new(&job, &order, &plan, &scratch)
        };
        let regions = py.detach(open).map_err(|error| errors::exception(py, &error))?;
        Ok(Self(Mutex::new(Some(regions))))
    }

    /// Takes a block of a region.
    fn push(&self, py: Python<'_>, region: u32, block: &[u8]) -> PyResult<()> {
        let mut regions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let regions = regions.as_mut().ok_or_else(closed)?;
        py.detach(|| regions.push(region, block)).map_err(|error| errors::exception(py, &error))
    }

    /// Makes the sitemaps, and returns the results of all regions.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let regions = self.0.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(closed)?;
        let batches = run::run(py, None, None, &Stop::default(), |_, stop| regions.finish(stop))?;
        Ok(batches.iter().map(RegionBatch::to_json).collect())
    }
}
