//! Duplicates: keeps one of the entries of each URL.

use std::cmp::Reverse;

use crate::common::prefetch;
use crate::error::Result;
use crate::intake::input::Input;
use crate::job::OnDuplicate;
use crate::sitemap::xml::tag_values;
use crate::survey::position::Position;

/// An entry of a range: the end of its URL, the position of its tail, and its place in the input, an increasing number.
#[derive(Debug, Clone, Copy, Default)]
pub struct Placed<'a> {
    pub url: &'a [u8],
    pub position: Position,
    pub place: u64,
}

impl Placed<'_> {
    /// Prefetches its URL.
    pub fn fetch(&self) {
        prefetch::fetch_all(self.url);
    }
}

/// Receives entries in the order of their URLs, and writes the one that is kept for each URL.
pub struct DuplicateFilter<'w, 'r, W> {
    on_duplicate: OnDuplicate,
    files: &'r [Input],
    /// The best entry of the current URL so far.
    last: Option<Placed<'r>>,
    to: &'w mut W,
}

/// Receives the entries that are kept, one for each URL.
pub trait FilterSink<'r> {
    /// Whether writing an entry reads its row.
    fn reads(&self, placed: &Placed<'_>) -> bool;

    /// Writes an entry.
    ///
    /// # Errors
    /// If it cannot be stored.
    fn write(&mut self, placed: Placed<'r>) -> Result<()>;

    /// Notes that an entry is dropped, and whether another order of the rows might have kept it.
    fn note_dropped(&mut self, is_by_order: bool);
}

impl<'w, 'r, W: FilterSink<'r>> DuplicateFilter<'w, 'r, W> {
    /// A filter of entries in `files`.
    pub fn new(on_duplicate: OnDuplicate, files: &'r [Input], to: &'w mut W) -> Self {
        Self { on_duplicate, files, last: None, to }
    }

    /// Prefetches what [`DuplicateFilter::push`] will read of an entry.
    #[inline]
    pub fn fetch(&self, placed: &Placed<'_>) {
        if self.to.reads(placed) {
            placed.fetch();
        }
    }

    /// Whether the next entry has the URL of the last one.
    pub fn is_duplicate(&self, placed: &Placed<'_>) -> bool {
        self.last.is_some_and(|last| last.url == placed.url)
    }

    /// Takes the next entry, and whether it has the URL of the last one.
    ///
    /// # Errors
    /// The first error of [`FilterSink::write`].
    pub fn push(&mut self, placed: Placed<'r>, is_duplicate: bool) -> Result<()> {
        match self.last {
            Some(last) if is_duplicate => {
                self.to.note_dropped(self.is_by_order(&placed, &last));
                if self.is_preferred(&placed, &last) {
                    self.last = Some(placed);
                }
                Ok(())
            }
            _ => self.last.replace(placed).map_or(Ok(()), |done| self.to.write(done)),
        }
    }

    /// Whether the order of `one` and `other`, which have the same URL, decides which entry is listed.
    fn is_by_order(&self, one: &Placed<'_>, other: &Placed<'_>) -> bool {
        let is_plain = one.position.is_plain() && other.position.is_plain();
        let entry = |placed: &Placed<'_>| {
            let tail = placed.position.tail(self.files);
            let entry = tail.entry(tail.url);
            (entry.tags, entry.extras.xml)
        };
        self.on_duplicate == OnDuplicate::First && !is_plain && entry(one) != entry(other)
    }

    /// Returns whether `one` is kept instead of `other`, which has the same URL.
    fn is_preferred(&self, one: &Placed<'_>, other: &Placed<'_>) -> bool {
        match self.on_duplicate {
            OnDuplicate::First => one.place < other.place,
            OnDuplicate::Newest => {
                // An entry without a time is older than any other. Equally new entries are ranked by their values, so that shuffled
                // input gives the same set. Only entries that differ in nothing but their section are ranked by their place: they
                // arrive in any order.
                let rank = |placed: &Placed<'_>| {
                    let tail = placed.position.tail(self.files);
                    let entry = tail.entry(tail.url);
                    (entry.instant, tag_values(entry.tags), entry.extras.xml, Reverse(placed.place))
                };
                rank(one) > rank(other)
            }
        }
    }

    /// Writes the last entry.
    ///
    /// # Errors
    /// Same as [`DuplicateFilter::push`].
    pub fn finish(self) -> Result<()> {
        self.last.map_or(Ok(()), |last| self.to.write(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::CleanUrl;
    use crate::intake::input::Segment;
    use crate::sitemap::entry::Entry;
    use crate::sitemap::extensions::Extras;
    use crate::survey::tail::Tail;

    impl FilterSink<'_> for Vec<u64> {
        fn reads(&self, _: &Placed<'_>) -> bool {
            true
        }

        fn write(&mut self, placed: Placed<'_>) -> Result<()> {
            self.push(placed.place);
            Ok(())
        }

        fn note_dropped(&mut self, _: bool) {}
    }

    const URL: &[u8] = b"https://h.example/";

    fn file(tails: &[u8]) -> Input {
        let mut segment = Segment::new(tails.len()).unwrap();
        segment.append(tails).unwrap();
        Input::held(&std::env::temp_dir(), segment).unwrap()
    }

    #[test]
    fn of_equally_new_entries_the_last_by_its_values_is_kept_and_a_missing_value_is_first() {
        let entry = |tags| Entry { tags, ..Entry::of(CleanUrl::known(URL, false)) };
        let images = Extras { xml: b"<image:image/>", ..Extras::default() };
        // From the first to the last.
        let entries = [
            entry(b""),
            Entry { extras: images, ..entry(b"") },
            entry(b"<priority>0.5</priority>"),
            entry(b"<priority>0.50</priority>"),
            entry(b"<changefreq>daily</changefreq>"),
            entry(b"<changefreq>weekly</changefreq>"),
            entry(b"<changefreq>weekly</changefreq><priority>0.1</priority>"),
            Entry { extras: images, ..entry(b"<changefreq>weekly</changefreq><priority>0.1</priority>") },
        ];
        let mut tails = Vec::new();
        let placed = entries.iter().zip(0..).map(|(entry, place)| {
            let at = tails.len();
            Tail::push(entry, 0, &mut tails);
            Placed { url: URL, position: Position::new(0, at, &Tail::read(&tails[at..])), place }
        });
        let placed: Vec<Placed<'_>> = placed.collect();
        let files = [file(&tails)];
        for (first, next) in placed.iter().zip(&placed[1..]) {
            for pair in [[*first, *next], [*next, *first]] {
                let mut kept = Vec::new();
                let mut survivors = DuplicateFilter::new(OnDuplicate::Newest, &files, &mut kept);
                survivors.push(pair[0], false).unwrap();
                survivors.push(pair[1], true).unwrap();
                survivors.finish().unwrap();
                assert_eq!(kept, [next.place]);
            }
        }
    }

    #[test]
    fn of_entries_that_differ_only_in_their_section_the_first_of_the_input_is_kept_in_whatever_order_they_come()
     {
        let mut tail = Vec::new();
        Tail::push(&Entry::of(CleanUrl::known(URL, false)), 0, &mut tail);
        let files = [file(&tail)];
        for on_duplicate in [OnDuplicate::First, OnDuplicate::Newest] {
            for places in [[1, 2, 3], [3, 2, 1], [2, 1, 3]] {
                let mut kept = Vec::new();
                let mut survivors = DuplicateFilter::new(on_duplicate, &files, &mut kept);
                for (at, place) in places.into_iter().enumerate() {
                    survivors.push(Placed { place, ..Placed::default() }, at > 0).unwrap();
                }
                survivors.finish().unwrap();
                assert_eq!(kept, [1], "{on_duplicate:?} {places:?}");
            }
        }
    }
}
