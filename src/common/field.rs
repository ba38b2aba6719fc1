//! Fields of records: numbers in LEB128, and bytes after their length.

/// Appends `number`, seven bits per byte, lowest first.
#[inline]
pub fn push_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the length of `field`, then `field`.
#[inline]
pub fn push(field: &[u8], out: &mut Vec<u8>) {
    push_number(field.len() as u64, out);
    out.extend_from_slice(field);
}

/// Takes a byte from the start of `rest`.
#[inline]
pub fn byte(rest: &mut &[u8]) -> u8 {
    *rest.split_off_first().expect("the whole field was written")
}

/// Takes a number from the start of `rest`.
#[inline]
pub fn number(rest: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let byte = byte(rest);
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

/// Takes a field from the start of `rest`.
#[inline]
pub fn take<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let bytes = number(rest) as usize;
    rest.split_off(..bytes).expect("`push` wrote the whole field")
}

/// Splits the first field off `bytes`. `None` if the field is incomplete.
#[inline]
pub fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut rest, mut length) = (bytes, 0);
    for shift in (0..u64::BITS).step_by(7) {
        let byte = *rest.split_off_first()?;
        length |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            break;
        }
    }
    rest.split_at_checked(usize::try_from(length).ok()?)
}
