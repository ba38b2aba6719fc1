//! The kinds of stores: how they differ for sitemill, and for the requests of the tests.

use std::net::SocketAddr;

use crate::servers::{ACCESS_KEY, SECRET_KEY};

/// Azurite's account, from its documentation.
pub const ACCOUNT: &str = "devstoreaccount1";
pub const ACCOUNT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
/// A shared access signature of that account for everything, until the year 2999: the HMAC-SHA256 of its other parameters, with the
/// key, as in "Create an account SAS" of Azure's documentation.
const ACCOUNT_SIGNATURE: &str =
    "sv=2021-08-06&ss=b&srt=sco&sp=rwdlac&se=2999-12-31&sig=JY94ch8LDLLznNq5PeYc%2BqoU9lmyjjWC6bQOtK1t9Xw%3D";

/// A kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    S3,
    Gs,
    Az,
}

impl Kind {
    /// The scheme of its locations.
    pub fn scheme(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Gs => "gs",
            Self::Az => "az",
        }
    }

    /// The variables with which sitemill accesses the store through `proxy`. Machines get the token of their role from `server`.
    pub fn variables(self, proxy: SocketAddr, server: SocketAddr) -> Vec<(&'static str, String)> {
        match self {
            Self::S3 => vec![
                ("AWS_ENDPOINT_URL", format!("http://{proxy}")),
                ("AWS_ACCESS_KEY_ID", ACCESS_KEY.into()),
                ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.into()),
                ("AWS_REGION", "us-east-1".into()),
            ],
            Self::Gs => vec![
                ("SITEMILL_ENDPOINT", format!("http://{proxy}")),
                ("GCE_METADATA_HOST", format!("{server}/publisher")),
            ],
            Self::Az => vec![
                ("SITEMILL_ENDPOINT", format!("http://{proxy}/{ACCOUNT}")),
                ("AZURE_STORAGE_ACCOUNT", ACCOUNT.into()),
                ("AZURE_STORAGE_KEY", ACCOUNT_KEY.into()),
            ],
        }
    }

    /// The target of a request without credentials: an object, or the bucket if `key` is empty.
    pub fn target(self, bucket: &str, key: &str, query: &str) -> String {
        let slash = if key.is_empty() { "" } else { "/" };
        match self {
            Self::S3 | Self::Gs => format!("/{bucket}{slash}{key}?{query}"),
            Self::Az => format!("/{ACCOUNT}/{bucket}{slash}{key}?{query}&{ACCOUNT_SIGNATURE}"),
        }
    }

    /// The query of the request that creates a bucket.
    pub fn creation(self) -> &'static str {
        if self == Self::Az { "restype=container" } else { "" }
    }

    /// The query of the request that lists a bucket, and the element of the response that contains a key.
    pub fn listing(self) -> (&'static str, &'static str) {
        if self == Self::Az { ("restype=container&comp=list", "<Name>") } else { ("list-type=2", "<Key>") }
    }
}
