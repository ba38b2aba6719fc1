use super::*;

#[test]
fn an_answer_has_code_and_message_and_nothing_secret() {
    let body = "Error performing PUT http://h/b/k in 1ms - Server returned non-2xx status code: 403 Forbidden: <?xml version=\"1.0\"?><Error>\
                <Code>SignatureDoesNotMatch</Code><Message>The signature differs.</Message><AWSAccessKeyId>AKIA1</AWSAccessKeyId>\
                <StringToSign>secret</StringToSign></Error>";
    assert_eq!(answer(body), "SignatureDoesNotMatch: The signature differs.");
    let plain = "Generic S3 error: Error performing GET http://h/b/k in 1ms - Server returned non-2xx status code: 502 Bad Gateway: busy";
    assert_eq!(answer(plain), "Server returned non-2xx status code: 502 Bad Gateway: busy");
    for (request, code) in [("DeleteObjects", "AccessDenied"), ("Bulk delete", "403")] {
        let text = format!(
            "Generic error: {request} request failed for key a/b.xml: Access: denied. (code: {code})"
        );
        assert_eq!(answer(&text), format!("{code}: Access: denied."));
    }
}

#[test]
fn the_last_cause_of_a_failure_is_shown_however_long_the_url_is() {
    let url = format!("https://h/{}", "b".repeat(400));
    let cause = "invalid peer certificate: UnknownIssuer";
    let text = format!(
        "Generic S3 error: Error performing GET {url} in 2s, after 8 retries, max_retries: 8, retry_timeout: 60s  - HTTP error: {cause}"
    );
    assert_eq!(answer(&text), format!("HTTP error: {cause}"));
    let text = format!("HTTP error: error sending request for url ({url}): {cause}");
    let told = answer(&text);
    assert!(told.starts_with("HTTP error") && told.ends_with(cause), "{told}");
    assert_eq!(told.chars().count(), ANSWER_CHARS_MAX + 1);
}

#[test]
fn a_failure_is_of_the_kind_that_its_code_says() {
    let of = |code: &str| {
        let source = format!("Server returned non-2xx status code: 409 Conflict: <Code>{code}</Code>").into();
        Failure::of(&object_store::Error::AlreadyExists { path: "a".into(), source }, "").kind
    };
    assert_eq!(of("ConditionalRequestConflict"), FailureKind::Other);
    assert_eq!(of("BlobAlreadyExists"), FailureKind::Condition);
    let of = |answer: &str| {
        let source = format!("Server returned non-2xx status code: {answer}").into();
        Failure::of(&object_store::Error::Generic { store: "S3", source }, "").kind
    };
    assert_eq!(of("501 Not Implemented: "), FailureKind::Unsupported);
    assert_eq!(of("400 Bad Request: <Code>InvalidArgument</Code>"), FailureKind::Unsupported);
    assert_eq!(of("400 Bad Request: <Code>RequestTimeout</Code>"), FailureKind::Other);
    assert_eq!(of("400 Bad Request: <Code>InvalidBucketName</Code>"), FailureKind::NoBucket);
    assert_eq!(of("502 Bad Gateway: out of tokens, metadata and credentials"), FailureKind::Other);
    let of = |words: &str| {
        Failure::of(&object_store::Error::Generic { store: "S3", source: words.into() }, "").kind
    };
    assert_eq!(of("Unable to extract metadata from headers"), FailureKind::Other);
    assert_eq!(of("Error performing token request: connection refused"), FailureKind::Denied);
    for (code, want) in [
        ("AccessDenied", FailureKind::Denied),
        ("403", FailureKind::Denied),
        ("InternalError", FailureKind::Other),
    ] {
        let words = format!("DeleteObjects request failed for key a/b: It failed (code: {code})");
        assert_eq!(of(&words), want, "{code}");
    }
}
