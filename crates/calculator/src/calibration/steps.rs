//! Whole steps: constants that the shapes of individual operators did not determine.
//!
//! Responsible for: attention and GEMMs of unknown shape, element-wise kernels, loss, update and host. Each
//! is fitted from its time in the step relative to the predicted time. Excludes pipeline bubbles and
//! exposed communication: they follow from the rest.

use super::compared::StepLine;
use super::figures::{from, rounded};
use super::step_times::{self, Timed};
use crate::costing::{Costing, Machine};
use crate::evaluate::{Evaluation, evaluate};
use crate::work::Family;
use railwright_spec::Portable as _;
use railwright_spec::calibration::{
    Calibration, Evidence, HostCosts, Operators, Rate, Regime, Samples, StepSample,
};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use std::sync::Arc;

const PRODUCTS: [Family; 5] =
    [Family::AttentionInput, Family::AttentionOutput, Family::Mlp, Family::Experts, Family::Head];
const STREAMS: [Family; 5] =
    [Family::Embedding, Family::Norm, Family::Activation, Family::Router, Family::Residual];
/// Minimum share of a step for a part to be fitted.
const LITTLE: f64 = 0.002;
/// Search range of host costs, as multiples of the generation's.
const HOST: (f64, f64) = (1e-3, 1e3);

/// The mean over ranks, weighted by steps; `None` without steps.
pub(super) fn mean(samples: &[Samples]) -> Option<StepSample> {
    let mut all: Vec<&StepSample> = samples.iter().filter(|s| !s.alone).flat_map(|s| &s.steps).collect();
    // A log has only whole steps; traces contain more.
    if all.iter().any(|s| has_parts(s)) {
        all.retain(|s| has_parts(s));
    }
    let steps: u64 = all.iter().map(|s| s.steps).sum();
    if steps == 0 {
        return None;
    }
    let of = |get: fn(&StepSample) -> Seconds| -> Seconds {
        all.iter().map(|s| get(s) * (s.steps as f64 / steps as f64)).sum()
    };
    Some(StepSample {
        rank: 0,
        steps,
        step: of(|s| s.step),
        products: of(|s| s.products),
        attention: of(|s| s.attention),
        elementwise: of(|s| s.elementwise),
        loss: of(|s| s.loss),
        optimizer: of(|s| s.optimizer),
        other: of(|s| s.other),
        exposed_communication: of(|s| s.exposed_communication),
        waiting: of(|s| s.waiting),
        idle: of(|s| s.idle),
        kernels: all.iter().map(|s| s.kernels * s.steps as f64 / steps as f64).sum(),
    })
}

/// The step time of a log, which contains no parts.
pub(super) fn whole(samples: &[Samples]) -> Option<Seconds> {
    mean(samples).filter(|mean| !has_parts(mean)).map(|mean| mean.step)
}

/// Tests whether a step's parts are recorded in addition to its total.
pub(super) fn has_parts(sample: &StepSample) -> bool {
    sample.products + sample.attention + sample.elementwise + sample.other > Seconds::ZERO
}

/// Predicted times of a run on a cluster, by measured part.
fn modelled(cluster: &Cluster, model: &Model, plan: &Plan) -> Result<StepSample, Problem> {
    let machine = Machine::new(cluster);
    let costing = Costing::new(model, cluster, plan, &machine)?;
    Ok(parts(&evaluate(&costing)?))
}

fn parts(evaluation: &Evaluation) -> StepSample {
    let time = &evaluation.time;
    let sum = |families: &[Family]| -> Seconds {
        time.compute.iter().filter(|(family, _)| families.contains(family)).map(|(_, time)| *time).sum()
    };
    let inside: Seconds = time.exposed.iter().map(|(_, time)| *time).sum();
    StepSample {
        step: time.total,
        products: sum(&PRODUCTS),
        attention: sum(&[Family::AttentionCore]),
        elementwise: sum(&STREAMS),
        loss: sum(&[Family::Loss]),
        optimizer: time.optimizer,
        exposed_communication: inside + time.data_parallel,
        idle: time.host + time.fixed,
        ..StepSample::default()
    }
}

/// Fits the constants that steps determine, in an order in which later fits do not change earlier ones.
/// Operators in `kept` keep the shipped model.
pub(super) fn fit(
    (bare, model, plan): (&Cluster, &Model, &Plan),
    samples: &[Samples],
    kept: &[Operators],
    calibration: &mut Calibration,
    remarks: &mut Vec<String>,
) -> Result<Vec<StepLine>, Problem> {
    let Some(measured) = mean(samples) else { return Ok(Vec::new()) };
    let source = from(samples, |s| !s.steps.is_empty());
    let base = modelled(bare, model, plan)?;
    let now = |calibration: &Calibration| with(bare, calibration);
    let evidence = |was: Seconds, took: Seconds| Evidence {
        from: source.clone(),
        samples: measured.steps,
        spread: 0.0,
        uncertainty: 0.0,
        error_before: rounded((was - took).get().abs() / took.get().max(1e-12)),
        error_after: 0.0,
    };
    let machine = Machine::new(bare);
    let costing = Costing::new(model, bare, plan, &machine)?;
    let is_unfused = matches!(costing.attention_kernel, crate::operators::AttentionKernel::Unfused { .. });
    let (product_rate, attention_rate) = (costing.matmul_rate, costing.attention_rate);
    let worth = |time: Seconds| time > measured.step * LITTLE;
    let set = |calibration: &mut Calibration, operators, rate: f64, work: Seconds, evidence| {
        if (1e-3..=1e3).contains(&rate) {
            // A single rate holds at any work. Its point is the work of an element-wise kernel at the
            // data-sheet bandwidth in that time.
            let work = (work.get() * bare.accelerator.memory_bandwidth.get()).max(1.0).round();
            calibration.rates.push(Rate {
                operators,
                regime: Regime::Sustained,
                points: vec![(work, rounded(rate))],
                evidence,
            });
        }
    };
    if !has_parts(&measured) {
        let run = Timed { model, cluster: bare, plan, seconds: measured.step };
        calibration.steps = step_times::fit(&[run], calibration, &source)?;
        remarks.push("a training log records only whole steps, so all parts of the step are scaled together, and predictions of other layouts are less certain".to_owned());
        return lines(bare, &now(calibration), model, plan, &measured);
    }
    let has_products = kept.contains(&Operators::Products(plan.precision.compute))
        || calibration.is_sustained(Operators::Products(plan.precision.compute))
        || calibration.products(plan.precision.compute).is_some_and(|r| r.regime == Regime::Sustained);
    let has_attention =
        kept.contains(&Operators::AttentionForward) || calibration.is_sustained(Operators::AttentionForward);
    if is_unfused && !has_products {
        // Without shapes, GEMMs of attention scores and softmax cannot be separated from others: one rate for
        // all.
        let predicted = base.products + base.attention + base.elementwise;
        let took = measured.products + measured.attention + measured.elementwise + measured.other;
        if worth(took) {
            let pace = predicted / took;
            remarks.push("shapes are not recorded and attention is not fused: GEMMs, attention and element-wise kernels share one rate".to_owned());
            let proof = || evidence(predicted, took);
            set(calibration, Operators::Products(plan.precision.compute), product_rate * pace, took, proof());
            set(calibration, Operators::AttentionForward, attention_rate * pace, took, proof());
            set(calibration, Operators::Elementwise, pace, took, proof());
        }
    } else {
        if !has_products && worth(measured.products) {
            let pace = base.products / measured.products;
            let proof = evidence(base.products, measured.products);
            remarks
                .push("GEMM shapes are not recorded: one rate is fitted to all GEMMs of the step".to_owned());
            set(
                calibration,
                Operators::Products(plan.precision.compute),
                product_rate * pace,
                measured.products,
                proof,
            );
        }
        if !has_attention && worth(measured.attention) && base.attention > Seconds::ZERO {
            let pace = base.attention / measured.attention;
            let proof = evidence(base.attention, measured.attention);
            set(calibration, Operators::AttentionForward, attention_rate * pace, measured.attention, proof);
        }
        let streams = measured.elementwise + measured.other;
        if worth(streams) && base.elementwise > Seconds::ZERO {
            let proof = evidence(base.elementwise, streams);
            set(calibration, Operators::Elementwise, base.elementwise / streams, streams, proof);
        }
    }
    for (operators, was, took) in [
        (Operators::Loss, base.loss, measured.loss),
        (Operators::Optimizer, base.optimizer, measured.optimizer),
    ] {
        if worth(took) && was > Seconds::ZERO {
            let fixed = if operators == Operators::Optimizer {
                unstreamed(bare, model, plan, calibration)?
            } else {
                Seconds::ZERO
            };
            let streams = was - fixed;
            if streams > Seconds::ZERO && took > fixed {
                set(calibration, operators, streams / (took - fixed), took, evidence(was, took));
            }
        }
    }
    fit_host(bare, model, plan, &measured, calibration, &evidence(base.idle, measured.idle))?;
    if plan.pipeline_parallel > 1 {
        remarks.push("stages differ, so parts of the step are compared with the critical stage".to_owned());
    }
    if measured.other > measured.step * 0.02 {
        remarks.push(format!(
            "kernels of unknown kind take {} of the step; they are counted as element-wise kernels",
            railwright_spec::human::percent(measured.other / measured.step)
        ));
    }
    lines(bare, &now(calibration), model, plan, &measured)
}

/// Part of the update that moves no state: Muon's GEMMs and offloaded work. It is the remainder if
/// element-wise kernels cost almost nothing.
fn unstreamed(
    bare: &Cluster,
    model: &Model,
    plan: &Plan,
    calibration: &Calibration,
) -> Result<Seconds, Problem> {
    let mut tried = calibration.clone();
    tried.rates.push(Rate {
        operators: Operators::Optimizer,
        regime: Regime::Sustained,
        points: vec![(1.0, 1e3)],
        evidence: Evidence::default(),
    });
    Ok(modelled(&with(bare, &tried), model, plan)?.optimizer)
}

fn with(bare: &Cluster, calibration: &Calibration) -> Cluster {
    Cluster { calibration: Some(Arc::new(calibration.clone())), ..bare.clone() }
}

/// Fits the host's costs to the measured idle time of the device. If it idles longer than predicted, one
/// factor scales all of them. If it idles less, the time of a step outside passes shrinks first: a device
/// that never waits only proves that a launch costs less than its kernel.
fn fit_host(
    bare: &Cluster,
    model: &Model,
    plan: &Plan,
    measured: &StepSample,
    calibration: &mut Calibration,
    evidence: &Evidence,
) -> Result<(), Problem> {
    let software = crate::software::by_id(&plan.software)?;
    let scaled = |passes: f64, step: f64| HostCosts {
        us_per_kernel: super::figures::significant(software.host_us_per_kernel * passes),
        us_per_micro_batch: super::figures::significant(software.host_us_per_micro_batch * passes),
        ms_per_step: super::figures::significant(software.host_ms_per_step * step),
        evidence: evidence.clone(),
    };
    let of = |costs: HostCosts| -> Result<Seconds, Problem> {
        let tried = Calibration { host: Some(costs), ..calibration.clone() };
        Ok(modelled(&with(bare, &tried), model, plan)?.idle)
    };
    let (all, none) = (of(scaled(1.0, 1.0))?, of(scaled(1.0, 0.0))?);
    let within_passes = measured.idle < none;
    let costs = |factor: f64| match measured.idle < all {
        true if within_passes => scaled(factor, 0.0),
        true => scaled(1.0, factor),
        false => scaled(factor, factor),
    };
    let idle = |factor: f64| of(costs(factor));
    let (mut low, mut high) = (HOST.0.portable_ln(), HOST.1.portable_ln());
    if idle(HOST.1)? < measured.idle {
        return Ok(());
    }
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if idle(middle.portable_exp())? < measured.idle {
            low = middle;
        } else {
            high = middle;
        }
    }
    calibration.host = Some(costs(f64::midpoint(low, high).portable_exp()));
    Ok(())
}

/// Compares the step and its parts with the measured ones. A log has no parts: then only the step.
pub(super) fn lines(
    bare: &Cluster,
    with: &Cluster,
    model: &Model,
    plan: &Plan,
    measured: &StepSample,
) -> Result<Vec<StepLine>, Problem> {
    let (before, after) = (modelled(bare, model, plan)?, modelled(with, model, plan)?);
    let line = |name: &str, title: &str, get: fn(&StepSample) -> Seconds| StepLine {
        name: name.to_owned(),
        title: title.to_owned(),
        measured: get(measured),
        before: get(&before),
        after: get(&after),
    };
    let step = line("step", "step", |s| s.step);
    if !has_parts(measured) {
        return Ok(vec![step]);
    }
    Ok(vec![
        step,
        line("products", "GEMMs", |s| s.products),
        line("attention", "attention", |s| s.attention),
        line("elementwise", "element-wise and other kernels", |s| s.elementwise + s.other),
        line("loss", "loss", |s| s.loss),
        line("optimizer", "optimizer", |s| s.optimizer),
        line("exposed_communication", "exposed communication", |s| s.exposed_communication),
        line("waiting", "waiting for other ranks", |s| s.waiting),
        line("host", "idle, host", |s| s.idle),
    ])
}
