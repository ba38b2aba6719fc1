//! The reader: bytes to events to entries, with everything said that is wrong with their structure.
//!
//! It shares no code with what writes sitemaps, so that a fault there cannot hide itself here. Its events come from
//! quick-xml, which finds tags and their ends; the rest of well-formedness, the namespaces and the places where elements
//! may stand are looked at here. No document type is read, no entity expanded, nothing opened that a file names.
//!
//! Some documents are refused although XML allows them: those with a document type declaration, in an encoding that is
//! not UTF-8 or of a version that is not 1.0, and those with more attributes, namespaces or levels of elements than any
//! sitemap has.

mod attributes;
mod elements;
mod pairs;
mod prolog;

use std::io;
use std::mem::take;

use quick_xml::Reader as Events;
use quick_xml::errors::Error as XmlError;
use quick_xml::events::Event;

use super::content::{Content, Failure};
use super::entities::{self, Wrong};
use super::entry::{Entry, Tag};
use super::extensions::FIELDS_MAX;
use super::finding::Findings;
use super::namespaces::Namespaces;
use super::rules::Rule;
use crate::escape::shown;
use crate::limits::Protocol;

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `urlset`.
    Sitemap,
    /// `sitemapindex`.
    Index,
}

/// Where in a document the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Prolog,
    Root,
    Entry,
    Tag(Tag),
    /// In an element of an extension, given by its number.
    Extended(usize),
    /// In a child of such an element, given by its place among the children.
    Child(usize, usize),
    /// In an element that is not looked into: of another namespace, or one that has no business here.
    Skipped,
    Epilog,
}

/// The rest of the file is not worth reading; the finding is made.
struct Broken;

/// Reads one document.
pub(crate) struct Reader<'f> {
    events: Events<Content>,
    findings: &'f mut Findings,
    buffer: Vec<u8>,
    namespaces: Namespaces,
    at: At,
    depth: usize,
    /// Depth of the element that is skipped, and where it stands.
    skipped: (usize, At),
    is_first_event: bool,
    is_whole: bool,
    head: Option<(Kind, Protocol)>,
    entries: u64,
    order: Order,
    /// A finding says already that the value at hand is not escaped.
    is_unescaped: bool,
}

/// What was seen of the entry at hand.
#[derive(Debug, Default)]
struct Order {
    seen: [bool; Tag::ALL.len()],
    last: Option<Tag>,
    is_extended: bool,
    /// A finding says already that they are out of order.
    is_misplaced: bool,
    /// Children of the element of an extension at hand.
    children: [bool; FIELDS_MAX],
}

impl<'f> Reader<'f> {
    /// Reads `content`, and says in `findings` what is wrong.
    pub fn new(content: Content, findings: &'f mut Findings) -> Self {
        let mut events = Events::from_reader(content);
        events.config_mut().check_comments = true;
        Self {
            events,
            findings,
            buffer: Vec::new(),
            namespaces: Namespaces::new(),
            at: At::Prolog,
            depth: 0,
            skipped: (0, At::Prolog),
            is_first_event: true,
            is_whole: false,
            head: None,
            entries: 0,
            order: Order::default(),
            is_unescaped: false,
        }
    }

    /// What the document is, once its first entry or its end was read.
    pub fn head(&self) -> Option<(Kind, Protocol)> {
        self.head
    }

    /// Entries so far.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Where further findings go.
    pub fn findings(&mut self) -> &mut Findings {
        self.findings
    }

    /// XXH3 of the document, if it was read from its first byte to its last.
    pub fn hash(&self) -> Option<u128> {
        self.is_whole.then(|| self.events.get_ref().hash())
    }

    /// Reads on to the end of the next entry. False at the end of the document, or where it cannot be read further.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn next(&mut self, entry: &mut Entry) -> io::Result<bool> {
        // Events borrow the buffer, not the reader.
        let mut buffer = take(&mut self.buffer);
        let is_entry = loop {
            buffer.clear();
            let event = self.events.read_event_into(&mut buffer);
            if matches!(event, Err(_) | Ok(Event::Eof))
                && let Some(failure) = self.events.get_mut().take_failure()
            {
                // What the parser makes of a document that ends in the middle is no news then.
                self.fail(failure)?;
                break false;
            }
            match event {
                Ok(Event::Eof) => {
                    self.end();
                    break false;
                }
                Ok(event) => match self.take_in(&event, entry) {
                    Ok(false) => {}
                    Ok(true) => break true,
                    Err(Broken) => break false,
                },
                Err(error) => {
                    self.refuse(&error);
                    break false;
                }
            }
        };
        self.buffer = buffer;
        Ok(is_entry)
    }

    /// True if that was the end of an entry.
    #[inline]
    fn take_in(&mut self, event: &Event<'_>, entry: &mut Entry) -> Result<bool, Broken> {
        match event {
            Event::Start(start) => self.open(start, entry)?,
            Event::End(_) => return Ok(self.close(entry)),
            Event::Empty(start) => {
                self.open(start, entry)?;
                return Ok(self.close(entry));
            }
            Event::Text(text) => self.text(text, entry)?,
            Event::GeneralRef(name) => self.reference(name, entry)?,
            Event::CData(text) => self.cdata(text, entry)?,
            Event::Comment(text) if entities::is_legal_text(text) => {}
            Event::Comment(_) => return self.broken("a character that XML does not allow"),
            Event::PI(instruction) => self.instruction(instruction)?,
            Event::Decl(declaration) => self.declaration(declaration)?,
            Event::DocType(_) => {
                self.findings
                    .push(None, Rule::Doctype, || "a document type declaration; not read further".into());
                return Err(Broken);
            }
            Event::Eof => {}
        }
        self.is_first_event = false;
        Ok(false)
    }

    #[inline]
    fn text(&mut self, text: &str, entry: &mut Entry) -> Result<(), Broken> {
        if !entities::is_legal_text(text) {
            return self.broken("a character that XML does not allow");
        }
        match self.at {
            At::Tag(_) | At::Child(..) => {
                if memchr::memchr3(b'\'', b'"', b'>', text.as_bytes()).is_some() {
                    self.check_cdata_end(text)?;
                    self.unescaped("' \" or > as it is");
                }
                entry.push(text.as_bytes());
                Ok(())
            }
            _ if text.bytes().all(|byte| byte.is_ascii_whitespace()) => Ok(()),
            _ => {
                self.check_cdata_end(text)?;
                self.between(text)
            }
        }
    }

    /// XML 1.0, 2.4: what ends a CDATA section must not stand elsewhere.
    fn check_cdata_end(&mut self, text: &str) -> Result<(), Broken> {
        if text.contains("]]>") { self.broken("]]> in a text") } else { Ok(()) }
    }

    /// What is no white space and stands between elements.
    fn between(&mut self, text: &str) -> Result<(), Broken> {
        match self.at {
            At::Prolog | At::Epilog => self.broken("text outside of the root element"),
            At::Skipped => Ok(()),
            _ => {
                let text = text.trim_ascii();
                self.findings.push(place(self.entries), Rule::StrayText, || {
                    format!("text between elements: {}", shown(text.as_bytes()))
                });
                Ok(())
            }
        }
    }

    fn reference(&mut self, name: &str, entry: &mut Entry) -> Result<(), Broken> {
        let mut utf8 = [0; 4];
        let character = match entities::resolve(name) {
            Ok(character) => character.encode_utf8(&mut utf8),
            Err(wrong) => {
                self.wrong_reference(name, wrong)?;
                ""
            }
        };
        match self.at {
            At::Tag(_) | At::Child(..) => {
                entry.push(character.as_bytes());
                Ok(())
            }
            _ => self.between("&"),
        }
    }

    /// An entity nobody knows is left out, and the rest can be read; a character that must not be cannot.
    fn wrong_reference(&mut self, name: &str, wrong: Wrong) -> Result<(), Broken> {
        match wrong {
            Wrong::Entity => {
                self.findings.push(place(self.entries), Rule::Entity, || {
                    format!("&{}; is none of the five", shown(name.as_bytes()))
                });
                Ok(())
            }
            Wrong::Character => self.broken("a number that stands for no character"),
        }
    }

    fn cdata(&mut self, text: &str, entry: &mut Entry) -> Result<(), Broken> {
        if !entities::is_legal_text(text) {
            return self.broken("a character that XML does not allow");
        }
        match self.at {
            At::Tag(_) | At::Child(..) => {
                self.unescaped("a CDATA section");
                entry.push(text.as_bytes());
                Ok(())
            }
            _ => self.between(text),
        }
    }

    fn unescaped(&mut self, what: &str) {
        if !self.is_unescaped {
            self.is_unescaped = true;
            self.findings.push(place(self.entries), Rule::NotEscaped, || format!("{what} in a value"));
        }
    }

    /// The bytes are at their end.
    fn end(&mut self) {
        match self.at {
            At::Epilog => self.is_whole = true,
            At::Prolog => self.findings.push(None, Rule::WellFormed, || "there is no element in it".into()),
            _ => self.findings.push(None, Rule::WellFormed, || "ends before its root element does".into()),
        }
    }

    /// The parser cannot go on.
    fn refuse(&mut self, error: &XmlError) {
        let rule = match error {
            XmlError::Encoding(_) => Rule::Encoding,
            _ => Rule::WellFormed,
        };
        let byte = self.events.error_position();
        let words = || format!("{}, at byte {byte}", shown(error.to_string().as_bytes()));
        self.findings.push(place(self.entries), rule, words);
    }

    /// The bytes end before their end.
    fn fail(&mut self, failure: Failure) -> io::Result<()> {
        let (rule, words) = match failure {
            Failure::Io(error) => return Err(error),
            Failure::Gzip(words) => (Rule::Gzip, format!("damaged: {words}")),
            Failure::TooLarge(limit) => {
                (Rule::TooLarge, format!("more than {limit} bytes; not read further"))
            }
            Failure::TooLargeCompressed(limit) => {
                (Rule::TooLarge, format!("more than {limit} bytes before it is decoded; not read further"))
            }
        };
        self.findings.push(None, rule, || words);
        Ok(())
    }

    fn broken<T>(&mut self, words: &str) -> Result<T, Broken> {
        let byte = self.events.buffer_position();
        self.findings.push(place(self.entries), Rule::WellFormed, || format!("{words}, before byte {byte}"));
        Err(Broken)
    }
}

/// An entry's number for a finding; none before the first.
fn place(entries: u64) -> Option<u64> {
    (entries > 0).then_some(entries)
}

#[cfg(test)]
mod tests;
