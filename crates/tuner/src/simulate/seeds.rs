//! A step under several hash seeds of its routes.
//!
//! Responsible for: the same step for consecutive seeds, and the distribution of its time. Rejects routing
//! without hashes: every seed would give the same step.

use super::{Setting, Simulation, simulate_watched, whole};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use serde::Serialize;
use std::ops::ControlFlow;

/// Maximum number of seeds: more do not improve the quantiles.
pub const MOST_SEEDS: u32 = 256;

/// Step times over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverSeeds {
    /// Number of seeds.
    pub seeds: u32,
    /// The first seed.
    pub first: u64,
    /// The fastest step.
    pub least: Seconds,
    /// Median step.
    pub median: Seconds,
    /// 90th percentile.
    pub p90: Seconds,
    /// The slowest step.
    pub most: Seconds,
}

/// A quantile of sorted values by the nearest rank: `x[ceil(p n)]` from 1.
pub fn quantile<T: Copy + Default>(sorted: &[T], share: f64) -> T {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or_default()
}

/// Adds the step times of further seeds to a simulation, starting from that of its own design.
pub fn over_seeds(
    (model, cluster, plan): (&Model, &Cluster, &Plan),
    (setting, own): (&Setting<'_>, &mut Simulation),
    seeds: u32,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<(), Problem> {
    let refused = |message: String| Problem::new(message).in_file("--seeds");
    let frame = setting.network.frame()?;
    if !(1..=MOST_SEEDS).contains(&seeds) {
        return Err(refused(format!("{seeds} is not between 1 and {MOST_SEEDS}")));
    }
    if !frame.routing.is_hashed() {
        return Err(refused(format!("{} routing has no hash seed", frame.routing.name()))
            .hint("add `--routing ecmp`, or omit --seeds"));
    }
    let mut times = vec![own.step_time];
    for n in 1..seeds {
        let done = n as usize;
        let mut watch = |at: usize, all: usize| watch((done - 1) * all + at, (seeds as usize - 1) * all);
        times.push(setting.network.redrawn(n, |network| {
            let setting = Setting { network, ..*setting };
            Ok(match setting.background {
                Some(_) => simulate_watched(model, cluster, plan, &setting, &mut watch)?.step_time,
                None => whole((model, cluster, plan), &setting, &mut watch)?,
            })
        })?);
    }
    times.sort_by(|a, b| a.get().total_cmp(&b.get()));
    own.over_seeds = Some(OverSeeds {
        seeds,
        first: frame.seed,
        least: quantile(&times, 0.0),
        median: quantile(&times, 0.5),
        p90: quantile(&times, 0.9),
        most: quantile(&times, 1.0),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_nearest_ranks() {
        let times: Vec<Seconds> = (1..=10).map(|n| Seconds::new(f64::from(n))).collect();
        for (share, expected) in [(0.0, 1.0), (0.5, 5.0), (0.9, 9.0), (1.0, 10.0)] {
            assert_eq!(quantile(&times, share).get(), expected);
        }
        assert_eq!(quantile(&times[..1], 0.9).get(), 1.0);
    }
}
