//! Kernels before late launches.
//!
//! Responsible for: the part of a finding's savings that is lost in gaps before launches by a late host. The
//! device waits for the same launch if these kernels are shorter. Excludes waits for other ranks.

use super::{Context, Finding, time};
use std::collections::BTreeMap;

/// Share of the step below which a cost is no finding, as in the headline of reports.
const LEAST: f64 = 0.01;

/// Minimum absorbed share of a cost that is a part of the evidence.
const SHOWN: f64 = 0.05;

/// Findings with the costs that shorter kernels save, without those that hardly save anything.
pub(super) fn without_absorbed(context: &Context<'_>, found: Vec<Finding>) -> Vec<Finding> {
    if found.iter().all(|one| one.savings.is_empty()) {
        return found;
    }
    let mut times: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for (part, name) in context.uses().filter(|(part, _)| part.name.is_some()) {
        let sum = times.entry(name).or_default();
        *sum = (sum.0 + part.time, sum.1 + part.absorbed);
    }
    let step = context.step();
    found.into_iter().filter_map(|one| reduced(one, &times, step)).collect()
}

/// A finding with the savings that remain; times by kernel are (all, absorbed). `None` if they are below
/// [`LEAST`] of a step.
fn reduced(mut finding: Finding, times: &BTreeMap<&str, (i64, i64)>, step: f64) -> Option<Finding> {
    let Some(cost) = finding.cost.filter(|_| !finding.savings.is_empty()) else { return Some(finding) };
    let all: f64 = finding.savings.iter().map(|saving| saving.1).sum();
    for (name, saving) in &mut finding.savings {
        if let Some((time, absorbed)) = times.get(name.as_str()).filter(|times| times.0 > 0) {
            *saving *= 1.0 - *absorbed as f64 / *time as f64;
        }
    }
    let left: f64 = finding.savings.iter().map(|saving| saving.1).sum();
    let lost = if all > 0.0 { cost * (1.0 - left / all) } else { 0.0 };
    if lost < SHOWN * cost {
        return Some(finding);
    }
    finding.cost = Some(cost - lost);
    finding.evidence.push(format!(
        "another {} is before late launches: the device would wait for the host instead",
        time(lost)
    ));
    (cost - lost >= LEAST * step).then_some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_kernels_before_late_launches_save_nothing() {
        let finding = Finding {
            cost: Some(50.0),
            savings: vec![("gemm".to_owned(), 40.0), ("norm".to_owned(), 10.0)],
            ..Finding::default()
        };
        let of = |gemm: i64, step: f64| {
            reduced(finding.clone(), &BTreeMap::from([("gemm", (80, gemm)), ("norm", (20, 0))]), step)
        };
        let cost = |found: Option<Finding>| found.and_then(|one| one.cost).map(|cost| cost.round() as i64);
        assert_eq!(cost(of(0, 100.0)), Some(50));
        assert_eq!(cost(of(60, 100.0)), Some(20));
        assert_eq!(of(60, 100.0).map(|one| one.evidence.len()), Some(1));
        assert_eq!(cost(of(80, 100.0)), Some(10));
        assert_eq!(cost(of(80, 2000.0)), None);
    }
}
