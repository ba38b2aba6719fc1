//! The reader turns bytes into events and events into entries, and reports every violation in their structure.
//!
//! It shares no code with the writer, so a bug there cannot hide here. quick-xml finds tags; the reader itself checks the rest
//! of well-formedness, namespaces, and where elements are allowed. It reads no document type, expands no entity, and opens
//! nothing that a file names.
//!
//! Some documents are refused although XML allows them: documents with a document type declaration, an encoding other than
//! UTF-8 or a version other than 1.0, and documents with more attributes, namespaces or levels of elements than any sitemap
//! needs.

mod attributes;
mod children;
mod elements;
mod endings;
mod feeds;
mod kind;
mod likely;
mod order;
mod pairs;
mod prolog;
mod text;

use std::io;
use std::mem::take;

use quick_xml::Reader as Events;
use quick_xml::events::Event;

use super::content::Content;
use super::entities::{self, Wrong};
use super::entry::Entry;
use super::extensions::EXTENSIONS;
use super::finding::Findings;
use super::namespaces::Namespaces;
use super::rules::Rule;
use super::tag::Tag;
use crate::escape::shown;
use crate::limits::Protocol;
use order::Order;

pub(crate) use kind::{DocumentFormat, FileKind};

/// The current element, as far as the rules distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Prolog,
    Root,
    /// In `channel` of RSS.
    Channel,
    Entry,
    Tag(Tag),
    /// In `guid` of RSS.
    Guid,
    /// In an element of the extension with this number.
    Extended(usize),
    /// In the element of a text of such an element, by the index of its field.
    Child(usize, usize),
    /// In an element that contains such elements, by the index of its field.
    Parent(usize, usize),
    /// In an element that is skipped, because it is in another namespace or not allowed here.
    Skipped,
    Epilog,
}

/// Reading stops here. The reason has been reported.
struct Broken;

/// Reads one document.
pub(crate) struct Reader<'f> {
    events: Events<Content>,
    findings: &'f mut Findings,
    buffer: Vec<u8>,
    namespaces: Namespaces,
    at: At,
    depth: usize,
    /// Depth of the element that is skipped, and its position.
    skipped: (usize, At),
    is_first_event: bool,
    is_whole: bool,
    head: Option<(FileKind, Protocol)>,
    format: DocumentFormat,
    /// The prefix of the root element, and so of a feed's own elements.
    prefix: String,
    /// Whether elements that are not quite right are read as what is most likely meant.
    is_lenient: bool,
    /// Whether it has been reported that elements of an extension are in another namespace.
    has_misspelt: [bool; EXTENSIONS.len()],
    /// The `guid` of the current item, which stands in for its link.
    guid: Option<Vec<u8>>,
    entries: u64,
    /// Entries with a news article.
    news: u32,
    order: Order,
    /// Whether it has been reported that a value of the current entry is not escaped.
    is_unescaped: bool,
    /// Whether the document is XML of a kind that has nothing to do with sitemaps.
    is_of_other_kind: bool,
}

impl<'f> Reader<'f> {
    /// Creates a reader for `content` that reports to `findings`.
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
            format: DocumentFormat::Protocol,
            prefix: String::new(),
            is_lenient: false,
            has_misspelt: [false; EXTENSIONS.len()],
            guid: None,
            entries: 0,
            news: 0,
            order: Order::default(),
            is_unescaped: false,
            is_of_other_kind: false,
        }
    }

    /// Creates a reader that also reads tags and extensions whose namespace is wrong or not declared, as `build` does, and files of
    /// protocol 0.84 that exceed its byte limit but not that of 0.9. They are no findings then.
    pub fn lenient(content: Content, findings: &'f mut Findings) -> Self {
        Self { is_lenient: true, ..Self::new(content, findings) }
    }

    /// Returns the kind of the document. It is known after the first entry, or at the end.
    pub fn head(&self) -> Option<(FileKind, Protocol)> {
        self.head
    }

    /// Returns the format of the document, which is known with its kind.
    pub fn format(&self) -> DocumentFormat {
        self.format
    }

    /// Returns whether the document is XML of a kind that has nothing to do with sitemaps. An HTML page may be the error page of a
    /// server instead of a sitemap.
    pub fn is_of_other_kind(&self) -> bool {
        self.is_of_other_kind
    }

    /// Returns the number of entries so far.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns the findings, to which the caller may add.
    pub fn findings(&mut self) -> &mut Findings {
        self.findings
    }

    /// Returns the XXH3 of the document if all of it was read.
    pub fn hash(&self) -> Option<u128> {
        self.is_whole.then(|| self.events.get_ref().hash())
    }

    /// Reads the next entry. Returns false at the end of the document, or if the rest cannot be read.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn next(&mut self, entry: &mut Entry) -> io::Result<bool> {
        if self.is_first_event && self.head.is_none() && self.begins_with_url()? {
            self.head = Some((FileKind::Sitemap, Protocol::V0_9));
            self.format = DocumentFormat::Text;
        }
        if self.is_first_event
            && let Some((rule, words)) = self.why_unreadable()?
        {
            self.findings.push(None, rule, || words.into());
            return Ok(false);
        }
        if self.format == DocumentFormat::Text {
            return self.next_line(entry);
        }
        // Events borrow the buffer, not the reader.
        let mut buffer = take(&mut self.buffer);
        let is_entry = loop {
            buffer.clear();
            let begin = self.events.buffer_position();
            let event = self.events.read_event_into(&mut buffer);
            if matches!(event, Err(_) | Ok(Event::Eof))
                && let Some(failure) = self.events.get_mut().take_failure()
            {
                // The parser's error about a truncated document would only repeat that.
                self.fail(failure)?;
                break false;
            }
            match event {
                Ok(Event::Eof) => {
                    self.end();
                    break false;
                }
                Ok(event) => match self.handle(&event, entry) {
                    Ok(false) => {}
                    Ok(true) => break true,
                    Err(Broken) => break false,
                },
                Err(error) => {
                    self.refuse(&error, begin);
                    break false;
                }
            }
        };
        self.buffer = buffer;
        Ok(is_entry)
    }

    /// Handles an event. Returns true if it ended an entry.
    #[inline]
    fn handle(&mut self, event: &Event<'_>, entry: &mut Entry) -> Result<bool, Broken> {
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
            Event::DocType(declaration) => return self.document_type(declaration),
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
                    self.unescaped("an unescaped ' \" or >");
                }
                entry.push(text.as_bytes());
                Ok(())
            }
            At::Guid => self.push_guid(text),
            _ if text.bytes().all(|byte| byte.is_ascii_whitespace()) => Ok(()),
            _ => {
                self.check_cdata_end(text)?;
                self.between(text)
            }
        }
    }

    /// Checks that text does not contain `]]>`, the end of a CDATA section: XML 1.0, 2.4.
    fn check_cdata_end(&mut self, text: &str) -> Result<(), Broken> {
        if text.contains("]]>") { self.broken("]]> in text") } else { Ok(()) }
    }

    /// Reports text between elements.
    fn between(&mut self, text: &str) -> Result<(), Broken> {
        match self.at {
            At::Prolog => self.broken(
                "text outside the root element (XML begins with <, and a text sitemap is a URL on each line)",
            ),
            At::Epilog => self.broken("text outside the root element"),
            At::Skipped => Ok(()),
            // Feeds have rules of their own.
            _ if self.format != DocumentFormat::Protocol => Ok(()),
            _ => {
                self.findings.push(place(self.entries), Rule::StrayText, || match text.trim_ascii() {
                    "" => "a CDATA section between elements".into(),
                    text => format!("text between elements: {}", shown(text.as_bytes())),
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
                // Between elements, that is one finding, too.
                if !matches!(self.at, At::Prolog | At::Epilog) {
                    return Ok(());
                }
                ""
            }
        };
        match self.at {
            At::Tag(_) | At::Child(..) => {
                entry.push(character.as_bytes());
                Ok(())
            }
            At::Guid => {
                let character = character.to_owned();
                self.push_guid(&character)
            }
            // White space is allowed between elements, however it is written, but not outside the root element.
            At::Prolog | At::Epilog => self.between(name),
            _ if !character.is_empty() && character.trim_ascii().is_empty() => Ok(()),
            _ => self.between(&format!("&{name};")),
        }
    }

    /// Handles a reference. An unknown entity is reported and left out; an invalid character ends the reading.
    fn wrong_reference(&mut self, name: &str, wrong: Wrong) -> Result<(), Broken> {
        match wrong {
            Wrong::Entity => {
                self.findings.push(place(self.entries), Rule::Entity, || {
                    format!("&{}; is not one of the five predefined entities", shown(name.as_bytes()))
                });
                Ok(())
            }
            Wrong::Character => self.broken("a number that is not a character"),
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
            At::Guid => self.push_guid(text),
            _ => self.between(text),
        }
    }

    /// Reports the first value of an entry that is not escaped. A program that does not escape one usually escapes none. Texts of
    /// extensions need only be well-formed.
    fn unescaped(&mut self, what: &str) {
        if let At::Tag(tag) = self.at
            && self.format == DocumentFormat::Protocol
            && !std::mem::replace(&mut self.is_unescaped, true)
        {
            let words = || format!("{what} in {}", tag.as_str());
            self.findings.push(place(self.entries), Rule::NotEscaped, words);
        }
    }
}

/// Returns the number of an entry for a finding, or `None` before the first entry.
fn place(entries: u64) -> Option<u64> {
    (entries > 0).then_some(entries)
}

#[cfg(test)]
mod tests;
