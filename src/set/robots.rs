//! robots.txt: our own block of `Sitemap:` lines in a file that belongs to others.
//!
//! ```text
//! User-agent: *
//! Disallow: /basket/
//! # sitemill: begin https://www.example.com/
//! Sitemap: https://www.example.com/sitemap-index-1.xml
//! # sitemill: end https://www.example.com/
//! ```
//!
//! The base URL in the markers tells the blocks of several sets apart. Everything else stays, byte for byte. A `Sitemap:`
//! line belongs to no group of rules (RFC 9309, 2.2.4), so the block may stand anywhere.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use crate::common::fifo::STREAM;
use crate::error::{Error, ErrorKind, Result, Shown};
use crate::place::atomic_file;
use crate::place::fs::{FileSystem, Kind, Locked, Meta};

/// What a crawler reads of the file at least, and Google at most: RFC 9309, 2.5.
const READ_BYTES: usize = 500 * 1024;

/// Refuses a file that is called robots.txt but for capital letters: crawlers ask for the name in lower case alone (RFC
/// 9309, 2.3).
///
/// # Errors
/// [`ErrorKind::Usage`], with the right name.
pub(crate) fn check_name(path: &Path) -> Result<()> {
    let name = path.file_name().unwrap_or_default();
    if name == "robots.txt" || !name.eq_ignore_ascii_case("robots.txt") {
        return Ok(());
    }
    Err(Error::usage(format!(
        "--robots {}: crawlers ask for robots.txt, in lower case; call the file so, or let any name pass with \
         --robots-any-name",
        Shown(path)
    )))
}

/// A robots.txt that was looked at.
pub(crate) struct RobotsFile<'a> {
    fs: &'a dyn FileSystem,
    path: &'a Path,
    /// What it holds; empty if there is none.
    text: Vec<u8>,
    /// The file that was read, if there is one.
    meta: Option<Meta>,
}

impl<'a> RobotsFile<'a> {
    /// Reads the file at `path`. One that is missing is as good as an empty one: it forbids nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if it is no file, or a link: whoever may write to the directory could make it lead to any file
    /// of the machine. Else if it cannot be read.
    pub fn read(fs: &'a dyn FileSystem, path: &'a Path) -> Result<Self> {
        if path == Path::new(STREAM) {
            return Err(Error::usage("--robots -: a robots.txt is changed in its place; name a file"));
        }
        let unfit = |why: &str| Error::new(ErrorKind::Output, format!("{}: {why}", Shown(path)));
        let meta = match fs.look(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io(path, "could not be looked at", error)),
            Ok(meta) if meta.kind == Kind::Link => {
                return Err(unfit(
                    "is a symbolic link, and a link is not followed; name the file that it leads to",
                ));
            }
            Ok(meta) if !meta.is_file() => return Err(unfit("is no file")),
            Ok(meta) => Some(meta),
        };
        let text = match &meta {
            None => Vec::new(),
            Some(_) => fs.read(path).map_err(|error| Error::io(path, "could not be read", error))?,
        };
        Ok(Self { fs, path, text, meta })
    }

    /// Looks whether the block for `base_url` can be written.
    ///
    /// # Errors
    /// [`ErrorKind::Data`] if the markers in it do not pair up or it is no text in an ASCII-compatible charset;
    /// [`ErrorKind::Output`] if nothing can be written beside it.
    pub fn check(&self, base_url: &str) -> Result<()> {
        self.with_block(base_url, &[])?;
        atomic_file::check(self.fs, self.path)
    }

    /// Adds the block for `base_url`, or puts the new one in the place of the old one. A file that says the same already is
    /// not touched. The new file takes the place of the old one at once, with its mode and, if we may, its owner. False if
    /// the file has been changed since it was read: nothing is written then.
    ///
    /// # Errors
    /// As [`RobotsFile::check`].
    fn write_block(self, base_url: &str, indexes: &[String]) -> Result<bool> {
        let text = self.with_block(base_url, indexes)?;
        if text == self.text && self.meta.is_some() {
            return Ok(true);
        }
        if text.len() > READ_BYTES {
            let (path, bytes) = (Shown(self.path), text.len());
            return Err(Error::data(format!(
                "{path}: would have {bytes} bytes, and crawlers read no more than {READ_BYTES}"
            )));
        }
        let replaced = self.write_beside(&text).and_then(|()| match self.is_unchanged() {
            true => atomic_file::put(self.fs, self.path).map(|()| true),
            false => Ok(false),
        });
        if !matches!(replaced, Ok(true)) {
            let _ = self.fs.remove(&atomic_file::beside(self.path));
        }
        replaced
    }

    fn write_beside(&self, text: &[u8]) -> Result<()> {
        let failed = |error| Error::io(self.path, "could not be written", error);
        let mut file = atomic_file::create(self.fs, self.path)?;
        if let Some(old) = &self.meta
            && !file.take_after(old).map_err(failed)?
        {
            let path = Shown(self.path);
            return Err(Error::new(
                ErrorKind::Permission,
                format!("{path}: its group cannot be kept, and others may not read it"),
            ));
        }
        file.write(text).and_then(|()| file.sync()).map(drop).map_err(failed)
    }

    fn is_unchanged(&self) -> bool {
        self.fs.look(self.path).ok() == self.meta
    }

    /// The text with the block for `base_url` that names `indexes`.
    fn with_block(&self, base_url: &str, indexes: &[String]) -> Result<Vec<u8>> {
        with_block(&self.text, base_url, indexes).map_err(|why| {
            Error::data(format!("{}: {why}; mend it by hand, or leave --robots out", Shown(self.path)))
        })
    }
}

/// How often a file is tried that somebody else is changing, or holds.
const TRIES: usize = 200;

/// Names `indexes` in the block for `base_url` of the file at `path`.
///
/// # Errors
/// If it cannot be read or written, or if somebody else keeps changing it.
pub(crate) fn name_indexes(
    fs: &dyn FileSystem,
    path: &Path,
    base_url: &str,
    indexes: &[String],
) -> Result<()> {
    for _ in 0..TRIES {
        let _turn = turn(fs, path);
        if RobotsFile::read(fs, path)?.write_block(base_url, indexes)? {
            return Ok(());
        }
    }
    Err(Error::data(format!("{}: somebody else keeps changing it; it stays as it is", Shown(path))))
}

/// Waits two seconds at most until no other run is at the file: two sets may share one. A lock is that of a file and not of
/// a name, so it counts only if the file has not been replaced meanwhile.
fn turn(fs: &dyn FileSystem, path: &Path) -> Option<Locked> {
    for _ in 0..TRIES {
        // Without a file, or without locks, there is none to wait for.
        match fs.lock(path, None).ok()? {
            None => sleep(Duration::from_millis(10)),
            Some(locked) if fs.look(path).is_ok_and(|now| now.identity == locked.meta.identity) => {
                return Some(locked);
            }
            Some(_) => {}
        }
    }
    None
}

fn with_block(text: &[u8], base_url: &str, indexes: &[String]) -> Result<Vec<u8>, String> {
    if text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") {
        return Err("is UTF-16, and crawlers read UTF-8".into());
    }
    let [begin, end] = ["begin", "end"].map(|word| format!("# sitemill: {word} {base_url}"));
    let is_marker = |line: &Range<usize>, marker: &str| text[line.clone()].trim_ascii() == marker.as_bytes();
    let lines = lines(text);
    let places = |marker: &str| -> Vec<usize> {
        (0..lines.len()).filter(|&at| is_marker(&lines[at], marker)).collect()
    };
    let old = match (&places(&begin)[..], &places(&end)[..]) {
        ([], []) => None,
        (&[begin], &[end]) if begin < end => Some(lines[begin].start..lines[end].end),
        _ => return Err(format!("the lines \"{begin}\" and \"{end}\" are not one pair")),
    };
    let line_end = line_end(text);
    let mut block = Vec::new();
    let named = indexes.iter().map(|file| format!("Sitemap: {base_url}{file}"));
    for line in [begin].into_iter().chain(named).chain([end]) {
        block.extend_from_slice(line.as_bytes());
        block.extend_from_slice(line_end);
    }
    let Range { start, end } = old.clone().unwrap_or(text.len()..text.len());
    let (before, behind) = (&text[..start], &text[end..]);
    let glue: &[u8] = if is_ended(before) { b"" } else { line_end };
    if let Some(old) = old {
        // What ends the last line may be no end at all, or belong to what somebody wrote behind it.
        block.truncate(block.len() - line_end.len());
        let ends = text[old.clone()].iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        block.extend_from_slice(&text[old.end - ends..old.end]);
    }
    Ok([before, glue, &block, behind].concat())
}

/// Lines with their ends: RFC 9309 takes CR, LF, and both together.
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

/// Whether a line may begin behind `text`.
fn is_ended(text: &[u8]) -> bool {
    matches!(text, [] | b"\xef\xbb\xbf" | [.., b'\n' | b'\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://h.example/";

    fn block(text: &str, indexes: &[&str]) -> String {
        let indexes: Vec<String> = indexes.iter().map(|&index| index.into()).collect();
        String::from_utf8(with_block(text.as_bytes(), BASE, &indexes).unwrap()).unwrap()
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
            // Others may write behind the block, and the file may lose its last line end.
            for behind in ["", "Allow: /", "Allow: /\n\n", "\n\r\n"] {
                let old = format!("{one}{behind}");
                let want = format!("{before}{begin}{a}{b}{finish}{behind}");
                assert_eq!(block(&old, &["a.xml", "b.xml"]), want);
                assert_eq!(block(&want, &[]), format!("{before}{begin}{finish}{behind}"));
            }
            let cut = one.trim_end();
            assert_eq!(block(cut, &["a.xml"]), cut);
        }
    }

    #[test]
    fn a_last_line_without_an_end_gets_one() {
        let want = |end: &str| format!("a{end}# sitemill: begin {BASE}{end}# sitemill: end {BASE}{end}");
        assert_eq!(block("a", &[]), want("\n"));
        assert_eq!(block("x\r\na", &[]), format!("x\r\n{}", want("\r\n")));
    }

    #[test]
    fn markers_that_are_no_pair_are_not_guessed_at() {
        let [begin, end] = ["begin", "end"].map(|word| format!("# sitemill: {word} {BASE}\n"));
        for wrong in [&[&begin][..], &[&end], &[&end, &begin], &[&begin, &begin, &end], &[&begin, &end, &end]]
        {
            let text: String = wrong.iter().map(|line| line.as_str()).collect();
            assert!(with_block(text.as_bytes(), BASE, &[]).unwrap_err().contains("not one pair"), "{text}");
        }
        assert!(with_block(b"\xff\xfeU\0", BASE, &[]).is_err());
    }
}
