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
    alternates: ListBuilder<StructBuilder>,
    images: ListBuilder<StringBuilder>,
    /// Videos and news as JSON.
    json: [StringBuilder; JSON_NAMES.len()],
}

const JSON_NAMES: [&str; 2] = ["videos", "news"];

impl Table {
    /// An empty table with columns of these `names`.
    pub fn new(names: &[&'static str]) -> Self {
        let texts = names.iter().map(|_| StringBuilder::new()).collect();
        Self { names: names.to_vec(), texts, extensions: None }
    }

    /// The same table, with columns for values of extensions.
    pub fn with_extensions(self) -> Self {
        let alternate = StructBuilder::from_fields(alternate_fields(), 0);
        Self {
            extensions: Some(Extensions {
                alternates: ListBuilder::new(alternate),
                images: ListBuilder::new(StringBuilder::new()),
                json: Default::default(),
            }),
            ..self
        }
    }

    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        let mut fields: Vec<_> =
            self.names.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect();
        if self.extensions.is_some() {
            fields.push(Field::new_list(
                "alternates",
                Field::new_list_field(DataType::Struct(alternate_fields()), true),
                true,
            ));
            fields.push(Field::new_list("images", Field::new_list_field(DataType::Utf8, true), true));
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
        if let Some(Extensions { alternates, images, json }) = &mut self.extensions {
            let links = object["alternates"].as_array();
            for link in links.into_iter().flatten() {
                let value = alternates.values();
                for (at, name) in ["hreflang", "href"].into_iter().enumerate() {
                    let text = value.field_builder::<StringBuilder>(at).expect("its fields are strings");
                    text.append_option(link[name].as_str());
                }
                value.append(true);
            }
            alternates.append(links.is_some());
            let locs = object["images"].as_array();
            for image in locs.into_iter().flatten() {
                images.values().append_option(image.as_str().or(image["loc"].as_str()));
            }
            images.append(locs.is_some());
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
        if let Some(Extensions { alternates, images, json }) = &mut self.extensions {
            columns.extend([ArrayBuilder::finish(alternates), ArrayBuilder::finish(images)]);
            columns.extend(json.iter_mut().map(|text| ArrayBuilder::finish(text)));
        }
        RecordBatch::try_new(self.schema(), columns)
    }
}

/// The fields of a link to the page in another language.
fn alternate_fields() -> Fields {
    Fields::from(vec![Field::new("hreflang", DataType::Utf8, true), Field::new("href", DataType::Utf8, true)])
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
