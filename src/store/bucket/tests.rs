use std::pin::Pin;

use object_store::ClientOptions;
use object_store::aws::AmazonS3Builder;
use object_store::client::{HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService};

use super::*;
use crate::store::{Condition, Put, spawn};

/// Panics at every request.
#[derive(Debug)]
struct Panics;

impl HttpConnector for Panics {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Self))
    }
}

impl HttpService for Panics {
    fn call<'s, 'f>(
        &'s self,
        _: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        panic!("a wrong answer")
    }
}

#[test]
fn a_panic_of_the_client_library_fails_its_request_and_ends() {
    let location = Location::parse("s3://bucket".as_ref()).unwrap().unwrap();
    let store = AmazonS3Builder::new()
        .with_bucket_name("bucket")
        .with_region("local")
        .with_access_key_id("key")
        .with_secret_access_key("secret")
        .with_http_connector(Panics);
    let bucket = Bucket::new(Arc::new(store.build().unwrap()), &location, "a test".into());
    let put = || Put::new("a", "1", Condition::None);
    let object = Object { bytes: 1, tag: None, version: None, modified: 0 };
    let [one, two, three] = [(); 3].map(|()| bucket.clone());
    for (what, failed) in [
        ("read", bucket.read("a").err()),
        ("put", bucket.put(put()).err()),
        ("put_async", spawn(async move { one.put_async(put()).await }).wait().err()),
        ("run_of", spawn(async move { two.run_of("a").await }).wait().err()),
        ("read_range", spawn(async move { three.read_range("a", 0..1, &object).await }).wait().err()),
    ] {
        let failure = failed.expect(what).to_string();
        assert!(failure.contains("the client library panicked"), "{what}: {failure}");
    }
}
