//! Numbers and lists as words, for messages.

/// Formats `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns `number` with three significant digits, for an estimate: more would look like a count. Rounded up, because an estimate
/// is shown next to the free space.
pub fn rounded(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(2));
    number.div_ceil(unit).saturating_mul(unit)
}

/// Returns `number` with its noun: `1 sitemap`, `2,000 sitemaps`.
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Returns the end of a list that leaves out `left_out` items: ` and 2,000 more`. Empty if none is left out.
pub fn and_more(left_out: usize) -> String {
    match left_out {
        0 => String::new(),
        more => format!(" and {} more", grouped(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, want) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (123_456, "123,456"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), want);
        }
        for (number, want) in
            [(0, 0), (7, 7), (999, 999), (1_234, 1_240), (999_986, 1_000_000), (47_820_725, 47_900_000)]
        {
            assert_eq!(rounded(number), want);
        }
        assert!(rounded(u64::MAX) > u64::MAX / 2);
        assert_eq!([0, 1, 2_000].map(and_more), ["", " and 1 more", " and 2,000 more"]);
    }
}
