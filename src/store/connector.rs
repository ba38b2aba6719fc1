//! Connections to stores, on which listings lack the entries that the client library cannot represent: it refuses a whole listing
//! because of one of them.

use std::future::Future;
use std::pin::Pin;

use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use object_store::path::Path as Key;
use quick_xml::escape::{escape, unescape};

use super::clock::StoreClock;

/// Connects to a store, sets its clock by its responses, keeps the region that a redirect names, and filters its listings:
///
/// - An empty object whose key ends with a slash marks a folder in the web consoles of the stores, and is left out. The library
///   drops the slash.
/// - A listing of one level lacks the objects and prefixes whose keys have an empty segment or a control character. No file of a
///   set has such a key, and no pattern matches it. A listing of everything below a prefix keeps them, so that it fails: they may
///   be input.
#[derive(Debug)]
pub struct StoreConnector {
    /// The clock of the store.
    pub clock: StoreClock,
}

impl HttpConnector for StoreConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(StoreClient { client, clock: self.clock.clone() }))
    }
}

#[derive(Debug)]
struct StoreClient {
    client: HttpClient,
    clock: StoreClock,
}

impl HttpService for StoreClient {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let query = request.uri().query().unwrap_or_default();
            let mut pairs = query.split('&');
            let is_listing = pairs.clone().any(|pair| pair.starts_with("list-type=") || pair == "comp=list");
            let is_level = pairs.any(|pair| pair.starts_with("delimiter="));
            let response = self.client.execute(request).await?;
            if let Some(date) = response.headers().get("date").and_then(|date| date.to_str().ok()) {
                self.clock.set(date);
            }
            if !is_listing || !response.status().is_success() {
                return Ok(with_region(response));
            }
            let (head, body) = response.into_parts();
            let body = body.bytes().await?;
            // Anything but UTF-8 is refused by the library.
            let body = match std::str::from_utf8(&body) {
                Ok(xml) => filtered(xml, is_level).into(),
                Err(_) => body.into(),
            };
            Ok(HttpResponse::from_parts(head, body))
        })
    }
}

/// The header of S3 with the region of the bucket.
const REGION: &str = "x-amz-bucket-region";

/// The `response`; or instead of a redirect to the region of the bucket, which has no address, an error with its name: the library
/// drops the headers of redirects.
fn with_region(mut response: HttpResponse) -> HttpResponse {
    let is_redirect = response.status().is_redirection() && !response.headers().contains_key("location");
    let region = response.headers().get(REGION).and_then(|region| region.to_str().ok());
    let (true, Some(region)) = (is_redirect, region) else { return response };
    let code = "<Code>PermanentRedirect</Code>";
    let region = escape(region);
    let body = format!("<Error>{code}<Message>the bucket is in the region {region}</Message></Error>");
    *response.body_mut() = body.into();
    *response.status_mut() = 400u16.try_into().expect("400 is the status of a bad request");
    response
}

/// The elements of a listing's entries, and the elements of their keys: of S3 and Google, and of Azure.
const ENTRIES: [(&str, &str); 4] =
    [("Contents", "Key"), ("CommonPrefixes", "Prefix"), ("Blob", "Name"), ("BlobPrefix", "Name")];
/// The elements of an object's size.
const SIZES: [&str; 2] = ["Size", "Content-Length"];

/// The listing `xml` without the entries that are left out.
fn filtered(xml: &str, is_level: bool) -> String {
    let mut kept = String::with_capacity(xml.len());
    let mut rest = xml;
    loop {
        let starts = ENTRIES.map(|(entry, key)| rest.find(&format!("<{entry}>")).map(|at| (at, entry, key)));
        let Some((start, entry, key)) = starts.into_iter().flatten().min() else { break };
        let end_tag = format!("</{entry}>");
        let Some(length) = rest[start..].find(&end_tag) else { break };
        let (before, from) = rest.split_at(start);
        let (element, after) = from.split_at(length + end_tag.len());
        kept.push_str(before);
        if is_kept(element, key, is_level) {
            kept.push_str(element);
        }
        rest = after;
    }
    kept + rest
}

fn is_kept(element: &str, key: &str, is_level: bool) -> bool {
    let Some(Ok(key)) = content(element, key).map(unescape) else { return !is_level };
    let is_empty = SIZES.iter().any(|size| content(element, size) == Some("0"));
    let is_marker = is_empty && key.ends_with('/');
    !is_marker && (!is_level || Key::parse(&*key).is_ok())
}

fn content<'x>(element: &'x str, name: &str) -> Option<&'x str> {
    let (_, rest) = element.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>"))?.0)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn object(key: &str, size: u64) -> String {
        format!("<Contents><Key>{key}</Key><ETag>&quot;e&quot;</ETag><Size>{size}</Size></Contents>")
    }

    fn prefix(key: &str) -> String {
        format!("<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>")
    }

    /// The listing as Azure writes it.
    fn of_azure(listing: &str) -> String {
        let names = [
            ("<Contents><Key>", "<Blob><Name>"),
            ("</Key><ETag>&quot;e&quot;</ETag><Size>", "</Name><Properties><Content-Length>"),
            ("</Size></Contents>", "</Content-Length></Properties></Blob>"),
            ("<CommonPrefixes><Prefix>", "<BlobPrefix><Name>"),
            ("</Prefix></CommonPrefixes>", "</Name></BlobPrefix>"),
        ];
        names.iter().fold(listing.to_owned(), |listing, (s3, azure)| listing.replace(s3, azure))
    }

    #[test]
    fn a_redirect_without_an_address_becomes_an_error_with_the_region() {
        let response = |headers: &[(&'static str, &str)]| {
            let mut response = HttpResponse::new(String::new().into());
            *response.status_mut() = 301u16.try_into().unwrap();
            for (name, value) in headers {
                response.headers_mut().insert(*name, value.parse().unwrap());
            }
            with_region(response)
        };
        let elsewhere = response(&[(REGION, "eu-west-1")]);
        assert_eq!(elsewhere.status(), 400);
        let body = String::from_utf8_lossy(&elsewhere.into_body().bytes().now_or_never().unwrap().unwrap())
            .into_owned();
        assert!(body.contains("PermanentRedirect") && body.contains("eu-west-1"), "{body}");
        assert_eq!(response(&[(REGION, "eu-west-1"), ("location", "http://h")]).status(), 301);
        assert_eq!(response(&[]).status(), 301);
    }

    #[test]
    fn a_listing_has_no_markers_and_one_of_a_level_no_keys_that_cannot_be_used() {
        // Whether an entry is listed among all objects, and in a level.
        let entries = [
            (object("a/b.txt", 3), true, true),
            (object("a/empty", 0), true, true),
            (object("a/", 0), false, false),
            (object("a/folder/", 0), false, false),
            (object("a/not-empty/", 3), true, true),
            (object("a//b", 3), true, false),
            (object("a/&#x1;", 3), true, false),
            (object("a/../b", 3), true, false),
            (object("a/&amp;&lt;Key&gt;", 3), true, true),
            (prefix("a/b/"), true, true),
            (prefix("a//"), true, false),
        ];
        let listing = |chosen: &dyn Fn(&(String, bool, bool)) -> bool| {
            let entries = entries.iter().filter(|entry| chosen(entry));
            let entries: String = entries.map(|(entry, ..)| &**entry).collect();
            format!("<ListBucketResult><Prefix>a/</Prefix>{entries}<Key>x</Key></ListBucketResult>")
        };
        for write in [str::to_owned, of_azure] {
            let all = write(&listing(&|_| true));
            assert_eq!(filtered(&all, false), write(&listing(&|entry| entry.1)));
            assert_eq!(filtered(&all, true), write(&listing(&|entry| entry.2)));
        }
        assert_eq!(filtered("<Contents><Key>a//b", true), "<Contents><Key>a//b");
    }
}
