//! The extension module of the Python package `sitemill`. The Python modules, in `sitemill/`, have the public functions, their
//! documentation and the types of results; this module runs the commands and moves rows.
//!
//! ```text
//!  commands   the functions that Python calls
//!  run        runs a command on a thread, watches for signals and tells progress
//!  rows       rows from Python: Arrow streams and iterators
//!  ahead      reads Arrow streams on threads
//!  stream     results as Arrow streams
//!  table      the lines that a command writes, as record batches
//!  unread     streams that can be given again unless they were read
//!  cluster    the steps of a build on a cluster
//!  ending     waits for threads before the interpreter ends
//!  frame      the batches of an Arrow stream
//!  capsule    the C data interface (unsafe code)
//!  gil        the GIL in code that other libraries call (unsafe code)
//!  errors     errors as exceptions
//! ```

mod ahead;
mod capsule;
mod cluster;
mod commands;
mod ending;
mod errors;
mod frame;
mod gil;
mod interrupted;
mod rows;
mod run;
mod stream;
mod table;
mod unread;

use pyo3::prelude::*;

#[pymodule]
mod _sitemill {
    use sitemill::Phase;

    use super::{Bound, PyAnyMethods, PyModule, PyModuleMethods, PyResult};

    #[pymodule_export]
    use super::cluster::{
        Driver, Regions, Router, check_reachable, check_task, count_files, pack, rejects, send_files,
    };
    #[pymodule_export]
    use super::commands::{build, check, clean, diff, main, report_html, rollback, status, urls};
    #[pymodule_export]
    use super::ending::wait_for_threads;
    #[pymodule_export]
    use super::stream::Stream;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("PHASES", Phase::ALL.iter().map(|phase| phase.as_str()).collect::<Vec<_>>())?;
        let at_exit = module.py().import("atexit")?;
        at_exit.call_method1("register", (module.getattr("wait_for_threads")?,)).map(drop)
    }
}
