//! A build as steps that different processes run. This is the interface for engines that move rows between machines, such as
//! Spark; for one machine, use [`build`](crate::build()).
//!
//! ```text
//!  driver   Driver::open ──▶ WorkOrder
//!  map      pack: rows of one partition ──▶ blocks, Packed
//!  driver   Driver::plan: all Packed ──▶ RoutingPlan
//!  map      Router: blocks ──▶ (region, block)
//!  reduce   Regions: all blocks of some regions ──▶ sitemaps in the output directory, RegionBatch
//!  driver   Driver::publish: all Packed, all RegionBatch ──▶ the live set
//! ```
//!
//! If tasks read Parquet files by themselves, they can read them twice, and no rows have to be kept until the plan is known:
//! [`count_row_groups`] takes the place of `pack`, and [`send_row_groups`] that of `Router`.
//!
//! The engine distributes the work, moves bytes and repeats tasks that failed. It may run a task several times, even at the same
//! time, as long as it uses the result of exactly one attempt. Only the driver takes the lock of the output directory, and only
//! the driver publishes. Workers add files to the staging of the driver's run, which are invisible until then. The driver checks
//! that no row was lost or counted twice before it publishes.
//!
//! The set equals the one that [`build`](crate::build()) makes from the same rows, byte for byte, for any partitioning of the
//! rows and any number of tasks. That needs [`Order::Sorted`](crate::options::Order::Sorted),
//! [`Divide::Stable`](crate::options::Divide::Stable), [`OnDuplicate::Newest`](crate::options::OnDuplicate::Newest) and a single
//! site. Names of files differ only if two sitemaps have the same number and the same first eight digits of their hashes. The
//! counts in the report are those of a build. Examples are taken from the partitions in the order in which the engine passes
//! them. Counts by origin are exact up to 4,096 origins out of scope. Counts by section, if requested, name only sections that
//! are known in all regions.
//!
//! The output directory must be on a file system that all machines reach by the same path, and all processes must run as the same
//! user. It needs atomic renames, and no locks or hard links except on the machine of the driver.
//!
//! Every process creates the same [`Job`](crate::Job), except for [`Resources`](crate::options::Resources): all options about rows
//! and sitemaps must be equal, which is checked. [`WorkOrder`], [`Packed`], [`RoutingPlan`] and [`RegionBatch`] travel as JSON,
//! blocks of rows as bytes with a checksum. All processes must have the same version of sitemill.
//!
//! ```no_run
//! use sitemill::cluster::{Driver, Planned, Regions, Router, pack};
//! use sitemill::options::{Divide, OnDuplicate, Order};
//! use sitemill::{Job, Source, Stop};
//!
//! let mut job = Job::new(Vec::new(), "https://www.example.com/".parse()?, "/shared/out".into());
//! (job.rules.order, job.rules.divide, job.rules.on_duplicate) = (Order::Sorted, Divide::Stable, OnDuplicate::Newest);
//! let stop = Stop::default();
//! let mut driver = Driver::open(&job, &stop)?;
//! let work_order = driver.work_order().clone();
//!
//! // A task for each partition.
//! let mut blocks = Vec::new();
//! let mut emit = |block| Ok(blocks.push(block));
//! let packed = vec![pack(&job, &work_order, Source::from("part-00000.csv"), 0, &mut emit, &stop)?];
//!
//! let Planned::Ready(plan) = driver.plan(&packed)? else { unreachable!("there is one partition") };
//!
//! // A task for any number of blocks.
//! let mut routed = Vec::new();
//! let mut emit = |region, block| Ok(routed.push((region, block)));
//! let mut router = Router::new(&plan, 64 << 20)?;
//! blocks.iter().try_for_each(|block| router.push(block, &mut emit))?;
//! router.finish(&mut emit)?;
//!
//! // A task for any number of regions.
//! let mut regions = Regions::new(&job, &work_order, &plan, "/tmp".as_ref())?;
//! routed.iter().try_for_each(|(region, block)| regions.push(*region, block))?;
//! let batches = regions.finish(&stop)?;
//!
//! let outcome = driver.publish(&packed, &plan, batches, "pages")?;
//! println!("{} URLs", outcome.report.listed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block;
mod driver;
mod order;
mod pack;
mod plan;
mod reading;
mod region;
mod rejects;
mod route;
#[cfg(feature = "parquet")]
mod send;
mod spread;
#[cfg(test)]
mod tests;

pub use driver::Driver;
pub use order::WorkOrder;
#[cfg(feature = "parquet")]
pub use pack::count_row_groups;
pub use pack::{Packed, pack};
pub use plan::{Planned, RoutingPlan};
#[cfg(feature = "parquet")]
pub use reading::RowGroups;
pub use region::{RegionBatch, Regions};
pub use rejects::{RejectedRow, rejects};
pub use route::Router;
#[cfg(feature = "parquet")]
pub use send::send_row_groups;
