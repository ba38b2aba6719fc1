//! A switch to another set, as plain data: what the publisher has decided, and a place has to do.

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
    /// The version of the live manifest that the publisher knows and succeeds; none if it knows that there is none. If
    /// another one is live, the place refuses to commit.
    pub expected: Option<Version>,
    /// The run of the live set and the manifest by which it can come back, if there is a live set.
    pub replaced: Option<(String, Vec<u8>)>,
    /// Names of its sitemaps. Those that are staged become visible; the others are published already.
    pub sitemaps: Vec<String>,
    /// What nobody needs once it is live.
    pub removals: Vec<Removal>,
}

/// A file that is to be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// Its name.
    pub file: String,
    /// The hash of its bytes, unless it goes whatever they are. Another file of that name is not from sitemill.
    pub content: Option<String>,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// How far the set of a run has come, and so what goes with the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The next run knows nothing of it: all of it goes.
    Staged,
    /// There may be a journal: all of it stays for the next run.
    Begun,
    /// The journal is withdrawn, but a loss of power may bring it back: the next run removes what is left.
    Withdrawn,
    /// It is live, and its journal has become the manifest: staging goes.
    Live,
}
