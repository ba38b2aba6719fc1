//! sitemill turns hundreds of millions of URLs into a complete, valid, compressed set of sitemaps.
//!
//! ```text
//!  inputs ──map──▶ chunks ──clean──▶ keys ──dedup──▶ survivors ──divide──▶ plan       pass 1, survey: only reads, decides
//!  plan ──▶ chunks ──clean──▶ xml ──▶ gzip ──▶ staging ──▶ index files ──▶ publish    pass 2, produce: only writes
//! ```
//!
//! Input is mapped and read twice. The first pass decides everything: which lines are URLs, which of them were there
//! before, and in which sitemap each one is listed. The second only does what was decided; sitemaps are independent
//! then, and so the output is a function of the input and the options, whatever the number of threads.
//!
//! What is no file of plain lines is judged as it is read, and its entries go to scratch for both passes. Keys that do not
//! fit in [`Job::memory`] go to scratch too, partition by partition; and with [`Order::Sorted`] every entry does, in ranges
//! of URLs: these are sorted one by one, and so the second pass reads them. None of it can be seen in the output.
//!
//! What holds, and is checked in every run before anything is published:
//! - lines = blank + listed + duplicates + rejected;
//! - every sitemap has the number of URLs and of bytes that the plan says, and no file passes a limit of the protocol;
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
//! Modules, in reading order: [`limits`] has the numbers of the protocol, [`stage`] the stages in the order of the data,
//! and the private `pipeline` puts them together for a [`Job`]. [`check()`] holds what was published against the protocol
//! and shares no code with what writes it; [`urls()`] reads it back. [`status()`] and [`rollback()`] look after the sets that
//! were published before, and [`diff()`] tells what changed.

pub mod limits;

mod job;
pub use job::{
    ExpectLines, Job, MaxDroppedTags, MaxRejects, MaxShrink, OnDuplicate, Order, THREADS_MAX, threads_default,
};

pub mod stage;
pub use stage::divide::Divide;
pub use stage::gzip::{Engine, Level};
pub use stage::input::survive_lost_pages;
pub use stage::scope::{Base, BaseUrl, ScopeRule};

mod pipeline;
pub use pipeline::{FilterJob, FilterReport, Outcome, Target, build, filter, memory_default};

mod check;
pub use check::{CheckJob, CheckReport, Counts, Entry, Finding, Link, Rule, Tag, check};

mod urls;
pub use urls::{UrlsForm, UrlsJob, UrlsReport, urls};

mod diff;
pub use diff::{DIFF_MEMORY_DEFAULT, DIFF_MEMORY_MIN, DiffForm, DiffJob, DiffReport, DiffRoom, diff};

mod rollback;
pub use rollback::{RollbackJob, RolledBack, rollback};
pub use stage::publish::retention::{Keep, KeepTime};
pub use stage::publish::status::{FilesStatus, RunStatus, SetStatus, Status, status};

mod metrics;
pub use metrics::Metrics;

mod outlet;
mod paths;
mod progress;
mod replace;
mod report;
mod robots;
mod stop;
mod time;
pub use outlet::Patient;
pub use paths::{Conflicts, Paths};
pub use progress::{Pass, Progress, Silent};
pub use report::{ColumnsReport, Example, InputReport, Needs, Report, Seconds, SetReport, Skipped};
pub use stop::Stop;

mod error;
pub mod text;
pub use error::{Error, ErrorKind, Result};
