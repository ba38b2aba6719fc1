//! The reject file: every rejected line with its position, tab-separated.

use std::path::Path;

use crate::escape;
use crate::limits::LINE_BYTES_MAX;

/// The first line of the file.
pub const HEADER: &str = "input\tline\toffset\treason\ttext\n";

/// Bytes that are written of a line that exceeds the maximum length. Other lines are written in full.
const TEXT_BYTES_MAX: usize = 2_048;

/// Appends the row of a refused line; `line` counts from 1.
pub fn push_row(input: &Path, line: u64, offset: u64, reason: &str, raw: &[u8], out: &mut Vec<u8>) {
    escape::escape(input.as_os_str().as_encoded_bytes(), out);
    out.extend(format!("\t{line}\t{offset}\t{reason}\t").as_bytes());
    match raw.len() {
        0..=LINE_BYTES_MAX => escape::escape(raw, out),
        _ => out.extend(escape::cut(raw, TEXT_BYTES_MAX).as_bytes()),
    }
    out.push(b'\n');
}
