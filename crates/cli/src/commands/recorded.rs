//! Commands on runs that were recorded: traces, logs and measurements.

pub(crate) mod calibrate;
pub(crate) mod compare;
#[cfg(all(feature = "tables", not(target_family = "wasm")))]
pub(crate) mod digest;
pub(crate) mod export_perfetto;
pub(crate) mod hang;
pub(crate) mod joining;
pub(crate) mod log;
pub(crate) mod memory_snapshot;
pub(crate) mod pipeline;
pub(crate) mod profile;
pub(crate) mod profile_compat;
pub(crate) mod profiled;
#[cfg(all(feature = "tables", not(target_family = "wasm")))]
pub(crate) mod query;
