//! What workers send to the engine, as columns of record batches.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crossbeam_channel::Sender;
use sitemill::{Error, ErrorKind, Result, cluster};

use crate::table::BatchResult;

/// Blocks are batched up to this many bytes, because the engine's cost per batch hardly depends on its size.
pub const BATCH_BYTES: usize = 1 << 20;

/// Blocks and their regions as columns.
#[derive(Default)]
pub struct RoutedRows {
    regions: UInt32Builder,
    blocks: BinaryBuilder,
    /// Bytes of the blocks.
    pub bytes: usize,
}

impl RoutedRows {
    pub fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("region", DataType::UInt32, false),
            Field::new("block", DataType::Binary, false),
        ]))
    }

    pub fn push(&mut self, region: u32, block: &[u8]) {
        self.regions.append_value(region);
        self.blocks.append_value(block);
        self.bytes += block.len();
    }

    pub fn take(&mut self) -> Vec<ArrayRef> {
        self.bytes = 0;
        vec![Arc::new(self.regions.finish()), Arc::new(self.blocks.finish())]
    }
}

/// Blocks and results as columns.
#[derive(Default)]
pub struct PackedRows {
    packed: StringBuilder,
    blocks: BinaryBuilder,
    /// Bytes of the blocks.
    pub bytes: usize,
}

impl PackedRows {
    pub fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("packed", DataType::Utf8, true),
            Field::new("block", DataType::Binary, true),
        ]))
    }

    pub fn push(&mut self, packed: Option<&str>, block: Option<&[u8]>) {
        self.packed.append_option(packed);
        self.blocks.append_option(block);
        self.bytes += block.map_or(0, <[u8]>::len);
    }

    pub fn take(&mut self) -> Vec<ArrayRef> {
        self.bytes = 0;
        vec![Arc::new(self.packed.finish()), Arc::new(self.blocks.finish())]
    }
}

/// Rejected rows as columns.
#[derive(Default)]
pub struct Rejects {
    numbers: UInt64Builder,
    reasons: StringBuilder,
    texts: BinaryBuilder,
    tags: BinaryBuilder,
    /// The number of rows.
    pub rows: usize,
}

impl Rejects {
    /// Rows of a batch.
    pub const ROWS: usize = 4096;

    pub fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("row", DataType::UInt64, false),
            Field::new("reason", DataType::Utf8, false),
            Field::new("text", DataType::Binary, false),
            Field::new("tag", DataType::Binary, true),
        ]))
    }

    pub fn push(&mut self, row: cluster::RejectedRow<'_>) {
        self.numbers.append_value(row.row);
        self.reasons.append_value(row.reason);
        self.texts.append_value(row.text);
        self.tags.append_option(row.tag);
        self.rows += 1;
    }

    pub fn take(&mut self) -> Vec<ArrayRef> {
        self.rows = 0;
        vec![
            Arc::new(self.numbers.finish()),
            Arc::new(self.reasons.finish()),
            Arc::new(self.texts.finish()),
            Arc::new(self.tags.finish()),
        ]
    }
}

/// Sends a batch with these columns.
///
/// # Errors
/// If the engine no longer reads.
pub fn send(batches: &Sender<BatchResult>, schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<()> {
    let batch = RecordBatch::try_new(schema.clone(), columns);
    let batch = batch.map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
    batches.send(Ok(batch)).map_err(|_| Error::new(ErrorKind::Io, "the engine has stopped reading"))
}
