//! A strategy with everything that is known about it, and how candidates compare.
//!
//! Responsible for: candidates, near misses, ties, and fronts of any two objectives. Refuses to search.

use super::engine::{Objective, Search};
use super::families::{Family, Tie};
use super::strategy::Strategy;
use crate::simplicity::{Oddities, Oddity, complexity};
use railwright_calculator::costing::Costing;
use railwright_calculator::evaluate::{TimeBreakdown, evaluate};
use railwright_calculator::intervals::differences;
use railwright_calculator::memory::{MemoryInput, Peak, SoftwareCatalogue, peak, retry_slowdown};
use railwright_spec::plan::Plan;
use railwright_spec::problem::Problem;
use railwright_spec::quantity::{Bytes, Dollars, Seconds};
use serde::Serialize;

/// A plan with its time, memory and price.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Candidate {
    /// The cluster's name.
    pub cluster: String,
    /// Its devices.
    pub devices: u64,
    /// The plan.
    pub plan: Plan,
    /// Time of a step as the calculator predicts it.
    pub step_time: Seconds,
    /// The same, slowed down where memory is so tight that the allocator retries: what candidates are ranked by.
    pub expected_time: Seconds,
    /// Step breakdown.
    pub time: TimeBreakdown,
    /// The fullest stage's memory.
    pub memory: Peak,
    /// Memory of a device.
    pub device_memory: Bytes,
    /// Free memory at the peak.
    pub headroom: Bytes,
    /// Probability that it fits.
    pub probability_of_fitting: f64,
    /// Tokens per second over all devices.
    pub tokens_per_second: f64,
    /// Rent of the devices for a billion tokens; `None` without a price.
    pub dollars_per_billion_tokens: Option<Dollars>,
    /// Oddities, the most severe first.
    pub oddities: Vec<Oddity>,
    /// Whether its lead or lag on the best is within what the model may be wrong about two layouts.
    pub tied_with_best: bool,
}

impl Candidate {
    /// Works a strategy out.
    pub fn new(search: &Search<'_>, strategy: &Strategy) -> Result<Self, Problem> {
        Self::of_plan(search, strategy.plan(&search.space, search.model))
    }

    /// Works a plan out, whether it lies in the space or not.
    pub fn of_plan(search: &Search<'_>, plan: Plan) -> Result<Self, Problem> {
        let costing = Costing::new(search.model, search.cluster, &plan, search.pricing())?;
        let evaluation = evaluate(&costing)?;
        let memory = memory_of(search, &plan);
        let device_memory = search.cluster.accelerator.memory;
        let step_time = evaluation.time.total;
        let expected_time = step_time * retry_slowdown(memory.device / device_memory);
        let tokens = plan.tokens_per_step() as f64;
        let accelerator = &search.cluster.accelerator;
        let price = search
            .options
            .price_per_device_hour
            .or_else(|| accelerator.price.as_ref().map(|price| price.typical));
        let device_hours = expected_time.get() / 3600.0 * search.cluster.devices as f64;
        Ok(Self {
            cluster: search.cluster.name.clone(),
            devices: search.cluster.devices,
            step_time,
            expected_time,
            time: evaluation.time,
            memory,
            device_memory,
            headroom: device_memory - memory.device,
            probability_of_fitting: search.probability(memory.least()),
            tokens_per_second: tokens / expected_time.get(),
            dollars_per_billion_tokens: price.map(|price| price * (device_hours / tokens * 1e9)),
            oddities: Oddities::of(&plan, plan.domain(search.cluster), memory.device / device_memory).list(),
            tied_with_best: false,
            plan,
        })
    }

    /// What an objective makes of it: the smaller the better.
    pub fn score(&self, objective: Objective) -> f64 {
        match objective {
            // Batches may differ between searches, so time is per token.
            Objective::Time => 1.0 / self.tokens_per_second,
            Objective::Dollars => self.dollars_per_billion_tokens.map_or(f64::INFINITY, Dollars::get),
            Objective::Devices => self.devices as f64,
            Objective::Headroom => -self.headroom.get(),
        }
    }
}

/// The fullest stage of a plan.
pub(super) fn memory_of(search: &Search<'_>, plan: &Plan) -> Peak {
    peak(&MemoryInput {
        model: search.model,
        cluster: search.cluster,
        plan,
        software: search.memory,
        in_flight: None,
    })
}

/// Sorts by an objective, then by time; candidates that tie in both keep their order.
pub fn sort(candidates: &mut [Candidate], objective: Objective) {
    candidates.sort_by(|a, b| {
        let by = |objective| a.score(objective).total_cmp(&b.score(objective));
        by(objective).then(by(Objective::Time)).then(a.devices.cmp(&b.devices))
    });
}

/// What the model may be wrong about the ratio of two layouts' times, of one model on one machine, as a share: most of its error is common
/// to both and cancels. Two of three pairs of measured layouts of the software generation lie within it
/// ([`railwright_calculator::intervals::differences`]).
pub fn difference_band(software: &str) -> f64 {
    differences::difference_band(software).exp_m1()
}

/// Marks the candidates that tie with the best one: in time, within its error between layouts; in memory,
/// within one standard deviation of the need (`sigma` of
/// [`railwright_calculator::memory::probability_of_fitting`]). Among ties in memory the faster comes first:
/// less time is sure to be worth more than bytes that may not be there.
pub fn mark_ties(candidates: &mut [Candidate], objective: Objective) {
    let Some(best) = candidates.first() else { return };
    let (score, need) = (best.score(objective), best.memory.device.get());
    let band = difference_band(&best.plan.software);
    let sigma = SoftwareCatalogue::shared().map_or(0.0, |all| all.get(&best.plan.software).sigma);
    for candidate in candidates.iter_mut() {
        let own = candidate.score(objective);
        candidate.tied_with_best = match objective {
            Objective::Time | Objective::Dollars => own <= score * (1.0 + band),
            Objective::Devices => own == score,
            // Headroom ties depend on the error of the need, not on the device.
            Objective::Headroom => own - score <= need * sigma.exp_m1(),
        };
    }
    if objective == Objective::Headroom {
        // Stable, so that what does not tie keeps its order.
        candidates.sort_by(|a, b| {
            let time =
                |c: &Candidate| if c.tied_with_best { c.score(Objective::Time) } else { f64::INFINITY };
            b.tied_with_best.cmp(&a.tied_with_best).then(time(a).total_cmp(&time(b)))
        });
    }
}

/// One row for each family, in the order of `search`: ties by simplicity, the rest by time (or cost). The
/// candidates may be of several clusters, identified by `place`. `fastest` is the best of all, which need not
/// be one of them.
pub fn by_family<T>(
    candidates: Vec<(T, Candidate)>,
    objective: Objective,
    fastest: &Candidate,
    place: impl Fn(&T) -> usize,
) -> Vec<(T, Candidate)> {
    let tie = Tie::with(fastest.score(objective), &fastest.plan.software);
    let mut sorted: Vec<_> = candidates
        .into_iter()
        .map(|(of, mut candidate)| {
            let oddities =
                candidate.oddities.iter().fold(Oddities::default(), |all, one| all.with(*one, true));
            let score = candidate.score(objective);
            candidate.tied_with_best = tie.has(score);
            (tie.standing(score, oddities, complexity(&candidate.plan)), of, candidate)
        })
        .collect();
    sorted.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal));
    let mut seen = std::collections::BTreeSet::new();
    sorted.retain(|(_, of, candidate)| seen.insert((place(of), Family::of(&candidate.plan))));
    sorted.into_iter().map(|(_, of, candidate)| (of, candidate)).collect()
}

/// The candidates that no other beats in both objectives, the best in the first one first.
pub fn front(candidates: &[Candidate], first: Objective, second: Objective) -> Vec<Candidate> {
    let mut sorted: Vec<&Candidate> = candidates.iter().collect();
    sorted.sort_by(|a, b| {
        let by = |objective| a.score(objective).total_cmp(&b.score(objective));
        by(first).then(by(second)).then(by(Objective::Time))
    });
    let mut best = f64::INFINITY;
    let mut found = Vec::new();
    for candidate in sorted {
        let score = candidate.score(second);
        if score < best || found.is_empty() {
            best = score;
            found.push(candidate.clone());
        }
    }
    found
}

/// A strategy that does not fit, but nearly.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Miss {
    /// The cluster's name.
    pub cluster: String,
    /// Its devices.
    pub devices: u64,
    /// The plan.
    pub plan: Plan,
    /// Required memory.
    pub memory: Peak,
    /// Memory of a device.
    pub device_memory: Bytes,
    /// Probability that it fits all the same.
    pub probability_of_fitting: f64,
    /// By how much a device would have to be larger.
    pub missing: Bytes,
}

impl Miss {
    pub(super) fn new(search: &Search<'_>, strategy: &Strategy) -> Self {
        let plan = strategy.plan(&search.space, search.model);
        let memory = memory_of(search, &plan);
        let device_memory = search.cluster.accelerator.memory;
        let needed = needed_for(search, memory.least());
        Self {
            cluster: search.cluster.name.clone(),
            devices: search.cluster.devices,
            memory,
            device_memory,
            probability_of_fitting: search.probability(memory.least()),
            missing: (needed - device_memory).max(Bytes::ZERO),
            plan,
        }
    }
}

/// The device memory that a need asks for at the wanted probability, by bisection.
pub(super) fn needed_for(search: &Search<'_>, least: Bytes) -> Bytes {
    let fits = |memory: f64| {
        railwright_calculator::memory::probability_of_fitting(least, Bytes::new(memory), search.memory.sigma)
            >= search.options.fit_probability
    };
    let (mut low, mut high) = (0.0, least.get() * 16.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if fits(middle) { high = middle } else { low = middle }
    }
    Bytes::new(high)
}
