//! Credentials that have to be fetched, such as those of a role.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use object_store::CredentialProvider;

/// Any source of credentials of the kind `C`.
type Provider<C> = Arc<dyn CredentialProvider<Credential = C>>;

/// Why a request was not sent to the store: its credentials could not be fetched.
#[derive(Debug)]
pub struct NoCredentials {
    /// The failure of the request to whoever gives the credentials.
    pub cause: object_store::Error,
    /// What to set instead.
    pub way_out: &'static str,
}

impl NoCredentials {
    /// The reason for `error`, if it is this one.
    pub fn of(error: &object_store::Error) -> Option<&Self> {
        let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
        while let Some(error) = cause {
            if let Some(none) = error.downcast_ref() {
                return Some(none);
            }
            cause = error.source();
        }
        None
    }
}

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl StdError for NoCredentials {}

/// A source of credentials whose failures are not taken for answers of the store.
#[derive(Debug)]
struct Marked<C> {
    provider: Provider<C>,
    way_out: &'static str,
}

/// The source `provider`, with failures that are [`NoCredentials`].
pub fn marked<C: fmt::Debug + Send + Sync + 'static>(
    provider: &Provider<C>,
    way_out: &'static str,
) -> Provider<C> {
    Arc::new(Marked { provider: Arc::clone(provider), way_out })
}

impl<C: fmt::Debug + Send + Sync + 'static> CredentialProvider for Marked<C> {
    type Credential = C;

    fn get_credential<'s, 'f>(
        &'s self,
    ) -> Pin<Box<dyn Future<Output = object_store::Result<Arc<C>>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let given = self.provider.get_credential().await;
            given.map_err(|cause| {
                let source = Box::new(NoCredentials { cause, way_out: self.way_out });
                object_store::Error::Generic { store: "credentials", source }
            })
        })
    }
}
