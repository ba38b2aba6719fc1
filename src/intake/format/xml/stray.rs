//! Stray text: in no value of an entry, or between entries.

use quick_xml::events::{BytesRef, Event};

use super::value;
use crate::clean::Reason;
use crate::error::{Error, Result, Setting, message};
use crate::intake::format::row::CountingSink;
use crate::intake::format::unpack::About;
use crate::intake::lines::BYTE_ORDER_MARK;

/// The name under which the stray text of an entry is counted.
pub const NAME: &str = "#text";

/// The stray text of an entry.
#[derive(Debug, Default)]
pub struct StrayText(Vec<u8>);

impl StrayText {
    /// Takes text. White space before anything else is no stray text, nor is the byte order mark of a joined file.
    #[inline]
    pub fn push(&mut self, part: &str) {
        // Nearly all text between elements is white space.
        if !self.is_empty() || !part.trim_ascii_start().is_empty() {
            self.push_more(part);
        }
    }

    #[cold]
    fn push_more(&mut self, part: &str) {
        let part = if self.is_empty() { without_blanks(part) } else { part };
        value::push_text(part, &mut self.0);
    }

    /// Takes a reference such as `&amp;`. One that stands for nothing stays as it is.
    pub fn push_reference(&mut self, name: &BytesRef<'_>) {
        if !value::resolve(name, |text| self.push(text)) {
            self.push(&format!("&{};", &**name));
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text, without white space around it.
    pub fn text(&self) -> &[u8] {
        self.0.trim_ascii_end()
    }

    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The stray text between two tags that is in no entry.
#[derive(Debug, Default)]
pub struct Between {
    text: StrayText,
    offset: u64,
}

impl Between {
    /// Takes `event`, which is at `offset` and in `depth` elements, if it is text or a reference.
    ///
    /// # Errors
    /// If it is outside the root element. All rows of another format may be there.
    pub fn take(&mut self, about: &About<'_>, depth: usize, offset: u64, event: &Event<'_>) -> Result<()> {
        if self.text.is_empty() {
            let blank_bytes =
                if let Event::Text(part) = event { part.len() - without_blanks(part).len() } else { 0 };
            self.offset = offset + blank_bytes as u64;
        }
        match event {
            Event::Text(part) => self.text.push(part),
            Event::CData(part) => self.text.push(part),
            Event::GeneralRef(name) => self.text.push_reference(name),
            _ => {}
        }
        if depth == 0 && !self.text.is_empty() { Err(self.outside(about)) } else { Ok(()) }
    }

    /// The error for text outside the root element.
    fn outside(&self, about: &About<'_>) -> Error {
        let head = about.head().strip_prefix(BYTE_ORDER_MARK).unwrap_or(about.head());
        if !head.trim_ascii_start().starts_with(b"<") {
            return about.wrong(message!(
                "is not XML, though its name or ",
                Setting::Format,
                " says so; give the right ",
                Setting::Format
            ));
        }
        let line = self.text.0.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let (at, line) = (self.offset, crate::escape::shown(line.trim_ascii_end()));
        about.wrong(format!(
            "byte {at}: text outside the root element: {line}; remove it, or give it as a separate file"
        ))
    }

    /// Ends the text, which becomes a rejected row.
    #[inline]
    pub fn emit(&mut self, rows: &mut CountingSink<'_>) -> Result<()> {
        if self.text.is_empty() { Ok(()) } else { self.reject(rows) }
    }

    #[cold]
    fn reject(&mut self, rows: &mut CountingSink<'_>) -> Result<()> {
        rows.bad(rows.count() + 1, self.offset, Reason::NoUrl, self.text.text())?;
        self.text.clear();
        Ok(())
    }
}

/// `text` from its first character that is neither white space nor a byte order mark.
fn without_blanks(text: &str) -> &str {
    let is_blank = |c: char| c == '\u{feff}' || c.is_ascii_whitespace();
    text.trim_ascii_start().trim_start_matches(is_blank)
}
