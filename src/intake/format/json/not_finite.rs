//! `NaN` and `Infinity`, which JSON does not have, but Python's `json.dumps` writes.

/// Not finite numbers, the longest first.
const WORDS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];

/// `line` with null for each number that is not finite; `None` if there is none. Strings stay as they are.
#[cold]
pub fn as_null(line: &[u8]) -> Option<Vec<u8>> {
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    if !WORDS.into_iter().any(has) {
        return None;
    }
    let mut out = Vec::with_capacity(line.len());
    let (mut rest, mut is_string, mut has_any) = (line, false, false);
    while let [byte, after @ ..] = rest {
        let word = WORDS.into_iter().find(|word| !is_string && rest.starts_with(word));
        let bytes = match (word, byte) {
            (Some(word), _) => word.len(),
            (None, b'\\') => 2.min(rest.len()),
            (None, _) => 1,
        };
        is_string ^= *byte == b'"';
        has_any |= word.is_some();
        out.extend_from_slice(if word.is_some() { b"null" } else { &rest[..bytes] });
        rest = &after[bytes - 1..];
    }
    has_any.then_some(out)
}
