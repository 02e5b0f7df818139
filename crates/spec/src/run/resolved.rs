//! The resolved run: everything that a calculation needs.

use crate::cluster::Cluster;
use crate::model::Model;
use crate::plan::Plan;
use crate::quantity::{BytesPerSecond, Dollars, Seconds};
use serde::Serialize;

/// What is trained, on what, how, for how long and at what price.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Trained model.
    pub model: Model,
    /// What on.
    pub cluster: Cluster,
    /// Method.
    pub plan: Plan,
    /// Amount.
    pub training: Training,
    /// Prices.
    pub cost: Cost,
    /// Where the plan's software generation comes from.
    pub software_origin: SoftwareOrigin,
}

/// Where a software generation comes from. Decided once, by [`crate::run::RunSpec::software_origin`]: the interval of every answer follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SoftwareOrigin {
    /// Named by the user.
    #[default]
    Specified,
    /// Inferred by the reader of a launch file from its format and flags, which date a framework but do not name its version.
    Inferred,
    /// Assumed from the plan and the accelerator alone.
    Assumed,
}

impl SoftwareOrigin {
    /// Whether the generation is unspecified, so that the run may be of another.
    pub const fn is_open(self) -> bool {
        self.unspecified().is_some()
    }

    /// Why the generation is what it is, where it is unspecified.
    pub const fn unspecified(self) -> Option<Unspecified> {
        match self {
            Self::Specified => None,
            Self::Inferred => Some(Unspecified::Inferred),
            Self::Assumed => Some(Unspecified::Assumed),
        }
    }

    /// A generation as run files and flags have it, with its origin: `inferred:megatron-core-2025`. What was written so is read back with the
    /// same interval: that of all versions of the framework where it was inferred, of all software where it was assumed.
    pub fn written(self, id: &str) -> String {
        self.unspecified().map_or_else(|| id.to_owned(), |why| format!("{}{id}", why.prefix()))
    }
}

/// Why an unspecified software generation is the one of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unspecified {
    /// See [`SoftwareOrigin::Inferred`].
    Inferred,
    /// See [`SoftwareOrigin::Assumed`].
    Assumed,
}

impl Unspecified {
    /// What precedes the generation in a run file.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Inferred => "inferred:",
            Self::Assumed => "assumed:",
        }
    }

    /// The origin before a generation, and the generation.
    pub fn read(text: &str) -> Option<(Self, &str)> {
        [Self::Inferred, Self::Assumed]
            .into_iter()
            .find_map(|why| Some((why, text.trim_start().strip_prefix(why.prefix())?.trim())))
    }
}

impl Run {
    /// The same on a cluster whose scale-up domains are the parts of them that the job uses, for a network that joins these alone.
    #[must_use]
    pub fn as_used(mut self) -> Self {
        self.cluster.scale_up.domain_size = self.plan.domain(&self.cluster);
        self.plan.segment = None;
        self
    }
}

/// How much is trained.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Training {
    /// Tokens in all; `None` asks for one step only.
    pub tokens: Option<f64>,
    /// Share of the calendar time in which the run makes progress, above 0 and at most 1. 1 where checkpoints are given: then the share
    /// follows from failures (`railwright_calculator::goodput::run`).
    pub availability: f64,
    /// How checkpoints are written, where failures are to be modelled.
    pub checkpoints: Option<Checkpoints>,
}

/// How a run writes checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checkpoints {
    /// What decides how long one takes.
    pub writing: Writing,
    /// Time of it for which training stops; all of it if open.
    pub stall: Option<Seconds>,
}

/// How long a checkpoint takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Writing {
    /// From its start until it can be restored.
    Time(Seconds),
    /// Bandwidth of the storage for the whole job; the bytes are those of the model's states.
    Bandwidth(BytesPerSecond),
}

/// Prices. Open prices are those of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Price of one device for one hour; `None` takes the accelerator's typical price.
    pub price_per_device_hour: Option<Dollars>,
    /// Price of a kilowatt-hour; `None` takes the catalogue's.
    pub electricity_price: Option<Dollars>,
    /// Mean power of a device while training, as a share of its limit.
    pub power_share: f64,
}

impl Default for Training {
    fn default() -> Self {
        Self { tokens: None, availability: 1.0, checkpoints: None }
    }
}

impl Default for Cost {
    fn default() -> Self {
        Self { price_per_device_hour: None, electricity_price: None, power_share: 0.9 }
    }
}
