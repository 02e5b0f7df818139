//! The run file: one TOML text with model, cluster, plan, duration and prices.
//!
//! Responsible for: the table of keys, strict reading with the place of every problem, settings from the
//! command line, and the resolved [`Run`]. The caller reads files and passes their texts.

pub(crate) mod field;
mod replaced;
mod resolved;
mod schema;
pub(crate) mod section;
mod sheet;
mod spec;
mod specs;
pub(crate) mod text;
mod units;
mod value;

pub use field::{Amount, Field, no_choice, wrong};
pub use resolved::{Checkpoints, Cost, Disruptions, Run, SoftwareOrigin, Training, Unspecified, Writing};
pub use schema::{reference, schema};
pub use section::{Key, Section};
pub use sheet::Sheet;
pub use spec::{RunSpec, key, keys, parse};
pub use specs::{CostSpec, ModelSpec, TrainingSpec};
pub use value::{Kind, Value};

#[cfg(test)]
mod tests;
