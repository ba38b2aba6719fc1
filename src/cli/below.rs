//! Sets below a directory that has a set itself. Commands about the directory leave them out, and say so.

use std::collections::HashSet;
use std::path::Path;

use serde_json::json;
use sitemill::escape::shown;
use sitemill::options::SetName;
use sitemill::status::sets_below;
use sitemill::words::and_more;

use super::log;

/// Maximum number of directories that are named.
const NAMED_MAX: usize = 5;

/// Names the directories below `paths` whose sets are left out, because they are not among `paths`. `way_out` says how to include
/// them.
pub fn say_left_out(paths: &[impl AsRef<Path>], name: Option<&SetName>, way_out: &str) {
    let given: HashSet<_> = paths.iter().filter_map(|path| path.as_ref().canonicalize().ok()).collect();
    // A directory that cannot be read is an error of the command itself.
    let below = paths.iter().flat_map(|path| sets_below(path.as_ref(), name).unwrap_or_default());
    let is_given = |path: &Path| path.canonicalize().is_ok_and(|path| given.contains(&path));
    let left_out: Vec<_> = below.filter(|path| !is_given(path)).collect();
    if left_out.is_empty() {
        return;
    }
    let named = left_out.iter().take(NAMED_MAX).map(|path| shown(path.as_os_str().as_encoded_bytes()));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = and_more(left_out.len().saturating_sub(NAMED_MAX));
    let words = format!("not included: the sets in {named}{more}; {way_out}");
    log::info_with(&words, json!({ "left_out": left_out.len() }));
}
