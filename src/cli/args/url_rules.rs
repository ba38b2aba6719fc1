//! Options about which URLs lines mean, and which URLs are left out.

use std::path::{Path, PathBuf};

use sitemill::options::{Pattern, RelativeTo, Rewrite, Robots, RobotsAgent, UrlRules};
use sitemill::{Error, ErrorKind, Stop, escape};

use crate::cli::log;

/// The option that names the robots.txt whose rules apply.
pub const RESPECT_ROBOTS: &str = "--respect-robots";

/// Options about URLs.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "URLs")]
pub struct UrlArgs {
    /// Resolve lines without a scheme, such as /p/1, against this URL.
    ///
    /// Resolved like links on that page: p/1 is relative to its directory, //host/p names a host, and ?x=4 replaces the
    /// query. Without this option, such lines are rejected as not-absolute. URLs of alternates, images and videos must be absolute.
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub relative_to: Option<RelativeTo>,

    /// Replace FROM with TO at the beginning of URLs. Repeatable.
    ///
    /// FROM is compared with canonical URLs. http://=https:// replaces the scheme of all URLs. If several rules match, only the
    /// first one applies. Filters and --scope see the new URL. URLs of alternates, images and videos are not rewritten.
    #[arg(long, value_name = "FROM=TO", hide_short_help = true)]
    pub rewrite: Vec<Rewrite>,

    /// List only URLs that match this regular expression. Repeatable.
    ///
    /// It is matched against the canonical URL, anywhere unless anchored with ^ or $. Of several patterns, a URL needs to match
    /// only one.
    #[arg(long, value_name = "PATTERN", hide_short_help = true)]
    pub include: Vec<Pattern>,

    /// Leave out URLs that match this regular expression, even if --include matches. Repeatable.
    ///
    /// Lines that are left out are counted as excluded, by the first pattern that matches, and --rejects records them.
    #[arg(long, value_name = "PATTERN", hide_short_help = true)]
    pub exclude: Vec<Pattern>,

    /// Read patterns for --include from this file, one per line; # begins a comment line. Repeatable.
    ///
    /// A file without patterns is an error, because all URLs would be listed.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub include_file: Vec<PathBuf>,

    /// Read patterns for --exclude from this file, one per line; # begins a comment line. Repeatable.
    ///
    /// A file without patterns causes a warning.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub exclude_file: Vec<PathBuf>,

    /// Leave out URLs that this robots.txt forbids.
    ///
    /// Its rules for all crawlers (User-agent: *) apply to URLs of any host. Search consoles report an error for each URL in a
    /// sitemap that robots.txt forbids.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub respect_robots: Option<PathBuf>,

    /// Crawler whose rules in --respect-robots apply, such as Googlebot [default: *]
    ///
    /// If the file has no rules for it, the rules for all crawlers apply.
    #[arg(long, value_name = "NAME", requires = "respect_robots", hide_short_help = true)]
    pub robots_agent: Option<RobotsAgent>,
}

impl UrlArgs {
    /// Converts these options to types of the library. Reads the files that they give, until `stop` is raised.
    pub fn rules(&self, stop: &Stop) -> sitemill::Result<UrlRules> {
        type Read = fn(&Path, &Stop) -> sitemill::Result<Vec<Pattern>>;
        let with_files = |patterns: &[Pattern], files: &[PathBuf], read: Read| {
            let mut all = patterns.to_vec();
            files.iter().try_for_each(|file| read(file, stop).map(|more| all.extend(more)))?;
            sitemill::Result::Ok(all)
        };
        let mut rules = UrlRules::default();
        rules.relative_to.clone_from(&self.relative_to);
        rules.rewrites.clone_from(&self.rewrite);
        rules.include = with_files(&self.include, &self.include_file, read_patterns_to_include)?;
        rules.exclude = with_files(&self.exclude, &self.exclude_file, read_patterns_to_exclude)?;
        let agent = self.robots_agent.as_ref();
        let robots = self.respect_robots.as_ref().map(|path| Robots::read(path, agent, stop));
        rules.robots = robots.transpose()?;
        Ok(rules)
    }

    /// The files that are read, with their options.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let include = self.include_file.iter().map(|file| ("--include-file", file));
        let exclude = self.exclude_file.iter().map(|file| ("--exclude-file", file));
        include.chain(exclude).chain(self.respect_robots.iter().map(|file| (RESPECT_ROBOTS, file)))
    }
}

/// Reads patterns from a file that should have some. It may have none on purpose, unlike one of patterns to include.
fn read_patterns_to_exclude(path: &Path, stop: &Stop) -> sitemill::Result<Vec<Pattern>> {
    let patterns = Pattern::read_all(path, stop)?;
    if patterns.is_empty() {
        let shown = escape::shown(path.as_os_str().as_encoded_bytes());
        log::warning(&format!("{shown}: has no pattern, so it excludes no URLs"));
    }
    Ok(patterns)
}

/// Reads patterns from a file that must have some: without any, nothing would be left out.
fn read_patterns_to_include(path: &Path, stop: &Stop) -> sitemill::Result<Vec<Pattern>> {
    let patterns = Pattern::read_all(path, stop)?;
    if patterns.is_empty() {
        let shown = escape::shown(path.as_os_str().as_encoded_bytes());
        let why = "has no pattern; write one per line, or leave out --include-file to list all URLs";
        return Err(Error::new(ErrorKind::Usage, format!("{shown}: {why}")));
    }
    Ok(patterns)
}
