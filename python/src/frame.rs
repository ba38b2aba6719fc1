//! The rows of a data frame: record batches from an Arrow stream.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::ArrayStreamReader;
use arrow_array::{Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

/// The batches of an Arrow stream. Every column may have nulls, whatever the stream declares: PyArrow makes tables with nulls in
/// columns that it declares to have none, and a null is a missing value.
#[derive(Debug)]
pub struct Frame {
    structs: ArrayStreamReader,
    schema: SchemaRef,
}

impl Frame {
    /// Creates a frame from a stream of structs.
    ///
    /// # Errors
    /// If the arrays of the stream are no structs, so that its columns have no names.
    pub fn new(structs: ArrayStreamReader) -> Result<Self, ArrowError> {
        let field = structs.field();
        let DataType::Struct(fields) = field.data_type() else {
            return Err(ArrowError::SchemaError(format!("it has values of type {}", field.data_type())));
        };
        let nullable: Vec<Field> =
            fields.iter().map(|field| Field::clone(field).with_nullable(true)).collect();
        let schema = Arc::new(Schema::new_with_metadata(nullable, field.metadata().clone()));
        Ok(Self { structs, schema })
    }

    fn batch(&self, array: &ArrayRef) -> Result<RecordBatch, ArrowError> {
        let rows = RecordBatchOptions::new().with_row_count(Some(array.len()));
        RecordBatch::try_new_with_options(self.schema.clone(), array.as_struct().columns().to_vec(), &rows)
    }
}

impl Iterator for Frame {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let array = self.structs.next()?;
        Some(array.and_then(|array| self.batch(&array)))
    }
}

impl RecordBatchReader for Frame {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
