//! robots.txt: a block of `Sitemap:` lines in a file that sitemill otherwise leaves unchanged.
//!
//! ```text
//! User-agent: *
//! Disallow: /basket/
//! # sitemill: begin https://www.example.com/
//! Sitemap: https://www.example.com/sitemap-index-1.xml
//! # sitemill: end https://www.example.com/
//! ```
//!
//! The base URL in the markers, and the name of a named set after it, distinguish the blocks of several sets. All other bytes stay.
//! A `Sitemap:` line belongs to no group of rules (RFC 9309, 2.2.4), so the block may be anywhere.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use crate::common::output::STREAM;
use crate::common::stop::Stop;
use crate::error::{Error, Result, Setting, message};
use crate::limits::ROBOTS_BYTES_MAX;
use crate::place::{LocalFile, SetName};
use crate::words::grouped;

/// The file at the root of a host in which crawlers look for sitemaps.
pub(crate) const ROBOTS_TXT: &str = "robots.txt";

/// A set whose index files a robots.txt lists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner<'a> {
    /// The base URL of the set.
    pub base_url: &'a str,
    /// Its name, if it has one.
    pub name: Option<&'a SetName>,
}

impl fmt::Display for Owner<'_> {
    /// Writes the end of the markers of its block.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base_url)?;
        self.name.map_or(Ok(()), |name| write!(f, " {name}"))
    }
}

/// Refuses a file name that is robots.txt except for capital letters: crawlers request only the name in lower case (RFC 9309,
/// 2.3).
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage), with the right name.
pub(crate) fn check_name(path: &Path) -> Result<()> {
    let name = path.file_name().unwrap_or_default();
    if name == ROBOTS_TXT || !name.eq_ignore_ascii_case(ROBOTS_TXT) {
        return Ok(());
    }
    Err(Error::usage(message!(
        Setting::Robots,
        " ",
        path,
        ": crawlers request robots.txt, in lower case; rename the file, or allow any name with ",
        Setting::RobotsAnyName
    )))
}

/// Checks that the block of `owner` can be written to `file`. A file that does not exist is created.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if its markers do not pair up or it is not text in an ASCII-compatible charset;
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if it is a link or not a regular file, or cannot be replaced.
pub(crate) fn check(file: LocalFile<'_>, owner: Owner<'_>) -> Result<()> {
    check_text(file, owner)?;
    file.check_writable()
}

/// Checks the text of `file` as [`check`] does, and creates nothing.
///
/// # Errors
/// Same as [`check`], except that a file that cannot be replaced is not an error.
pub(crate) fn check_text(file: LocalFile<'_>, owner: Owner<'_>) -> Result<()> {
    if file.path() == Path::new(STREAM) {
        let why = "a robots.txt is changed in place; give a file";
        return Err(Error::usage(message!(Setting::Robots, " ", file.path(), ": {why}")));
    }
    block_in(file, &file.read()?, owner, &[]).map(drop)
}

/// Lists `indexes` in the block of `owner` of `file`: adds the block, or replaces the old one. A file that lists them
/// already is not touched. Raising `stop` ends the wait for another process that holds its lock.
///
/// # Errors
/// Same as [`check`]; also if the file cannot be written, would be too long, or if another program keeps it from being changed.
pub(crate) fn list_indexes(
    file: LocalFile<'_>,
    owner: Owner<'_>,
    indexes: &[String],
    stop: &Stop,
) -> Result<()> {
    file.edit(stop, |old, exists| {
        let new = block_in(file, old, owner, indexes)?;
        if exists && new == old {
            return Ok(None);
        }
        if new.len() > ROBOTS_BYTES_MAX {
            let [bytes, bytes_max] = [new.len(), ROBOTS_BYTES_MAX].map(|bytes| grouped(bytes as u64));
            return Err(Error::data(message!(
                file.path(),
                ": would have {bytes} bytes, and crawlers read no more than {bytes_max}; it was left unchanged"
            )));
        }
        Ok(Some(new))
    })
}

/// Returns a warning if `file` still has the block of `old`, a set that `new` has replaced under another base URL.
pub(crate) fn old_block(file: LocalFile<'_>, old: Owner<'_>, new: Owner<'_>) -> Option<Error> {
    if old.base_url == new.base_url {
        return None;
    }
    let text = file.read().ok()?;
    let begin = format!("# sitemill: begin {old}");
    let is_there = lines(&text).into_iter().any(|line| text[line].trim_ascii() == begin.as_bytes());
    is_there.then(|| Error::data(message!(
        file.path(),
        ": the lines from \"{begin}\" to \"# sitemill: end {old}\" still list the index files of the replaced set; remove them \
         unless its files are still served there"
    )))
}

/// The `text` of `file` with the block of `owner`.
fn block_in(file: LocalFile<'_>, text: &[u8], owner: Owner<'_>, indexes: &[String]) -> Result<Vec<u8>> {
    with_block(text, owner, indexes).map_err(|why| {
        Error::data(message!(file.path(), ": {why}; fix it by hand, or leave ", Setting::Robots, " out"))
    })
}

/// The text of a robots.txt with a block of `owner` that lists `indexes`. All other bytes stay.
fn with_block(text: &[u8], owner: Owner<'_>, indexes: &[String]) -> Result<Vec<u8>, String> {
    if text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") {
        return Err("is UTF-16, and crawlers read UTF-8".into());
    }
    let [begin, end] = markers(owner);
    let old = old_range(text, &begin, &end)?;
    let line_end = line_end(text);
    let mut block = Vec::new();
    let named = indexes.iter().map(|file| format!("Sitemap: {}{file}", owner.base_url));
    for line in [begin].into_iter().chain(named).chain([end]) {
        block.extend_from_slice(line.as_bytes());
        block.extend_from_slice(line_end);
    }
    let Range { start, end } = old.clone().unwrap_or(text.len()..text.len());
    let (before, after) = (&text[..start], &text[end..]);
    let glue: &[u8] = if is_ended(before) { b"" } else { line_end };
    if let Some(old) = old {
        // The last line keeps the line end that it has in the file, if it has one.
        block.truncate(block.len() - line_end.len());
        let ends = text[old.clone()].iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        block.extend_from_slice(&text[old.end - ends..old.end]);
    }
    Ok([before, glue, &block, after].concat())
}

/// The first and the last line of the block of `owner`.
fn markers(owner: Owner<'_>) -> [String; 2] {
    ["begin", "end"].map(|word| format!("# sitemill: {word} {owner}"))
}

/// Where `text` has the block between the lines `begin` and `end`, with these lines.
fn old_range(text: &[u8], begin: &str, end: &str) -> Result<Option<Range<usize>>, String> {
    let lines = lines(text);
    let is_marker = |line: &Range<usize>, marker: &str| text[line.clone()].trim_ascii() == marker.as_bytes();
    let places = |marker: &str| -> Vec<usize> {
        (0..lines.len()).filter(|&at| is_marker(&lines[at], marker)).collect()
    };
    match (&places(begin)[..], &places(end)[..]) {
        ([], []) => Ok(None),
        (&[begin], &[end]) if begin < end => Ok(Some(lines[begin].start..lines[end].end)),
        _ => Err(format!("the lines \"{begin}\" and \"{end}\" do not form a pair")),
    }
}

/// The URLs of the `Sitemap:` lines in `text`, each with the number of its line, except those in the block of `owner`. URLs
/// that are not UTF-8 are skipped, because no set has them.
pub(crate) fn listed(text: &[u8], owner: Option<Owner<'_>>) -> Vec<(u64, String)> {
    let block = owner.and_then(|owner| {
        let [begin, end] = markers(owner);
        old_range(text, &begin, &end).ok().flatten()
    });
    let is_inside = |at: usize| block.as_ref().is_some_and(|block| block.contains(&at));
    let url = |(number, line): (u64, Range<usize>)| {
        let start = line.start;
        // A comment may follow, in any charset.
        let line = text[line].split(|&byte| byte == b'#').next()?;
        let (word, value) = line.split_at(line.iter().position(|&byte| byte == b':')?);
        let url = value[1..].split(u8::is_ascii_whitespace).find(|part| !part.is_empty())?;
        // As in Google's parser: in any letter case, also `Site-map`, and longer words such as `Sitemaps`.
        let word = word.trim_ascii().to_ascii_lowercase();
        let is_sitemap = word.starts_with(b"sitemap") || word.starts_with(b"site-map");
        let is_listed = is_sitemap && !is_inside(start);
        is_listed.then(|| str::from_utf8(url).ok()).flatten().map(|url| (number, url.to_owned()))
    };
    (1..).zip(lines(text)).filter_map(url).collect()
}

/// Lines with their line ends. RFC 9309 allows CR, LF and CRLF.
fn lines(text: &[u8]) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut start = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    for (at, &byte) in text.iter().enumerate() {
        if byte == b'\n' || byte == b'\r' && text.get(at + 1) != Some(&b'\n') {
            lines.push(start..at + 1);
            start = at + 1;
        }
    }
    if start < text.len() {
        lines.push(start..text.len());
    }
    lines
}

/// The line end of the first line, or else LF.
fn line_end(text: &[u8]) -> &'static [u8] {
    match text.iter().position(|&byte| byte == b'\n' || byte == b'\r') {
        Some(at) if text[at..].starts_with(b"\r\n") => b"\r\n",
        Some(at) if text[at] == b'\r' => b"\r",
        _ => b"\n",
    }
}

/// Whether a line may begin after `text`.
fn is_ended(text: &[u8]) -> bool {
    matches!(text, [] | b"\xef\xbb\xbf" | [.., b'\n' | b'\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://h.example/";
    const PLAIN: Owner<'_> = Owner { base_url: BASE, name: None };

    fn block(text: &str, indexes: &[&str]) -> String {
        let indexes: Vec<String> = indexes.iter().map(|&index| index.into()).collect();
        String::from_utf8(with_block(text.as_bytes(), PLAIN, &indexes).unwrap()).unwrap()
    }

    #[test]
    fn lines_outside_the_block_are_read_as_crawlers_do() {
        let text = b"Allow: /\r\nsitemap : https://a.example/1.xml # old\r\nSitemap:\t2.xml\rSitemap:#x\nSITEMAP:3.xml#\xfc\n\
                     #Sitemap: 4.xml\n# sitemill: begin https://h.example/\nSitemap: 5.xml\n\
                     # sitemill: end https://h.example/\nSitemap: 6.xml\n\
                     Site-Map: 7.xml\nsitemaps: 8.xml\nA-Sitemap: 9.xml";
        let all = [
            (2, "https://a.example/1.xml"),
            (3, "2.xml"),
            (5, "3.xml"),
            (8, "5.xml"),
            (10, "6.xml"),
            (11, "7.xml"),
            (12, "8.xml"),
        ]
        .map(|(number, url): (u64, &str)| (number, url.to_owned()));
        assert_eq!(listed(text, None), all);
        let outside: Vec<_> = all.into_iter().filter(|(number, _)| *number != 8).collect();
        assert_eq!(listed(text, Some(PLAIN)), outside);
    }

    #[test]
    fn every_other_byte_stays_as_it_is() {
        for (before, end) in [
            ("", "\n"),
            ("User-agent: *\nDisallow: /a\n", "\n"),
            ("User-agent: *\r\nDisallow: /a\r\n", "\r\n"),
            ("User-agent: *\rDisallow: /a\r", "\r"),
            ("\u{feff}", "\n"),
            ("\u{feff}User-agent: *\n\n\n", "\n"),
            ("Sitemap: https://h.example/theirs.xml\n \t\n", "\n"),
            (
                "# sitemill: begin https://h.example/deeper/\n# sitemill: end https://h.example/deeper/\n",
                "\n",
            ),
            ("\0\u{1}\n", "\n"),
        ] {
            let [begin, finish] = ["begin", "end"].map(|word| format!("# sitemill: {word} {BASE}{end}"));
            let [a, b] = ["a.xml", "b.xml"].map(|file| format!("Sitemap: {BASE}{file}{end}"));
            let one = format!("{before}{begin}{a}{finish}");
            assert_eq!(block(before, &["a.xml"]), one, "{before:?}");
            assert_eq!(block(&one, &["a.xml"]), one, "the second time changes nothing");
            // Other programs may write after the block, and the file may lose its last line end.
            for after in ["", "Allow: /", "Allow: /\n\n", "\n\r\n"] {
                let old = format!("{one}{after}");
                let want = format!("{before}{begin}{a}{b}{finish}{after}");
                assert_eq!(block(&old, &["a.xml", "b.xml"]), want);
                assert_eq!(block(&want, &[]), format!("{before}{begin}{finish}{after}"));
            }
            let cut = one.trim_end();
            assert_eq!(block(cut, &["a.xml"]), cut);
        }
    }

    #[test]
    fn each_named_set_has_a_block_of_its_own() {
        let [blog, shop]: [SetName; 2] = ["blog", "shop"].map(|name| name.parse().unwrap());
        let owners = [None, Some(&blog), Some(&shop)].map(|name| Owner { base_url: BASE, name });
        let mut text = Vec::new();
        for (owner, index) in owners.into_iter().zip(["a.xml", "b.xml", "c.xml"]) {
            text = with_block(&text, owner, &[index.into()]).unwrap();
        }
        let all = String::from_utf8(text.clone()).unwrap();
        assert!(all.contains(&format!(
            "# sitemill: begin {BASE} blog\nSitemap: {BASE}b.xml\n# sitemill: end {BASE} blog\n"
        )));
        for (owner, index) in owners.into_iter().zip(["a.xml", "b.xml", "c.xml"]) {
            let changed = with_block(&text, owner, &["new.xml".into()]).unwrap();
            assert_eq!(String::from_utf8(changed).unwrap(), all.replace(index, "new.xml"));
        }
    }

    #[test]
    fn a_last_line_without_an_end_gets_one() {
        let want = |end: &str| format!("a{end}# sitemill: begin {BASE}{end}# sitemill: end {BASE}{end}");
        assert_eq!(block("a", &[]), want("\n"));
        assert_eq!(block("x\r\na", &[]), format!("x\r\n{}", want("\r\n")));
    }

    #[test]
    fn markers_that_do_not_match_are_refused() {
        let [begin, end] = ["begin", "end"].map(|word| format!("# sitemill: {word} {BASE}\n"));
        for wrong in [&[&begin][..], &[&end], &[&end, &begin], &[&begin, &begin, &end], &[&begin, &end, &end]]
        {
            let text: String = wrong.iter().map(|line| line.as_str()).collect();
            assert!(
                with_block(text.as_bytes(), PLAIN, &[]).unwrap_err().contains("do not form a pair"),
                "{text}"
            );
        }
        assert!(with_block(b"\xff\xfeU\0", PLAIN, &[]).is_err());
    }
}
