//! sitemill turns hundreds of millions of URLs into a complete, valid, compressed set of sitemaps.
//!
//! ```text
//!  inputs ──map──▶ chunks ──clean──▶ keys ──dedup──▶ survivors ──sort, divide, split──▶ layout    pass 1, survey: decides
//!  layout ──▶ entries ──▶ xml ──▶ gzip ──▶ batch ──▶ index files ──▶ publish                       pass 2, produce: writes
//! ```
//!
//! The first pass reads the input and decides everything: which lines are URLs, which of them are duplicates, and in which
//! sitemap each URL is listed. It publishes nothing. The second pass only carries out these decisions; with input order, it reads
//! and cleans files of plain lines, which are mapped, a second time. Sitemaps are then independent of each other, so the output
//! depends on the input and the options, but not on the number of threads.
//!
//! All inputs except files of plain lines are validated as they are read, and their entries go to scratch files for both passes.
//! Keys that do not fit in [`Resources::memory`](options::Resources::memory) spill to scratch, too, by partition. With
//! [`Order::Sorted`](options::Order::Sorted), entries are distributed among ranges of URLs and stored without the prefix that their
//! range shares. Each range is sorted independently, and the second pass reads the ranges in order. If all entries fit in memory,
//! they are sorted in place. Otherwise, sorted entries are front-coded, and those that do not fit in memory spill to scratch.
//! Sitemaps of the live set whose ranges still have the same rows are reused without being sorted or rendered. A layout with
//! sections or several sites is split between the passes: each part has either the positions of its rows in the inputs, or copies
//! of the rows. None of this changes the output.
//!
//! Every run checks these invariants before anything is published:
//! - lines = blank + listed + duplicates + rejected + excluded;
//! - every sitemap has the number of URLs and bytes given by the layout, and no file exceeds a limit of the protocol;
//! - the inputs are still the files that were opened.
//!
//! ```no_run
//! use sitemill::{Job, Silent, Stop, build};
//!
//! let job = Job::new(vec!["urls.txt".into()], "https://www.example.com/".parse()?, "out".into());
//! let outcome = build(&job, &Silent, &Stop::default())?;
//! println!("{} URLs in {} sitemaps", outcome.report.listed, outcome.report.sitemaps);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Public modules
//!
//! The crate root has the function, the job and the report of every command, and the types that all of them share. [`options`] has
//! the types and defaults of a job's fields, and [`report`] the parts of a report. [`check`](mod@check), [`diff`](mod@diff),
//! [`urls`](mod@urls) and [`status`](mod@status) have the other types of these commands. [`cluster`] has the steps of a build for
//! engines that distribute them among machines. [`limits`] has the limits of sitemaps, [`escape`] escapes untrusted text for
//! messages, and [`process`] has tools for programs that run the commands as `sitemill` itself does: conflicts between paths,
//! output to pipes, signals. Structs and enums that may grow are `#[non_exhaustive]`: create a job with its `new`, then assign to
//! its fields.
//!
//! # Effects on the process
//!
//! - Relative paths of a job are resolved whenever they are used. Give absolute paths if the current directory may change during a
//!   run.
//! - The first gzip file or Parquet file that is read, or sitemap that is compressed with `Engine::Flate2`, adds a panic hook. It
//!   hides panics of these libraries, because they become errors, and passes all others to the previous hook. Set your own hook
//!   before that. With `panic = "abort"`, a damaged Parquet file may end the process.
//! - With the feature `cloud`, the first access to a store makes ring the default cryptography of rustls, unless there is a default
//!   already. A program that uses another one must install it first.
//! - A command does most of its work on threads that it starts, and blocks the calling thread until they end. If a task of a rayon
//!   pool calls it, one thread of that pool waits, without taking other tasks.
//! - Signal handlers are left alone; [`process::handle_sigbus`] installs the only one.
//!
//! # Modules
//!
//! A module imports only from modules below it, and no two files import from each other.
//!
//! ```text
//!  cli        the command line, which calls only the public API
//!  commands   the commands: build, clean, check, urls, diff, rollback, status, report (`page`); the steps of a build on a cluster
//!  produce    pass 2: renders the entries of each sitemap, compresses them and hands the files over
//!  survey     pass 1: judges every row, finds duplicates, sorts, divides the URLs among sitemaps
//!  job        the settings of a build
//!  intake     input files in all their formats, read as rows
//!  set        a published set: manifest, index files, names, retention, the switch to a new set
//!  place      the places that keep sets: their interface, its implementations for directories and buckets, and local files
//!  sitemap    the parts of a sitemap: entries, tags, extensions, XML, limits
//!  clean      URLs: parsing, normalisation, encoding, scope, filters
//!  compress   gzip members
//!  store      objects in buckets: locations, credentials, requests
//!  common     threads in order, external sort, stopping, progress, pipes, vector instructions; only progress knows of sitemaps
//!  limits     the numbers of the protocol
//!  error      errors, their messages and exit codes
//!  escape     makes text from outside safe for a terminal or a table
//!  words      numbers and lists in messages
//! ```
//!
//! [`check()`] has its own XML reader, URL grammar and rules, which share no code with the modules that write sitemaps.
//!
//! # Glossary
//!
//! The phases of a build exchange three values:
//!
//! - **account**: the outcome of every row. Reports, reject files and guards are made from it.
//! - **layout**: which entries are listed, in which order and in which sitemap. The second pass reads nothing else.
//! - **batch**: the sitemaps of one producer, with a tally of the rows they are made from. It can be serialised; publishing
//!   takes any number of batches.
//!
//! Groups of rows have these names:
//!
//! - **chunk**: consecutive rows of one input; the unit of work of both passes. An *extent* is where its bytes are.
//! - **block**: rows or entries that were written to scratch together.
//! - **partition**: the keys with the same highest byte. Duplicates are found partition by partition. If the table of a partition
//!   would not fit in memory, it is processed in several *rounds*.
//! - **range**: in sorted order, the entries whose URLs lie between two splitters.
//! - **region**: in stable division of a large sorted set, the entries between two borders. A *border* is a URL that always begins
//!   a sitemap.
//! - **part**: the entries of one site or section, after a layout was split.
//! - **sorted run**: sorted records in scratch that a merge reads.
//!
//! A **run** is one execution of a command.

// The command line uses the library under its public name, as any other program does.
#[cfg(feature = "cli")]
extern crate self as sitemill;

mod clean;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod commands;
mod common;
mod compress;
mod error;
pub mod escape;
mod intake;
mod job;
pub mod limits;
mod place;
mod produce;
mod set;
mod sitemap;
mod store;
mod survey;
#[doc(hidden)]
pub mod words;

pub use commands::build::report::Report;
pub use commands::build::{Outcome, build, build_from};
pub use commands::check::{CheckJob, CheckReport, check};
pub use commands::clean::{CleanJob, CleanReport, clean, clean_from};
pub use commands::cluster;
pub use commands::diff::{DiffJob, DiffReport, diff};
pub use commands::page::{Page, PageJob, SettingNames, report_page};
pub use commands::rollback::{RollbackJob, RolledBack, SetSummary, rollback};
pub use commands::status::{Status, StatusJob, status};
pub use commands::target::Target;
pub use commands::urls::{UrlsJob, UrlsReport, urls};
pub use common::progress::{Estimate, Phase, Progress, Silent};
pub use common::stop::Stop;
pub use error::{Error, ErrorKind, Message, Piece, Result, Setting, UrlUse};
pub use intake::format::SourceRow;
pub use intake::source::Source;
pub use job::Job;
pub use store::{AppliedSettings, ObjectHeader, StoreSettings, set_store_settings};

/// Types and defaults of the fields of a [`Job`], and of the options that the jobs of other commands share with it.
pub mod options {
    pub use crate::clean::UrlEncoding;
    pub use crate::clean::scope::{Base, BaseUrl, ScopeRule, SitePath};
    pub use crate::clean::screen::robots::{Robots, RobotsAgent};
    pub use crate::clean::screen::{Pattern, RelativeTo, Rewrite, UrlRules};
    pub use crate::compress::gzip::{Engine, Level};
    pub use crate::intake::format::{Columns, Delimiter, Format, FormatOptions, QuoteEscape};
    pub use crate::job::{
        Also, CommandLine, ExpectLines, Guards, InputOptions, MaxDroppedTags, MaxRejects, MaxShrink,
        OnDuplicate, Order, Publication, Resources, SectionsBy, SetRules, THREADS_MAX, memory_default,
        threads_default, threads_within,
    };
    pub use crate::limits::Protocol;
    pub use crate::place::SetName;
    pub use crate::set::publish::retention::{Keep, KeepTime};
    pub use crate::sitemap::divide::Divide;
    pub use crate::sitemap::sections::by_rule::SectionRules;
    pub use crate::sitemap::tags::{Changefreq, LastmodRules, LastmodUnit, LastmodZone, Priority, TagRules};
}

/// Parts of a [`Report`] and of a [`CleanReport`], and the metrics that are made from a report.
pub mod report {
    pub use crate::clean::{Reason, Rejected};
    pub use crate::commands::build::report::details::{
        Changes, Details, Fullness, PastSet, PreviousSet, SegmentKind, SegmentReport, SegmentsReport,
    };
    pub use crate::commands::build::report::{
        DryRun, Failure, Seconds, SectionSummary, SetReport, ThenReport, WordCounts, most_frequent,
    };
    pub use crate::commands::metrics::Metrics;
    pub use crate::common::counts::{Countable, Counts};
    pub use crate::intake::report::{ColumnsReport, InputReport, Skipped};
    pub use crate::set::publish::CompletedSwitch;
    pub use crate::sitemap::tags::TagReason;
    pub use crate::survey::rejects::Example;
}

/// Findings of [`check()`], and the rules that they refer to.
pub mod check {
    pub use crate::commands::check::{Counts, FINDINGS_PER_FILE_MAX, Finding, Rule};
}

/// Options of [`diff()`].
pub mod diff {
    pub use crate::commands::diff::{DIFF_MEMORY_DEFAULT, DIFF_MEMORY_MIN, DiffFormat, DiffResources};
}

/// Options of [`urls()`].
pub mod urls {
    pub use crate::commands::urls::UrlsFormat;
}

/// Parts of a [`Status`], and the directories that it leaves out.
pub mod status {
    pub use crate::commands::status::{FilesStatus, FirstRun, RunStatus, SetStatus, first_runs, sets_below};
}

/// Tools for programs that run the commands as the `sitemill` binary does: path conflicts, outputs, pipes, SIGBUS, and the command
/// after a build.
pub mod process {
    pub use crate::commands::build::{build_without_then, run_then, runs_then};
    pub use crate::commands::paths::{Conflicts, Paths};
    pub use crate::common::output::{
        STDOUT_NAME, StoppableWriter, create_output, is_stdout, is_stream, output_name,
    };
    pub use crate::intake::input::handle_sigbus;
    pub use crate::place::ResultFile;
}

/// Parts of the library for its own tests, benchmarks and fuzz targets. They change from one version to the next.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    pub use crate::clean::{CleanUrl, Cleaned, Cleaner, scope};
    pub use crate::common::secret::Secret;
    pub use crate::compress::gzip;
    pub use crate::intake::input::Input;
    pub use crate::intake::{blocks, format, lines};
    pub use crate::set::manifest;
    pub use crate::sitemap::{divide, entry, tags, xml};
    pub use crate::survey::context::Context;
    pub use crate::survey::judge::Rules;
    pub use crate::survey::memory::Memory;
    pub use crate::survey::{Surveyed, dedup, survey};
}
