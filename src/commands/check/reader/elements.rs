//! Elements: which may stand where, how often, and in which order.

use quick_xml::events::BytesStart;

use super::pairs::SPACE;
use super::{At, Broken, Kind, Order, Reader, place};
use crate::commands::check::entry::{Entry, Tag};
use crate::commands::check::rules::Rule;
use crate::commands::check::space::Space;
use crate::escape::shown;
use crate::limits::{Protocol, URLS_PER_SITEMAP_MAX};

/// Deepest element. A sitemap with images needs four.
const DEPTH_MAX: usize = 32;

/// What may stand in an `image` besides its `loc`: Google, "Image sitemaps"; taken back since, and harmless.
const IMAGE_TAGS: [&str; 4] = ["caption", "geo_location", "title", "license"];

impl Kind {
    fn entry_name(self) -> &'static str {
        match self {
            Self::Sitemap => "url",
            Self::Index => "sitemap",
        }
    }

    fn has(self, tag: Tag) -> bool {
        self == Self::Sitemap || matches!(tag, Tag::Loc | Tag::Lastmod)
    }

    /// Most entries of such a document.
    pub fn entries_max(self, protocol: Protocol) -> u64 {
        match self {
            Self::Sitemap => URLS_PER_SITEMAP_MAX.into(),
            Self::Index => protocol.sitemaps_per_index_max().into(),
        }
    }
}

impl Reader<'_> {
    /// An element begins.
    #[inline]
    pub(super) fn open(&mut self, start: &BytesStart<'_>, entry: &mut Entry) -> Result<(), Broken> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            self.findings
                .push(place(self.entries), Rule::TooDeep, || format!("{DEPTH_MAX} elements in each other"));
            return Err(Broken);
        }
        let has_attributes = !start.attributes_raw().trim_start_matches(SPACE).is_empty();
        if has_attributes {
            self.declare(start)?;
        }
        let name = start.name().into_inner();
        let (space, local) = self.spaces.of_element(name).unwrap_or_else(|| {
            self.findings.push(place(self.entries), Rule::Namespace, || {
                format!("the prefix of {} was never declared", shown(name.as_bytes()))
            });
            (Space::Other, name)
        });
        match self.at {
            At::Root => self.open_entry(name, space, local, entry),
            At::Entry => self.open_tag(name, space, local, entry),
            At::Image => self.open_in_image(name, space, local, entry),
            At::Prolog => self.open_root(name, space, local)?,
            At::Skipped => {}
            At::Tag(_) | At::Link | At::ImageLoc => self.unknown(name),
            At::Epilog => return self.broken("a second root element"),
        }
        // The names of all others are known.
        if self.at == At::Skipped {
            self.check_name(name)?;
        }
        if has_attributes {
            self.attributes(start, entry);
        }
        Ok(())
    }

    /// An element ends; true if it was an entry.
    #[inline]
    pub(super) fn close(&mut self, entry: &mut Entry) -> bool {
        let mut is_entry = false;
        match self.at {
            At::Tag(tag) => {
                entry.close_tag(tag);
                self.at = At::Entry;
            }
            At::Entry => {
                if !self.order.seen[Tag::Loc as usize] {
                    self.findings
                        .push(place(self.entries), Rule::MissingElement, || "there is no loc".into());
                }
                self.at = At::Root;
                is_entry = true;
            }
            At::Skipped if self.skipped.0 == self.depth => self.at = self.skipped.1,
            At::Skipped => {}
            At::Link => self.at = At::Entry,
            At::ImageLoc => {
                entry.close_image_loc();
                self.at = At::Image;
            }
            At::Image => {
                if !self.order.image_has_loc {
                    let words = || "there is no loc in an image".into();
                    self.findings.push(place(self.entries), Rule::MissingElement, words);
                }
                self.at = At::Entry;
            }
            At::Root => {
                if self.entries == 0 {
                    self.findings.push(None, Rule::Empty, || "there is no entry in it".into());
                }
                self.at = At::Epilog;
            }
            // The parser lets no end tag pass that ends nothing.
            At::Prolog | At::Epilog => {}
        }
        self.spaces.close(self.depth);
        self.depth -= 1;
        is_entry
    }

    fn open_root(&mut self, name: &str, space: Space, local: &str) -> Result<(), Broken> {
        let kind = match local {
            "urlset" => Kind::Sitemap,
            "sitemapindex" => Kind::Index,
            _ => {
                let words = || format!("{} is neither urlset nor sitemapindex", shown(name.as_bytes()));
                self.findings.push(None, Rule::Root, words);
                return Err(Broken);
            }
        };
        let Space::Sitemap(protocol) = space else {
            let words = || format!("{} is in no namespace of the protocol", shown(name.as_bytes()));
            self.findings.push(None, Rule::Namespace, words);
            return Err(Broken);
        };
        self.events.get_mut().lower_limit(protocol.bytes_per_sitemap_max());
        self.head = Some((kind, protocol));
        self.at = At::Root;
        Ok(())
    }

    #[inline]
    fn open_entry(&mut self, name: &str, space: Space, local: &str, entry: &mut Entry) {
        let (kind, protocol) = self.own();
        if space != Space::Sitemap(protocol) || local != kind.entry_name() {
            // Schema 0.9, urlset: xsd:any of other namespaces, before the first url.
            match self.entries == 0 && self.is_foreign(space) {
                true => self.skip(),
                false => self.unknown(name),
            }
            return;
        }
        self.entries += 1;
        entry.begin(self.entries);
        self.order = Order::default();
        self.at = At::Entry;
        if self.entries == kind.entries_max(protocol) + 1 {
            let words = || format!("more than {} entries", kind.entries_max(protocol));
            self.findings.push(Some(self.entries), Rule::TooManyEntries, words);
        }
    }

    #[inline]
    fn open_tag(&mut self, name: &str, space: Space, local: &str, entry: &mut Entry) {
        let (kind, protocol) = self.own();
        match Tag::of(local) {
            Some(tag) if space == Space::Sitemap(protocol) && kind.has(tag) => {
                self.check_order(tag, protocol);
                self.at = At::Tag(tag);
                self.is_unescaped = false;
                entry.open_value();
            }
            _ if !self.is_foreign(space) => self.unknown(name),
            _ => {
                self.order.is_extended = true;
                match (kind, space, local) {
                    (Kind::Sitemap, Space::Xhtml, "link") => {
                        entry.open_link();
                        self.at = At::Link;
                    }
                    (Kind::Sitemap, Space::Image, "image") => {
                        entry.open_image();
                        self.order.image_has_loc = false;
                        self.at = At::Image;
                    }
                    (_, Space::Image, _) => self.unknown(name),
                    _ => self.skip(),
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
            let words = || format!("{} twice", tag.as_str());
            self.findings.push(place(self.entries), Rule::RepeatedElement, words);
        } else if is_misplaced && protocol == Protocol::V0_9 && !order.is_misplaced {
            order.is_misplaced = true;
            let words = || format!("{} behind what should follow it", tag.as_str());
            self.findings.push(place(self.entries), Rule::ElementOrder, words);
        }
        order.last = order.last.max(Some(tag));
    }

    fn open_in_image(&mut self, name: &str, space: Space, local: &str, entry: &mut Entry) {
        match (space, local) {
            (Space::Image, "loc") => {
                if std::mem::replace(&mut self.order.image_has_loc, true) {
                    let words = || "loc twice in an image".into();
                    self.findings.push(place(self.entries), Rule::RepeatedElement, words);
                    return self.skip();
                }
                self.at = At::ImageLoc;
                self.is_unescaped = false;
                entry.open_value();
            }
            (Space::Image, tag) if IMAGE_TAGS.contains(&tag) => self.skip(),
            _ => self.unknown(name),
        }
    }

    /// What the document is; asked only inside its root.
    pub fn own(&self) -> (Kind, Protocol) {
        self.head.expect("the root was opened")
    }

    /// Whether elements of `space` may stand beside those of the protocol. Schema 0.84 has no room for them.
    fn is_foreign(&self, space: Space) -> bool {
        let is_other = !matches!(space, Space::Sitemap(_) | Space::None);
        is_other && self.own().1 == Protocol::V0_9
    }

    fn unknown(&mut self, name: &str) {
        self.findings.push(place(self.entries), Rule::UnknownElement, || {
            format!("no place for an element {} here", shown(name.as_bytes()))
        });
        self.skip();
    }

    /// Looks no further into the element that was just opened.
    fn skip(&mut self) {
        self.skipped = (self.depth, self.at);
        self.at = At::Skipped;
    }
}
