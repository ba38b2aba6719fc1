//! Options for sets in stores: refuses them where they would be ignored.

use std::path::{Path, PathBuf};

use sitemill::Result;

use super::args::Command;

/// Checks that options for sets in stores can have an effect. `is_typed` says whether an option was given for this command; others
/// may be meant for other runs.
///
/// # Errors
/// Same as [`StoreSettings::check_places`](sitemill::StoreSettings::check_places).
pub fn check(command: &Command, is_typed: impl Fn(&str) -> bool) -> Result<()> {
    let places: Vec<&Path> = match command {
        Command::Build(args) => vec![&args.out],
        Command::Rollback(args) => vec![args.directory()],
        Command::Status(args) => vec![args.directory()],
        Command::Check(args) => args.path.iter().map(PathBuf::as_path).collect(),
        Command::Urls(args) => args.path.iter().map(PathBuf::as_path).collect(),
        Command::Diff(args) => vec![&args.old, &args.new],
        Command::Report(args) => vec![&args.path],
        Command::Clean(_) | Command::Completions { .. } | Command::Man { .. } => return Ok(()),
    };
    let mut settings = command.store();
    settings.state.take_if(|_| !is_typed("state"));
    settings.sitemap_headers.retain(|_| is_typed("sitemap-header"));
    settings.index_headers.retain(|_| is_typed("index-header"));
    settings.check_places(&places)
}
