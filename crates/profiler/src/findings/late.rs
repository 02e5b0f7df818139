//! Kernels before late launches.
//!
//! Responsible for: findings whose kernels precede launches by a late host. The device may wait for the same
//! launch if these kernels are shorter, so their cost is a bound. Excludes waits for other ranks.

use super::Context;
use super::words::percent;
use crate::certainty::Certainty;
use crate::profile::Finding;
use std::collections::BTreeMap;

/// Minimum share of the savings before late launches at which the cost is a bound.
const MOST: f64 = 0.5;

/// Marks the costs of findings about kernels that mostly precede late launches.
pub(super) fn mark(context: &Context<'_>, found: &mut [Finding]) {
    if found.iter().all(|one| one.savings.is_empty()) {
        return;
    }
    let mut times: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for (part, name) in context.uses().filter(|(part, _)| part.name.is_some()) {
        let sum = times.entry(name).or_default();
        *sum = (sum.0 + part.time, sum.1 + part.absorbed);
    }
    for one in found.iter_mut() {
        bound(one, &times);
    }
}

/// Marks a finding; times by kernel are (all, before late launches).
fn bound(finding: &mut Finding, times: &BTreeMap<&str, (i64, i64)>) {
    let all: f64 = finding.savings.iter().map(|saving| saving.1).sum();
    let before = |(name, saving): &(String, f64)| {
        let times = times.get(name.as_str()).filter(|times| times.0 > 0);
        times.map_or(0.0, |(time, absorbed)| saving * *absorbed as f64 / *time as f64)
    };
    let lost: f64 = finding.savings.iter().map(before).sum();
    if finding.cost.is_some() && all > 0.0 && lost >= MOST * all {
        finding.certainty = Some(Certainty::AtMost);
        finding.evidence.push(format!(
            "upper bound: {} of it precedes late launches, for which the device would still wait",
            percent(lost / all)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_kernels_before_late_launches_is_a_bound() {
        let of = |gemm: i64| {
            let savings = vec![("gemm".to_owned(), 40.0), ("norm".to_owned(), 10.0)];
            let mut finding = Finding { cost: Some(50.0), savings, ..Finding::default() };
            bound(&mut finding, &BTreeMap::from([("gemm", (80, gemm)), ("norm", (20, 0))]));
            (finding.certainty, finding.evidence)
        };
        assert_eq!(of(0), (None, Vec::new()));
        assert_eq!(of(40), (None, Vec::new()));
        let (certainty, evidence) = of(80);
        assert_eq!(certainty, Some(Certainty::AtMost));
        assert!(evidence.iter().any(|line| line.contains("80.0%")), "{evidence:?}");
    }
}
