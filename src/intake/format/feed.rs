//! Feeds: RSS 0.9x and 2.0, and Atom 0.3 and 1.0. Every item with a link is a record.
//!
//! | | URL | `lastmod` |
//! |---|---|---|
//! | RSS | `<link>`; without one, `<guid>` unless it says `isPermaLink="false"` | `<pubDate>`, a date of RFC 822 |
//! | Atom | `href` of the first `<link>` that is `rel="alternate"` or has no `rel` | `<updated>`, or `<modified>` of Atom 0.3 |
//!
//! A relative link is resolved against the `xml:base` in scope. Without one, it is a relative line like any other.

mod bases;
mod date;
mod item;
mod kind;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::found::NameCounts;
use super::reader::{RowReader, large_units};
use super::row::{CountingSink, ROW_BYTES_MAX};
use super::spec::{Head, Hints, Open, Spec};
use super::unpack::{About, Text};
use super::xml::dropped::DroppedElements;
use super::xml::stray::Between;
use super::xml::{Metered, broken, ends_too_early, mixed_formats, prefix_of, wrong_root};
use crate::error::Result;
use bases::{Bases, attribute};
use item::Item;
use kind::Kind;

pub const RSS: Spec = Spec {
    name: "rss",
    title: "an RSS feed",
    extensions: &["rss"],
    head: Head::Root("rss"),
    delimiter: |_| false,
    has_columns: false,
    column_word: "column",
    open: Open::Text(open_rss),
};

pub const ATOM: Spec = Spec {
    name: "atom",
    title: "an Atom feed",
    extensions: &["atom"],
    head: Head::Root("feed"),
    delimiter: |_| false,
    has_columns: false,
    column_word: "column",
    open: Open::Text(open_atom),
};

fn open_rss<'n>(text: Text<'n>, _: Hints<'n>) -> Result<RowReader<'n>> {
    Ok(open(Kind::Rss, text))
}

fn open_atom<'n>(text: Text<'n>, _: Hints<'n>) -> Result<RowReader<'n>> {
    Ok(open(Kind::Atom, text))
}

fn open(kind: Kind, text: Text<'_>) -> RowReader<'_> {
    let is_transcoded = text.about().is_transcoded();
    let read = move |text: Text<'_>, rows: &mut CountingSink<'_>| read(kind, text, rows);
    RowReader { units: large_units(is_transcoded, [text], read), columns: None }
}

fn read(kind: Kind, text: Text<'_>, rows: &mut CountingSink<'_>) -> Result<()> {
    let (stream, text) = text.split();
    let mut reader = Reader::from_reader(Metered::new(stream));
    reader.config_mut().expand_empty_elements = true;
    let mut buffer = Vec::new();
    let mut feed = Feed::new(kind);
    loop {
        buffer.clear();
        let at = reader.buffer_position();
        let item_bytes = feed.item.as_ref().map_or(0, |item| at - item.offset());
        reader.get_mut().set_bytes_left(ROW_BYTES_MAX.saturating_sub(item_bytes));
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(tag)) => {
                feed.open(&text, at, rows, &tag)?;
                feed.dropped.declared().check(&text, at)?;
            }
            Ok(Event::End(_)) => feed.close(rows)?,
            Ok(event @ (Event::Text(_) | Event::CData(_) | Event::GeneralRef(_))) if feed.is_between() => {
                feed.between.take(&text, feed.depth, at, &event)?;
            }
            Ok(Event::Text(part)) => feed.on_open_item(|item| item.text(&part)),
            Ok(Event::CData(part)) => feed.on_open_item(|item| item.text(&part)),
            Ok(Event::GeneralRef(name)) => feed.on_open_item(|item| item.reference(&name)),
            Ok(Event::Eof) if feed.depth == 0 && feed.has_root => {
                rows.facts().dropped_elements = feed.into_dropped();
                return Ok(());
            }
            Ok(Event::Eof) => return Err(ends_too_early(&text)),
            Ok(Event::Decl(declaration)) if feed.has_root => text.check_charset(at, &declaration)?,
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Empty(_)) => {}
            Err(error) => return Err(broken(&text, at, error)),
        }
    }
}

/// A feed that is being read.
struct Feed {
    kind: Kind,
    depth: usize,
    has_root: bool,
    /// The prefix of the root, which all elements of the feed have, and its namespace.
    prefix: String,
    namespace: String,
    /// The current item.
    item: Option<Item>,
    between: Between,
    /// The depth of the current dropped element, if there is one.
    skipped: Option<usize>,
    bases: Bases,
    dropped: DroppedElements,
}

impl Feed {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            depth: 0,
            has_root: false,
            prefix: String::new(),
            namespace: String::new(),
            item: None,
            between: Between::default(),
            skipped: None,
            bases: Bases::default(),
            dropped: DroppedElements::default(),
        }
    }

    /// Takes the start tag at `offset`.
    fn open(
        &mut self,
        text: &About<'_>,
        offset: u64,
        rows: &mut CountingSink<'_>,
        tag: &BytesStart<'_>,
    ) -> Result<()> {
        self.between.emit(rows)?;
        let depth = self.depth;
        self.depth += 1;
        if self.skipped.is_some() {
            return Ok(());
        }
        if depth == 0 {
            let name = tag.local_name();
            if name.as_ref() != self.kind.path()[0] {
                let root = name.as_ref();
                return Err(match self.has_root {
                    true => mixed_formats(text, root),
                    false => wrong_root(text, root, self.kind.expected()),
                });
            }
            self.has_root = true;
            self.prefix = prefix_of(&tag.name()).to_owned();
            self.namespace = declared_namespace(tag).unwrap_or_default();
        }
        let has_base = self.bases.enter(depth, tag);
        let path = self.kind.path();
        let is_own = self.is_own(tag);
        if let Some(item) = &mut self.item {
            item.is_bad |= has_base.is_err();
            let is_child = depth == path.len() && is_own;
            if !(is_child && item.open(self.kind, tag, &self.bases)) {
                self.drop(depth, tag);
            }
        } else if is_own && tag.local_name().as_ref() == path[depth] {
            self.dropped.enter(depth, tag);
            if depth + 1 == path.len() {
                self.item = Some(Item::new(offset, rows.count() + 1));
            }
        } else {
            self.drop(depth, tag);
        }
        Ok(())
    }

    /// Whether an element is one of the feed and not of an extension: it has the prefix of the root, and if it declares another
    /// namespace, that is one of the format.
    fn is_own(&self, tag: &BytesStart<'_>) -> bool {
        let is_of_feed =
            |uri: String| uri == self.namespace || self.kind.namespaces().contains(&uri.as_str());
        prefix_of(&tag.name()) == self.prefix && declared_namespace(tag).is_none_or(is_of_feed)
    }

    /// Drops and counts the element at `depth`.
    fn drop(&mut self, depth: usize, tag: &BytesStart<'_>) {
        self.dropped.enter(depth, tag);
        self.dropped.count(tag);
        self.skipped = Some(depth);
        if let Some(item) = &mut self.item {
            item.has_others = true;
            item.invalidate_value(&format!("<{}>", tag.name().as_ref()));
        }
    }

    /// Takes an end tag. The end of an item makes a record.
    fn close(&mut self, rows: &mut CountingSink<'_>) -> Result<()> {
        self.between.emit(rows)?;
        self.depth -= 1;
        let depth = self.depth;
        match self.skipped {
            Some(skipped) if skipped < depth => return Ok(()),
            Some(_) => self.skipped = None,
            None => {
                let items = self.kind.path().len();
                if depth == items
                    && let Some(item) = &mut self.item
                {
                    item.close(&self.bases);
                } else if depth + 1 == items
                    && let Some(item) = self.item.take()
                {
                    item.emit(self.kind, &mut self.dropped, rows)?;
                }
            }
        }
        self.bases.leave(depth);
        Ok(())
    }

    /// Whether the current position is neither in an item nor in a dropped element.
    fn is_between(&self) -> bool {
        self.item.is_none() && self.skipped.is_none()
    }

    /// Calls `act` with the current item, unless an element is skipped.
    fn on_open_item(&mut self, act: impl FnOnce(&mut Item)) {
        if let (None, Some(item)) = (self.skipped, &mut self.item) {
            act(item);
        }
    }

    fn into_dropped(self) -> NameCounts {
        self.dropped.into_counts()
    }
}

/// The namespace that an element declares for its own prefix.
fn declared_namespace(tag: &BytesStart<'_>) -> Option<String> {
    let name = match prefix_of(&tag.name()) {
        "" => Cow::Borrowed("xmlns"),
        prefix => Cow::Owned(format!("xmlns:{prefix}")),
    };
    attribute(tag, &name).ok().flatten()
}
