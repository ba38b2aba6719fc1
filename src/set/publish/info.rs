//! What a set says about itself.

use crate::clean::scope::{BaseUrl, ScopeRule};
use crate::limits::Protocol;
use crate::sitemap::divide::Limits;

/// What a set says about itself besides its sitemaps.
#[derive(Debug)]
pub struct SetInfo<'a> {
    /// Where it is published.
    pub base_url: &'a BaseUrl,
    /// Which protocol it speaks.
    pub protocol: Protocol,
    /// What no index file may pass.
    pub index_limits: Limits,
    /// Which URLs it may list.
    pub scope: ScopeRule,
    /// Now, as W3C Datetime.
    pub time: &'a str,
}
