//! Tests through the binary. They form one program, so that it is linked once.
#![cfg(feature = "cli")]

#[path = "../../benches/corpus/mod.rs"]
mod corpus;
mod support;

mod advice;
mod also;
mod arrow;
mod checking;
mod claims;
mod clean;
mod damage;
mod databases;
mod details;
mod diff;
mod dry_run;
mod embedding;
mod error_paths;
mod feeds;
mod filters;
mod forms;
mod golden;
mod guards;
mod help;
mod hints;
mod html;
mod incremental;
mod indexes;
mod ineffective;
mod inputs;
mod killed;
mod layers;
mod limits;
mod logs;
mod media;
mod named;
mod options;
mod order;
#[cfg(feature = "parquet")]
mod parquet;
mod paths;
mod progress;
mod publishing;
mod readers;
mod recipes;
mod reference;
mod refusing;
mod replacing;
mod retention;
mod robots;
mod round_trip;
mod rows_from_code;
mod same;
mod seams;
mod sections;
mod sites;
mod streams;
mod switching;
mod tables;
mod tags;
mod then;
mod together;
mod unattended;
mod urls;
mod web_platform;
mod well_formed;
