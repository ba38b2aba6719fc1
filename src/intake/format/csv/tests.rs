//! Compares cuts and tables with csv-core, which reads the same text as a whole.

use std::io::Cursor;
use std::path::Path;

use csv_core::ReadRecordResult;

use super::*;
use crate::intake::slow::Slow;

/// Line, offset and fields of each row; `None` if a quote stays open.
type Rows = Option<Vec<(u64, u64, Vec<Vec<u8>>)>>;

fn in_blocks(text: &[u8], step: usize, dialect: Dialect) -> Rows {
    let stream = Box::new(Slow(Cursor::new(text.to_vec()), step));
    let mut rows = Vec::new();
    for block in Cuts::new(Text::open(Path::new("-"), stream).unwrap(), dialect) {
        let block = block.ok()?;
        let mut table = Table::new(&block, dialect);
        while let Some(row) = table.next_row() {
            let fields = (0..row.fields()).map(|at| row.field(at).to_vec()).collect();
            rows.push((row.line, row.offset, fields));
        }
    }
    Some(rows)
}

/// The plain version: one row after the other, without blocks.
fn as_a_whole(text: &[u8], dialect: Dialect) -> Rows {
    let mut core = dialect.reader();
    let mut rows = Vec::new();
    let mut at = 0;
    while let Some(bytes) = text[at..].iter().position(|byte| !b"\r\n".contains(byte)) {
        at += bytes;
        let line = 1 + text[..at].iter().filter(|&&byte| byte == b'\n').count() as u64;
        let (mut out, mut ends) = ([0; 64], [0; 64]);
        let (result, read, written, mut fields) = core.read_record(&text[at..], &mut out, &mut ends);
        if result == ReadRecordResult::InputEmpty {
            // A line end shows whether the row can end at the end of the text.
            match core.read_record(b"\n", &mut out[written..], &mut ends[fields..]) {
                (ReadRecordResult::Record, _, _, more) => fields += more,
                _ => return None,
            }
        }
        let starts = [0].into_iter().chain(ends);
        let fields = starts.zip(ends).take(fields).map(|(start, end)| out[start..end].to_vec());
        rows.push((line, at as u64, fields.collect()));
        at += read;
    }
    Some(rows)
}

#[test]
fn rows_are_those_of_csv_core_wherever_the_text_is_cut() {
    let mut open = 0;
    // A longer text would take that much longer with every delimiter.
    for (by, escape, longest) in
        [(",", "", 7), (";", "", 5), ("tab", "", 5), ("a", "", 5), ("\\x00", "", 5), (",", "\\", 6)]
    {
        let dialect = Dialect { by: by.parse().unwrap(), escape: escape.parse().ok() };
        let mut letters = vec![b'x', dialect.delimiter(), b'"', b'\n', b'\r'];
        letters.extend(dialect.escape());
        for length in 0..=longest {
            for number in 0..letters.len().pow(length) {
                let digits = (0..length).map(|place| number / letters.len().pow(place) % letters.len());
                let text: Vec<u8> = digits.map(|digit| letters[digit]).collect();
                let want = as_a_whole(&text, dialect);
                open += usize::from(want.is_none());
                for step in [1, 2, 3, usize::MAX] {
                    let found = in_blocks(&text, step, dialect);
                    assert_eq!(found, want, "{:?} by {step}", text.escape_ascii().to_string());
                }
            }
        }
    }
    assert!(open > 0, "some quotes stay open");
}
