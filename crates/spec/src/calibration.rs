//! A calibration: measurements on one accelerator with one software generation, in the form used by the
//! calculator.
//!
//! Responsible for: the values, their evidence (source, number of samples, range of sizes, quality of fit),
//! and the file that holds them. Excludes fits (see the calculator) and reading of measurements (see the
//! profiler).
//!
//! Two regimes are separate. *Burst*: time of a kernel or collective alone, from micro-benchmarks and
//! nccl-tests. *Sustained*: time within a training run, from traces. A burst entry corrects a law, and the
//! generation's constants still apply. A sustained entry replaces the generation's constant, because the
//! measurement includes all effects of that constant.

mod measured;
mod samples;
mod text;

pub use measured::MeasuredLayout;
pub use samples::{AttentionSample, CollectiveSample, ProductPass, ProductSample, Samples, StepSample};

use crate::model::Model;
use crate::precision::DataType;
use crate::software::PARTS;
use crate::{Collective, Portable as _};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// Version of the file format. It increases when a field changes its meaning or is removed.
pub const VERSION: u32 = 1;

/// Supporting evidence of a figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Measured files, as text for readers.
    pub from: String,
    /// Number of measurements.
    pub samples: u64,
    /// Relative scatter of repeated measurements: median, over measured items, of (p90 - p10) / median; 0
    /// for one measurement.
    pub spread: f64,
    /// Mean absolute error of the calculator without this figure, weighted by time.
    pub error_before: f64,
    /// Mean absolute error of the calculator with this figure, in sample.
    pub error_after: f64,
    /// Half of the 95% interval of the median of measured over predicted times, as a share; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncertainty: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_none(value: &u64) -> bool {
    *value == 0
}

/// Conditions of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Regime {
    /// Alone, in short bursts.
    Burst,
    /// Within a training run.
    Sustained,
}

/// Operators that have rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "String", try_from = "String")]
pub enum Operators {
    /// Matrix products in a number format; work is FLOP.
    Products(DataType),
    /// Fused attention, forward; work is FLOP.
    AttentionForward,
    /// Fused attention, backward; work is FLOP.
    AttentionBackward,
    /// Kernels between the products of a layer that only move memory; work is bytes.
    Elementwise,
    /// Softmax and cross entropy; work is bytes.
    Loss,
    /// The optimizer's update; work is bytes.
    Optimizer,
}

/// Rate of a kind of operators relative to the calculator's law, as a function of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Operators that it applies to.
    pub operators: Operators,
    /// Conditions of its measurements.
    pub regime: Regime,
    /// Work of one operator (in the unit of [`Operators`]) and the rate there, by growing work. The rate is
    /// the law's time over the measured time: linear in the logarithm of work between two points,
    /// constant beyond them.
    pub points: Vec<(f64, f64)>,
    /// Evidence.
    pub evidence: Evidence,
}

/// A collective inside a scale-up domain: `t = base + f b / bandwidth + ramp sqrt(b)` with f the bus factor
/// of nccl-tests. A sustained law gives the time within the run after the last rank has arrived; the
/// generation's constants are not applied in addition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CollectiveLaw {
    /// Measured operation.
    pub operation: Collective,
    /// Number of ranks.
    pub ranks: u64,
    /// Conditions of its measurements.
    pub regime: Regime,
    /// Time of the smallest message, in microseconds.
    pub base_us: f64,
    /// Asymptotic bus bandwidth of large messages, in decimal GB/s.
    pub bandwidth_gb: f64,
    /// Ramp, in nanoseconds per square root of a byte.
    pub ramp_ns: f64,
    /// Smallest measured message, in bytes.
    pub from_bytes: f64,
    /// Largest measured message, in bytes.
    pub to_bytes: f64,
    /// Evidence.
    pub evidence: Evidence,
}

impl CollectiveLaw {
    /// True if the figures are physically possible: two ranks or more, times from 0 s to 1 s, bandwidth above
    /// 0 and up to 100,000 GB/s.
    pub fn is_sound(&self) -> bool {
        let within = |value: f64, most: f64| (0.0..=most).contains(&value);
        self.ranks >= 2
            && within(self.base_us, 1e6)
            && within(self.ramp_ns, 1e6)
            && self.bandwidth_gb > 0.0
            && within(self.bandwidth_gb, 1e5)
    }
}

/// The network between scale-up domains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NetworkLaw {
    /// Share of the NIC bandwidth reached by a ring with large messages.
    pub ring_share: f64,
    /// Share of the link bandwidth reached by uniform traffic to all peers.
    pub spread_share: f64,
    /// Factor on the calculator's latencies between domains.
    pub latency: f64,
    /// Ranks of the smallest measured group.
    pub from_ranks: u64,
    /// Ranks of the largest measured group.
    pub to_ranks: u64,
    /// Scale-up domains of the measured group that spans the fewest; 0 if the file does not record it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub from_domains: u64,
    /// Scale-up domains of the measured group that spans the most; 0 if the file does not record it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub to_domains: u64,
    /// Smallest measured message, in bytes.
    pub from_bytes: f64,
    /// Largest measured message, in bytes.
    pub to_bytes: f64,
    /// Evidence.
    pub evidence: Evidence,
}

impl NetworkLaw {
    /// True if groups over this number of domains were measured, or if the file does not record it.
    pub fn covers(&self, domains: u64) -> bool {
        self.to_domains == 0 || (self.from_domains..=self.to_domains).contains(&domains)
    }
}

/// Host costs, valid only for the calibration's software generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostCosts {
    /// Launch time per kernel counted by the calculator, in microseconds.
    pub us_per_kernel: f64,
    /// Host time per micro-batch and stage without launches, in microseconds.
    pub us_per_micro_batch: f64,
    /// Host time per step outside passes and update, in milliseconds.
    pub ms_per_step: f64,
    /// Evidence.
    pub evidence: Evidence,
}

/// Corrections of the parts of a step, fitted to measured step times of one stack. Valid only for the
/// calibration's software generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StepTimes {
    /// Factors on the predicted times of the parts, in the order of [`crate::software::Part::ALL`], for runs
    /// of models and formats without measurements.
    pub factors: [f64; PARTS],
    /// Covariance of the logarithms of these factors.
    pub covariance: [[f64; PARTS]; PARTS],
    /// Standard deviation of the logarithm of a run's time that no part explains.
    pub residual: f64,
    /// Ignored: degrees of freedom, from files of earlier versions. They do not affect intervals, because
    /// the covariance already contains the spread of a stack's scale. Intervals with Student's t tails
    /// covered 94% after one run and 90% after three; without them, 92% and 91%.
    #[serde(default, skip_serializing)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub freedom: IgnoredAny,
    /// Number of distinct measured layouts.
    pub layouts: u64,
    /// Evidence.
    pub evidence: Evidence,
    /// Corrections for the models and formats with measured runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<OwnRuns>,
    /// The measured layouts. Absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<MeasuredLayout>,
}

/// Corrections of the parts of a step, for runs of one model in one format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OwnRuns {
    /// Name of the model, for readers: launch files and users name one model differently.
    pub model: String,
    /// Number of parameters, which identifies the model.
    pub parameters: u64,
    /// Number format of GEMMs.
    pub format: DataType,
    /// Factors on the predicted times of the parts, as in [`StepTimes::factors`].
    pub factors: [f64; PARTS],
    /// Covariance of the logarithms of these factors.
    pub covariance: [[f64; PARTS]; PARTS],
}

impl OwnRuns {
    /// True if they apply to runs of a model in a format.
    pub fn holds(&self, model: &Model, format: DataType) -> bool {
        (self.parameters, self.format) == Self::kind(model, format)
    }

    /// Key of runs that share factors: the model's parameters and the format of GEMMs.
    pub fn kind(model: &Model, format: DataType) -> (u64, DataType) {
        (model.parameters().total, format)
    }
}

/// True if a matrix is a covariance: finite numbers up to 10,000, symmetric, and no combination of parts with
/// a negative variance.
///
/// A matrix is positive definite if and only if its factors `L D L^T` have positive `D`. Files hold rounded
/// numbers, so a variance of zero may become slightly negative: a thousandth of the largest variance is added
/// to each, and the halves may differ by as much.
fn is_covariance(matrix: &[[f64; PARTS]; PARTS]) -> bool {
    if !matrix.iter().flatten().all(|value| value.is_finite() && value.abs() <= 1e4) {
        return false;
    }
    let allowance = (0..PARTS).map(|at| matrix[at][at]).fold(0.0, f64::max) * 1e-3 + 1e-12;
    let is_symmetric = (0..PARTS).all(|a| (0..a).all(|b| (matrix[a][b] - matrix[b][a]).abs() <= allowance));
    let mut left = *matrix;
    for (at, row) in left.iter_mut().enumerate() {
        row[at] += allowance;
    }
    for at in 0..PARTS {
        let pivot = left[at];
        if pivot[at] <= 0.0 {
            return false;
        }
        for row in left.iter_mut().skip(at + 1) {
            let factor = row[at] / pivot[at];
            for (value, above) in row.iter_mut().zip(&pivot) {
                *value -= factor * above;
            }
        }
    }
    is_symmetric
}

impl StepTimes {
    /// Factors and covariance for runs of a model in a format: its own if some were measured, else those for
    /// other runs.
    pub fn of(&self, model: &Model, format: DataType) -> (&[f64; PARTS], &[[f64; PARTS]; PARTS]) {
        let own = self.own.iter().find(|own| own.holds(model, format));
        own.map_or((&self.factors, &self.covariance), |own| (&own.factors, &own.covariance))
    }

    /// True if the figures are physically possible: factors within a hundred, and matrices that are
    /// covariances.
    pub fn is_sound(&self) -> bool {
        let is_variance = |value: f64| value.is_finite() && (0.0..=1e4).contains(&value);
        let sound = |factors: &[f64; PARTS], covariance: &[[f64; PARTS]; PARTS]| {
            factors.iter().all(|factor| (0.01..=100.0).contains(factor)) && is_covariance(covariance)
        };
        sound(&self.factors, &self.covariance)
            && self.own.iter().all(|own| sound(&own.factors, &own.covariance))
            && self.measured.iter().all(MeasuredLayout::is_sound)
            && is_variance(self.residual)
    }
}

/// Measurements on one accelerator with one software generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// File version, see [`VERSION`].
    pub version: u32,
    /// Identifier of the accelerator in the catalogue.
    pub accelerator: String,
    /// Software generation of sustained figures; empty if there are none.
    #[serde(default)]
    pub software: String,
    /// Scale-up link of collective laws; empty if there are none.
    #[serde(default)]
    pub link: String,
    /// Sustained over measured rate of collectives within the run, if a trace recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collective_rate: Option<CollectiveRate>,
    /// Network law, if nccl-tests crossed scale-up domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkLaw>,
    /// Host costs, if a trace recorded them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostCosts>,
    /// Corrections of the parts of a step, if whole steps were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepTimes>,
    /// Rates of operators.
    #[serde(default, rename = "rate")]
    pub rates: Vec<Rate>,
    /// Laws of collectives inside a scale-up domain.
    #[serde(default, rename = "collective")]
    pub collectives: Vec<CollectiveLaw>,
    /// Path of the source file, for messages; not written to the file.
    #[serde(skip)]
    pub file: String,
}

/// Rate of collectives within a run, relative to collectives alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CollectiveRate {
    /// Time by the law over the time in the run, waits excluded.
    pub rate: f64,
    /// Evidence.
    pub evidence: Evidence,
}

/// Number of samples below which a figure is doubtful.
pub const FEW: u64 = 8;

impl Rate {
    /// The rate at some work: linear in the logarithm of work, constant beyond its points; 1 without points.
    pub fn at(&self, work: f64) -> f64 {
        rate_at(&self.points, work)
    }

    /// Smallest and largest measured work.
    pub fn range(&self) -> (f64, f64) {
        let end = |point: Option<&(f64, f64)>| point.map_or(0.0, |(work, _)| *work);
        (end(self.points.first()), end(self.points.last()))
    }
}

/// See [`Rate::at`].
pub fn rate_at(points: &[(f64, f64)], work: f64) -> f64 {
    let after = points.partition_point(|(known, _)| *known <= work);
    match (after.checked_sub(1).and_then(|at| points.get(at)), points.get(after)) {
        (Some(&(low, from)), Some(&(high, to))) => {
            let place = (work / low).portable_ln() / (high / low).portable_ln();
            from + place * (to - from)
        }
        (Some(&(_, rate)), None) | (None, Some(&(_, rate))) => rate,
        (None, None) => 1.0,
    }
}

impl From<Operators> for String {
    fn from(operators: Operators) -> Self {
        operators.name()
    }
}

impl TryFrom<String> for Operators {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let products = || name.strip_prefix("products.").and_then(DataType::from_name).map(Self::Products);
        let others =
            [Self::AttentionForward, Self::AttentionBackward, Self::Elementwise, Self::Loss, Self::Optimizer];
        others.into_iter().find(|o| o.name() == name).or_else(products).ok_or_else(|| {
            let known = others.map(Self::name).join("`, `");
            format!("unknown operators `{name}`; known: `products.FORMAT`, `{known}`")
        })
    }
}

impl Operators {
    /// Name in tables and reports: `products.bf16`, `attention.forward`, ...
    pub fn name(self) -> String {
        match self {
            Self::Products(format) => format!("products.{}", format.name()),
            Self::AttentionForward => "attention.forward".to_owned(),
            Self::AttentionBackward => "attention.backward".to_owned(),
            Self::Elementwise => "elementwise".to_owned(),
            Self::Loss => "loss".to_owned(),
            Self::Optimizer => "optimizer".to_owned(),
        }
    }
}

impl Calibration {
    /// Calibration without figures.
    pub fn empty(accelerator: &str) -> Self {
        Self {
            version: VERSION,
            accelerator: accelerator.to_owned(),
            software: String::new(),
            link: String::new(),
            rates: Vec::new(),
            collectives: Vec::new(),
            collective_rate: None,
            network: None,
            host: None,
            steps: None,
            file: String::new(),
        }
    }

    /// True if it has no figures.
    pub fn is_empty(&self) -> bool {
        self.rates.is_empty()
            && self.collectives.is_empty()
            && self.collective_rate.is_none()
            && self.network.is_none()
            && self.host.is_none()
            && self.steps.is_none()
    }

    /// Rate of operators in use: sustained if available, else burst.
    pub fn rate(&self, operators: Operators) -> Option<&Rate> {
        let of = |regime| self.rates.iter().find(|r| r.operators == operators && r.regime == regime);
        of(Regime::Sustained).or_else(|| of(Regime::Burst))
    }

    /// Rate of GEMMs in a format. 16-bit formats substitute for each other, as do 8-bit formats.
    pub fn products(&self, format: DataType) -> Option<&Rate> {
        let other = match format {
            DataType::Bf16 => Some(DataType::Fp16),
            DataType::Fp16 => Some(DataType::Bf16),
            DataType::Fp8 => Some(DataType::Mxfp8),
            DataType::Mxfp8 => Some(DataType::Fp8),
            _ => None,
        };
        let of = |format| self.rate(Operators::Products(format));
        of(format).or_else(|| other.and_then(of))
    }

    /// Law of a collective for an exact number of ranks: sustained if available, else burst.
    pub fn collective(&self, operation: Collective, ranks: u64) -> Option<&CollectiveLaw> {
        let of = |regime| {
            self.collectives
                .iter()
                .find(|law| law.operation == operation && law.ranks == ranks && law.regime == regime)
        };
        of(Regime::Sustained).or_else(|| of(Regime::Burst))
    }

    /// All figures: name, regime and evidence.
    pub fn evidence(&self) -> Vec<(String, Regime, &Evidence)> {
        let rates = self.rates.iter().map(|r| (r.operators.name(), r.regime, &r.evidence));
        let laws = self
            .collectives
            .iter()
            .map(|law| (format!("{} x{}", law.operation.name(), law.ranks), law.regime, &law.evidence));
        let rate = self
            .collective_rate
            .iter()
            .map(|r| ("collectives in the run".to_owned(), Regime::Sustained, &r.evidence));
        let network = self.network.iter().map(|n| ("network".to_owned(), Regime::Burst, &n.evidence));
        let host = self.host.iter().map(|h| ("host".to_owned(), Regime::Sustained, &h.evidence));
        let steps = self.steps.iter().map(|s| ("step times".to_owned(), Regime::Sustained, &s.evidence));
        rates.chain(laws).chain(rate).chain(network).chain(host).chain(steps).collect()
    }
}

#[cfg(test)]
mod tests;
