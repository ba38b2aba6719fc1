//! Plain text: a URL on each line, in UTF-8, and nothing else.

use std::io::{self, BufRead};

use super::{At, FileKind, Reader, place};
use crate::commands::check::entry::Entry;
use crate::commands::check::rules::Rule;
use crate::commands::check::tag::Tag;
use crate::escape::shown;
use crate::limits::Protocol;

/// Bytes of a line that are kept: more than a value may have, so that a truncated line is still too long.
const LINE_BYTES_KEPT: usize = 8192;

const BOM: &[u8] = b"\xEF\xBB\xBF";

impl Reader<'_> {
    /// Returns whether the first line that is not blank begins as a URL does.
    ///
    /// # Errors
    /// If the disk fails.
    pub(super) fn begins_with_url(&mut self) -> io::Result<bool> {
        let head = self.events.get_mut().fill_buf()?;
        let head = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
        let begins =
            |scheme: &[u8]| head.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        Ok(begins(b"http://") || begins(b"https://"))
    }

    /// Reads the next line. Blank lines are no entries.
    ///
    /// # Errors
    /// If the disk fails.
    pub(super) fn next_line(&mut self, entry: &mut Entry) -> io::Result<bool> {
        let mut line = std::mem::take(&mut self.buffer);
        let is_line = loop {
            if !self.read_line(&mut line)? {
                break false;
            }
            let url = if self.is_first_event { line.strip_prefix(BOM).unwrap_or(&line) } else { &line };
            self.is_first_event = false;
            let url = url.trim_ascii();
            if url.is_empty() {
                continue;
            }
            self.entries += 1;
            if let Err(error) = str::from_utf8(url)
                && (error.error_len().is_some() || line.len() < LINE_BYTES_KEPT)
            {
                self.findings
                    .push(place(self.entries), Rule::Encoding, || format!("not UTF-8: {}", shown(url)));
                break false;
            }
            entry.begin(self.entries);
            entry.open_value();
            entry.push(url);
            entry.close_tag(Tag::Loc);
            self.check_count(FileKind::Sitemap, Protocol::V0_9);
            break true;
        };
        self.buffer = line;
        Ok(is_line)
    }

    /// Reads a line without its end, and keeps its first bytes in `line`. Returns false at the end of the text.
    fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        let mut has_line = false;
        loop {
            let content = self.events.get_mut();
            let piece = content.fill_buf()?;
            if piece.is_empty() {
                match content.take_failure() {
                    Some(failure) => {
                        self.fail(failure)?;
                        return Ok(false);
                    }
                    None => {
                        self.is_whole = true;
                        self.at = At::Epilog;
                        return Ok(has_line);
                    }
                }
            }
            has_line = true;
            let end = memchr::memchr2(b'\n', b'\r', piece);
            let room = LINE_BYTES_KEPT - line.len();
            let text = &piece[..end.unwrap_or(piece.len())];
            line.extend_from_slice(&text[..text.len().min(room)]);
            let bytes = end.map_or(piece.len(), |end| end + 1);
            content.consume(bytes);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}
