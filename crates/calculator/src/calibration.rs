//! Fitting a calibration: measurements of operators, collectives and steps to the figures that make the
//! calculator predict them.
//!
//! Responsible for: the constants that each kind of measurement determines, the fits, and the prediction
//! error before and after. Does not read measurements. Constants without measurements keep the catalogue's
//! values.
//!
//! Isolated measurements (nccl-tests, micro-benchmarks) determine burst rates. Measurements within runs
//! determine the sustained share of them ([`Regime`]). Steps are fitted last, with all other constants in
//! place.

mod collectives;
mod left_out;
mod network;
mod operators;
mod plausible;
pub mod posterior;
mod same_run;
pub mod step_times;
mod steps;
mod sustained;
pub mod table;

pub use same_run::{Claim, differences};
pub use step_times::Timed;

use crate::collectives::Collective;
use crate::costing::{Machine, power_limit};
use crate::operators::{AttentionKernel, AttentionShape, Cost, Pass};
use crate::software::{self, Software};
use railwright_spec::Portable as _;
use railwright_spec::calibration::{
    AttentionSample, Calibration, CollectiveSample, Evidence, Operators, ProductPass, ProductSample, Regime,
    Samples,
};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::{Model, Span};
use railwright_spec::plan::{self, Group, Plan};
use railwright_spec::precision::DataType;
use railwright_spec::problem::{Problem, Warning};
use railwright_spec::quantity::{Bytes, Seconds};
use serde::Serialize;
use std::sync::Arc;

/// Measured hardware, software and run.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Measured cluster. A calibration that it already contains is ignored.
    pub cluster: &'a Cluster,
    /// The software generation.
    pub software: &'a str,
    /// Model and plan of the measured run. `None` if steps are not fitted.
    pub run: Option<(&'a Model, &'a Plan)>,
    /// True if attention of unknown mask is causal.
    pub is_causal: bool,
    /// Whole steps of this run or of others of the same software and accelerator.
    pub timed: &'a [Timed<'a>],
}

/// One figure, or one kind of operators, compared with measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// Identifier: `products.bf16`, `all_reduce x8`, ...
    pub name: String,
    /// Measurement regime: isolated or within a run.
    pub regime: Regime,
    /// Number of different shapes or sizes.
    pub shapes: u64,
    /// Number of measurements.
    pub samples: u64,
    /// The smallest work: FLOP for GEMMs and attention, otherwise bytes.
    pub from: f64,
    /// The largest work, in the same unit.
    pub to: f64,
    /// Scatter of repeated measurements: (p90 - p10) / median.
    pub spread: f64,
    /// Sum of all measured times.
    pub measured: Seconds,
    /// The prediction without the calibration.
    pub before: Seconds,
    /// The prediction with the calibration.
    pub after: Seconds,
    /// Mean absolute error without the calibration, weighted by time, as a share.
    pub error_before: f64,
    /// Mean absolute error with the calibration, weighted by time, as a share.
    pub error_after: f64,
    /// Leave-one-shape-out error of the fit, as a share. A constant is used if this is below
    /// [`Self::error_before`]. `None` without a fit or without held-out measurements.
    pub error_left_out: Option<f64>,
    /// True if the measured times are upper bounds, because untraced ranks may have caused waits. Only the
    /// excess of a prediction over them then counts as an error.
    pub is_bound: bool,
}

/// A whole step, or a part of it, compared with the measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepLine {
    /// Identifier: `step`, `products`, `host`, ...
    pub name: String,
    /// Title for display.
    pub title: String,
    /// Measured time, mean over ranks and steps.
    pub measured: Seconds,
    /// The prediction without the calibration.
    pub before: Seconds,
    /// The prediction with the calibration.
    pub after: Seconds,
}

/// A calibration with its accuracy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fitted {
    /// The fitted constants.
    pub calibration: Calibration,
    /// Kinds of operators and collectives compared with the measurements that they were fitted to.
    pub lines: Vec<Line>,
    /// The step and its parts; empty without a run or without steps.
    pub steps: Vec<StepLine>,
    /// Excluded measurements and assumptions, as text.
    pub remarks: Vec<String>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// Fits a calibration to measurements.
pub fn fit(case: &Case<'_>, samples: &[Samples]) -> Result<Fitted, Problem> {
    let bare = Cluster { calibration: None, ..case.cluster.clone() };
    let before = Predictor::new(&bare, case.software)?;
    let mut calibration = Calibration::empty(&bare.accelerator.id);
    let mut remarks: Vec<String> = samples.iter().flat_map(|s| s.remarks.iter().cloned()).collect();
    let judged = operators::fit(&before, case, samples, &mut calibration, &mut remarks);
    collectives::fit(&before, samples, &mut calibration, &mut remarks);
    network::fit(&bare, samples, &mut calibration);
    collectives::fit_rate(&bare, case.software, samples, &mut calibration, &mut remarks)?;
    sustained::fit(&bare, case.software, samples, &mut calibration, &mut remarks)?;
    case.software.clone_into(&mut calibration.software);
    calibration.link.clone_from(&bare.scale_up.link);
    let steps = match case.run {
        Some((model, plan)) => {
            // Operators for which the default is better are not fitted again to their sum.
            let stays =
                |((operators, regime), left_out): (&(Operators, Regime), &Option<left_out::LeftOut>)| {
                    let is_taken = left_out.is_some_and(|errors| errors.is_better());
                    (*regime == Regime::Sustained && !is_taken).then_some(*operators)
                };
            let kept: Vec<Operators> = judged.iter().filter_map(stays).collect();
            steps::fit((&bare, model, plan), samples, &kept, &mut calibration, &mut remarks)?
        }
        None => Vec::new(),
    };
    let steps = match case.timed {
        [] => steps,
        timed => {
            let mut timed = timed.to_vec();
            if let (Some((model, plan)), Some(whole)) = (case.run, steps::whole(samples)) {
                timed.push(Timed { model, cluster: &bare, plan, seconds: whole });
            }
            calibration.steps = step_times::fit(&timed, &calibration, "step times")?;
            step_times::lines(&timed, &calibration)?
        }
    };
    if !calibration.evidence().iter().any(|(_, regime, _)| *regime == Regime::Sustained) {
        calibration.software.clear();
    }
    if calibration.collectives.is_empty() {
        calibration.link.clear();
    }
    if calibration.is_empty() && judged.is_empty() && !samples.iter().any(|s| !s.collectives.is_empty()) {
        let problem = Problem::new("these measurements do not determine any constant of the cost model");
        let text = remarks.join("; ");
        return Err(if text.is_empty() {
            problem.hint("use traces with record_shapes=True, or a run with the shapes (--run)")
        } else {
            problem.hint(text)
        });
    }
    let mut lines = judge(case, &calibration, samples)?;
    for ((operators, regime), left_out) in &judged {
        let own = lines.iter_mut().find(|l| l.name == operators.name() && l.regime == *regime);
        if let Some(line) = own {
            line.error_left_out = left_out.map(|errors| errors.fitted);
        }
    }
    evidence(&mut calibration, &lines);
    let mut warnings = calibration.warnings(&bare, case.software);
    warnings.extend(plausible::warnings(&before, &calibration));
    warnings.extend(same_run::paces(samples));
    for line in lines.iter().filter(|line| line.error_after > line.error_before + 0.005) {
        warnings.push(Warning::new(
            "calibration-worse",
            format!(
                "the calibration does not improve {}: error {} without it, {} with it",
                line.name,
                railwright_spec::human::percent(line.error_before),
                railwright_spec::human::percent(line.error_after)
            ),
        ));
    }
    Ok(Fitted { calibration, lines, steps, remarks, warnings })
}

/// Compares measurements with predictions, without and with a calibration. The measurements may differ from
/// those of the fit.
pub fn judge(case: &Case<'_>, calibration: &Calibration, samples: &[Samples]) -> Result<Vec<Line>, Problem> {
    let bare = Cluster { calibration: None, ..case.cluster.clone() };
    let with = Cluster { calibration: Some(Arc::new(calibration.clone())), ..bare.clone() };
    let (before, after) = (Predictor::new(&bare, case.software)?, Predictor::new(&with, case.software)?);
    let mut lines = operators::lines(&before, &after, case, samples);
    lines.extend(collectives::lines(&before, &after, samples));
    Ok(lines)
}

/// The step and its parts of a run compared with measured ones, without and with a calibration.
pub fn judge_steps(
    case: &Case<'_>,
    calibration: &Calibration,
    samples: &[Samples],
) -> Result<Vec<StepLine>, Problem> {
    let bare = Cluster { calibration: None, ..case.cluster.clone() };
    let with = Cluster { calibration: Some(Arc::new(calibration.clone())), ..bare.clone() };
    match (case.run, steps::mean(samples)) {
        (Some((model, plan)), Some(measured)) => steps::lines(&bare, &with, model, plan, &measured),
        _ => Ok(Vec::new()),
    }
}

/// The timed steps of a case compared with their predictions, without and with a calibration.
pub fn judge_timed(case: &Case<'_>, calibration: &Calibration) -> Result<Vec<StepLine>, Problem> {
    step_times::lines(case.timed, calibration)
}

/// Writes the quality of the fits into the calibration.
fn evidence(calibration: &mut Calibration, lines: &[Line]) {
    let of = |name: &str, regime: Regime| lines.iter().find(|l| l.name == name && l.regime == regime);
    let take = |evidence: &mut Evidence, line: Option<&Line>| {
        if let Some(line) = line {
            evidence.error_before = rounded(line.error_before);
            evidence.error_after = rounded(line.error_after);
            evidence.spread = rounded(line.spread);
        }
    };
    for rate in &mut calibration.rates {
        take(&mut rate.evidence, of(&rate.operators.name(), rate.regime));
    }
    for law in &mut calibration.collectives {
        take(&mut law.evidence, of(&format!("{} x{}", law.operation.name(), law.ranks), law.regime));
    }
}

/// Rounds to four digits: sufficient for a share or a rate in a file.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Rounds to five significant digits.
fn significant(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powi(4 - value.abs().portable_log10().floor() as i32);
    (value * scale).round() / scale
}

/// The median of times; zero if there are none.
fn median(times: &[Seconds]) -> f64 {
    railwright_spec::median(&mut times.iter().map(|t| t.get()).collect::<Vec<_>>())
}

/// (p90 - p10) / median; zero for fewer than three times.
fn spread(times: &[Seconds]) -> f64 {
    if times.len() < 3 {
        return 0.0;
    }
    let mut sorted: Vec<f64> = times.iter().map(|t| t.get()).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    (at(0.9) - at(0.1)) / at(0.5).max(1e-12)
}

/// Half of the 95% interval of a median, relative to it: between the order statistics n/2 -+ 0.98 sqrt(n)
/// (the normal approximation of the binomial). Result is 1 for too few measurements, and 0 for a single one.
fn uncertainty(paces: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = paces.filter(|pace| pace.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    if n < 2 {
        return 0.0;
    }
    let (middle, reach) = (n as f64 / 2.0, 0.98 * (n as f64).sqrt());
    let low = (middle - reach).floor().max(0.0) as usize;
    let high = ((middle + reach).ceil() as usize).min(n - 1);
    rounded(((sorted[high] - sorted[low]) / 2.0 / sorted[n / 2].max(1e-12)).min(1.0))
}

/// A collective within a run, as a query to the calculator.
fn like(operation: Collective, ranks: u64, bytes: f64) -> CollectiveSample {
    CollectiveSample {
        operation,
        ranks,
        hosts: None,
        bytes,
        alone: false,
        is_bound: false,
        times: Vec::new(),
    }
}

/// One measurement and its prediction.
#[derive(Clone, Copy, Debug)]
struct Observation {
    work: f64,
    count: f64,
    measured: f64,
    spread: f64,
    before: f64,
    after: f64,
    is_bound: bool,
}

impl Observation {
    /// Absolute prediction error in seconds. A prediction below an upper bound has no error.
    fn off(&self, predicted: f64) -> f64 {
        let off = predicted - self.measured;
        if self.is_bound { off.max(0.0) } else { off.abs() }
    }
}

/// Sums observations of one kind.
fn line(name: String, regime: Regime, observations: &[Observation]) -> Option<Line> {
    let sum = |of: &dyn Fn(&Observation) -> f64| observations.iter().map(|o| o.count * of(o)).sum::<f64>();
    let measured = sum(&|o| o.measured);
    if measured <= 0.0 {
        return None;
    }
    let mut spreads: Vec<f64> = observations.iter().filter(|o| o.count > 2.0).map(|o| o.spread).collect();
    spreads.sort_by(f64::total_cmp);
    Some(Line {
        name,
        regime,
        shapes: observations.len() as u64,
        samples: observations.iter().map(|o| o.count).sum::<f64>() as u64,
        from: observations.iter().map(|o| o.work).fold(f64::INFINITY, f64::min),
        to: observations.iter().map(|o| o.work).fold(0.0, f64::max),
        spread: spreads.get(spreads.len() / 2).copied().unwrap_or(0.0),
        measured: Seconds::new(measured),
        before: Seconds::new(sum(&|o| o.before)),
        after: Seconds::new(sum(&|o| o.after)),
        error_before: sum(&|o| o.off(o.before)) / measured,
        error_after: sum(&|o| o.off(o.after)) / measured,
        error_left_out: None,
        is_bound: observations.iter().all(|o| o.is_bound),
    })
}

/// Predictions on one cluster with one software generation.
struct Predictor<'a> {
    cluster: &'a Cluster,
    machine: Machine,
    software: Software,
    power: f64,
}

impl<'a> Predictor<'a> {
    fn new(cluster: &'a Cluster, software: &str) -> Result<Self, Problem> {
        let machine = Machine::new(cluster);
        let software = machine.software_of_others(software::by_id(software)?).clone();
        Ok(Self { cluster, power: power_limit(cluster), machine, software })
    }

    /// Sustained over burst rate of GEMMs within runs.
    fn product_rate(&self, format: DataType) -> f64 {
        if self.machine.device.includes_sustained_gemm_rate(format) {
            return 1.0;
        }
        Software::rate(&self.software.matmul, &self.machine.architecture, format.name()) * self.power
    }

    /// Sustained over burst rate of attention within runs.
    fn attention_rate(&self, pass: Pass) -> f64 {
        if self.machine.device.sustains_attention(pass) {
            return 1.0;
        }
        let architecture = &self.machine.architecture;
        self.software.attention_rate(architecture, self.software.attention_kernel(architecture)) * self.power
    }

    /// Cost of a GEMM under the model of its linear layer's pass.
    fn product(&self, sample: &ProductSample) -> Cost {
        let [m, n, k] = [sample.m, sample.n, sample.k].map(|side| side as f64);
        let device = &self.machine.device;
        match sample.pass {
            ProductPass::Forward => device.gemm(m, n, k, sample.format, Pass::Forward),
            // m x n over k is dX of a layer of n inputs and k outputs.
            ProductPass::DataGradient => device.gemm(m, k, n, sample.format, Pass::DataGradient),
            // m x n over k is dW over k tokens. The cost is independent of the side that is the layer's
            // input.
            ProductPass::WeightGradient => device.gemm(k, m, n, sample.format, Pass::WeightGradient),
        }
    }

    /// Cost of attention under the model.
    fn attention(&self, sample: &AttentionSample, is_causal: bool) -> Cost {
        let shape = AttentionShape {
            batch: sample.batch as f64,
            query_length: sample.queries as f64,
            key_length: sample.keys as f64,
            heads: sample.heads as f64,
            kv_heads: sample.kv_heads as f64,
            head_dim: sample.head_dim as f64,
            value_dim: sample.head_dim as f64,
            span: if is_causal { Span::Causal } else { Span::Bidirectional },
        };
        let kernel = match self.software.attention_kernel(&self.machine.architecture) {
            plan::AttentionKernel::Flash3 if self.machine.architecture.starts_with("Hopper") => {
                AttentionKernel::Flash3
            }
            plan::AttentionKernel::Flash3 => AttentionKernel::CuDnn,
            plan::AttentionKernel::Flash1 => AttentionKernel::Flash1,
            _ => AttentionKernel::Flash2,
        };
        self.machine.device.attention(&shape, kernel, pass_of(sample))
    }

    /// Time of an isolated collective, in seconds.
    fn collective(&self, sample: &CollectiveSample) -> f64 {
        let group = group(self.cluster, sample);
        self.machine.fabric.time(sample.operation, Bytes::new(sample.bytes), &group, 1.0).time.get()
    }
}

fn pass_of(sample: &AttentionSample) -> Pass {
    if sample.backward { Pass::DataGradient } else { Pass::Forward }
}

/// Placement of the ranks of a measured collective: over as many domains as it has hosts, otherwise over the
/// minimum number.
fn group(cluster: &Cluster, sample: &CollectiveSample) -> Group {
    let domain = cluster.scale_up.domain_size.max(1);
    let per_domain = match sample.hosts {
        // A domain may span hosts, as a rack of one domain does.
        Some(hosts) if domain <= cluster.devices_per_node.max(1) => {
            (sample.ranks / hosts.max(1)).clamp(1, domain)
        }
        _ => domain,
    };
    let per_domain = per_domain.min(sample.ranks).max(1);
    Group { ranks: sample.ranks, per_domain, least: per_domain, stride: 1 }
}

/// Tests whether a measured collective stayed on the links inside a domain. Without a scale-up link, the
/// node's bus counts.
fn is_local(cluster: &Cluster, sample: &CollectiveSample) -> bool {
    let on_bus = cluster.scale_up.domain_size <= 1
        && sample.ranks <= cluster.devices_per_node
        && sample.hosts.is_none_or(|hosts| hosts <= 1);
    on_bus || group(cluster, sample).is_inside_domain()
}

fn regime(alone: bool) -> Regime {
    if alone { Regime::Burst } else { Regime::Sustained }
}

/// Sources of the measurements that pass a test, as text.
fn from<'s>(samples: &'s [Samples], has: impl Fn(&'s Samples) -> bool) -> String {
    let names: Vec<&str> = samples.iter().filter(|s| has(s)).map(|s| s.from.as_str()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests;
