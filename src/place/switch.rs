//! A switch to another set, as plain data: the publisher's decision, which a place carries out.

use super::record::Version;

/// A set that is to be live. Its new sitemaps are staged.
#[derive(Debug)]
pub struct Switch {
    /// Its index files, in the order of their numbers: name and bytes.
    pub indexes: Vec<(String, Vec<u8>)>,
    /// The file with the lines for robots.txt: name and bytes.
    pub robots: (String, Vec<u8>),
    /// Its manifest.
    pub manifest: Vec<u8>,
    /// The version of the live manifest that the publisher has read, or `None` if it found none. If another manifest is live,
    /// the place refuses to commit.
    pub expected: Option<Version>,
    /// The run of the live set, and the manifest for restoring that set, if there is a live set.
    pub replaced: Option<(String, Vec<u8>)>,
    /// Names of its sitemaps. Those that are staged become visible; the others are already published.
    pub sitemaps: Vec<String>,
    /// Files that are no longer needed once it is live.
    pub removals: Vec<Removal>,
}

/// A file to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// Its name.
    pub file: String,
    /// The hash of its bytes: a file with other bytes is not from sitemill and stays. `None` removes it whatever its bytes are.
    pub content: Option<String>,
}

/// The files that were removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Number of files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// How far the switch of a run has come. It determines what the end of the run removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchState {
    /// Not committed, and no later run will commit it: everything of the run is removed.
    Uncommitted,
    /// The commit has begun and is not complete. Everything stays for the next run, which completes it.
    InDoubt,
    /// Rolled back, but the journal may reappear after power loss. The next run removes what is left.
    RolledBack,
    /// Committed and cleaned up: staging is removed.
    Committed,
}
