//! Lines that must be rejected, for every reason in turn, each in several forms.

use super::recipe::Base;

/// The reasons to reject a line, as named in sitemill's report.
pub const REASONS: [&str; 9] = [
    "control-character",
    "not-absolute",
    "scheme",
    "credentials",
    "host",
    "port",
    "too-long",
    "too-short",
    "out-of-scope",
];

/// Appends the `nth` bad line, without a line end. Returns the reason.
pub fn write(base: &Base, nth: u64, out: &mut Vec<u8>) -> &'static str {
    let reason = REASONS[(nth % REASONS.len() as u64) as usize];
    let form = nth / REASONS.len() as u64;
    let Base { url, scheme, host, port } = base;
    let good = String::from_utf8_lossy(url);
    let line = match (reason, form % 4) {
        ("control-character", 0) => format!("{good}bell\u{7}-{nth}.html"),
        ("control-character", 1) => format!("{good}tab\tinside-{nth}.html"),
        ("control-character", 2) => format!("{good}\u{1b}[31mred-{nth}.html"),
        ("control-character", _) => format!("{good}delete\u{7f}-{nth}.html"),
        ("not-absolute", 0) => format!("/relative/p{nth}.html"),
        ("not-absolute", 1) => format!("?page={nth}"),
        ("not-absolute", 2) => format!("//{host}/no-scheme-p{nth}.html"),
        ("not-absolute", _) => format!("{host}/no-scheme-p{nth}.html"),
        ("scheme", 0) => format!("ftp://{host}/p{nth}.html"),
        ("scheme", 1) => format!("data:text/plain,{nth}"),
        ("scheme", 2) => format!("javascript:alert({nth})"),
        ("scheme", _) => format!("mailto:shop-{nth}@{host}"),
        ("credentials", 0) => format!("{scheme}://:secret@{host}/p{nth}.html"),
        ("credentials", 1) => format!("{scheme}://user:secret@{host}/p{nth}.html"),
        ("credentials", _) => format!("{scheme}://user@{host}/p{nth}.html"),
        ("host", 0) => format!("{scheme}://two words.{host}/p{nth}.html"),
        ("host", 1) => format!("{scheme}://[::1/p{nth}.html"),
        ("host", 2) => format!("{scheme}://192.0.2.256/p{nth}.html"),
        ("host", _) => format!("{scheme}://a<b.{host}/p{nth}.html"),
        ("port", 0) => format!("{scheme}://{host}:-1/p{nth}.html"),
        ("port", 1) => format!("{scheme}://{host}:99999/p{nth}.html"),
        ("port", _) => format!("{scheme}://{host}:80a/p{nth}.html"),
        ("too-long", 0 | 1) => format!("{good}{:a>2100}-{nth}.html", ""),
        // 1,600 bytes that need 4,800 characters.
        ("too-long", _) => format!("{good}{:ü>800}-{nth}.html", ""),
        ("too-short", _) => {
            let letter = char::from(b'a' + (form % 26) as u8);
            format!("http://{letter}.b/")
        }
        (_, 0) => format!("{}://{host}/p{nth}.html", if scheme == "https" { "http" } else { "https" }),
        (_, 1) => format!("{scheme}://{host}:{}/p{nth}.html", if port == ":8443" { 8444 } else { 8443 }),
        (_, 2) => format!("{scheme}://outlet.{host}/p{nth}.html"),
        (_, _) => format!("{scheme}://{host}.example.net/p{nth}.html"),
    };
    out.extend_from_slice(line.as_bytes());
    reason
}
