//! Endpoints: the URLs of compatible stores.

use std::fmt;

use url::{Host, Url};

use crate::error::{Error, Message, Result, message};
use crate::escape::shown;

/// The URL of a compatible store, and the variable or file that it comes from; empty if it is from the settings.
#[derive(Debug)]
pub struct Endpoint {
    pub url: String,
    pub source: &'static str,
}

impl Endpoint {
    /// Whether nobody on the way to it can change a body: TLS protects it, or it does not leave this machine.
    pub fn is_private(&self) -> bool {
        Url::parse(&self.url).is_ok_and(|url| {
            let is_local = match url.host() {
                Some(Host::Domain(name)) => name == "localhost",
                Some(Host::Ipv4(address)) => address.is_loopback(),
                Some(Host::Ipv6(address)) => address.is_loopback(),
                None => false,
            };
            url.scheme() == "https" || is_local
        })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = if self.source.is_empty() { "" } else { ", from " };
        write!(f, "the endpoint is {}{from}{}", shown(self.url.as_bytes()), self.source)
    }
}

/// Checks the URL of a store, which `source` has given.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if it is not a URL that requests can be sent to, or has a password or a query,
/// which must not be in messages.
pub fn checked_endpoint(source: impl Into<Message>, url: String) -> Result<String> {
    let parsed = Url::parse(&url);
    let why = match &parsed {
        Ok(parsed) if !parsed.username().is_empty() || parsed.password().is_some() => {
            return Err(Error::usage(message!(
                source.into(),
                ": has a user name or password; leave them out, and set the keys as credentials"
            )));
        }
        Ok(parsed) if parsed.query().is_some() || parsed.fragment().is_some() => {
            let words = "has a query or a fragment, which the URL of a store cannot have; leave it out";
            return Err(Error::usage(message!(source.into(), ": {words}")));
        }
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") && parsed.has_host() => return Ok(url),
        Ok(_) => "it must begin with https:// or http://".to_owned(),
        // It may have a password or a signature, too.
        Err(error) if url.contains(['@', '?']) => {
            return Err(Error::usage(message!(source.into(), ": is not a URL ({error})")));
        }
        Err(error) => error.to_string(),
    };
    Err(Error::usage(message!(source.into(), ": {url:?} is not the URL of a store ({why})")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn an_endpoint_is_a_url_without_a_password() {
        for url in
            ["https://minio.example.com", "http://127.0.0.1:9000/", "http://[::1]:9000/devstoreaccount1"]
        {
            assert_eq!(checked_endpoint("X", url.into()).unwrap(), url);
        }
        for url in [
            "minio.example.com",
            "ftp://h",
            "http://127.0.0.1:99999",
            "http://256.256.256.256",
            "http://user:PASSW0RD@host",
            "http://user:PASSW0RD@host:99999",
            "https://PASSW0RD@host",
            "https://host/?sig=PASSW0RD",
            "https://host#PASSW0RD",
        ] {
            let error = checked_endpoint("X", url.into()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{url}");
            assert!(
                error.to_string().starts_with("X: ") && !error.to_string().contains("PASSW0RD"),
                "{error}"
            );
        }
    }

    #[test]
    fn bodies_are_signed_only_if_they_cross_a_network_in_the_clear() {
        for (endpoint, want) in [
            ("https://minio.example.com", true),
            ("http://localhost:9000", true),
            ("http://127.0.0.1:9000/", true),
            ("http://[::1]:9000", true),
            ("http://minio.example.com", false),
            ("http://localhost.example.com", false),
            ("http://127.0.0.1.example.com", false),
            ("http://10.0.0.7:9000", false),
            ("http://[fd00::1]", false),
            ("minio", false),
        ] {
            let endpoint = Endpoint { url: endpoint.into(), source: "" };
            assert_eq!(endpoint.is_private(), want, "{endpoint}");
        }
    }
}
