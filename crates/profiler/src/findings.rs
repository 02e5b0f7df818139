//! Findings: problems that rules detect in a profile, with cost, evidence and advice.
//!
//! Responsible for: the list of rules ([`rules`]), applying each, and ordering findings by cost. Each rule is
//! a file: identifier, definition, threshold, estimate of the cost. Costs are times of waterfall labels or of
//! a replay; double counts are marked (`joint`). A rule without its required data has no findings.

mod attention;
mod bandwidth;
mod bound_by_memory;
mod copies;
mod device_gaps;
mod drift;
mod exposed;
mod float32;
mod fragmented;
mod host_work;
mod idle;
mod implausible;
mod joint;
mod late;
mod launching;
mod layout;
mod migrations;
mod missing;
mod optimizer;
mod overlap;
mod pauses;
mod pipeline;
mod purpose;
mod recompute;
mod remedies;
mod roofline;
mod scores;
mod shapes;
mod slow_chip;
mod slow_link;
mod small_kernels;
mod straggler;
mod throttling;
mod unbalanced;
mod unexplained;
mod varying;
mod waiting;

#[cfg(test)]
mod tests;

use crate::Job;
use crate::Names;
use crate::attribution::{Replays, StragglerReport};
use crate::causes::{Cause, CauseRow};
use crate::certainty::Certainty;
use crate::joined::Joined;
use crate::occupancy::Intervals;
use crate::profile::{Explained, Finding, Joint};
use crate::roofline::Roofline;
use crate::telemetry::Health;
use crate::trace::GpuKind;
use crate::view::{Role, View};
use crate::waterfall::{KernelUse, Label, RankWaterfall, Use, Waterfall};
use crate::windows::Windows;
use indexmap::IndexMap;
use railwright_spec::human;
use railwright_spec::quantity::Seconds;
use railwright_spec::topic::Topic;
use railwright_step::OperatorFamily;
use rustc_hash::FxBuildHasher;

/// Input of rules. The lists are parallel: one entry for each displayed rank.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The job, with aligned clocks.
    pub job: &'a Job,
    /// The joined ranks of the job.
    pub joined: &'a Joined,
    /// Views of the displayed ranks.
    pub views: &'a [&'a View<'a>],
    /// Names of their traces.
    pub names: &'a [&'a Names],
    /// The steps.
    pub windows: &'a Windows,
    /// Time of these ranks by label.
    pub waterfall: &'a Waterfall,
    /// Idle time by cause.
    pub causes: &'a [CauseRow],
    /// Operators relative to the roofline; `None` without recorded shapes.
    pub roofline: Option<&'a Roofline>,
    /// Straggler report; `None` with a single recorded rank.
    pub stragglers: Option<&'a StragglerReport>,
    /// Replays of the job; `None` with a single recorded rank.
    pub replays: Option<&'a Replays>,
    /// Device counters by rank.
    pub health: Option<&'a Health>,
    /// True for a trace of an inference server ([`serves`]).
    pub serves: bool,
}

/// A rule that detects one kind of problem.
pub trait Rule: Sync {
    /// Identifier of its findings in `railwright explain`.
    fn id(&self) -> &'static str;
    /// Problem that the rule detects, in one line.
    fn title(&self) -> &'static str;
    /// Definition, threshold, cost estimate and remedies.
    fn text(&self) -> &'static str;
    /// Applies the rule.
    fn find(&self, context: &Context<'_>) -> Vec<Finding>;
    /// Advice for a trace of an inference server.
    fn inference(&self) -> Inference {
        Inference::Same
    }
}

/// Advice of a rule for a trace of an inference server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inference {
    /// The same as for training.
    Same,
    /// Specific advice.
    Advice(&'static str),
    /// No finding: the rule is about gradients, optimizers, or steps that should be equal.
    Silent,
}

/// One list for rules and for their descriptions. The latter calls each rule by its type: a program that only
/// explains findings does not contain the code that makes them.
macro_rules! list {
    ($($rule:expr),* $(,)?) => {
        /// All rules, in alphabetical order of their files.
        pub fn rules() -> &'static [&'static dyn Rule] {
            &[$(&$rule),*]
        }

        /// Descriptions of all findings, for `railwright explain`.
        pub fn topics() -> Vec<Topic> {
            vec![$(topic(&$rule)),*]
        }
    };
}

list![
    attention::UnfusedAttention,
    bandwidth::LowBandwidth,
    bound_by_memory::BoundByMemory,
    copies::Copies,
    device_gaps::DeviceGaps,
    drift::Drift,
    exposed::EXPOSED[0],
    exposed::EXPOSED[1],
    exposed::EXPOSED[2],
    exposed::EXPOSED[3],
    exposed::EXPOSED[4],
    exposed::EXPOSED[5],
    float32::Float32,
    fragmented::Fragmented,
    idle::IDLE[0],
    idle::IDLE[1],
    idle::IDLE[2],
    idle::IDLE[3],
    idle::IDLE[4],
    idle::IDLE[5],
    idle::IDLE[6],
    idle::IDLE[7],
    idle::IDLE[8],
    idle::IDLE[9],
    idle::IDLE[10],
    idle::IDLE[11],
    idle::IDLE[12],
    idle::IDLE[13],
    implausible::ImplausibleBandwidth,
    layout::Layout,
    migrations::Migrations,
    missing::MissingRanks,
    optimizer::Optimizer,
    overlap::Overlap,
    pauses::HostPauses,
    pipeline::PipelineBubble,
    recompute::Recompute,
    roofline::BelowRoofline,
    shapes::Shapes,
    slow_chip::SlowChip,
    slow_link::SlowLink,
    small_kernels::SmallKernels,
    straggler::Straggler,
    throttling::Throttling,
    unbalanced::UnbalancedExperts,
    unexplained::Unexplained,
    varying::VaryingSteps,
    waiting::Waiting,
];

/// Description of the findings of a rule.
fn topic(rule: &impl Rule) -> Topic {
    Topic {
        id: rule.id().to_owned(),
        group: "finding",
        title: rule.title().to_owned(),
        text: rule.text().to_owned(),
    }
}

/// Minimum share of a finding's cost that its evidence must explain.
const EXPLAINED: f64 = 0.5;

/// Maximum number of names listed to reach that share; the others are one line.
const LISTED: usize = 6;

/// Share of a cost below which a name is no evidence for it.
const NEGLIGIBLE: f64 = 0.005;

/// Maximum number of kernels in the subject of a finding.
const LEADING: usize = 3;

/// Findings of all rules and their joint cost. The largest cost comes first, findings without a known cost
/// last. Excludes findings whose own evidence explains less than half of their cost.
pub fn find(context: &Context<'_>) -> (Vec<Finding>, Option<Joint>) {
    let step = context.step();
    let found: Vec<Finding> = rules().iter().flat_map(|rule| of_rule(*rule, context)).collect();
    let mut found: Vec<Finding> = found.into_iter().filter_map(supported).collect();
    late::mark(context, &mut found);
    for finding in &mut found {
        finding.gpu_hours_per_day = finding
            .cost
            .filter(|_| step > 0.0 && context.windows.recur() && !finding.one_off)
            .map(|cost| (cost / step).clamp(0.0, 1.0) * f64::from(context.job.world_size.max(1)) * 24.0);
    }
    found.sort_by(|a, b| {
        let cost = |finding: &Finding| finding.cost.unwrap_or(-1.0);
        cost(b).total_cmp(&cost(a)).then_with(|| a.id.cmp(&b.id)).then_with(|| a.message.cmp(&b.message))
    });
    put_causes_first(&mut found);
    let joint = joint::joint(context, &mut found);
    (found, joint)
}

/// Moves findings in front of those that they explain: host pauses before varying steps, a cause of idle time
/// before the pauses with its advice, a replayed delay before an upper bound, and an implausible bandwidth
/// before the exposed time that it causes. Only the former have a known cost or a remedy.
fn put_causes_first(found: &mut [Finding]) {
    let cost = |finding: &Finding| finding.cost.unwrap_or(0.0);
    let explains = |cause: &Finding, symptom: &Finding| {
        let pauses = symptom.id == "varying-steps" && cause.id == "host-pauses";
        let is_bound = |finding: &Finding| finding.certainty == Some(Certainty::AtMost);
        let replayed =
            matches!(cause.id.as_str(), "straggler" | "slow-group") && !is_bound(cause) && is_bound(symptom);
        let same = symptom.id == "host-pauses" && cause.advice == symptom.advice;
        let slow = cause.id == "implausible-bandwidth"
            && symptom.id.starts_with("exposed-")
            && cause.subject.dimension == symptom.subject.dimension;
        // A fault that begins in the recording lengthens the later steps.
        let begins = matches!(symptom.id.as_str(), "varying-steps" | "step-time-drift")
            && matches!(cause.id.as_str(), "straggler" | "slow-group" | "unbalanced-experts");
        (pauses || replayed || same || slow || begins) && cost(cause) >= EXPLAINED * cost(symptom)
    };
    for at in 1..found.len() {
        let first = (0..at).find(|&symptom| explains(&found[at], &found[symptom]));
        if let Some(first) = first {
            found[first..=at].rotate_right(1);
        }
    }
}

/// A finding with the certainty that its evidence supports. `None` if the evidence explains too little of the
/// cost.
fn supported(mut finding: Finding) -> Option<Finding> {
    match (finding.explained, finding.cost) {
        (Explained::Part(explained), Some(cost)) if explained < EXPLAINED * cost => return None,
        (Explained::Unstated, Some(_)) => finding.certainty = finding.certainty.or(Some(Certainty::AtMost)),
        _ => {}
    }
    Some(finding)
}

/// Advice that only training can follow.
const MICRO: &str = "larger micro-batches";

/// Findings of one rule, with advice that fits the traced program (training or inference).
fn of_rule(rule: &dyn Rule, context: &Context<'_>) -> Vec<Finding> {
    let mut found = match (context.serves, rule.inference()) {
        (true, Inference::Silent) => return Vec::new(),
        _ => rule.find(context),
    };
    if found.iter().any(|one| one.advice.contains(MICRO)) && remedies::is_forward(context.views) {
        for one in &mut found {
            one.advice = one.advice.replace(MICRO, "larger batches");
        }
    }
    if let (true, Inference::Advice(advice)) = (context.serves, rule.inference()) {
        for finding in &mut found {
            advice.clone_into(&mut finding.advice);
        }
    }
    found
}

/// Kernels of caches of keys and values in pages: only inference servers have them.
const SERVED: [&str; 4] = ["paged_attention", "reshape_and_cache", "PagedKVCache", "paged_kv"];

/// Tests whether the job is an inference server: by its steps, or by the kernels of its cache if the first
/// rank only runs forward. It reads all names of the traces.
pub fn serves(windows: &Windows, views: &[&View<'_>]) -> bool {
    let is_served = |name: &str| SERVED.iter().any(|word| name.contains(word));
    let of_first = || views.first().is_some_and(|view| view.trace.names.iter().any(is_served));
    windows.is_inference() || of_first() && remedies::is_forward(views)
}

impl<'a> Context<'a> {
    /// Tests whether there is no device: host operators then replace kernels.
    pub fn from_host(&self) -> bool {
        !self.views.is_empty() && self.views.iter().all(|view| view.from_host)
    }

    /// Tests whether only host operators were recorded of a job that launches device work: their durations
    /// are not those of the work.
    fn has_launches_alone(&self) -> bool {
        self.from_host() && self.views.iter().any(|view| crate::launches::launches_work(view.trace))
    }

    /// Tests whether copies of a device were recorded without its kernels: the device may work while it
    /// appears to be idle.
    fn lacks_kernels(&self) -> bool {
        self.views.iter().any(|view| view.trace.lacks_kernels())
            && !self.views.iter().any(|view| view.gpu.kinds().contains(&GpuKind::Kernel))
    }

    /// Name of the unit of work: kernels on a device, operators on a host.
    pub fn work(&self) -> &'static str {
        if self.from_host() { "operators" } else { "kernels" }
    }

    /// Divisor from sums of times to times per rank and step.
    pub fn samples(&self) -> f64 {
        self.waterfall.samples() as f64
    }

    /// Duration of a step of a rank, in nanoseconds.
    pub fn step(&self) -> f64 {
        self.waterfall.time() as f64 / self.samples()
    }

    /// Mean time of a label per rank and step, in nanoseconds.
    pub fn mean(&self, label: Label) -> f64 {
        self.waterfall.total.get(label) as f64 / self.samples()
    }

    /// Mean time of all selected labels, per rank and step, in nanoseconds.
    pub fn sum(&self, fits: impl Fn(Label) -> bool) -> f64 {
        self.waterfall.total.sum(fits) as f64 / self.samples()
    }

    /// Unusual device counters of the given ranks.
    fn health_of(&self, ranks: impl IntoIterator<Item = u32>) -> Vec<String> {
        ranks.into_iter().filter_map(|rank| Some(self.health?.remarks(rank))).flatten().collect()
    }

    /// A number of occurrences per rank and step, for a sentence.
    fn per_step(&self, count: u64) -> String {
        human::whole((count as f64 / self.samples()).round() as u64)
    }

    /// Step time saved without the idle time of a cause on all ranks, by replay, in nanoseconds. `None` if
    /// only some ranks are displayed, or without an accurate replay.
    fn saved(&self, cause: Cause) -> Option<f64> {
        let of = |rank: &RankWaterfall| {
            let has = |row: u32| rank.causes.get(row as usize).is_some_and(|part| part.cause == cause);
            let origin = self.windows.span().0;
            let parts = rank.idle.iter().filter(|part| has(part.row));
            let parts = parts.map(|part| (origin + part.start, origin + part.end));
            Intervals::union(parts.collect())
        };
        let without: Vec<Intervals> = self.waterfall.ranks.iter().map(of).collect();
        self.replays.filter(|_| !self.from_host())?.saved(self.joined, &without)
    }

    /// A time as a share of the step (0 to 1).
    pub fn share(&self, time: f64) -> f64 {
        if self.step() > 0.0 { time / self.step() } else { 0.0 }
    }

    /// The ranks with the names of their traces.
    fn ranks(&self) -> impl Iterator<Item = (&'a RankWaterfall, &'a Names)> {
        self.waterfall.ranks.iter().zip(self.names.iter().copied())
    }

    /// Every use of a label by a kernel, with the kernel's name; idle time has no kernel.
    fn uses(&self) -> impl Iterator<Item = (&'a Use, &'a str)> {
        self.ranks().flat_map(|(rank, names)| {
            rank.uses.iter().map(move |u| (u, u.name.map_or("", |name| names.get(name))))
        })
    }

    /// The time of a label by kernel.
    fn times_under(&self, fits: impl Fn(Label) -> bool) -> impl Iterator<Item = (&'a str, i64)> {
        self.uses().filter(move |(u, _)| fits(u.label)).map(|(u, name)| (name, u.time))
    }

    /// Compute kernels that fit with their times, and the mean time per rank and step, both in nanoseconds.
    /// None if only their launches were recorded.
    fn arithmetic(&self, fits: impl Fn(OperatorFamily, &str) -> bool) -> (Vec<(&'a str, i64)>, f64) {
        if self.has_launches_alone() {
            return (Vec::new(), 0.0);
        }
        // Thousands of ranks have the same names.
        let mut known: IndexMap<(u8, &str), bool, FxBuildHasher> = IndexMap::default();
        let mut fits = |family: OperatorFamily, name| {
            *known.entry((family as u8, name)).or_insert_with(|| fits(family, name))
        };
        let fitting = self.kernels().filter(|(k, name)| k.role == Role::Compute && fits(k.family, name));
        let times: Vec<(&str, i64)> = fitting.map(|(k, name)| (name, k.duration)).collect();
        let all = times.iter().map(|(_, time)| time).sum::<i64>() as f64 / self.samples();
        (times, all)
    }

    /// Savings by kernel per rank and step in nanoseconds: a share of these times.
    fn savings(&self, times: &[(&str, i64)], share: f64) -> Vec<(String, f64)> {
        let all = top(times.iter().copied(), usize::MAX).into_iter();
        all.map(|(name, time)| (name.to_owned(), share * time as f64 / self.samples())).collect()
    }

    /// Lines of evidence for all of these times. The names with most time come first, `count` or as many as
    /// cover half of it. If those cover less, one line sums the others.
    fn costliest<'n>(&self, times: impl IntoIterator<Item = (&'n str, i64)>, count: usize) -> Vec<String> {
        let all = top(times.into_iter(), usize::MAX);
        let sum: i64 = all.iter().map(|entry| entry.1).sum();
        let per_step = |all: i64| time(all as f64 / self.samples());
        let (mut lines, mut listed) = (Vec::new(), 0_i64);
        for (name, of_name) in &all {
            let enough =
                lines.len() >= count && (listed as f64 >= EXPLAINED * sum as f64 || lines.len() >= LISTED);
            if enough || !lines.is_empty() && (*of_name as f64) < NEGLIGIBLE * sum as f64 {
                break;
            }
            let alike = all
                .iter()
                .take(lines.len() + count.max(LISTED))
                .filter(|one| short(one.0) == short(name))
                .count();
            let shown = if alike > 1 { both_ends(name) } else { short(name) };
            lines.push(format!("{shown}: {} per step", per_step(*of_name)));
            listed += of_name;
        }
        if (listed as f64) < EXPLAINED * sum as f64 {
            let others = all.len() - lines.len();
            lines.push(format!(
                "{} others: {} per step",
                human::whole(others as u64),
                per_step(sum - listed)
            ));
        }
        lines
    }

    /// Full names with most time, for the subject of a finding.
    fn leading<'n>(times: impl IntoIterator<Item = (&'n str, i64)>) -> Vec<String> {
        top(times.into_iter(), LEADING).into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    /// Every kernel with its name, including overlapped ones.
    fn kernels(&self) -> impl Iterator<Item = (&'a KernelUse, &'a str)> {
        self.ranks().flat_map(|(rank, names)| rank.kernels.iter().map(move |k| (k, names.get(k.name))))
    }
}

/// Formats a time for a sentence; `nanoseconds` per step.
fn time(nanoseconds: f64) -> String {
    human::seconds(Seconds::new(nanoseconds / 1e9))
}

/// Formats a share for a sentence.
fn percent(share: f64) -> String {
    human::percent(share)
}

/// Shortens a name to fit a line.
fn short(name: &str) -> String {
    const LONGEST: usize = 72;
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 3).chain("...".chars()).collect()
}

/// Shortens a name in the middle: names of templates have the same start.
fn both_ends(name: &str) -> String {
    const KEPT: (usize, usize) = (24, 45);
    let length = name.chars().count();
    if length <= KEPT.0 + KEPT.1 + 3 {
        return name.to_owned();
    }
    let last = name.chars().skip(length - KEPT.1);
    name.chars().take(KEPT.0).chain("...".chars()).chain(last).collect()
}

/// Names with most time, each once.
fn top<'n>(times: impl Iterator<Item = (&'n str, i64)>, count: usize) -> Vec<(&'n str, i64)> {
    let mut sums: std::collections::BTreeMap<&str, i64> = std::collections::BTreeMap::new();
    for (name, time) in times {
        *sums.entry(name).or_default() += time;
    }
    let mut all: Vec<(&str, i64)> = sums.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    all.truncate(count);
    all
}
