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
    let (mut places, mut inputs): (Vec<&Path>, &[PathBuf]) = (Vec::new(), &[]);
    match command {
        Command::Build(args) => (places, inputs) = (vec![&*args.out], &args.input),
        Command::Rollback(args) => places.push(args.directory()),
        Command::Status(args) => places.push(args.directory()),
        Command::Check(args) => places.extend(args.path.iter().map(PathBuf::as_path)),
        Command::Urls(args) => places.extend(args.path.iter().map(PathBuf::as_path)),
        Command::Diff(args) => places.extend([&*args.old, &*args.new]),
        Command::Report(args) => places.push(&args.path),
        // Its inputs may be sets.
        Command::Clean(args) => places.extend(args.input.iter().map(PathBuf::as_path)),
        Command::Completions { .. } | Command::Man { .. } => return Ok(()),
    }
    let mut settings = command.store();
    settings.endpoint.take_if(|_| !is_typed("endpoint"));
    settings.allow_unsafe_store &= is_typed("allow-unsafe-store");
    settings.state.take_if(|_| !is_typed("state"));
    settings.sitemap_headers.retain(|_| is_typed("sitemap-header"));
    settings.index_headers.retain(|_| is_typed("index-header"));
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    settings.check_places(&places, &inputs)
}
