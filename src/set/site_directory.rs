//! The names of the directories of sites, in a run that publishes a set for each.

use crate::clean::scope::BaseUrl;
use crate::common::digest::hex_digest;

/// Maximum bytes of a host in a directory name. A longer one is truncated. File systems accept 255 bytes for the whole name.
const HOST_BYTES_MAX: usize = 200;

/// The name of the directory of a site's set: its host if the site has the scheme `https` and no port, else
/// `scheme-host-port`. It consists of `a-z 0-9 . -` and begins with a letter or digit. No two sites have the same name: a
/// host with other characters, or one that looks like the second form, gets a hash of the whole origin appended.
pub fn site_directory(base_url: &BaseUrl) -> String {
    let origin = base_url.origin().trim_end_matches('/');
    let (scheme, authority) = origin.split_once("://").expect("a clean URL is absolute");
    // The last colon begins a port, unless it is part of an IPv6 address.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_plain = host.starts_with(|c: char| c.is_ascii_alphanumeric())
        && host.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-'))
        && !has_scheme(host)
        && host.len() <= HOST_BYTES_MAX;
    match (is_plain, scheme, port) {
        (true, "https", None) => host.to_owned(),
        (true, _, Some(port)) => format!("{scheme}-{host}-{port}"),
        (true, _, None) => format!("{scheme}-{host}-80"),
        (false, ..) => {
            let legal = |c: char| if matches!(c, 'a'..='z' | '0'..='9' | '.' | '-') { c } else { '-' };
            let host: String = host.chars().map(legal).take(HOST_BYTES_MAX).collect();
            format!("{scheme}-{host}-x{}", hex_digest(origin.as_bytes()))
        }
    }
}

/// Whether `name` begins as the second form of names does.
fn has_scheme(name: &str) -> bool {
    ["http-", "https-"].iter().any(|scheme| name.starts_with(scheme))
}

/// Whether `name` looks like one that [`site_directory`] returns. Those of `https` hosts without a dot, such as `localhost`, do
/// not, because many other directories have such names.
pub fn looks_like_site_directory(name: &str) -> bool {
    let is_legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-');
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(is_legal)
        && (name.contains('.') || has_scheme(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_site_has_a_directory_of_its_own_and_none_leaves_the_output_directory() {
        let mut names = std::collections::HashSet::new();
        for (origin, want) in [
            ("https://www.example.com", "www.example.com"),
            ("http://www.example.com", "http-www.example.com-80"),
            ("https://www.example.com:8443", "https-www.example.com-8443"),
            ("http://www.example.com:8443", "http-www.example.com-8443"),
            ("https://http-www.example.com-80", "https-http-www.example.com-80-x"),
            ("https://http-www.example.com-80:80", "https-http-www.example.com-80-x"),
            ("https://-dash.example", "https--dash.example-x"),
            ("https://my_host.example", "https-my-host.example-x"),
            ("https://my~host.example", "https-my-host.example-x"),
            ("http://[::1]", "http----1--x"),
            ("http://[::1]:81", "http----1--x"),
            ("http://127.0.0.1:9", "http-127.0.0.1-9"),
        ] {
            let name = site_directory(&origin.parse().unwrap());
            assert!(name == want || want.ends_with("-x") && name.starts_with(want), "{origin}: {name}");
            assert!(name.starts_with(|c: char| c.is_ascii_alphanumeric()) && !name.contains(['/', '\\']));
            assert!(looks_like_site_directory(&name), "{name}");
            assert!(names.insert(name), "{origin} meets another");
        }
        for other in ["", ".sitemill", "day=2024.05", "Maps.old", "data", "2024-05-01", "httpbin", "http"] {
            assert!(!looks_like_site_directory(other), "{other}");
        }
        // The longest possible host.
        let long = format!("https://{}.example", vec!["a".repeat(60); 4].join("."));
        assert!(site_directory(&long.parse().unwrap()).len() < 250);
    }
}
