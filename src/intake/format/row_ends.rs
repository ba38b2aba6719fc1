//! Ends of rows of CSV. As in csv-core, a quote opens a quoted value only at the first byte of the value.

use super::dialect::Dialect;

/// The position of the current byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// First byte of a value.
    Start,
    /// In a value without quotes, or after the closing quote.
    Plain,
    /// In a value in quotes.
    Quoted,
    /// After the character that escapes quotes, in a value in quotes.
    Escaped,
    /// After a quote within quotes, which is the first of two or the closing quote.
    Closing,
}

impl State {
    /// Whether a quote is open.
    pub fn is_quoted(self) -> bool {
        matches!(self, Self::Quoted | Self::Escaped)
    }
}

/// The row at the start of `text`, without its line end. `None` if a quote in it stays open, or if it is torn.
pub fn whole_row(text: &[u8], dialect: Dialect) -> Option<&[u8]> {
    let (mut state, mut at) = (State::Start, 0);
    while let Some(bytes) = memchr::memchr2(b'\n', b'\r', &text[at..]) {
        let end = at + bytes;
        if scan(&text[at..=end], dialect, &mut state).is_some() {
            return Some(&text[..end]).filter(|row| !has_torn_value(row, dialect));
        }
        at = end + 1;
    }
    scan(&text[at..], dialect, &mut state);
    Some(text).filter(|row| !state.is_quoted() && !has_torn_value(row, dialect))
}

/// Whether a value in `row` has a line end in its quotes, and something other than a delimiter follows the closing quote, which
/// RFC 4180 does not allow. Most likely, a quote in the value was not doubled, and the value goes on to a quote of a later row.
pub fn has_torn_value(row: &[u8], dialect: Dialect) -> bool {
    let (delimiter, escape) = (dialect.delimiter(), dialect.escape());
    let (mut state, mut has_line_end) = (State::Start, false);
    for &byte in row {
        state = match state {
            State::Start if byte == b'"' => {
                has_line_end = false;
                State::Quoted
            }
            State::Quoted if byte == b'"' => State::Closing,
            State::Quoted if Some(byte) == escape => State::Escaped,
            State::Quoted | State::Escaped => {
                has_line_end |= is_row_end(byte);
                State::Quoted
            }
            State::Closing if byte == b'"' => State::Quoted,
            State::Start | State::Plain | State::Closing if byte == delimiter => State::Start,
            State::Closing if has_line_end => return true,
            State::Start | State::Plain | State::Closing => State::Plain,
        };
    }
    false
}

fn is_row_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Scans `buffer`. Returns the end of the last row that ends in it.
pub fn scan(buffer: &[u8], dialect: Dialect, state: &mut State) -> Option<usize> {
    let delimiter = dialect.delimiter();
    let next_in_quotes = |bytes: &[u8]| match dialect.escape() {
        None => memchr::memchr(b'"', bytes),
        Some(escape) => memchr::memchr2(b'"', escape, bytes),
    };
    if matches!(state, State::Start | State::Plain) && memchr::memchr(b'"', buffer).is_none() {
        if let Some(&last) = buffer.last() {
            *state = if last == delimiter || is_row_end(last) { State::Start } else { State::Plain };
        }
        return memchr::memrchr2(b'\n', b'\r', buffer).map(|at| at + 1);
    }
    let mut row_end = None;
    let mut at = 0;
    while at < buffer.len() {
        *state = match *state {
            State::Start if buffer[at] == b'"' => {
                at += 1;
                State::Quoted
            }
            State::Start => State::Plain,
            State::Plain => match memchr::memchr3(delimiter, b'\n', b'\r', &buffer[at..]) {
                Some(bytes) => {
                    at += bytes + 1;
                    row_end = if buffer[at - 1] == delimiter { row_end } else { Some(at) };
                    State::Start
                }
                None => return row_end,
            },
            State::Quoted => match next_in_quotes(&buffer[at..]) {
                Some(bytes) => {
                    at += bytes + 1;
                    if buffer[at - 1] == b'"' { State::Closing } else { State::Escaped }
                }
                None => return row_end,
            },
            State::Escaped => {
                at += 1;
                State::Quoted
            }
            State::Closing if buffer[at] == b'"' => {
                at += 1;
                State::Quoted
            }
            State::Closing => State::Plain,
        };
    }
    row_end
}
