//! Consent to replace files and sets.

/// The reaction to a manifest, a journal or an earlier set that is damaged, was edited or is of another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDamage {
    /// The run fails, so that somebody can look at it.
    Refuse,
    /// The run ignores it and builds the new set from its input alone. A copy is kept.
    SetAside,
}

/// The consent of a build to replace more than a set with the same base URL and protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Consent {
    /// Index files and robots lines that sitemill did not write; a copy of each is kept.
    pub take_over: bool,
    /// A live set with another base URL or protocol.
    pub replace_set: bool,
}
