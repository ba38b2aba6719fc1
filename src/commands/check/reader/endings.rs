//! The end of a document, and why the rest of it cannot be read.

use std::io;

use quick_xml::encoding::EncodingError;
use quick_xml::errors::Error as XmlError;

use super::{At, Broken, Reader, place};
use crate::commands::check::content::Failure;
use crate::commands::check::rules::Rule;
use crate::escape::shown;

impl Reader<'_> {
    /// Handles the end of the bytes.
    pub(super) fn end(&mut self) {
        match self.at {
            At::Epilog => self.is_whole = true,
            At::Prolog => self.findings.push(None, Rule::WellFormed, || "no element".into()),
            _ => self.findings.push(None, Rule::WellFormed, || "ends before its root element".into()),
        }
    }

    /// Reports an error of the parser in what begins at byte `begin`.
    pub(super) fn refuse(&mut self, error: &XmlError, begin: u64) {
        let byte = self.events.error_position();
        match error {
            XmlError::Encoding(EncodingError::Utf8(error)) => {
                // The parser counts from the beginning of the text or behind the < of a tag.
                let byte = begin + error.valid_up_to() as u64;
                self.findings
                    .push(place(self.entries), Rule::Encoding, || format!("not UTF-8, near byte {byte}"));
            }
            _ => self.findings.push(place(self.entries), Rule::WellFormed, || {
                format!("{}, at byte {byte}", shown(error.to_string().as_bytes()))
            }),
        }
    }

    /// Reports that the document is truncated.
    pub(super) fn fail(&mut self, failure: Failure) -> io::Result<()> {
        let (rule, words) = match failure {
            Failure::Io(error) => return Err(error),
            Failure::Gzip(words) => (Rule::Gzip, words),
            Failure::TooLarge(limit) => {
                (Rule::TooLarge, format!("more than {limit} bytes; the rest was not read"))
            }
            Failure::TooLargeCompressed(limit) => {
                (Rule::TooLarge, format!("more than {limit} compressed bytes; the rest was not read"))
            }
        };
        self.findings.push(None, rule, || words);
        Ok(())
    }

    /// Reports that the document is not well-formed.
    pub(super) fn broken<T>(&mut self, words: &str) -> Result<T, Broken> {
        let byte = self.events.buffer_position();
        self.findings.push(place(self.entries), Rule::WellFormed, || format!("{words}, before byte {byte}"));
        Err(Broken)
    }
}
