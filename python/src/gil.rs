//! The GIL, for code that other libraries call.
#![allow(unsafe_code, reason = "pyo3 has no function for this")]

use pyo3::{Python, ffi};

/// Runs `work` attached to the interpreter, which must not be ending for this thread: see [`crate::ending::is_ending`].
///
/// Unlike `Python::attach`, it works in any function that a library calls through Arrow's C interface: see [`hold`].
pub fn attach<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    hold(|| Python::attach(work))
}

/// Runs `work` with the GIL, under the same condition.
///
/// pyo3 takes a thread for attached while an iterator or a callback of the caller runs. If that calls a library which releases the
/// GIL and then calls this module, `Python::attach` would not take the GIL, and a Python object would be dropped without it.
pub fn hold<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: the interpreter is initialized, because it has loaded this module. Any thread may call this, with the GIL or without.
    let _held = Held(unsafe { ffi::PyGILState_Ensure() });
    work()
}

struct Held(ffi::PyGILState_STATE);

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: the state is from the call in `hold`, in the same thread. Calls within `work` have released theirs.
        unsafe { ffi::PyGILState_Release(self.0) }
    }
}
