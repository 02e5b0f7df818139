//! Calibration evidence of a number: file, constant, number and source of measurements, and confidence.
//!
//! Responsible for: the text. Costs record whether they are calibrated.

use crate::costing::Costing;
use crate::estimate::CommunicationRow;
use railwright_spec::Collective;
use railwright_spec::Portable as _;
use railwright_spec::calibration::{Calibration, Evidence, Operators, Regime};
use railwright_spec::human;

/// `calibration `h100.toml`: products.bf16, 648 measurements in rank0.json within a run +/- 0.4%`
fn sentence(calibration: &Calibration, figure: &str, regime: Regime, evidence: &Evidence) -> String {
    let file = if calibration.file.is_empty() { String::new() } else { format!(" `{}`", calibration.file) };
    let count = match evidence.samples {
        1 => "1 measurement".to_owned(),
        n => format!("{} measurements", human::whole(n)),
    };
    let from = if evidence.from.is_empty() { String::new() } else { format!(" in {}", evidence.from) };
    let where_ = match regime {
        Regime::Burst => "alone",
        Regime::Sustained => "within a run",
    };
    let sure = if evidence.uncertainty > 0.0 {
        format!(" +/- {}", human::percent(evidence.uncertainty))
    } else {
        String::new()
    };
    format!("calibration{file}: {figure}, {count}{from} {where_}{sure}")
}

fn of<'c>(costing: &'c Costing<'_>) -> Option<&'c Calibration> {
    costing.machine.calibration.as_deref()
}

/// Evidence for GEMMs of a format; empty if there is none.
pub(super) fn products(costing: &Costing<'_>, format: railwright_spec::precision::DataType) -> String {
    of(costing)
        .and_then(|c| c.products(format).map(|rate| (c, rate)))
        .map(|(c, rate)| sentence(c, &rate.operators.name(), rate.regime, &rate.evidence))
        .unwrap_or_default()
}

/// Evidence for operators. Sustained constants of element-wise kernels apply only to their own generation.
pub(super) fn operators(costing: &Costing<'_>, operators: Operators) -> Option<String> {
    let calibration = of(costing)?;
    let rate = calibration.rate(operators)?;
    let is_device = matches!(
        operators,
        Operators::Products(_) | Operators::AttentionForward | Operators::AttentionBackward
    );
    (is_device || rate.regime == Regime::Burst || calibration.software == costing.software.id)
        .then(|| sentence(calibration, &rate.operators.name(), rate.regime, &rate.evidence))
}

/// Evidence for the host's costs.
pub(super) fn host(costing: &Costing<'_>) -> Option<String> {
    let calibration = of(costing).filter(|c| c.software == costing.software.id)?;
    let host = calibration.host.as_ref()?;
    Some(sentence(calibration, "host", Regime::Sustained, &host.evidence))
}

/// Evidence for a family of compute, by its identifier in the breakdown.
pub(super) fn family(costing: &Costing<'_>, id: &str) -> Option<String> {
    let name = id.strip_prefix("compute.")?;
    match name {
        "attention_input" | "attention_output" | "mlp" | "experts" => {
            Some(products(costing, costing.compute_type())).filter(|text| !text.is_empty())
        }
        "head" => {
            Some(products(costing, costing.plan.precision.wide_products())).filter(|text| !text.is_empty())
        }
        "attention_core" => {
            let directions = [Operators::AttentionForward, Operators::AttentionBackward];
            let found: Vec<String> = directions.into_iter().filter_map(|o| operators(costing, o)).collect();
            (!found.is_empty()).then(|| found.join("; "))
        }
        "loss" => operators(costing, Operators::Loss),
        _ => operators(costing, Operators::Elementwise),
    }
}

/// Evidence for a row of communication: its own model, the network's, or the extrapolated nearest one; or
/// only the rate within runs. A group on a node's bus has the model of the bus, regardless of its number of
/// domains.
pub(super) fn collective(costing: &Costing<'_>, row: &CommunicationRow) -> Option<String> {
    let (operation, ranks) = (row.operation, row.ranks);
    let calibration = of(costing)?;
    if !row.is_joined {
        let law = calibration.network.as_ref()?;
        let on = if law.covers(row.domains) { "" } else { " extrapolated from the measured domains" };
        return Some(sentence(calibration, &format!("network{on}"), Regime::Burst, &law.evidence));
    }
    let kind = Collective::by_name(operation)?;
    let has_links = calibration.link == costing.cluster.scale_up.link;
    if let Some(law) = calibration.collective(kind, ranks).filter(|_| has_links) {
        let figure = format!("{operation} x{ranks}");
        return Some(sentence(calibration, &figure, law.regime, &law.evidence));
    }
    let doublings = |n: u64| (n as f64 / ranks as f64).portable_log2().abs();
    let near = calibration
        .collectives
        .iter()
        .filter(|law| law.operation == kind && has_links)
        .min_by(|a, b| doublings(a.ranks).total_cmp(&doublings(b.ranks)));
    if let Some(law) = near {
        let figure = format!("{operation} x{} extrapolated", law.ranks);
        return Some(sentence(calibration, &figure, law.regime, &law.evidence));
    }
    let rate =
        calibration.collective_rate.as_ref().filter(|_| calibration.software == costing.software.id)?;
    Some(sentence(calibration, "collectives in the run", Regime::Sustained, &rate.evidence))
}
