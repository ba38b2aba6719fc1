//! URLs for servers that do not use UTF-8: `ü` is `%C3%BC` on most servers, and `%FC` on one that uses ISO-8859-1.

use std::fmt;
use std::str::FromStr;

use encoding_rs::{EncoderResult, Encoding, UTF_8};

use super::encode::push_escape;
use super::parser::path_of;
use super::reason::Reason;

/// The charset whose bytes are percent-encoded in path and query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrlEncoding(&'static Encoding);

impl Default for UrlEncoding {
    fn default() -> Self {
        Self(UTF_8)
    }
}

impl UrlEncoding {
    /// Whether this is UTF-8, so that bytes can be percent-encoded without conversion.
    pub fn is_utf8(self) -> bool {
        self.0 == UTF_8
    }

    /// Percent-encodes all non-ASCII characters in path and query of `line`. Bytes that are not UTF-8 are taken to be in the
    /// server's charset already. The host is left alone: host names have an encoding of their own. So is the fragment, which the
    /// parser drops.
    pub(super) fn recode(self, line: &[u8]) -> Result<Vec<u8>, Reason> {
        let (origin, tail) = line.split_at(path_of(line));
        let (tail, fragment) = tail.split_at(memchr::memchr(b'#', tail).unwrap_or(tail.len()));
        let mut recoded = origin.to_vec();
        let mut encoder = self.0.new_encoder();
        for part in tail.utf8_chunks() {
            for c in part.valid().chars() {
                if c.is_ascii() {
                    recoded.push(c as u8);
                    continue;
                }
                let (mut utf8, mut bytes) = ([0; 4], [0; 16]);
                let text = &*c.encode_utf8(&mut utf8);
                // The encoder is flushed after each character, so that a stateful charset returns to ASCII.
                match encoder.encode_from_utf8_without_replacement(text, &mut bytes, true) {
                    (EncoderResult::InputEmpty, _, written) => {
                        bytes[..written].iter().for_each(|&byte| push_escape(byte, &mut recoded));
                    }
                    _ => return Err(Reason::NotEncodable),
                }
                encoder = self.0.new_encoder();
            }
            part.invalid().iter().for_each(|&byte| push_escape(byte, &mut recoded));
        }
        // A control character in it is still rejected, and blanks before it are not the end of the line.
        recoded.extend_from_slice(fragment);
        Ok(recoded)
    }
}

impl FromStr for UrlEncoding {
    type Err = String;

    /// Takes any label of the WHATWG Encoding Standard. As in browsers, `iso-8859-1` means windows-1252.
    fn from_str(label: &str) -> Result<Self, String> {
        match Encoding::for_label(label.as_bytes()) {
            // URLs cannot be percent-encoded in UTF-16: browsers use UTF-8 instead.
            Some(encoding) if encoding.output_encoding() != encoding => {
                let name = encoding.name();
                Err(format!("{name} is not a charset for URLs; use that of the server, most likely utf-8"))
            }
            Some(encoding) => Ok(Self(encoding)),
            None => Err("unknown charset; use one that browsers know, such as utf-8 or windows-1251".into()),
        }
    }
}

impl fmt::Display for UrlEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name().to_ascii_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use crate::clean::{Cleaned, Cleaner, Reason};

    fn clean(label: &str, line: impl AsRef<[u8]>) -> Result<String, Reason> {
        match Cleaner::new(label.parse().unwrap()).clean(line.as_ref()) {
            Cleaned::Url(url) => Ok(String::from_utf8(url.as_bytes().to_vec()).unwrap()),
            Cleaned::Rejected(reason) => Err(reason),
            Cleaned::Blank => panic!("it is not blank"),
        }
    }

    #[test]
    fn one_url_is_encoded_as_in_the_source_documents() {
        let raw = "http://www.example.com/ümlat.html&q=name";
        assert_eq!(clean("utf-8", raw).unwrap(), "http://www.example.com/%C3%BCmlat.html&q=name");
        assert_eq!(clean("iso-8859-1", raw).unwrap(), "http://www.example.com/%FCmlat.html&q=name");
    }

    #[test]
    fn path_and_query_are_recoded_and_a_host_is_not() {
        for (label, raw, want) in [
            ("latin1", "http://bücher.example/ü?ü#ü", "http://xn--bcher-kva.example/%FC?%FC"),
            ("latin1", "HTTP:\\\\bücher.example\\ü", "http://xn--bcher-kva.example/%FC"),
            ("latin1", "http://h.example?ü", "http://h.example/?%FC"),
            ("latin1", "http://h.example/%C3%BC/ü", "http://h.example/%C3%BC/%FC"),
            ("windows-1251", "http://h.example/мир", "http://h.example/%EC%E8%F0"),
            ("shift_jis", "http://h.example/日本/a", "http://h.example/%93%FA%96%7B/a"),
            ("big5", "http://h.example/a/../中", "http://h.example/%A4%A4"),
            ("utf-8", "http://h.example/ü", "http://h.example/%C3%BC"),
        ] {
            assert_eq!(clean(label, raw).unwrap(), want, "{label}: {raw}");
        }
        assert_eq!(clean("latin1", b"http://h.example/\xe9/\xc3\xbc").unwrap(), "http://h.example/%E9/%FC");
    }

    #[test]
    fn a_character_that_the_charset_lacks_is_rejected_with_its_own_reason() {
        assert_eq!(clean("iso-8859-1", "http://h.example/日本"), Err(Reason::NotEncodable));
        assert_eq!(clean("iso-8859-1", "http://日本.example/a"), Ok("http://xn--wgv71a.example/a".into()));
        for raw in ["http://h.example/a#日本", "http://h.example/a#ü#日本"] {
            assert_eq!(clean("iso-8859-1", raw), Ok("http://h.example/a".into()), "{raw}");
        }
        assert_eq!(clean("iso-8859-1", "http://h.example#日本"), Ok("http://h.example/".into()));
        assert_eq!(clean("iso-8859-1", "http://h.example/ü? #日本"), Ok("http://h.example/%FC?%20".into()));
        assert_eq!(clean("iso-8859-1", "http://h.example/a#日\u{1}"), Err(Reason::ControlCharacter));
        assert_eq!(clean("iso-8859-1", "http://h.example/日#a"), Err(Reason::NotEncodable));
        for wrong in ["utf-16", "replacement", "klingon"] {
            assert!(wrong.parse::<super::UrlEncoding>().is_err(), "{wrong}");
        }
    }
}
