//! Parquet: the names of its columns are in an index at the end of the file.

#[cfg(feature = "parquet")]
mod column;
#[cfg(feature = "parquet")]
mod column_type;
#[cfg(feature = "parquet")]
mod delta;
#[cfg(feature = "parquet")]
mod groups;
#[cfg(feature = "parquet")]
mod header;
#[cfg(feature = "parquet")]
mod nested;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod shared;
#[cfg(all(test, feature = "parquet"))]
mod tests;

use std::path::Path;
use std::sync::Arc;

use super::reader::RowReader;
#[cfg(feature = "parquet")]
use super::reader::Units;
use super::spec::{Head, Hints, Open, OpenAtOffsets, Spec};
use crate::error::Result;
use crate::intake::read_at::ReadAt;

pub const PARQUET: Spec = Spec {
    name: "parquet",
    title: "Parquet",
    extensions: &["parquet"],
    head: Head::Other,
    delimiter: |_| false,
    has_columns: true,
    column_word: "column",
    open: Open::AtOffsets(OpenAtOffsets { magic: b"PAR1", why_no_stream: "its index is at the end", open }),
};

#[cfg(feature = "parquet")]
fn open<'n>(name: &'n Path, file: Arc<dyn ReadAt>, hints: Hints<'n>) -> Result<RowReader<'n>> {
    let groups = groups::Groups::open(name, file, hints)?;
    let columns = Some(groups.columns().clone());
    let all = groups.all();
    let units = super::reader::large_units(false, all, move |group, rows| groups.read(group, rows));
    Ok(RowReader { units, columns })
}

/// See [`row_groups`](super::row_groups).
#[cfg(feature = "parquet")]
pub fn row_groups<'n>(
    name: &'n Path,
    file: Arc<dyn ReadAt>,
    hints: Hints<'n>,
    numbers: &[usize],
    has_others: bool,
) -> Result<(Units<'n>, u64)> {
    let groups = groups::Groups::open(name, file, hints)?.with_named_columns(hints.columns, has_others);
    let wanted = groups.some(numbers)?;
    let bytes = groups.bytes(&wanted);
    Ok((super::reader::large_units(false, wanted, move |group, rows| groups.read(group, rows)), bytes))
}

/// Refuses the file: this build cannot read Parquet.
#[cfg(not(feature = "parquet"))]
fn open<'n>(name: &'n Path, _: Arc<dyn ReadAt>, _: Hints<'n>) -> Result<RowReader<'n>> {
    use crate::error::{Error, message};
    let way = "this sitemill was built without the feature parquet; export to CSV";
    Err(Error::data(message!(name, ": is Parquet, and {way}")))
}
