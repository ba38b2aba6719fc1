//! Ctrl-C while a library reads a stream. The library is not Python code: it cannot raise `KeyboardInterrupt`, and raises its own
//! exception instead.

use pyo3::exceptions::{PyKeyboardInterrupt, PySystemExit};
use pyo3::prelude::*;
use sitemill::ErrorKind;

use crate::errors::SIGINT;

/// Makes the interpreter raise `KeyboardInterrupt` as soon as the library returns. If other Python code runs before that, it is
/// raised there and lost, so nothing may run until then.
///
/// # Errors
/// If that cannot be done.
pub fn interrupt_reader(py: Python<'_>) -> PyResult<()> {
    let sys = py.import("sys")?;
    let previous = sys.getattr("excepthook")?;
    if !previous.is_instance_of::<Hook>() {
        sys.setattr("excepthook", Bound::new(py, Hook { previous: previous.unbind() })?)?;
    }
    py.import("_thread")?.call_method0("interrupt_main").map(drop)
}

/// Shows the exception that ends the program. If no code of Python has run since the library returned, `KeyboardInterrupt` is still
/// to be raised, and would be raised where the exception of the library is printed, which would print neither.
#[pyclass]
struct Hook {
    /// What shows exceptions otherwise.
    previous: Py<PyAny>,
}

#[pymethods]
impl Hook {
    fn __call__(
        &self,
        py: Python<'_>,
        kind: Py<PyAny>,
        value: Py<PyAny>,
        traceback: Py<PyAny>,
    ) -> PyResult<Py<PyAny>> {
        match py.check_signals() {
            Ok(()) => self.previous.call1(py, (kind, value, traceback)),
            Err(raised) => {
                raised.value(py).setattr("__context__", value)?;
                self.previous.call1(py, (raised.get_type(py), raised.value(py), raised.traceback(py)))?;
                // The exception of the library would end the program as any other failure does. An interactive session goes on,
                // also one that begins after the script (`python -i`).
                let sys = py.import("sys")?;
                let is_session =
                    sys.hasattr("ps1")? || sys.getattr("flags")?.getattr("inspect")?.is_truthy()?;
                match raised.is_instance_of::<PyKeyboardInterrupt>(py) && !is_session {
                    true => Err(PySystemExit::new_err(ErrorKind::Signal(SIGINT).exit_code())),
                    false => Ok(py.None()),
                }
            }
        }
    }
}
