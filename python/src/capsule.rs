//! Arrow streams in Python capsules, by the PyCapsule interface of Arrow.
#![allow(unsafe_code, reason = "a capsule holds a raw pointer")]

use std::ffi::CStr;

use arrow_array::RecordBatchReader;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_schema::Schema;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use sitemill::{Error, ErrorKind};

use crate::errors;
use crate::frame::Frame;

/// The names that the interface prescribes.
const NAME: &CStr = c"arrow_array_stream";
const NAME_OF_SCHEMA: &CStr = c"arrow_schema";

/// Takes the stream out of `object`, which has `__arrow_c_stream__`.
pub fn take(object: &Bound<'_, PyAny>) -> PyResult<Frame> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule
        .cast_into::<PyCapsule>()
        .map_err(|_| PyTypeError::new_err("__arrow_c_stream__ did not return a capsule"))?;
    let pointer = capsule.pointer_checked(Some(NAME))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a valid stream (Arrow PyCapsule interface), and the capsule lives until the end of
    // this function. `from_raw` moves the stream out and leaves a released one, so nobody else can read or release it. The
    // interpreter is attached, so no other thread takes it at the same time.
    let reader = unsafe { ArrayStreamReader::from_raw(pointer.as_ptr()) };
    reader.and_then(Frame::new).map_err(|error| {
        let why = format!(
            "rows: the Arrow stream cannot be read: {error}; give a table with the names of its columns"
        );
        errors::exception(object.py(), &Error::new(ErrorKind::Data, why))
    })
}

/// Puts `reader` into a capsule.
pub fn put<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), NAME)
}

/// Puts `schema` into a capsule.
pub fn put_schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema =
        FFI_ArrowSchema::try_from(schema).map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, schema, NAME_OF_SCHEMA)
}
