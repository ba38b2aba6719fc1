//! Inputs in a report: what was read, and which parts could not be used.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::format::{ColumnsFound, Facts, Format, NEEDS_UNPACKED, NameCounts, Packing, escaped_quotes};
use crate::error::{Message, Piece, Setting, message};
use crate::escape;

/// An input that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InputReport {
    /// Its path, escaped (`-`: standard input), or the name of rows from code.
    pub path: String,
    /// Its format: `text`, `csv`, `tsv`, `jsonl`, `parquet`, `sitemap`, `rss`, `atom` or `google`; `rows` for rows from code.
    pub format: String,
    /// `gzip`, `zstd` or `bzip2`, if it is compressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packing: Option<String>,
    /// Number of its lines or rows.
    pub lines: u64,
    /// Its size in bytes as stored, so compressed if the input is.
    pub bytes: u64,
    /// Its columns or keys, if its format has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<ColumnsReport>,
    /// How to read it as a table, if it is text whose first lines look like rows.
    #[serde(skip)]
    pub(crate) likely_options: Option<Message>,
    /// Whether its first URLs have `&amp;` instead of each `&`.
    #[serde(skip)]
    pub(crate) has_entities: bool,
    /// Whether rows were rejected whose quotes are most likely escaped with a backslash.
    #[serde(skip)]
    pub(crate) has_escaped_quotes: bool,
    /// Elements of a sitemap, and keys in values of extensions, that cannot be carried over, by name; what they contain is not
    /// counted again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped_elements: BTreeMap<String, u64>,
}

/// The columns of a table, or the keys of JSON lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ColumnsReport {
    /// The column or key that each part of a record was read from: `url`, `lastmod`, `changefreq`, `priority`, `alternates`,
    /// `images`, `videos`, `news`, `section`.
    pub used: BTreeMap<Cow<'static, str>, String>,
    /// All others in the order in which they occur first, escaped; `…` stands for those beyond the first 64.
    pub unused: Vec<String>,
    /// Unused columns named like an extension, such as `images`, whose type cannot hold its values.
    #[serde(skip)]
    pub impossible: Vec<(&'static str, String)>,
    /// Keys that no row has, though an option names them.
    #[serde(skip)]
    pub(crate) missing: Vec<(&'static str, String)>,
}

/// Names that columns of tags often have, in lower case and with letters and digits only.
const LIKELY_NAMES: [(&str, &[&str]); 3] = [
    (
        "lastmod",
        &[
            "updated",
            "updatedat",
            "updatedon",
            "updatetime",
            "updateddate",
            "updatedate",
            "lastupdate",
            "lastupdated",
            "lastupdatedat",
            "modified",
            "modifiedat",
            "modifiedon",
            "modifieddate",
            "modificationdate",
            "lastmodified",
            "lastmodifiedat",
            "lastmodifieddate",
            "lastmodification",
            "datemodified",
            "dateupdated",
            "mtime",
            "changedat",
            "lastchanged",
            "lastchange",
        ],
    ),
    ("changefreq", &["changefrequency", "frequency"]),
    ("priority", &["prio"]),
];

impl InputReport {
    /// Reports the `facts` of the input `name`, without the number of its lines and bytes.
    pub(crate) fn of_facts(name: &Path, facts: &Facts) -> Self {
        Self {
            path: escape::shown(name.as_os_str().as_encoded_bytes()),
            format: facts.format.map_or_else(|| "rows".into(), |format| format.to_string()),
            packing: (facts.packing != Packing::None).then(|| facts.packing.to_string()),
            lines: 0,
            bytes: 0,
            columns: facts.columns.as_ref().map(columns),
            likely_options: facts.likely_options.clone(),
            has_entities: facts.has_entities,
            has_escaped_quotes: facts.has_escaped_quotes,
            dropped_elements: elements(&facts.dropped_elements),
        }
    }

    /// Suggests the column `url` if the URL was read from another one whose name has precedence.
    pub(crate) fn other_url(&self) -> Option<Message> {
        let columns = self.columns.as_ref()?;
        let read = columns.used.get("url")?;
        let url = columns.unused.iter().find(|name| name.eq_ignore_ascii_case("url"))?;
        let word = self.column_word();
        let columns = columns.setting_with(&[("url", url)]);
        Some(message!("the URL was read from {word} {read}; ", columns, " reads it from {url}"))
    }

    /// Suggests what the user could do about URLs that were probably misread, and about columns that were not used, or not
    /// recognised.
    pub fn hints(&self) -> Vec<Message> {
        let mut hints = self.hints_of_columns();
        hints.extend(self.hints_of_urls());
        hints
    }

    /// Suggests what to do about URLs that were probably misread, as the first lines show.
    pub(crate) fn hints_of_urls(&self) -> impl Iterator<Item = Message> {
        let of_rows = self.likely_options.as_ref().map(|options| self.hint_of_rows(options));
        let of_entities = self.has_entities.then(|| self.hint_of_entities());
        of_rows.into_iter().chain(of_entities)
    }

    /// The hint for URLs in which each `&` is escaped. A command for lines would also change other columns.
    fn hint_of_entities(&self) -> Message {
        let (path, note) = (&self.path, self.packing.as_ref().map_or("", |_| NEEDS_UNPACKED));
        let way_out = match self.urls_of_rows() {
            Some(urls) => format!("correct {urls} in the export"),
            None => format!("convert them: sed 's/&amp;/\\&/g'{note}"),
        };
        message!("URLs in {path} have &amp; instead of &, as in XML; {way_out}")
    }

    fn hints_of_columns(&self) -> Vec<Message> {
        // The attributes of Google's lists have fixed names.
        let Some(columns) = self.columns.as_ref().filter(|_| !self.is_google()) else { return Vec::new() };
        let word = self.column_word();
        let impossible = columns
            .impossible
            .iter()
            .map(|(part, name)| message!("column {name} is not used: {part} must be text, lists or structs"));
        let missing = columns.missing.iter().map(|(part, name)| {
            let (path, columns) = (&self.path, Setting::Columns.with(format_args!("{part}={name}")));
            message!("no row of {path} has the {word} {name}; correct ", columns)
        });
        let likely = columns.likely();
        let names = likely.iter().map(|&(_, name)| name).collect::<Vec<_>>().join(", ");
        let uses = match likely.len() {
            0 => None,
            1 => Some(message!("{word} {names} is not used; ", columns.setting_with(&likely), " uses it")),
            _ => {
                Some(message!("{word}s {names} are not used; ", columns.setting_with(&likely), " uses them"))
            }
        };
        let path = &self.path;
        let escaped =
            self.has_escaped_quotes.then(|| message!("rows of {path} are rejected: ", escaped_quotes()));
        escaped.into_iter().chain(missing).chain(impossible).chain(uses).collect()
    }

    /// The parts of a row whose key, named by an option, no row has, and these keys. An input without any key has no rows to judge.
    pub(crate) fn missing(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let columns = self.columns.as_ref();
        let columns = columns.filter(|columns| !columns.used.is_empty() || !columns.unused.is_empty());
        columns.into_iter().flat_map(|columns| &columns.missing).map(|(part, name)| (*part, &**name))
    }

    /// Whether a row has a value for `part` in a column or under a key that options can name.
    pub(crate) fn uses(&self, part: &str) -> bool {
        let columns = self.columns.as_ref().filter(|_| !self.is_google());
        columns.is_some_and(|columns| columns.used.contains_key(part))
    }

    /// The setting that reads `part` from the key `below` in the JSON objects that it is read from now, if it is.
    pub(crate) fn setting_below(&self, part: &str, below: &str) -> Option<Piece> {
        let columns = self.columns.as_ref().filter(|_| self.format.parse() == Ok(Format::Jsonl))?;
        let key = columns.used.get(part)?;
        Some(columns.setting_with(&[(part, &format!("{key}.{below}"))]))
    }

    /// All its columns or keys, for a message.
    pub(crate) fn all_columns(&self) -> String {
        let columns = self.columns.iter();
        let all = columns.flat_map(|columns| columns.used.values().chain(&columns.unused));
        all.map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// The word for a column in its format.
    pub(crate) fn column_word(&self) -> &'static str {
        self.format.parse::<Format>().map_or("column", Format::column_word)
    }

    /// The hint for text that was read as one URL per line, though its first lines look like rows, which `options` read.
    fn hint_of_rows(&self, options: &Message) -> Message {
        let path = &self.path;
        message!(
            "the first lines of {path} look like rows, and each line was read as one URL; if they are rows, use ",
            options
        )
    }

    /// The URLs to correct in an export whose lines are not URLs: `column page`. `None` for a list of URLs.
    pub(crate) fn urls_of_rows(&self) -> Option<String> {
        if self.format.parse() == Ok(Format::Text) {
            return None;
        }
        let used = self.columns.as_ref().and_then(|columns| columns.used.get("url"));
        Some(used.map_or("the URLs".into(), |name| format!("{} {name}", self.column_word())))
    }

    fn is_google(&self) -> bool {
        self.format.parse() == Ok(Format::Google)
    }

    /// Whether a delimiter separates its values.
    pub(crate) fn has_delimiter(&self) -> bool {
        self.format.parse().is_ok_and(Format::has_quotes)
    }

    /// Whether options can name its columns or keys. Rows from code have names of their own.
    pub(crate) fn has_named_columns(&self) -> bool {
        let has = |format: Format| format.has_quotes() || matches!(format, Format::Jsonl | Format::Parquet);
        self.format.parse().map_or(true, has)
    }

    /// Whether it is a sitemap or a feed.
    pub(crate) fn is_xml(&self) -> bool {
        self.format.parse().is_ok_and(Format::is_xml)
    }
}

impl ColumnsReport {
    /// The unused columns that most likely hold a tag, each with the tag.
    fn likely(&self) -> Vec<(&'static str, &str)> {
        let plain = |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric(), "").to_ascii_lowercase();
        let unused = LIKELY_NAMES.into_iter().filter(|(part, _)| !self.used.contains_key(*part));
        let likely = unused.filter_map(|(part, likely)| {
            // A name with a comma cannot be given.
            let is_likely = |name: &&String| likely.contains(&&*plain(name)) && !name.contains(',');
            let name = self.unused.iter().find(is_likely)?;
            Some((part, &**name))
        });
        likely.collect()
    }

    /// The setting for columns with which the parts of a row are read from the columns in `more`, and all others as now.
    fn setting_with(&self, more: &[(&str, &str)]) -> Piece {
        // The usual names need no setting. The setting for sections is another one.
        let has_unused = |name: &str| self.unused.iter().any(|other| other.eq_ignore_ascii_case(name));
        let is_usual = |part: &str, name: &str| match part {
            "section" => true,
            "url" if name.eq_ignore_ascii_case("loc") => true,
            "url" => name.eq_ignore_ascii_case("url") && !has_unused("loc"),
            _ => name.eq_ignore_ascii_case(part),
        };
        let is_replaced = |part: &str| more.iter().any(|&(other, _)| other == part);
        let used = self.used.iter().map(|(part, name)| (&**part, &**name));
        let kept = used.filter(|&(part, name)| !is_usual(part, name) && !is_replaced(part));
        let pairs = kept.chain(more.iter().copied()).map(|(part, name)| format!("{part}={name}"));
        Setting::Columns.with(pairs.collect::<Vec<_>>().join(","))
    }
}

fn columns(found: &ColumnsFound) -> ColumnsReport {
    let used = found.used.iter().map(|(part, name)| ((*part).into(), escape::shown(name)));
    let shown = |(part, name): &(&'static str, Vec<u8>)| (*part, escape::shown(name));
    ColumnsReport {
        used: used.collect(),
        unused: found.shown_unused().map(Into::into).collect(),
        impossible: found.impossible.iter().map(shown).collect(),
        missing: found.missing().map(shown).collect(),
    }
}

/// Long names may look alike when they are shortened.
fn elements(counts: &NameCounts) -> BTreeMap<String, u64> {
    let mut elements = BTreeMap::new();
    counts.shown().for_each(|(name, count)| *elements.entry(name).or_insert(0) += count);
    elements
}

/// A file or directory below an input directory that was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Skipped {
    /// Its path, escaped.
    pub path: String,
    /// Why it was not read.
    pub reason: Cow<'static, str>,
    /// Whether this is expected, as for a marker or a sitemap of an earlier set.
    #[serde(skip)]
    pub is_usual: bool,
}
