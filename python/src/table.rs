//! The lines that a command writes, as record batches.

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use crossbeam_channel::Sender;
use serde_json::Value;
use sitemill::{Error, Result};

/// The messages that the thread of a command sends.
pub type BatchResult = std::result::Result<RecordBatch, Error>;

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;

/// A table of strings, from lines that are JSON objects or a single string, with optional columns for values of extensions.
pub struct Table {
    names: Vec<&'static str>,
    texts: Vec<StringBuilder>,
    extensions: Option<Extensions>,
}

/// Values of extensions.
struct Extensions {
    lists: [ListBuilder<StructBuilder>; LISTS.len()],
    json: [StringBuilder; JSON_NAMES.len()],
}

/// The columns that are lists of structs, with the fields of these, in the order of the protocol.
const LISTS: [(&str, &[&str]); 2] = [
    ("alternates", &["hreflang", "href"]),
    ("images", &["loc", "caption", "geo_location", "title", "license"]),
];

/// The columns that are JSON, because their structs would have lists and structs as fields.
const JSON_NAMES: [&str; 2] = ["videos", "news"];

impl Table {
    /// An empty table with columns of these `names`.
    pub fn new(names: &[&'static str]) -> Self {
        let texts = names.iter().map(|_| StringBuilder::new()).collect();
        Self { names: names.to_vec(), texts, extensions: None }
    }

    /// The same table, with columns for values of extensions.
    pub fn with_extensions(self) -> Self {
        let list = |(_, names): (_, &[&str])| ListBuilder::new(StructBuilder::from_fields(fields(names), 0));
        Self { extensions: Some(Extensions { lists: LISTS.map(list), json: Default::default() }), ..self }
    }

    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        let mut fields: Vec<_> =
            self.names.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect();
        if self.extensions.is_some() {
            fields.extend(LISTS.map(|(name, names)| {
                Field::new_list(
                    name,
                    Field::new_list_field(DataType::Struct(self::fields(names)), true),
                    true,
                )
            }));
            fields.extend(JSON_NAMES.map(|name| Field::new(name, DataType::Utf8, true)));
        }
        Arc::new(Schema::new(fields))
    }

    /// Adds a row.
    fn push(&mut self, line: &[u8]) -> io::Result<()> {
        if let [only] = &mut self.texts[..] {
            only.append_value(String::from_utf8_lossy(line));
            return Ok(());
        }
        let object: Value = serde_json::from_slice(line)?;
        for (name, text) in self.names.iter().zip(&mut self.texts) {
            text.append_option(object[*name].as_str());
        }
        if let Some(Extensions { lists, json }) = &mut self.extensions {
            for ((name, fields), list) in LISTS.into_iter().zip(lists) {
                let values = object[name].as_array();
                values.into_iter().flatten().for_each(|value| push_struct(value, fields, list.values()));
                list.append(values.is_some());
            }
            for (name, text) in JSON_NAMES.into_iter().zip(json) {
                text.append_option(object.get(name).filter(|value| !value.is_null()).map(Value::to_string));
            }
        }
        Ok(())
    }

    /// Returns the rows since the last call.
    fn take(&mut self) -> std::result::Result<RecordBatch, ArrowError> {
        let mut columns: Vec<ArrayRef> =
            self.texts.iter_mut().map(|text| ArrayBuilder::finish(text)).collect();
        if let Some(Extensions { lists, json }) = &mut self.extensions {
            columns.extend(lists.iter_mut().map(|list| ArrayBuilder::finish(list)));
            columns.extend(json.iter_mut().map(|text| ArrayBuilder::finish(text)));
        }
        RecordBatch::try_new(self.schema(), columns)
    }
}

/// The fields with these `names` of a struct of strings.
fn fields(names: &[&str]) -> Fields {
    names.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect()
}

/// Adds the struct with these `fields`. A text is that of the first one, as an image without details is only its URL.
fn push_struct(value: &Value, fields: &[&str], to: &mut StructBuilder) {
    for (at, name) in fields.iter().enumerate() {
        let text = value.as_str().filter(|_| at == 0).or(value[*name].as_str());
        to.field_builder::<StringBuilder>(at).expect("its fields are strings").append_option(text);
    }
    to.append(true);
}

/// Takes lines and sends batches.
pub struct Lines {
    table: Table,
    rows: usize,
    /// The start of an incomplete line.
    rest: Vec<u8>,
    batches: Sender<BatchResult>,
}

impl Lines {
    /// Collects lines in `table`, which must be empty, and sends them as batches.
    pub fn new(table: Table, batches: Sender<BatchResult>) -> Self {
        Self { table, rows: 0, rest: Vec::new(), batches }
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.table.push(line)?;
        self.rows += 1;
        if self.rows == BATCH_ROWS { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> io::Result<()> {
        self.rows = 0;
        let batch = self.table.take().map_err(io::Error::other)?;
        self.batches.send(Ok(batch)).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))
    }

    /// Sends the last batch, which may be empty.
    pub fn end(&mut self) -> Result<()> {
        self.send().or_else(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Ok(()),
            _ => Err(Error::io("rows".as_ref(), "could not be read", error)),
        })
    }
}

impl Write for Lines {
    fn write(&mut self, mut bytes: &[u8]) -> io::Result<usize> {
        let written = bytes.len();
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            let line = &bytes[..end];
            if self.rest.is_empty() {
                self.line(line)?;
            } else {
                self.rest.extend_from_slice(line);
                let whole = mem::take(&mut self.rest);
                self.line(&whole)?;
            }
            bytes = &bytes[end + 1..];
        }
        self.rest.extend_from_slice(bytes);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
