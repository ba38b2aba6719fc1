//! What a run may replace.

/// What to do about a manifest, a journal or an earlier set that is damaged, was edited or is of another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDamage {
    /// Nothing is done before somebody has looked at it.
    Refuse,
    /// A new set is made without it, of nothing but its input; a copy of it is kept.
    SetAside,
}

/// What a build may replace besides what was published in the same place in the same way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Consent {
    /// Index files and robots lines that sitemill did not write; a copy of each is kept.
    pub take_over: bool,
    /// A live set with another base URL or protocol.
    pub replace_set: bool,
}
