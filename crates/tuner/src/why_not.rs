//! Reason why a given strategy is not the result.
//!
//! Responsible for: one of five verdicts with its figures. Does not search: the caller provides the best
//! matching strategy and the winner.

use crate::ranking::{Difference, difference};
use crate::search::{Candidate, Miss, Objective, difference_band};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Bytes;
use serde::Serialize;

/// Verdict on a strategy that is not the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum WhyNot {
    /// The user stopped the search for it.
    Unanswered,
    /// It is not a valid strategy.
    Impossible {
        /// Reasons for its rejection.
        problems: Vec<Problem>,
    },
    /// It does not fit.
    TooLarge(Box<TooLarge>),
    /// It fits, but another is better.
    Slower(Box<Slower>),
    /// It is the result, or nothing else was found.
    Best(Box<Candidate>),
}

/// Figures of a strategy that does not fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TooLarge {
    /// The matching strategy with the least memory.
    pub miss: Miss,
    /// The stage with the largest need.
    pub stage: usize,
    /// Additional device memory for the required probability of fitting.
    pub lacks: Bytes,
}

/// Figures of a slower strategy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slower {
    /// The best matching strategy.
    pub candidate: Candidate,
    /// Its time per token over the winner's, minus 1.
    pub behind: f64,
    /// True if that is within the error of the model between two layouts.
    pub is_tie: bool,
    /// Time lost and gained by part, largest first.
    pub differences: Vec<Difference>,
}

/// The verdict on a strategy that does not fit.
pub fn too_large(miss: &Miss) -> WhyNot {
    WhyNot::TooLarge(Box::new(TooLarge { stage: miss.memory.stage, lacks: miss.missing, miss: miss.clone() }))
}

/// The verdict on a strategy that fits, compared with the winner.
pub fn against(candidate: &Candidate, winner: Option<&Candidate>) -> WhyNot {
    let Some(winner) =
        winner.filter(|winner| winner.plan != candidate.plan || winner.devices != candidate.devices)
    else {
        return WhyNot::Best(Box::new(candidate.clone()));
    };
    let behind = candidate.score(Objective::Time) / winner.score(Objective::Time) - 1.0;
    WhyNot::Slower(Box::new(Slower {
        behind,
        is_tie: behind.abs() <= difference_band(&winner.plan.software),
        differences: difference(&candidate.time, &winner.time),
        candidate: candidate.clone(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Options, Search, Space};
    use railwright_spec::cluster;
    use railwright_spec::model::by_name;
    use railwright_spec::plan::{PlanSpec, Recompute};

    #[test]
    fn the_slower_loses_where_it_is_slower_and_the_winner_is_the_best() {
        let model = by_name("llama-3-8b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 8).expect("known");
        let best_of = |specified: PlanSpec| {
            let specified = PlanSpec {
                tensor_parallel: Some(2),
                pipeline_parallel: Some(1),
                context_parallel: Some(1),
                micro_batch: Some(1),
                global_batch: Some(64),
                ..specified
            };
            let space = Space::new(&specified, &model, &cluster).expect("a space");
            let search = Search::new(&model, &cluster, space, Options::default()).expect("possible");
            search.outcome(&search.run()).candidates.remove(0)
        };
        let winner = best_of(PlanSpec::default());
        let full =
            best_of(PlanSpec { recompute: Some(Recompute::Full { layers: None }), ..PlanSpec::default() });
        assert!(matches!(against(&winner, Some(&winner)), WhyNot::Best(_)));
        assert!(matches!(against(&winner, None), WhyNot::Best(_)));
        let WhyNot::Slower(slower) = against(&full, Some(&winner)) else {
            panic!("full recompute is slower")
        };
        assert!(slower.behind > 0.1 && !slower.is_tie, "{}", slower.behind);
        assert_eq!(slower.differences[0].on, crate::ranking::Share::Recompute);
        assert!(slower.differences[0].more.get() > 0.0);
    }
}
