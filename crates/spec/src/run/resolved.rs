//! The resolved run: all inputs of a calculation.

use crate::cluster::Cluster;
use crate::model::Model;
use crate::plan::{OpenSettings, Plan};
use crate::quantity::{BytesPerSecond, Dollars, Seconds};
use serde::Serialize;

/// Model, cluster, plan, amount and prices of a training run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Trained model.
    pub model: Model,
    /// Cluster that trains it.
    pub cluster: Cluster,
    /// Training plan.
    pub plan: Plan,
    /// Amount of training.
    pub training: Training,
    /// Prices.
    pub cost: Cost,
    /// Origin of the plan's software generation.
    pub software_origin: SoftwareOrigin,
    /// Unspecified settings whose assumed value may not be that of the measured run. They widen the interval
    /// of the step time.
    #[serde(skip)]
    pub open_settings: OpenSettings,
}

/// Origin of a software generation. It is decided once, in [`crate::run::RunSpec::software_origin`], and
/// determines the interval of every result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SoftwareOrigin {
    /// Named by the user.
    #[default]
    Specified,
    /// Inferred from the format and flags of a launch file, which date a framework without its version.
    Inferred,
    /// Assumed from the plan and the accelerator alone.
    Assumed,
}

impl SoftwareOrigin {
    /// True if the generation is unspecified, so that the actual one may differ.
    pub const fn is_open(self) -> bool {
        self.unspecified().is_some()
    }

    /// Reason for an unspecified generation; `None` if it is specified.
    pub const fn unspecified(self) -> Option<Unspecified> {
        match self {
            Self::Specified => None,
            Self::Inferred => Some(Unspecified::Inferred),
            Self::Assumed => Some(Unspecified::Assumed),
        }
    }

    /// Generation with its origin, as in run files and flags: `inferred:megatron-core-2025`. The origin
    /// preserves the interval when the text is read again: that of all versions of the framework if
    /// inferred, that of all software if assumed.
    pub fn written(self, id: &str) -> String {
        self.unspecified().map_or_else(|| id.to_owned(), |why| format!("{}{id}", why.prefix()))
    }
}

/// Reason for an unspecified software generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unspecified {
    /// See [`SoftwareOrigin::Inferred`].
    Inferred,
    /// See [`SoftwareOrigin::Assumed`].
    Assumed,
}

impl Unspecified {
    /// Prefix of the generation in a run file.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Inferred => "inferred:",
            Self::Assumed => "assumed:",
        }
    }

    /// Splits a text into origin and generation; `None` without an origin.
    pub fn read(text: &str) -> Option<(Self, &str)> {
        [Self::Inferred, Self::Assumed]
            .into_iter()
            .find_map(|why| Some((why, text.trim_start().strip_prefix(why.prefix())?.trim())))
    }
}

impl Run {
    /// Run on a cluster whose scale-up domains have only the devices used by the job, for networks that join
    /// only these.
    #[must_use]
    pub fn as_used(mut self) -> Self {
        self.cluster.scale_up.domain_size = self.plan.domain(&self.cluster);
        self.plan.segment = None;
        self
    }
}

/// Amount of training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Training {
    /// Training tokens; `None`: one step only.
    pub tokens: Option<f64>,
    /// Goodput: share of wall-clock time with training progress, above 0 and at most 1. It is 1 if
    /// checkpoints are set, because failures then determine the share
    /// (`railwright_calculator::goodput::run`).
    pub availability: f64,
    /// Checkpoint settings; `None`: failures are not modelled.
    pub checkpoints: Option<Checkpoints>,
    /// Flaps and slow parts of the network; `None`: none are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disruptions: Option<Disruptions>,
}

/// Flaps and slow parts of a network, for each device of a job. Both are proportional to the number of parts,
/// and so to the devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disruptions {
    /// Share of the time of all devices that stalls and slow steps cost.
    pub lost: f64,
    /// Flaps in an hour that outlast the transport, so that the job stops.
    pub stops_per_hour: f64,
}

impl Disruptions {
    /// Those of a job on a number of devices.
    #[must_use]
    pub fn of(self, devices: u64) -> Self {
        let n = devices as f64;
        Self { lost: (self.lost * n).min(1.0), stops_per_hour: self.stops_per_hour * n }
    }
}

/// Checkpoint settings of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checkpoints {
    /// Time of one checkpoint, or the bandwidth that determines it.
    pub writing: Writing,
    /// Training pause per checkpoint; `None`: the whole checkpoint time.
    pub stall: Option<Seconds>,
}

/// Duration of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Writing {
    /// Time from its start until it is restorable.
    Time(Seconds),
    /// Storage bandwidth for the whole job. The bytes are those of the model's states.
    Bandwidth(BytesPerSecond),
}

/// Prices; open ones are those of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// Price per device-hour; `None`: the accelerator's typical price.
    pub price_per_device_hour: Option<Dollars>,
    /// Electricity price per kWh; `None`: from the catalogue.
    pub electricity_price: Option<Dollars>,
    /// Mean device power during training as a share of its limit.
    pub power_share: f64,
}

impl Default for Training {
    fn default() -> Self {
        Self { tokens: None, availability: 1.0, checkpoints: None, disruptions: None }
    }
}

impl Default for Cost {
    fn default() -> Self {
        Self { price_per_device_hour: None, electricity_price: None, power_share: 0.9 }
    }
}
