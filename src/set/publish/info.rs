//! Properties of a set besides its sitemaps.

use crate::clean::scope::{BaseUrl, ScopeRule};
use crate::error::Error;
use crate::limits::Protocol;
use crate::set::manifest::{ExternalEntry, RunCounts, SealedRows, SetSection};
use crate::sitemap::divide::Limits;

/// Properties that a build gives to the set it publishes.
pub struct SetInfo<'a> {
    /// The URL that it is published under.
    pub base_url: &'a BaseUrl,
    /// The version of the protocol.
    pub protocol: Protocol,
    /// The limits of an index file.
    pub index_limits: Limits,
    /// Which URLs it may list.
    pub scope: ScopeRule,
    /// Sitemaps that it lists and that sitemill did not write.
    pub also: Vec<ExternalEntry>,
    /// Its sections, in the order in which they are listed.
    pub sections: Vec<SetSection>,
    /// Counts of the run, if the manifest should record them.
    pub counts: Option<RunCounts>,
    /// The input that it was made from, if the manifest should record it.
    pub rows: Option<SealedRows>,
    /// Time of publication, as W3C Datetime.
    pub time: &'a str,
    /// Completes the error of a file that cannot be written, while everything that the run has written is still there.
    pub explain: &'a dyn Fn(Error) -> Error,
}
