//! A calibration: what was measured on one accelerator with one software generation, in the form in which the calculator uses it.
//!
//! Responsible for: the values, their evidence (from what, how many samples, over which sizes, how well they fit), and the file that
//! holds them. Refuses to fit anything (the calculator does) and to read measurements (the profiler does).
//!
//! Two regimes are kept apart. *Burst* is what a kernel or a collective takes alone: micro-benchmarks and nccl-tests. *Sustained* is what
//! it takes within a training run: traces. A burst entry corrects a law and the generation's constants still apply; a sustained entry
//! replaces the generation's constant, for it was measured with everything that the constant stands for.

mod samples;
mod text;

pub use samples::{
    AttentionSample, CollectiveKind, CollectiveSample, ProductPass, ProductSample, Samples, StepSample,
};

use crate::model::Model;
use crate::precision::DataType;
use crate::software::PARTS;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// Version of the file's form; it grows when a field changes its meaning or goes away, not when one is added.
pub const VERSION: u32 = 1;

/// What a figure stands on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The files that it was measured in, in words.
    pub from: String,
    /// How many measurements there were.
    pub samples: u64,
    /// How far measurements of one thing scatter: the median over things of (p90 - p10) / median; 0 for one measurement.
    pub spread: f64,
    /// The mean absolute error of the calculator without this figure, weighted by time.
    pub error_before: f64,
    /// The same with it, in sample.
    pub error_after: f64,
    /// Half of the 95% interval of the median of measured over predicted times, as a share; 0 if not
    /// computed.
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

/// Alone or within a run.
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

/// The rate of a kind of operators over the calculator's law of them, as a function of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Of what.
    pub operators: Operators,
    /// Alone or within a run.
    pub regime: Regime,
    /// Work of one operator and the rate there, by growing work: the law's time over the measured time. Between two points the rate
    /// is linear in the logarithm of work, beyond them it stays.
    pub points: Vec<(f64, f64)>,
    /// Evidence.
    pub evidence: Evidence,
}

/// A collective inside a scale-up domain: `t = base + f b / bandwidth + ramp sqrt(b)` with f the bus factor of nccl-tests. A sustained law is
/// what the collective takes within the run once all ranks are there: nothing of the generation's comes on top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CollectiveLaw {
    /// Kind.
    pub operation: CollectiveKind,
    /// Among how many ranks.
    pub ranks: u64,
    /// Alone or within a run.
    pub regime: Regime,
    /// Microseconds that the smallest message takes.
    pub base_us: f64,
    /// Bus bandwidth that large messages approach, decimal GB/s.
    pub bandwidth_gb: f64,
    /// Nanoseconds per square root of a byte.
    pub ramp_ns: f64,
    /// The smallest message that was measured, bytes.
    pub from_bytes: f64,
    /// The largest.
    pub to_bytes: f64,
    /// Evidence.
    pub evidence: Evidence,
}

impl CollectiveLaw {
    /// Whether some link could have it: two ranks or more, times from 0 to a second, a bandwidth above 0 and up to 100,000 GB/s.
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
    /// Share of its NICs that a ring with large messages reaches.
    pub ring_share: f64,
    /// Share of the link bandwidth that uniform traffic to all peers reaches.
    pub spread_share: f64,
    /// Multiple of the calculator's latencies between domains.
    pub latency: f64,
    /// Ranks of the smallest group that was measured.
    pub from_ranks: u64,
    /// Of the largest.
    pub to_ranks: u64,
    /// Scale-up domains that the smallest group spanned; 0 if the file does not record it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub from_domains: u64,
    /// The largest.
    #[serde(default, skip_serializing_if = "is_none")]
    pub to_domains: u64,
    /// The smallest message that was measured, bytes.
    pub from_bytes: f64,
    /// The largest.
    pub to_bytes: f64,
    /// Evidence.
    pub evidence: Evidence,
}

impl NetworkLaw {
    /// Whether groups over that number of domains were measured; true if the file does not record it.
    pub fn covers(&self, domains: u64) -> bool {
        self.to_domains == 0 || (self.from_domains..=self.to_domains).contains(&domains)
    }
}

/// What the host costs; holds for the calibration's software generation alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostCosts {
    /// Microseconds to launch one kernel of the calculator's count.
    pub us_per_kernel: f64,
    /// Microseconds per micro-batch and stage, without launches.
    pub us_per_micro_batch: f64,
    /// Milliseconds per step outside of passes and update.
    pub ms_per_step: f64,
    /// Evidence.
    pub evidence: Evidence,
}

/// Corrections of the parts of a step by measured step times of one stack; holds for the calibration's software generation alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StepTimes {
    /// Multiples of the predicted times of parts, in the order of [`crate::software::Part::ALL`], of runs of other models and formats than
    /// those measured.
    pub factors: [f64; PARTS],
    /// Covariance of the logarithms of these multiples.
    pub covariance: [[f64; PARTS]; PARTS],
    /// Standard deviation of the logarithm of a run's time that no part explains.
    pub residual: f64,
    /// Read and forgotten: files of earlier versions have degrees of freedom here. They change no interval: the spread of a stack's scale is in
    /// the covariance, and intervals with the tails of Student's t held 94% after one run and 90% after three, without 92% and 91%.
    #[serde(default, skip_serializing)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub freedom: IgnoredAny,
    /// Different layouts that were measured.
    pub layouts: u64,
    /// Evidence.
    pub evidence: Evidence,
    /// The same of runs of the models and formats of which some were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<OwnRuns>,
}

/// Corrections of the parts of a step of runs of one model in one format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OwnRuns {
    /// The model's name, for readers: launch files and users name one model differently.
    pub model: String,
    /// Its parameters, which identify it.
    pub parameters: u64,
    /// The format of GEMMs.
    pub format: DataType,
    /// Multiples of the predicted times of parts.
    pub factors: [f64; PARTS],
    /// Covariance of the logarithms of these multiples.
    pub covariance: [[f64; PARTS]; PARTS],
}

impl OwnRuns {
    /// Whether they hold for runs of a model in a format.
    pub fn holds(&self, model: &Model, format: DataType) -> bool {
        (self.parameters, self.format) == Self::kind(model, format)
    }

    /// What runs have in common that share factors: the parameters of the model, and the format of GEMMs.
    pub fn kind(model: &Model, format: DataType) -> (u64, DataType) {
        (model.parameters().total, format)
    }
}

/// Whether a matrix of finite numbers up to 10,000 is a covariance: symmetric, and no combination of parts has a negative variance.
///
/// A matrix is positive definite if and only if its factors `L D L^T` have positive `D`. Files hold rounded numbers, which may take a variance
/// of zero a little below it: a thousandth of the largest variance is added to each, and the halves may differ by as much.
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
    /// What holds for runs of a model in a format: their own factors and covariance where some were measured, else those of others.
    pub fn of(&self, model: &Model, format: DataType) -> (&[f64; PARTS], &[[f64; PARTS]; PARTS]) {
        let own = self.own.iter().find(|own| own.holds(model, format));
        own.map_or((&self.factors, &self.covariance), |own| (&own.factors, &own.covariance))
    }

    /// Whether some machine could have them: factors within a hundred, and matrices that are covariances.
    pub fn is_sound(&self) -> bool {
        let is_variance = |value: f64| value.is_finite() && (0.0..=1e4).contains(&value);
        let sound = |factors: &[f64; PARTS], covariance: &[[f64; PARTS]; PARTS]| {
            factors.iter().all(|factor| (0.01..=100.0).contains(factor)) && is_covariance(covariance)
        };
        sound(&self.factors, &self.covariance)
            && self.own.iter().all(|own| sound(&own.factors, &own.covariance))
            && is_variance(self.residual)
    }
}

/// What was measured on one accelerator with one software generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// [`VERSION`].
    pub version: u32,
    /// The accelerator's identifier in the catalogue.
    pub accelerator: String,
    /// The software generation of sustained figures; empty when there are none.
    #[serde(default)]
    pub software: String,
    /// The scale-up link of collective laws; empty when there are none.
    #[serde(default)]
    pub link: String,
    /// Sustained over measured rate of collectives within the run, if a trace recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collective_rate: Option<CollectiveRate>,
    /// The network, where nccl-tests crossed domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkLaw>,
    /// The host, where a trace showed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostCosts>,
    /// Parts of the step, where whole steps were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepTimes>,
    /// Operators.
    #[serde(default, rename = "rate")]
    pub rates: Vec<Rate>,
    /// Collectives inside a domain.
    #[serde(default, rename = "collective")]
    pub collectives: Vec<CollectiveLaw>,
    /// What it was read from, for messages; not in the file.
    #[serde(skip)]
    pub file: String,
}

/// Collectives within a run over collectives alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CollectiveRate {
    /// The law's time over the time in the run, waiting left out.
    pub rate: f64,
    /// Evidence.
    pub evidence: Evidence,
}

/// Samples below which a figure is doubtful.
pub const FEW: u64 = 8;

impl Rate {
    /// The rate at some work: linear in the logarithm of work between points, constant beyond them; 1 without points.
    pub fn at(&self, work: f64) -> f64 {
        rate_at(&self.points, work)
    }

    /// The smallest and the largest work that was measured.
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
            let place = (work / low).ln() / (high / low).ln();
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
    /// For people and tables: `products.bf16`, `attention.forward`, ...
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
    /// One without any figure.
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

    /// Whether there is no figure in it.
    pub fn is_empty(&self) -> bool {
        self.rates.is_empty()
            && self.collectives.is_empty()
            && self.collective_rate.is_none()
            && self.network.is_none()
            && self.host.is_none()
            && self.steps.is_none()
    }

    /// The rate of operators that holds: the sustained one before the burst one.
    pub fn rate(&self, operators: Operators) -> Option<&Rate> {
        let of = |regime| self.rates.iter().find(|r| r.operators == operators && r.regime == regime);
        of(Regime::Sustained).or_else(|| of(Regime::Burst))
    }

    /// The rate of products in a format; 16-bit formats stand for each other, as do the 8-bit ones.
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

    /// The link model of a collective for an exact number of ranks: the sustained one, else the burst one.
    pub fn collective(&self, operation: CollectiveKind, ranks: u64) -> Option<&CollectiveLaw> {
        let of = |regime| {
            self.collectives
                .iter()
                .find(|law| law.operation == operation && law.ranks == ranks && law.regime == regime)
        };
        of(Regime::Sustained).or_else(|| of(Regime::Burst))
    }

    /// Every figure with its name and what it stands on.
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
