//! Why a strategy that somebody has in mind is not the answer.
//!
//! Responsible for: the best that can be done with some choices pinned, and how it compares with the winner: impossible, outside of what
//! was allowed, too large, or slower, and in what. Refuses to argue in words: the front end prints.

use super::candidate::{Candidate, DIFFERENCE_BAND, Miss};
use super::counts::Counts;
use super::engine::{Objective, Options, Search};
use super::space::{Policy, Shardings, Space};
use super::strategy::Split;
use railwright_calculator::defaults;
use railwright_spec::plan::{PlanSpec, Recompute, validate};
use railwright_spec::problem::Problem;
use railwright_spec::quantity::Seconds;
use railwright_spec::run::Section as _;
use serde::Serialize;

/// Why not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum WhyNot {
    /// It cannot be run.
    Impossible {
        /// What is wrong, as `key: message (hint)`.
        problems: Vec<String>,
    },
    /// It does not fit.
    DoesNotFit {
        /// The variant of it that comes closest.
        miss: Box<Miss>,
        /// A dimension whose restriction leaves it out as well.
        outside: Option<String>,
    },
    /// It fits and can be run.
    Compared {
        /// The best variant of it.
        candidate: Box<Candidate>,
        /// How much longer it takes than the best; negative where it is faster, which only something outside the space is.
        slower_by: Seconds,
        /// The same as a share of the best.
        slower_share: f64,
        /// Where the difference comes from; the parts sum to it.
        parts: Vec<Difference>,
        /// Whether the difference is within what the model may be wrong about two layouts.
        tied: bool,
        /// Whether it is the best itself.
        is_best: bool,
        /// A dimension whose restriction leaves it out.
        outside: Option<String>,
    },
}

/// One part of a step in two strategies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// What part.
    pub part: String,
    /// In the best.
    pub best: Seconds,
    /// In the other.
    pub other: Seconds,
}

impl Difference {
    /// How much longer it is in the other.
    pub fn more(&self) -> Seconds {
        self.other - self.best
    }
}

impl Candidate {
    /// The parts of the time that candidates are ranked by; they sum to it.
    pub fn parts(&self) -> Vec<(String, Seconds)> {
        let time = &self.time;
        let compute: Seconds = time.compute.iter().map(|&(_, value)| value).sum();
        let mut parts =
            vec![("compute".to_owned(), compute - time.recompute), ("recompute".to_owned(), time.recompute)];
        for (dimension, value) in &time.exposed {
            parts
                .push((format!("exposed {} communication", format!("{dimension:?}").to_lowercase()), *value));
        }
        for (name, value) in [
            ("host", time.host),
            ("bubble", time.bubble),
            ("exposed data-parallel communication", time.data_parallel),
            ("optimizer", time.optimizer),
            ("fixed", time.fixed),
            ("jitter", time.jitter),
            ("allocator retries", self.expected_time - self.step_time),
        ] {
            parts.push((name.to_owned(), value));
        }
        parts
    }
}

/// Part by part, the largest difference first.
pub fn compare(best: &Candidate, other: &Candidate) -> Vec<Difference> {
    let mut parts: Vec<Difference> = best
        .parts()
        .into_iter()
        .zip(other.parts())
        .map(|((part, best), (_, other))| Difference { part, best, other })
        .filter(|d| d.best != Seconds::ZERO || d.other != Seconds::ZERO)
        .collect();
    parts.sort_by(|a, b| b.more().get().abs().total_cmp(&a.more().get().abs()));
    parts
}

/// Keys that a search chooses, so that a question may pin them.
const PINNABLE: [&str; 21] = [
    "tensor_parallel",
    "sequence_parallel",
    "pipeline_parallel",
    "virtual_stages",
    "context_parallel",
    "context_kind",
    "data_parallel",
    "expert_parallel",
    "expert_tensor_parallel",
    "sharding",
    "rank_order",
    "micro_batch",
    "recompute",
    "schedule",
    "layers_per_stage",
    "uneven_stages",
    "overlap.gradient_reduce",
    "overlap.parameter_gather",
    "overlap.tensor",
    "overlap.pipeline",
    "overlap.expert",
];

impl Search<'_> {
    /// Compares the best that some pinned choices allow with the best of all. Every choice that is not pinned is the search's, within its
    /// space; a pin may lie outside.
    pub fn why_not(&self, pins: &PlanSpec, best: Option<&Candidate>) -> Result<WhyNot, Problem> {
        for key in PlanSpec::KEYS {
            if pins.get(key.name).is_some() && !PINNABLE.contains(&key.name) {
                return Err(Problem::new("the search does not choose it, so there is nothing to compare")
                    .at_key(key.path())
                    .hint(format!("name choices of the search: {}", PINNABLE.join(", "))));
            }
        }
        let mut space = self.space.clone();
        space.pin(pins);
        let options = Options { objective: Objective::Time, keep: 1, front: false, ..self.options };
        let Ok(search) = Search::new(self.model, self.cluster, space, options) else {
            return Ok(self.impossible(pins));
        };
        let results = search.run();
        if let Some(entry) = results.best.entries().first() {
            let candidate = Candidate::new(&search, &entry.strategy)?;
            return Ok(self.compared(candidate, best));
        }
        if let Some(entry) = results.misses.entries().first() {
            let miss = Miss::new(&search, &entry.strategy);
            let outside = self.outside(&miss.plan);
            return Ok(WhyNot::DoesNotFit { miss: Box::new(miss), outside });
        }
        Ok(self.impossible(pins))
    }

    fn outside(&self, plan: &railwright_spec::plan::Plan) -> Option<String> {
        self.space.contains(plan).err().map(str::to_owned)
    }

    fn compared(&self, mut candidate: Candidate, best: Option<&Candidate>) -> WhyNot {
        let outside = self.outside(&candidate.plan);
        let best = best.unwrap_or(&candidate).clone();
        let slower_by = candidate.expected_time - best.expected_time;
        let slower_share = slower_by / best.expected_time;
        let tied = slower_share <= DIFFERENCE_BAND;
        candidate.tied_with_best = tied;
        WhyNot::Compared {
            slower_by,
            slower_share,
            parts: compare(&best, &candidate),
            tied,
            is_best: candidate.plan == best.plan,
            outside,
            candidate: Box::new(candidate),
        }
    }

    /// What validation says of the pins on an otherwise plain plan.
    fn impossible(&self, pins: &PlanSpec) -> WhyNot {
        let mut said = self.space.said.clone();
        said.overlay(pins);
        if said.global_batch.is_none() && said.batch_tokens.is_none() {
            said.global_batch = Some(self.space.base.global_batch);
        }
        // One degree at least is said, so that the rest follow from the devices.
        said.tensor_parallel.get_or_insert(1);
        let words = |problem: &Problem| {
            let key = problem.place.as_ref().and_then(|p| p.key.as_deref());
            let key = key.map_or_else(String::new, |key| format!("`{key}`: "));
            let hint = problem.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
            format!("{key}{}{hint}", problem.message)
        };
        let problems: Vec<String> = match defaults::resolve(&said, self.model, self.cluster) {
            Err(problem) => vec![words(&problem)],
            Ok(plan) => validate(self.model, self.cluster, &plan).iter().map(words).collect(),
        };
        let problems = if problems.is_empty() {
            vec!["no value of the other choices goes with these within the space of the search".to_owned()]
        } else {
            problems
        };
        WhyNot::Impossible { problems }
    }
}

impl Space {
    /// Pins choices, whatever they were restricted to.
    pub fn pin(&mut self, pins: &PlanSpec) {
        let one = |slot: &mut Counts, value: Option<u64>| {
            if let Some(value) = value {
                *slot = Counts::one(value);
            }
        };
        one(&mut self.tensor, pins.tensor_parallel);
        one(&mut self.pipeline, pins.pipeline_parallel);
        one(&mut self.virtual_stages, pins.virtual_stages);
        one(&mut self.context, pins.context_parallel);
        one(&mut self.expert, pins.expert_parallel);
        one(&mut self.expert_tensor, pins.expert_tensor_parallel);
        one(&mut self.data, pins.data_parallel);
        one(&mut self.micro_batch, pins.micro_batch);
        let flag = |slot: &mut Vec<bool>, value: Option<bool>| {
            if let Some(value) = value {
                *slot = vec![value];
            }
        };
        flag(&mut self.sequence_parallel, pins.sequence_parallel);
        flag(&mut self.overlap_gradient_reduce, pins.overlap_gradient_reduce);
        flag(&mut self.overlap_parameter_gather, pins.overlap_parameter_gather);
        flag(&mut self.overlap_tensor, pins.overlap_tensor);
        flag(&mut self.overlap_pipeline, pins.overlap_pipeline);
        flag(&mut self.overlap_expert, pins.overlap_expert);
        if let Some(kind) = pins.context_kind {
            self.context_kinds = vec![kind];
        }
        if let Some(order) = pins.rank_order {
            self.rank_orders = vec![order];
        }
        if let Some(schedule) = pins.schedule {
            self.schedules = vec![schedule];
        }
        if let Some(sharding) = pins.sharding {
            self.sharding = Shardings::Listed(vec![sharding]);
        }
        if let Some(recompute) = &pins.recompute {
            self.policies = vec![match recompute {
                Recompute::None => Policy::None,
                Recompute::Selective { modules, .. } => Policy::Selective(modules.clone()),
                Recompute::Full { .. } => Policy::Full,
            }];
            self.recompute_layers = recompute.layers().map_or(Counts::Listed(Vec::new()), Counts::one);
        }
        if let Some(list) = &pins.layers_per_stage {
            self.splits = vec![Split::Given];
            self.given_layers = Some(list.clone());
        } else if pins.uneven_stages == Some(false) {
            self.splits = vec![Split::Even];
        }
        self.said.overlay(pins);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use railwright_spec::{cluster, model};

    fn answer(pins: &PlanSpec) -> WhyNot {
        let model = model::by_name("llama-3-70b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 64).expect("known");
        let said = PlanSpec { global_batch: Some(128), ..PlanSpec::default() };
        let mut space = Space::new(&said, &model, &cluster).expect("a space");
        space.restrict("context_parallel", "1").expect("fine");
        space.restrict("hybrid_group", "8").expect("fine");
        let search = Search::new(&model, &cluster, space, Options::default()).expect("a search");
        let outcome = search.outcome(&search.run());
        search.why_not(pins, outcome.candidates.first()).expect("an answer")
    }

    #[test]
    fn it_is_slower_too_large_or_impossible() {
        let pins = PlanSpec { tensor_parallel: Some(8), pipeline_parallel: Some(8), ..PlanSpec::default() };
        let WhyNot::Compared { slower_by, parts, is_best, outside, .. } = answer(&pins) else {
            panic!("it can be run")
        };
        assert!(slower_by > Seconds::ZERO && !is_best && outside.is_none());
        let sum: Seconds = parts.iter().map(Difference::more).sum();
        assert!(
            (sum.get() - slower_by.get()).abs() < 1e-9 * slower_by.get().max(1.0),
            "{sum:?} {slower_by:?}"
        );

        let pins = PlanSpec {
            tensor_parallel: Some(1),
            pipeline_parallel: Some(1),
            sharding: Some(railwright_spec::plan::Sharding {
                zero_stage: 0,
                group: None,
                reshard_after_forward: false,
            }),
            ..PlanSpec::default()
        };
        let WhyNot::DoesNotFit { miss, .. } = answer(&pins) else { panic!("140 GB of weights do not fit") };
        assert!(miss.missing.gib() > 100.0);

        let pins = PlanSpec { tensor_parallel: Some(3), ..PlanSpec::default() };
        let WhyNot::Impossible { problems } = answer(&pins) else { panic!("3 does not divide 64") };
        assert!(!problems.is_empty());

        let pins = PlanSpec { context_parallel: Some(2), ..PlanSpec::default() };
        let WhyNot::Compared { outside, .. } = answer(&pins) else { panic!("it can be run") };
        assert_eq!(outside.as_deref(), Some("context_parallel"));

        let pins = PlanSpec { global_batch: Some(64), ..PlanSpec::default() };
        let model = model::by_name("llama-3-8b").expect("known");
        let cluster = cluster::by_name("dgx-h100", 8).expect("known");
        let space = Space::new(&PlanSpec::default(), &model, &cluster).expect("a space");
        let search = Search::new(&model, &cluster, space, Options::default()).expect("a search");
        assert!(search.why_not(&pins, None).is_err());
    }
}
