//! Elements: where each is allowed, how often, and in which order.

use quick_xml::events::BytesStart;

use super::pairs::SPACE;
use super::prolog::is_html;
use super::{At, Broken, DocumentFormat, FileKind, Reader, place};
use crate::commands::check::doubts::Doubt;
use crate::commands::check::entry::Entry;
use crate::commands::check::extensions::{EXTENSIONS, NEWS};
use crate::commands::check::name::Name;
use crate::commands::check::namespaces::Namespace;
use crate::commands::check::rules::Rule;
use crate::commands::check::tag::Tag;
use crate::escape::shown;
use crate::limits::{NEWS_PER_SITEMAP_MAX, Protocol, URLS_PER_SITEMAP_MAX};

/// Maximum depth of elements. A sitemap with images needs four.
pub(super) const DEPTH_MAX: usize = 32;

/// Maximum depth of elements in feeds, which may contain whole pages.
pub(super) const FEED_DEPTH_MAX: usize = 256;

impl FileKind {
    fn entry_name(self) -> &'static str {
        match self {
            Self::Sitemap => "url",
            Self::Index => "sitemap",
        }
    }

    fn has(self, tag: Tag) -> bool {
        self == Self::Sitemap || matches!(tag, Tag::Loc | Tag::Lastmod)
    }

    /// Returns the maximum number of entries in such a document.
    pub fn entries_max(self, protocol: Protocol) -> u64 {
        match self {
            Self::Sitemap => URLS_PER_SITEMAP_MAX.into(),
            Self::Index => protocol.sitemaps_per_index_max().into(),
        }
    }
}

impl Reader<'_> {
    /// Handles the start of an element.
    #[inline]
    pub(super) fn open(&mut self, start: &BytesStart<'_>, entry: &mut Entry) -> Result<(), Broken> {
        self.depth += 1;
        if self.depth > if self.format.is_feed() { FEED_DEPTH_MAX } else { DEPTH_MAX } {
            self.findings.push(place(self.entries), Rule::TooDeep, || {
                format!("elements are nested more than {} levels deep", self.depth - 1)
            });
            return Err(Broken);
        }
        let has_attributes = !start.attributes_raw().trim_start_matches(SPACE).is_empty();
        if has_attributes {
            self.declare(start)?;
        }
        if self.format.is_feed() && self.at != At::Prolog && self.at != At::Epilog {
            return self.open_in_feed_checked(start, has_attributes, entry);
        }
        let name = start.name().into_inner();
        let (namespace, local) = match self.namespaces.of_element(name) {
            Some(found) => found,
            None => {
                self.check_characters(name)?;
                self.findings.push(place(self.entries), Rule::Namespace, || {
                    format!("the prefix of {} is not declared", shown(name.as_bytes()))
                });
                (Namespace::Other, name)
            }
        };
        let (namespace, local) = match self.is_lenient {
            true => self.likely(name, namespace, local),
            false => (namespace, local),
        };
        match self.at {
            At::Root => self.open_entry(name, namespace, local, entry),
            At::Entry => self.open_tag(name, namespace, local, entry),
            At::Extended(number) => self.open_child(number, None, name, namespace, local, entry),
            At::Parent(number, parent) => {
                self.open_child(number, Some(parent), name, namespace, local, entry)
            }
            At::Prolog => self.open_root(name, namespace, local)?,
            At::Skipped => {}
            At::Tag(_) | At::Child(..) => self.open_in_value(name, entry),
            At::Channel | At::Guid => self.unknown(name),
            At::Epilog => return self.broken("a second root element"),
        }
        // All other elements have known names. Text with an unescaped `<` is no name, and was not reported as an element.
        if self.at == At::Skipped {
            self.check_name(name)?;
        }
        match has_attributes {
            true if self.format.is_feed() => self.check_prefixes(start),
            true => self.attributes(start, entry),
            false => {}
        }
        Ok(())
    }

    /// Handles the start of an element in a feed.
    fn open_in_feed_checked(
        &mut self,
        start: &BytesStart<'_>,
        has_attributes: bool,
        entry: &mut Entry,
    ) -> Result<(), Broken> {
        let name = start.name().into_inner();
        self.check_name(name)?;
        if let Some((prefix, _)) = name.split_once(':')
            && prefix != "xml"
            && self.namespaces.uri_of(prefix).is_none()
        {
            let words = || format!("the prefix of {} is not declared", shown(name.as_bytes()));
            self.findings.push(place(self.entries), Rule::Namespace, words);
        }
        if has_attributes {
            self.check_prefixes(start);
        }
        match self.at {
            At::Skipped => Ok(()),
            At::Tag(_) | At::Guid => {
                self.open_in_feed_value(name, entry);
                Ok(())
            }
            _ => self.open_in_feed(start, entry),
        }
    }

    /// Handles the end of an element. Returns true if it was an entry.
    #[inline]
    pub(super) fn close(&mut self, entry: &mut Entry) -> bool {
        let mut is_entry = false;
        match self.at {
            At::Tag(tag) => {
                if tag == Tag::Lastmod {
                    self.end_date(entry);
                }
                entry.close_tag(tag);
                self.at = At::Entry;
            }
            At::Guid => self.end_guid(),
            At::Channel => self.at = At::Root,
            At::Entry => {
                self.end_item(entry);
                if !self.order.seen[Tag::Loc as usize] {
                    let words = if self.format.is_feed() { "no link" } else { "no loc" };
                    self.findings.push_loss(place(self.entries), Rule::MissingElement, words.into());
                }
                self.at = if self.format == DocumentFormat::Rss { At::Channel } else { At::Root };
                is_entry = true;
            }
            At::Skipped if self.skipped.0 == self.depth => self.at = self.skipped.1,
            At::Skipped => {}
            At::Extended(number) => {
                self.check_children(number, None);
                self.at = At::Entry;
            }
            At::Child(number, field) => {
                entry.close_field(number, Some(field));
                let fields = EXTENSIONS[number].fields;
                let parent = fields.iter().position(|parent| parent.is_child("", fields[field].parent));
                self.at = parent.map_or(At::Extended(number), |parent| At::Parent(number, parent));
            }
            At::Parent(number, field) => {
                self.check_children(number, Some(field));
                self.at = At::Extended(number);
            }
            At::Root => {
                if self.entries == 0 {
                    let words = format!("no {}", self.format.entry_word());
                    self.findings.push_loss(None, Rule::Empty, words);
                }
                self.at = At::Epilog;
            }
            // The parser refuses end tags without a start tag.
            At::Prolog | At::Epilog => {}
        }
        self.namespaces.close(self.depth);
        self.depth -= 1;
        is_entry
    }

    fn open_root(&mut self, name: &str, namespace: Namespace, local: &str) -> Result<(), Broken> {
        self.prefix = name.split_once(':').map_or("", |(prefix, _)| prefix).to_owned();
        let format = match local {
            "rss" => DocumentFormat::Rss,
            "feed" => DocumentFormat::Atom,
            _ => DocumentFormat::Protocol,
        };
        if format.is_feed() {
            self.format = format;
            self.head = Some((FileKind::Sitemap, Protocol::V0_9));
            self.at = At::Root;
            return Ok(());
        }
        let kind = match local {
            "urlset" => FileKind::Sitemap,
            "sitemapindex" => FileKind::Index,
            _ => {
                if is_html(local) {
                    return self.html();
                }
                self.is_of_other_kind = local != "RDF";
                let words = || match local {
                    "RDF" => "RDF, most likely RSS 1.0; sitemaps may be RSS 2.0 or Atom".into(),
                    _ => format!("{} is neither urlset nor sitemapindex", shown(name.as_bytes())),
                };
                self.findings.push(None, Rule::Root, words);
                return Err(Broken);
            }
        };
        let Namespace::Sitemap(protocol) = namespace else {
            let words = format!("{} is in no namespace of the protocol", shown(name.as_bytes()));
            self.findings.push_loss(None, Rule::Namespace, words);
            return Err(Broken);
        };
        if !self.is_lenient {
            self.events.get_mut().lower_limit(protocol.bytes_per_sitemap_max());
        }
        self.head = Some((kind, protocol));
        self.at = At::Root;
        Ok(())
    }

    #[inline]
    fn open_entry(&mut self, name: &str, namespace: Namespace, local: &str, entry: &mut Entry) {
        let (kind, protocol) = self.own();
        if namespace != Namespace::Sitemap(protocol) || local != kind.entry_name() {
            // Schema 0.9, urlset: xsd:any of other namespaces, before the first url.
            let is_likely = matches!(local, "sitemap" | "url");
            match self.entries == 0 && self.is_foreign(namespace) && !(is_likely && kind == FileKind::Index) {
                true => self.skip(),
                false if is_likely => self.unknown_entry(name),
                false => self.unknown(name),
            }
            return;
        }
        self.begin_entry(entry);
    }

    /// Reports the first entry that is too many.
    pub(super) fn check_count(&mut self, kind: FileKind, protocol: Protocol) {
        if self.entries == kind.entries_max(protocol) + 1 {
            let words = || format!("more than {} entries", kind.entries_max(protocol));
            self.findings.push(Some(self.entries), Rule::TooManyEntries, words);
        }
    }

    #[inline]
    fn open_tag(&mut self, name: &str, namespace: Namespace, local: &str, entry: &mut Entry) {
        let (kind, protocol) = self.own();
        match Tag::of(local) {
            Some(tag) if namespace == Namespace::Sitemap(protocol) && kind.has(tag) => {
                self.check_order(tag, protocol);
                self.at = At::Tag(tag);
                entry.open_value();
            }
            _ if !self.is_foreign(namespace) => match local == kind.entry_name() {
                true => self.unknown_entry(name),
                false => self.unknown(name),
            },
            _ => {
                self.order.is_extended = true;
                match namespace {
                    Namespace::Extension(number)
                        if kind == FileKind::Sitemap && EXTENSIONS[number].element == local =>
                    {
                        entry.open_element(number);
                        self.order.fields = Default::default();
                        self.at = At::Extended(number);
                        if number == NEWS {
                            self.count_news(entry);
                        }
                    }
                    Namespace::Extension(number) if !EXTENSIONS[number].is_open => self.unknown(name),
                    _ => {
                        self.check_meant(name, local);
                        self.skip();
                    }
                }
            }
        }
    }

    #[inline]
    fn check_order(&mut self, tag: Tag, protocol: Protocol) {
        let order = &mut self.order;
        let is_misplaced = order.is_extended || order.last.is_some_and(|last| last > tag);
        let is_repeated = std::mem::replace(&mut order.seen[tag as usize], true);
        if is_repeated {
            let words = format!("{} twice", tag.as_str());
            match tag {
                Tag::Loc => self.findings.push_unclear(place(self.entries), Rule::RepeatedElement, words),
                _ => self.findings.push(place(self.entries), Rule::RepeatedElement, || words),
            }
        } else if is_misplaced && protocol == Protocol::V0_9 && !order.is_misplaced {
            order.is_misplaced = true;
            let words = || format!("{} after an element that should follow it", tag.as_str());
            self.findings.push(place(self.entries), Rule::ElementOrder, words);
        }
        order.last = order.last.max(Some(tag));
    }

    /// Counts the current entry if this is its first news article.
    #[cold]
    fn count_news(&mut self, entry: &Entry) {
        self.news += u32::from(entry.elements(NEWS).count == 1);
        if self.news == NEWS_PER_SITEMAP_MAX + 1 && entry.elements(NEWS).count == 1 {
            let words = || format!("more than {NEWS_PER_SITEMAP_MAX} entries with news");
            self.findings.push(Some(self.entries), Rule::TooManyNews, words);
        }
    }

    /// Handles the start of an element in a value, which is ambiguous then.
    fn open_in_value(&mut self, name: &str, entry: &mut Entry) {
        match self.at {
            At::Tag(Tag::Loc) => return self.unknown_entry(name),
            At::Tag(tag) => entry.doubts_mut().add_tag(tag, Doubt::HasElement),
            At::Child(number, field) => entry.doubts_mut().add_field(number, field, Doubt::HasElement),
            _ => {}
        }
        self.unknown(name);
    }

    /// Returns the kind of the document. It is called only inside the root.
    pub fn own(&self) -> (FileKind, Protocol) {
        self.head.expect("the root was opened")
    }

    /// Returns whether elements of `namespace` may be next to those of the protocol. Schema 0.84 allows none, and neither does that
    /// of index files.
    fn is_foreign(&self, namespace: Namespace) -> bool {
        let is_other = !matches!(namespace, Namespace::Sitemap(_) | Namespace::None);
        is_other && (self.is_lenient || self.own() == (FileKind::Sitemap, Protocol::V0_9))
    }

    pub(super) fn unknown(&mut self, name: &str) {
        if Name::is_name(name) {
            self.findings.push(place(self.entries), Rule::UnknownElement, || not_allowed(name));
        }
        self.skip();
    }

    /// Reports an element that is most likely meant as an entry, or is in a URL. Nobody reads that URL.
    fn unknown_entry(&mut self, name: &str) {
        if Name::is_name(name) {
            self.findings.push_unclear(place(self.entries), Rule::UnknownElement, not_allowed(name));
        }
        self.skip();
    }

    /// Skips the content of the element that was just opened.
    pub(super) fn skip(&mut self) {
        self.skipped = (self.depth, self.at);
        self.at = At::Skipped;
    }
}

pub(super) fn not_allowed(name: &str) -> String {
    format!("element {} is not allowed here", shown(name.as_bytes()))
}
