//! Options for sets in stores: refuses them where they would be ignored, and makes them the settings of the process.

use std::path::{Path, PathBuf};

use sitemill::{AppliedSettings, Result};

use super::args::Command;

/// Checks that options for sets in stores can have an effect. `is_typed` says whether an option was given for this command; others
/// may be meant for other runs.
///
/// # Errors
/// Same as [`StoreSettings::check_places`](sitemill::StoreSettings::check_places).
pub fn check(command: &Command, is_typed: impl Fn(&str) -> bool) -> Result<()> {
    let (places, inputs) = paths(command);
    let mut settings = command.store();
    settings.endpoint.take_if(|_| !is_typed("endpoint"));
    settings.allow_unsafe_store &= is_typed("allow-unsafe-store");
    settings.state.take_if(|_| !is_typed("state"));
    settings.sitemap_headers.retain(|_| is_typed("sitemap-header"));
    settings.index_headers.retain(|_| is_typed("index-header"));
    settings.check_places(&places, &inputs)
}

/// Makes the options for stores the settings of the process, for a command that `publishes` or only reads.
///
/// # Errors
/// Same as [`StoreSettings::apply`](sitemill::StoreSettings::apply).
pub fn apply(command: &Command, publishes: bool) -> Result<AppliedSettings> {
    let (places, inputs) = paths(command);
    command.store().apply(&places, &inputs, publishes)
}

/// The paths of a command that may be those of sets, and its other inputs.
fn paths(command: &Command) -> (Vec<&Path>, Vec<&Path>) {
    fn all(paths: &[PathBuf]) -> Vec<&Path> {
        paths.iter().map(PathBuf::as_path).collect()
    }
    match command {
        Command::Build(args) => (vec![&*args.out], all(&args.input)),
        Command::Rollback(args) => (vec![args.directory()], Vec::new()),
        Command::Status(args) => (vec![args.directory()], Vec::new()),
        Command::Check(args) => (all(&args.path), Vec::new()),
        Command::Urls(args) => (all(&args.path), Vec::new()),
        Command::Diff(args) => (vec![&*args.old, &*args.new], Vec::new()),
        Command::Report(args) => (vec![&*args.path], Vec::new()),
        // Its inputs may be sets.
        Command::Clean(args) => (all(&args.input), Vec::new()),
        Command::Completions { .. } | Command::Man { .. } => (Vec::new(), Vec::new()),
    }
}
