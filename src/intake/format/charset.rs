//! Charsets: turns text in any encoding into UTF-8.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Marks bytes that do not exist in the charset. UTF-8 never contains it, so it is unambiguous in transcoded text.
pub const MALFORMED: u8 = 0xFF;

const BUFFER_BYTES: usize = 64 * 1024;

/// The charset that the start of a text declares, by a byte order mark of UTF-16, an XML declaration, or XML in UTF-16 without
/// either: XML 1.0, appendix F. `None` for UTF-8.
pub fn declared(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [0xFF, 0xFE, ..] => return Some(UTF_16LE),
        [0xFE, 0xFF, ..] => return Some(UTF_16BE),
        [b'<', 0, ascii, 0, ..] if *ascii > 0 => return Some(UTF_16LE),
        [0, b'<', 0, ascii, ..] if *ascii > 0 => return Some(UTF_16BE),
        _ => {}
    }
    let after = head.strip_prefix(b"<?xml")?;
    named(&after[..memchr::memchr(b'>', after)?])
}

/// The label of the UTF-16 in which a text begins, if it has no byte order mark: every other byte of ASCII is 0.
pub fn unmarked_utf_16(head: &[u8]) -> Option<&'static str> {
    match head {
        [1..=0x7F, 0, 1..=0x7F, 0, ..] => Some("utf-16le"),
        [0, 1..=0x7F, 0, 1..=0x7F, ..] => Some("utf-16be"),
        _ => None,
    }
}

/// Whether a document with this XML `declaration` may follow in a text read as `encoding`; `None` is UTF-8.
pub fn agrees(encoding: Option<&'static Encoding>, declaration: &[u8]) -> bool {
    // A declaration that was readable in UTF-16 is in UTF-16.
    matches!(encoding, Some(encoding) if [UTF_16LE, UTF_16BE].contains(&encoding))
        || named(declaration) == encoding
}

/// The charset that an XML `declaration` names. `None` for UTF-8.
fn named(declaration: &[u8]) -> Option<&'static Encoding> {
    let label = &declaration[memchr::memmem::find(declaration, b"encoding")? + b"encoding".len()..];
    let quote = label.iter().position(|byte| matches!(byte, b'"' | b'\''))?;
    let label = &label[quote + 1..];
    let label = &label[..label.iter().position(|byte| matches!(byte, b'"' | b'\''))?];
    // The declaration was readable as bytes, so the text is not UTF-16 (HTML, "change the encoding", has this rule too).
    Encoding::for_label(label).filter(|&encoding| ![UTF_8, UTF_16LE, UTF_16BE].contains(&encoding))
}

/// A stream in UTF-8 without a byte order mark. A mark at its start decides the charset (Encoding Standard, "decode").
/// [`MALFORMED`] replaces bytes that cannot be decoded.
pub struct Transcoded<R> {
    stream: R,
    decoder: Decoder,
    raw: Box<[u8]>,
    /// The part of `raw` that is not decoded yet.
    raw_at: usize,
    raw_end: usize,
    is_last: bool,
    utf8: Box<[u8]>,
    /// The part of `utf8` that is not read yet.
    utf8_at: usize,
    utf8_end: usize,
    is_done: bool,
}

impl<R: Read> Transcoded<R> {
    pub fn new(stream: R, encoding: &'static Encoding) -> Self {
        Self {
            stream,
            decoder: encoding.new_decoder(),
            raw: vec![0; BUFFER_BYTES].into(),
            raw_at: 0,
            raw_end: 0,
            is_last: false,
            utf8: vec![0; BUFFER_BYTES].into(),
            utf8_at: 0,
            utf8_end: 0,
            is_done: false,
        }
    }

    /// Decodes the next bytes into `utf8`, once all of it has been read.
    fn decode(&mut self) -> io::Result<()> {
        if self.raw_at == self.raw_end && !self.is_last {
            let bytes = self.stream.read(&mut self.raw)?;
            (self.raw_at, self.raw_end, self.is_last) = (0, bytes, bytes == 0);
        }
        // One byte is left free for the mark.
        let room = self.utf8.len() - 1;
        let raw = &self.raw[self.raw_at..self.raw_end];
        let (result, read, written) =
            self.decoder.decode_to_utf8_without_replacement(raw, &mut self.utf8[..room], self.is_last);
        self.raw_at += read;
        (self.utf8_at, self.utf8_end) = (0, written);
        match result {
            DecoderResult::InputEmpty => self.is_done = self.is_last,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => {
                self.utf8[written] = MALFORMED;
                self.utf8_end += 1;
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Transcoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.utf8_at == self.utf8_end {
            if self.is_done {
                return Ok(0);
            }
            self.decode()?;
        }
        let bytes = out.len().min(self.utf8_end - self.utf8_at);
        out[..bytes].copy_from_slice(&self.utf8[self.utf8_at..][..bytes]);
        self.utf8_at += bytes;
        Ok(bytes)
    }
}
