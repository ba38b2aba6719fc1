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
    for (code, want) in [
        ("AccessDenied", FailureKind::Denied),
        ("403", FailureKind::Denied),
        ("InternalError", FailureKind::Other),
    ] {
        let words = format!("DeleteObjects request failed for key a/b: It failed (code: {code})");
        assert_eq!(of(&words), want, "{code}");
    }
}

/// The failure of a request that S3 has given this `answer`.
fn failure(answer: &str) -> Failure {
    let source = format!("Error performing GET http://h/b/k in 1ms - {answer}").into();
    Failure::of(&object_store::Error::Generic { store: "S3", source }, "the environment")
}

#[test]
fn credentials_that_cannot_be_fetched_are_told_apart_from_an_answer_of_the_store() {
    let source = "Error performing PUT http://169.254.169.254/latest/api/token in 2s, after 8 retries, max_retries: 8, \
                  retry_timeout: 60s  - Server returned non-2xx status code: 404 Not Found: <Code>NoSuchBucket</Code>";
    let cause = object_store::Error::NotFound { path: "token".into(), source: source.into() };
    let none = NoCredentials { cause, way_out: "set KEY" };
    let failure =
        Failure::of(&object_store::Error::Generic { store: "S3", source: Box::new(none) }, "the role");
    assert!(!failure.is_in_doubt() && !failure.may_be_repeated());
    let error = failure.into_error(Path::new("s3://b/k"), "could not be read");
    assert_eq!(error.kind(), ErrorKind::Permission);
    assert_eq!(
        error.to_string(),
        "s3://b/k: could not be read: there are no credentials from the role (NoSuchBucket); set KEY"
    );
}

#[test]
fn a_bucket_in_another_region_is_a_usage_error_that_names_the_setting() {
    let redirect =
        "Received redirect without LOCATION, this normally indicates an incorrectly configured region";
    let malformed = "Server returned non-2xx status code: 400 Bad Request: <Code>AuthorizationHeaderMalformed</Code><Message>";
    let wrong_region = format!("{malformed}the region 'us-east-1' is wrong; expecting 'eu-west-1'</Message>");
    for answer in [redirect, &wrong_region] {
        let error = failure(answer).into_error(Path::new("s3://b/k"), "could not be read");
        assert!(
            error.kind() == ErrorKind::Usage && error.to_string().contains("; set AWS_REGION"),
            "{error}"
        );
    }
    let no_key = format!("{malformed}a non-empty Access Key must be provided</Message>");
    assert_eq!(failure(&no_key).kind, FailureKind::Other);
}

#[test]
fn what_the_client_library_has_repeated_is_not_repeated_and_only_what_it_has_sent_once_is_certain() {
    let busy = failure("Server returned non-2xx status code: 503 Service Unavailable: <Code>SlowDown</Code>");
    assert!(busy.kind == FailureKind::Other && !busy.may_be_repeated() && busy.is_in_doubt());
    assert!(!failure(&format!("HTTP error: {NO_CONNECTION}: refused")).may_be_repeated());
    for answer in ["HTTP error: connection reset", "Server returned non-2xx status code: 400 Bad Request"] {
        assert!(failure(answer).may_be_repeated(), "{answer}");
    }
    let denied = "Server returned non-2xx status code: 400 Bad Request: <Code>ExpiredToken</Code>";
    assert!(!failure(denied).is_in_doubt());
    let source = format!(
        "Error performing PUT http://h/b/k in 1s, after 1 retries, max_retries: 8, retry_timeout: 60s  - {denied}"
    );
    let repeated = Failure::of(&object_store::Error::Generic { store: "S3", source: source.into() }, "");
    assert!(repeated.kind == FailureKind::Denied && repeated.is_in_doubt(), "the first may have arrived");
}

#[test]
fn a_permission_is_named_only_if_the_credentials_are_valid() {
    for (code, is_named) in
        [("AccessDenied", true), ("ExpiredToken", false), ("SignatureDoesNotMatch", false)]
    {
        let denied =
            failure(&format!("Server returned non-2xx status code: 403 Forbidden: <Code>{code}</Code>"));
        let error =
            denied.needing(Some("s3:ListBucket")).into_error(Path::new("s3://b"), "could not be listed");
        assert_eq!(
            error.to_string().contains("; it needs the permission s3:ListBucket;"),
            is_named,
            "{error}"
        );
    }
}
