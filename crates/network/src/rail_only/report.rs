//! The paper's figures and tables as numbers, in one value.
//!
//! Responsible for: the configurations of each figure, and their results. Charts of them are in
//! [`super::figures`].

use super::targets::{Target, targets};
use super::time::{Iteration, ideal, iteration, optimum, optimum_by_search, relative_performance};
use super::traffic::{Traffic, traffic};
use super::{GPT3, Model, OPT3, PALM, Parameters, cost, forwarding};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{BytesPerSecond, Seconds};
use serde::Serialize;

/// A model with its batch, named as in the figures.
pub(super) const WORKLOADS: [(&str, Model, f64); 5] = [
    ("GPT3, 32M tokens", GPT3, 32e6),
    ("OPT3-175B, 2M tokens", OPT3, 2e6),
    ("PaLM, 512 sequences", PALM, 512.0 * 2048.0),
    ("PaLM, 1024 sequences", PALM, 1024.0 * 2048.0),
    ("PaLM, 2048 sequences", PALM, 2048.0 * 2048.0),
];
/// Sizes of scale-up domains that the sweeps show.
pub(super) const DOMAINS: [f64; 6] = [32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

/// Figure 5: a workload on rail-only with K = 256 and on the ideal network.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadRow {
    /// The workload.
    pub workload: &'static str,
    /// Term by term on rail-only, which is also the time on the full and on the trimmed Clos: model traffic
    /// never leaves its rail.
    pub rail_only: Iteration,
    /// Sum of the terms, in seconds.
    pub total: Seconds,
    /// With all devices in one scale-up domain.
    pub ideal: Seconds,
    /// Rail-only over ideal.
    pub gain: f64,
    /// The optimal model-parallel degree, in closed form.
    pub optimum: f64,
    /// The same by numerical search.
    pub optimum_by_search: f64,
    /// Figure 3: communicating pairs.
    pub traffic: Traffic,
    /// Share of pairs without traffic (0 to 1).
    pub silent_pairs: f64,
    /// Share of bytes that stays in domains.
    pub bytes_in_domain: f64,
}

/// Figure 7: iteration time over the size of the domain.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepRow {
    /// The workload.
    pub workload: &'static str,
    /// Accelerators.
    pub devices: u64,
    /// Sizes of domains.
    pub domains: Vec<u64>,
    /// Iteration times; `None` if the optimal group exceeds the domain, so that the model does not apply.
    pub times: Vec<Option<Seconds>>,
    /// With one domain of all devices.
    pub ideal: Seconds,
}

/// Figure 8: performance relative to the ideal over the size of the domain.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchRow {
    /// Sequences of 2,048 tokens.
    pub sequences: u64,
    /// Relative performance for each domain of the sweep.
    pub relative: Vec<f64>,
    /// Iteration times of the same.
    pub times: Vec<Seconds>,
}

/// Table 2: switches, transceivers and the saving.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostRow {
    /// Accelerators.
    pub devices: u64,
    /// Ports of a switch.
    pub radix: u64,
    /// One Clos for all.
    pub clos: cost::Counts,
    /// One Clos for each rail.
    pub rail_only: cost::Counts,
    /// Share of the cost that rail-only saves at each price ratio of [`RailOnlyReport::price_ratios`].
    pub savings: Vec<f64>,
}

/// An all-to-all that is forwarded.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForwardingRow {
    /// Accelerators of a domain.
    pub domain: u64,
    /// Bandwidth of a network interface.
    pub network: BytesPerSecond,
    /// Bandwidth inside the domain.
    pub scale_up: BytesPerSecond,
    /// Overhead of two steps without overlap.
    pub overhead: f64,
}

/// All results of the paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RailOnlyReport {
    /// Every claim with its reproduced value.
    pub targets: Vec<Target>,
    /// Figures 3 to 5.
    pub workloads: Vec<WorkloadRow>,
    /// Figure 7.
    pub domain_sweep: Vec<SweepRow>,
    /// Figure 8.
    pub batch_sweep: Vec<BatchRow>,
    /// Switch port over transceiver, for the savings.
    pub price_ratios: Vec<f64>,
    /// Table 2.
    pub costs: Vec<CostRow>,
    /// Section on mixture of experts.
    pub forwarding: Vec<ForwardingRow>,
}

/// Computes all values.
pub fn report() -> Result<RailOnlyReport, Problem> {
    let price_ratios = vec![1.0, 1090.0 / 659.0, cost::PAPER_RATIO, 700.0 / 195.0, 5.0];
    Ok(RailOnlyReport {
        targets: targets()?,
        workloads: WORKLOADS.iter().map(|&(name, model, tokens)| workload(name, model, tokens)).collect(),
        domain_sweep: domain_sweep(),
        batch_sweep: batch_sweep(),
        costs: costs(&price_ratios)?,
        price_ratios,
        forwarding: forwarding_rows(),
    })
}

fn workload(name: &'static str, model: Model, tokens: f64) -> WorkloadRow {
    let p = Parameters::paper(model, tokens, 32768.0, 256.0);
    let (real, best) = (iteration(&p), ideal(&p).total());
    let traffic = traffic(&p);
    WorkloadRow {
        workload: name,
        rail_only: real,
        total: real.total(),
        ideal: best,
        gain: real.total() / best,
        optimum: optimum(&p),
        optimum_by_search: optimum_by_search(&p).0,
        traffic,
        silent_pairs: traffic.silent_pairs(),
        bytes_in_domain: traffic.bytes_in_domain(),
    }
}

fn domain_sweep() -> Vec<SweepRow> {
    let mut rows = Vec::new();
    for devices in [16384.0, 32768.0, 65536.0] {
        for &(name, model, tokens) in &WORKLOADS[..2] {
            let at = |domain| Parameters::paper(model, tokens, devices, domain);
            let times = DOMAINS.map(|domain| {
                let p = at(domain);
                (optimum(&p) <= domain).then(|| iteration(&p).total())
            });
            rows.push(SweepRow {
                workload: name,
                devices: devices as u64,
                domains: DOMAINS.map(|d| d as u64).to_vec(),
                times: times.to_vec(),
                ideal: ideal(&at(256.0)).total(),
            });
        }
    }
    rows
}

fn batch_sweep() -> Vec<BatchRow> {
    let of = |sequences: u64| {
        let at = |domain| Parameters::paper(PALM, sequences as f64 * 2048.0, 32768.0, domain);
        BatchRow {
            sequences,
            relative: DOMAINS.map(|domain| relative_performance(&at(domain))).to_vec(),
            times: DOMAINS.map(|domain| iteration(&at(domain)).total()).to_vec(),
        }
    };
    [512, 1024, 2048].map(of).to_vec()
}

fn costs(ratios: &[f64]) -> Result<Vec<CostRow>, Problem> {
    let mut rows = Vec::new();
    for devices in [32768, 65536] {
        for radix in [64, 128, 256] {
            let (clos, rail_only) = (cost::clos(devices, radix)?, cost::rail_only(devices, 256, radix)?);
            let savings = ratios.iter().map(|&ratio| cost::saving(&clos, &rail_only, ratio)).collect();
            rows.push(CostRow { devices, radix, clos, rail_only, savings });
        }
    }
    Ok(rows)
}

fn forwarding_rows() -> Vec<ForwardingRow> {
    let gb = BytesPerSecond::from_gb;
    [
        (8_u32, 50.0, 450.0),
        (8, 25.0, 300.0),
        (64, 50.0, 900.0),
        (64, 100.0, 900.0),
        (256, 50.0, 450.0),
        (256, 50.0, 900.0),
    ]
    .map(|(domain, network, scale_up)| {
        let p = Parameters {
            network: gb(network),
            scale_up: gb(scale_up),
            ..Parameters::paper(GPT3, 32e6, 32768.0, f64::from(domain))
        };
        let overhead = forwarding::overhead(&p);
        ForwardingRow { domain: u64::from(domain), network: p.network, scale_up: p.scale_up, overhead }
    })
    .to_vec()
}
