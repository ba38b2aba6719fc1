//! Files that are often given by mistake and cannot be read. The message says what to do instead.

use std::path::Path;

use crate::error::{Error, Result, Shown, message};

/// A description of files with this extension.
pub fn of_extension(extension: &str) -> Option<&'static str> {
    match extension {
        "xz" | "lzma" => Some("xz"),
        "zip" | "7z" => Some("an archive"),
        "xlsx" | "xlsm" | "xls" | "ods" => Some("a spreadsheet"),
        _ => None,
    }
}

/// Refuses the input `name` if it begins with `head` and cannot be read.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data): what it is, and how to turn it into something that can be read.
pub fn check(name: &Path, head: &[u8]) -> Result<()> {
    let foreign = |what: &str, way: &str| Err(Error::data(message!(name, ": is {what}; {way}")));
    let piped = |what: &str, program: &str| {
        foreign(&format!("{what}, which sitemill does not read"), &pipe(name, program))
    };
    let is_spreadsheet = ["xlsx", "xlsm", "ods"].into_iter().any(|ending| has_ending(name, ending));
    match head {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => piped("UTF-32", "iconv -f UTF-32 -t UTF-8"),
        [b'<', 0, 0, 0, ..] => piped("UTF-32", "iconv -f UTF-32LE -t UTF-8"),
        [0, 0, 0, b'<', ..] => piped("UTF-32", "iconv -f UTF-32BE -t UTF-8"),
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => piped("xz", "xz -dc"),
        [0x04, 0x22, 0x4D, 0x18, ..] => piped("lz4", "lz4 -dc"),
        [0xFF, 0x06, 0, 0, b's', b'N', b'a', b'P', b'p', b'Y', ..] => piped("snappy", "snzip -dc"),
        [0x89, b'L', b'Z', b'O', 0, ..] => piped("lzo", "lzop -dc"),
        // The second byte is the level of compression. Hadoop calls it deflate.
        [b'x', 0x01 | b'^' | 0x9C | 0xDA, rest @ ..] if is_binary(rest) => piped("zlib", "pigz -dc <"),
        [b'7', b'z', 0xBC, 0xAF, 0x27, 0x1C, ..] => piped("a 7z archive", "7z x -so"),
        [b'R', b'a', b'r', b'!', 0x1A, 0x07, ..] => piped("a RAR archive", "unrar p -inul"),
        [b'S', b'E', b'Q', 4..=6, ..] => {
            foreign("a sequence file of Hadoop", "save it as text: hdfs dfs -text")
        }
        [b'%', b'P', b'D', b'F', b'-', ..] => foreign("a PDF document", "save the list as text or CSV"),
        // The first file in the archive of a spreadsheet: [Content_Types].xml in one format, mimetype in the other.
        [b'P', b'K', 3, 4, rest @ ..]
            if is_spreadsheet || rest.get(26..).is_some_and(|name| name.starts_with(b"[Content_Types]")) =>
        {
            foreign("a spreadsheet", "save it as CSV")
        }
        [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1, ..] => {
            foreign("an old spreadsheet or document", "save it as CSV")
        }
        [b'P', b'K', 3, 4, ..] => piped("a zip archive", "unzip -p"),
        [b'A', b'R', b'R', b'O', b'W', b'1', 0, 0, ..] | [0xFF, 0xFF, 0xFF, 0xFF, ..] => {
            foreign("Arrow (Feather), which sitemill reads only from code", "save it as Parquet")
        }
        // Text has no NUL, but a table may have the column ORCID.
        [b'O', b'R', b'C', rest @ ..] if rest.contains(&0) => foreign("ORC", "save it as Parquet"),
        // A table may have the column PARENT.
        [b'P', b'A', b'R', b'E', rest @ ..] if rest.contains(&0) => {
            foreign("encrypted Parquet", "save it without encryption")
        }
        [b'O', b'b', b'j', 1, ..] => foreign("Avro", "save it as Parquet or JSON lines"),
        _ if head.starts_with(b"SQLite format 3\0") => {
            foreign("an SQLite database", "export it: sqlite3 -header -csv DATABASE 'select …'")
        }
        // Protocols 2 to 5; the first byte begins no text in UTF-8.
        [0x80, 2..=5, ..] => foreign("a Python pickle", "save it as Parquet or CSV"),
        _ if is_tar(head) => piped("a tar archive", "tar -xOf"),
        _ => Ok(()),
    }
}

/// The error for the input `name`, packed by zstd with a window that is too large for the decoder.
pub fn wide_zstd(name: &Path) -> Error {
    let way = pipe(name, "zstd -dc -M2048MB");
    Error::data(message!(
        name,
        ": needs more memory to decompress than sitemill allows (a window over 128 MiB); {way}"
    ))
}

/// The way out for the input `name`, which `program` turns into text.
fn pipe(name: &Path, program: &str) -> String {
    let file = if name == Path::new("-") { "FILE".into() } else { format!("'{}'", Shown(name)) };
    format!("pipe it in: {program} {file} | sitemill build - …")
}

/// Whether `head` begins with a header of tar. The magic number of POSIX and GNU ends with a NUL, which no text has. Headers of
/// Unix version 7 have none, but all have a sum of their bytes.
fn is_tar(head: &[u8]) -> bool {
    let magic = head.get(257..).unwrap_or_default();
    magic.starts_with(b"ustar\0") || magic.starts_with(b"ustar  \0") || has_tar_sum(head)
}

/// Whether the first 512 bytes of `head` are a tar header: its checksum field has, in octal, the sum of all bytes, with the field
/// itself counted as blanks.
fn has_tar_sum(head: &[u8]) -> bool {
    const FIELD: std::ops::Range<usize> = 148..156;
    let Some(header) = head.get(..512).filter(|header| header.contains(&0)) else { return false };
    let sum_of = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
    let sum = sum_of(header) - sum_of(&header[FIELD]) + 8 * u32::from(b' ');
    let is_end = |byte: &u8| matches!(byte, b' ' | 0);
    let digits = header[FIELD].trim_ascii_start().split(is_end).next().unwrap_or_default();
    str::from_utf8(digits).is_ok_and(|digits| u32::from_str_radix(digits, 8) == Ok(sum))
}

/// Whether `head` contains a control character that text does not have, and is not UTF-8: tables of Hive have such characters.
fn is_binary(head: &[u8]) -> bool {
    head.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace())
        && str::from_utf8(head).is_err_and(|error| error.error_len().is_some())
}

fn has_ending(name: &Path, ending: &str) -> bool {
    name.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}
