//! Short URLs: a number in base 36 after the base URL, so that a billion lines fit on a small disk.

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
/// Digits of `u64::MAX`.
const DIGITS_MAX: usize = 13;

/// Appends `number` in base 36, without leading zeros.
pub fn write_base_36(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; DIGITS_MAX];
    let mut begin = DIGITS_MAX;
    loop {
        begin -= 1;
        digits[begin] = DIGITS[(number % 36) as usize];
        number /= 36;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[begin..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_library_reads_the_number_back() {
        for number in (0..2000).chain([36u64.pow(6) - 1, 36u64.pow(6), u64::MAX]) {
            let mut out = Vec::new();
            write_base_36(number, &mut out);
            let text = String::from_utf8(out).expect("the digits are ASCII");
            assert_eq!(u64::from_str_radix(&text, 36), Ok(number));
            assert!(text == "0" || !text.starts_with('0'), "{text}");
        }
    }
}
