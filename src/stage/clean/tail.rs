//! A look at path and query: is there anything to change?

/// What the bytes behind an origin ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Canonical as they stand.
    Clean,
    /// Bytes to percent-encode or a fragment to drop, and nothing else: work for `encode`.
    Encode,
    /// Dot segments or backslashes: work for the parser.
    Parse,
    /// A byte below 0x20 or 0x7F.
    Control,
}

/// Looks at `tail`, which begins with the slash of the path: wide first, byte by byte only where that finds something.
pub fn look(tail: &[u8]) -> Look {
    if is_plain(tail) { Look::Clean } else { look_closely(tail) }
}

/// Bytes looked at together; the compiler turns the loop below into vector compares.
const LANES: usize = 16;

/// True only if every byte is one of `A-Z a-z 0-9 ! $ & ( ) * + , - . / : ; = ? @ _ ~` and no `.` follows a `/`.
fn is_plain(tail: &[u8]) -> bool {
    // Each byte is judged with the one before it. The first is the slash, which needs no judgement.
    let bytes = &tail[1..];
    let before = &tail[..tail.len() - 1];
    if bytes.len() < LANES {
        return bytes.iter().zip(before).all(|(&byte, &before)| is_plain_byte(byte, before));
    }
    let (blocks, _) = bytes.as_chunks::<LANES>();
    let (blocks_before, _) = before.as_chunks::<LANES>();
    // The last block overlaps the one before it, so that there is no ragged end.
    let last = bytes.last_chunk::<LANES>().expect("not shorter than LANES");
    let last_before = before.last_chunk::<LANES>().expect("as long as bytes");
    blocks.iter().zip(blocks_before).all(|(block, before)| is_plain_block(block, before))
        && is_plain_block(last, last_before)
}

#[inline(always)]
fn is_plain_block(block: &[u8; LANES], before: &[u8; LANES]) -> bool {
    let mut plain = true;
    for lane in 0..LANES {
        plain &= is_plain_byte(block[lane], before[lane]);
    }
    plain
}

/// No branches: `&` and `|` on purpose.
#[inline(always)]
fn is_plain_byte(byte: u8, before: u8) -> bool {
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    // ( ) * + , - . / 0-9 : ;
    let middle = byte.wrapping_sub(b'(') <= b';' - b'(';
    let other = (byte == b'=')
        | (byte == b'?')
        | (byte == b'_')
        | (byte == b'&')
        | (byte == b'~')
        | (byte == b'!')
        | (byte == b'$')
        | (byte == b'@');
    let dot_segment = (byte == b'.') & (before == b'/');
    (letter | middle | other) & !dot_segment
}

/// The same question with nothing left out: `'`, which a browser encodes in a query only; `%`, which may begin a valid
/// escape, a stray one or a dot segment; fragments.
fn look_closely(tail: &[u8]) -> Look {
    let mut look = Look::Clean;
    let mut in_query = false;
    let mut in_fragment = false;
    for (at, &byte) in tail.iter().enumerate() {
        match byte {
            0..0x20 | 0x7F => return Look::Control,
            _ if in_fragment => {}
            b'#' => (in_fragment, look) = (true, worse(look, Look::Encode)),
            b'?' => in_query = true,
            b'\\' if !in_query => look = Look::Parse,
            b'/' if !in_query && starts_with_dot(&tail[at + 1..]) => look = Look::Parse,
            b'%' if !is_escape(&tail[at..]) => look = worse(look, Look::Encode),
            b'%' => {}
            b'\'' if !in_query => {}
            _ if !super::encode::is_legal(byte, in_query) => look = worse(look, Look::Encode),
            _ => {}
        }
    }
    look
}

/// `Parse` stays; `Encode` replaces `Clean`.
fn worse(look: Look, than: Look) -> Look {
    if look == Look::Parse { look } else { than }
}

/// A segment that may be `.` or `..`, in any of their spellings. Some that are neither (`.well-known`) only cost time.
fn starts_with_dot(segment: &[u8]) -> bool {
    matches!(segment, [b'.', ..] | [b'%', b'2', b'e' | b'E', ..])
}

/// `%` and two hexadecimal digits.
pub fn is_escape(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}
