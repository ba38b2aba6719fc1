//! Host names: detects those that DNS does not allow, and repairs those that browsers accept but the `url` crate refuses.

use super::legal::is_escape;

/// Maximum length of a label: RFC 1035 section 2.3.4, "Size limits".
pub const LABEL_BYTES_MAX: usize = 63;

/// Maximum length of a host: 255 bytes on the wire (RFC 1035 section 2.3.4), two of which are the first length and the root.
pub const HOST_BYTES_MAX: usize = 253;

/// Whether DNS allows `host`, which is lower-case ASCII: each label has 1 to [`LABEL_BYTES_MAX`] bytes, and the name at most
/// [`HOST_BYTES_MAX`]. A dot at the end names the root and does not count.
pub fn can_be_resolved(host: &[u8]) -> bool {
    let name = host.strip_suffix(b".").unwrap_or(host);
    // An IPv6 address has no dots and is shorter than a label.
    name.len() <= HOST_BYTES_MAX
        && name.split(|&byte| byte == b'.').all(|label| (1..=LABEL_BYTES_MAX).contains(&label.len()))
}

/// Percent-decodes `host` and makes it lower-case. `None` if the result is not ASCII, or has a byte that no domain may have.
pub fn ascii(host: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(host.len());
    let mut rest = host;
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = || u8::from_str_radix(str::from_utf8(after.get(..2)?).ok()?, 16).ok();
        let (byte, after) = match byte {
            b'%' if is_escape(rest) => (escaped()?, &after[2..]),
            byte => (byte, after),
        };
        decoded.push(byte.to_ascii_lowercase());
        rest = after;
    }
    // WHATWG URL, "forbidden domain code point".
    let is_forbidden = |byte: &u8| !byte.is_ascii_graphic() || b"#%/:<>?@[\\]^|".contains(byte);
    (!decoded.is_empty() && !decoded.iter().any(is_forbidden)).then_some(decoded)
}

/// Replaces the hyphens of the punycode prefix `xn--` in every label of the lower-case `host`. The length stays the same.
pub fn without_punycode(host: &[u8]) -> Vec<u8> {
    let mut plain = host.to_vec();
    for label in plain.split_mut(|&byte| byte == b'.') {
        if label.starts_with(b"xn--") {
            label[2..4].fill(b'_');
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ascii_host_is_decoded_and_lowercased_or_rejected() {
        for (host, want) in [
            ("XN--A.Example", Some("xn--a.example")),
            ("%78n--%41", Some("xn--a")),
            ("xn--a%", None),
            ("xn--a%2541", None),
            ("xn--a%2Fb", None),
            ("xn--a%00", None),
            ("xn--a%20", None),
            ("xn--\u{e4}", None),
            ("", None),
        ] {
            assert_eq!(ascii(host.as_bytes()).as_deref(), want.map(str::as_bytes), "{host}");
        }
    }

    #[test]
    fn labels_and_hosts_stay_within_the_limits_of_dns() {
        let of =
            |labels: &[usize]| labels.iter().map(|&bytes| "a".repeat(bytes)).collect::<Vec<_>>().join(".");
        for labels in [&[1][..], &[63], &[63, 1], &[63, 63, 63, 61], &[1; 127]] {
            assert!(can_be_resolved(of(labels).as_bytes()), "{labels:?}");
            assert!(can_be_resolved((of(labels) + ".").as_bytes()), "{labels:?} and the root");
        }
        for labels in
            [&[][..], &[64], &[1, 64, 1], &[63, 63, 63, 62], &[0, 1], &[1, 0], &[1, 0, 1], &[1, 0, 0]]
        {
            let host = of(labels) + if labels.last() == Some(&0) { "." } else { "" };
            assert!(!can_be_resolved(host.as_bytes()), "{labels:?}");
        }
        assert!(!can_be_resolved(b".") && !can_be_resolved(b".."));
        assert!(can_be_resolved(b"[1234:1234:1234:1234:1234:1234:1234:1234]"));
    }
}
