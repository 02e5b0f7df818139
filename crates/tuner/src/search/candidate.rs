//! A strategy with all of its evaluated properties, and the comparison of candidates.
//!
//! Responsible for: candidates, near misses, ties, and fronts of any two objectives. Does not search.

use super::families::{Changes, Family, Tie, difference_band};
use super::options::Objective;
use super::strategy::Strategy;
use super::task::Search;
use crate::simplicity::{UnusualFeature, UnusualFeatures, complexity};
use railwright_calculator::costing::Costing;
use railwright_calculator::evaluate::{TimeBreakdown, evaluate};
use railwright_calculator::memory::{MemoryInput, Peak, SoftwareCatalogue, peak, retry_slowdown};
use railwright_calculator::money::device_price;
use railwright_spec::Portable as _;
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
    /// Number of devices.
    pub devices: u64,
    /// The plan.
    pub plan: Plan,
    /// Predicted step time.
    pub step_time: Seconds,
    /// Predicted step time including the slowdown by allocator retries near the memory limit: the sort key
    /// of candidates.
    pub expected_time: Seconds,
    /// Step breakdown.
    pub time: TimeBreakdown,
    /// Peak memory of the stage with the largest need.
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
    /// Unusual features, the most severe first.
    pub oddities: Vec<UnusualFeature>,
    /// True if its difference from the best is within the error of the model between two layouts.
    pub tied_with_best: bool,
}

impl Candidate {
    /// Evaluates a strategy.
    pub fn new(search: &Search<'_>, strategy: &Strategy) -> Result<Self, Problem> {
        Self::of_plan(search, strategy.plan(&search.space, search.model))
    }

    /// Evaluates a plan, in the space or not.
    pub fn of_plan(search: &Search<'_>, plan: Plan) -> Result<Self, Problem> {
        let costing = Costing::new(search.model, search.cluster, &plan, search.pricing())?;
        let evaluation = evaluate(&costing)?;
        let memory = memory_of(search, &plan);
        let device_memory = memory.available;
        let step_time = evaluation.time.total;
        let expected_time = step_time * retry_slowdown(memory.device / device_memory);
        let tokens = plan.tokens_per_step() as f64;
        let price = device_price(search.cluster, search.options.price_per_device_hour);
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
            probability_of_fitting: search.probability(&memory),
            tokens_per_second: tokens / expected_time.get(),
            dollars_per_billion_tokens: price.map(|price| price.amount * (device_hours / tokens * 1e9)),
            oddities: UnusualFeatures::of(&plan, plan.domain(search.cluster), memory.device / device_memory)
                .list(),
            tied_with_best: false,
            plan,
        })
    }

    /// Value for an objective: lower is better.
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

/// Peak memory of the stage of a plan with the largest need.
pub(super) fn memory_of(search: &Search<'_>, plan: &Plan) -> Peak {
    peak(&MemoryInput {
        model: search.model,
        cluster: search.cluster,
        plan,
        software: search.memory,
        in_flight: None,
    })
}

/// Sorts by an objective, then by time. Candidates that tie in both keep their order.
pub fn sort(candidates: &mut [Candidate], objective: Objective) {
    candidates.sort_by(|a, b| {
        let by = |objective| a.score(objective).total_cmp(&b.score(objective));
        by(objective).then(by(Objective::Time)).then(a.devices.cmp(&b.devices))
    });
}

/// Marks the candidates that tie with the best one: in time, within the error between layouts; in memory,
/// within one standard deviation of the need (`sigma` of
/// [`railwright_calculator::memory::probability_of_fitting`]). Among ties in memory the faster comes first:
/// its gain in time is certain, an uncertain number of bytes is not.
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
            Objective::Headroom => own - score <= need * sigma.portable_exp_m1(),
        };
    }
    if objective == Objective::Headroom {
        // A stable sort keeps the order of the others.
        candidates.sort_by(|a, b| {
            let time =
                |c: &Candidate| if c.tied_with_best { c.score(Objective::Time) } else { f64::INFINITY };
            b.tied_with_best.cmp(&a.tied_with_best).then(time(a).total_cmp(&time(b)))
        });
    }
}

/// One row per family, in the order of `search`: ties by simplicity, the rest by time (or cost). The
/// candidates may be of several clusters, identified by `place`. `fastest` is the best of all, which may not
/// be one of them.
pub fn by_family<T>(
    candidates: Vec<(T, Candidate)>,
    objective: Objective,
    fastest: &Candidate,
    place: impl Fn(&T) -> usize,
) -> Vec<(T, Candidate)> {
    by_family_and_changes(candidates, objective, fastest, place, |_, _| Changes::default())
}

/// The same for edits of a user's file, with fewer changes first among ties.
pub fn by_family_and_changes<T>(
    candidates: Vec<(T, Candidate)>,
    objective: Objective,
    fastest: &Candidate,
    place: impl Fn(&T) -> usize,
    changes: impl Fn(&T, &Candidate) -> Changes,
) -> Vec<(T, Candidate)> {
    let tie = Tie::with(fastest.score(objective), &fastest.plan.software);
    let mut sorted: Vec<_> = candidates
        .into_iter()
        .map(|(of, mut candidate)| {
            let oddities =
                candidate.oddities.iter().fold(UnusualFeatures::default(), |all, one| all.with(*one, true));
            let score = candidate.score(objective);
            candidate.tied_with_best = tie.has(score);
            let standing = tie.standing(score, oddities, complexity(&candidate.plan));
            (standing.with(changes(&of, &candidate)), of, candidate)
        })
        .collect();
    sorted.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal));
    let mut seen = std::collections::BTreeSet::new();
    sorted.retain(|(_, of, candidate)| seen.insert((place(of), Family::of(&candidate.plan))));
    sorted.into_iter().map(|(_, of, candidate)| (of, candidate)).collect()
}

/// The candidates that no other one dominates in both objectives, the best in the first one first.
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

/// A strategy that almost fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Miss {
    /// The cluster's name.
    pub cluster: String,
    /// Number of devices.
    pub devices: u64,
    /// The plan.
    pub plan: Plan,
    /// Required memory.
    pub memory: Peak,
    /// Memory of a device.
    pub device_memory: Bytes,
    /// Probability that it fits.
    pub probability_of_fitting: f64,
    /// Additional device memory required.
    pub missing: Bytes,
}

impl Miss {
    pub(super) fn new(search: &Search<'_>, strategy: &Strategy) -> Self {
        let plan = strategy.plan(&search.space, search.model);
        let memory = memory_of(search, &plan);
        let device_memory = memory.available;
        let needed = needed_for(search, memory.least());
        Self {
            cluster: search.cluster.name.clone(),
            devices: search.cluster.devices,
            memory,
            device_memory,
            probability_of_fitting: search.probability(&memory),
            missing: (needed - device_memory).max(Bytes::ZERO),
            plan,
        }
    }
}

/// The device memory required for a need at the given probability, by bisection.
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
