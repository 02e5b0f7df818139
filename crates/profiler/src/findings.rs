//! Findings: problems that rules detect in a profile, with cost, evidence and advice.
//!
//! Responsible for: the list of rules ([`rules`]), applying each, and ordering findings by cost. Each rule is
//! a file: identifier, definition, threshold, estimate of the cost. Costs are times of waterfall labels or of
//! a replay; double counts are marked (`joint`). A rule without its required data has no findings.

mod attention;
mod bandwidth;
mod bound_by_memory;
mod context;
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
mod rule;
mod scores;
mod serving;
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
mod words;

#[cfg(test)]
mod tests;

use crate::certainty::Certainty;
use crate::profile::{Explained, Finding, Joint};
use crate::view::View;
use crate::windows::Windows;
use railwright_spec::topic::Topic;

pub use context::Context;
use context::EXPLAINED;
pub use rule::{Inference, Rule};

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
