//! Runs the program like its users: one file per command or promise.
//!
//! One binary for all files: each would link the whole program again.

mod support;

mod agreed;
mod calibrate;
mod check;
mod clean;
mod collective;
mod columns;
mod compare;
mod convention;
mod damaged;
mod digest;
mod documentation;
mod door;
mod errors;
mod formats;
mod goodput;
mod guides;
mod jobs;
mod joining;
mod launch;
mod limits;
mod mixed;
mod narrow;
mod network;
mod network_agreement;
mod network_flows;
mod page;
mod pipeline;
mod placement;
mod planning;
mod profile;
mod query;
mod rail_only;
mod remote;
mod reports;
mod schema;
mod search;
mod serve;
mod serve_reading;
mod serve_work;
mod simulate;
mod size;
mod solve;
mod threads;
mod traffic;
mod tune;
mod voices;
mod whatif;
mod words;
mod writing;
