//! What a set says about itself.

use crate::clean::scope::{BaseUrl, ScopeRule};
use crate::limits::Protocol;
use crate::set::manifest::RunCounts;
use crate::sitemap::divide::Limits;

/// Properties of a set besides its sitemaps.
#[derive(Debug)]
pub struct SetInfo<'a> {
    /// The URL that it is published under.
    pub base_url: &'a BaseUrl,
    /// The version of the protocol.
    pub protocol: Protocol,
    /// The limits of an index file.
    pub index_limits: Limits,
    /// Which URLs it may list.
    pub scope: ScopeRule,
    /// What the run has counted, if the set is to remember it.
    pub counts: Option<RunCounts>,
    /// Now, as W3C Datetime.
    pub time: &'a str,
}
