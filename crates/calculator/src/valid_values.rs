//! The values of each setting that are valid with the rest of a run: what a slider may offer.
//!
//! Responsible for: candidates of each setting, each tried by the rules that refuse plans ([`crate::defaults::is_possible`]). Has no rule
//! of its own, so what is offered is never refused. Does not judge whether a plan fits in memory.

use crate::defaults;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, Schedule, expert_count};
use railwright_spec::run::RunSpec;
use std::collections::BTreeSet;

/// The valid values of one setting, as they are typed; counts ascend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Valid {
    /// The dotted key, such as `plan.tensor_parallel`.
    pub key: &'static str,
    /// Its values.
    pub values: Vec<String>,
}

/// Most devices that are offered; any number can be typed.
const MOST_DEVICES: u64 = 262_144;
/// Longest sequence that is offered.
const LONGEST: u64 = 1 << 20;
/// Largest batch that is offered, in sequences.
const MOST_SEQUENCES: u64 = 65_536;
/// Most virtual stages, sequences of a micro-batch and expert tensor ranks that are offered.
const MOST_SMALL: u64 = 64;
/// Odd parts of offered counts: nodes come in these multiples of powers of two.
const ODD_PARTS: [u64; 5] = [1, 3, 5, 7, 9];

/// Settings with words for values.
const WORDS: &[(&str, &[&str])] = &[
    ("plan.sequence_parallel", &["false", "true"]),
    ("plan.uneven_stages", &["false", "true"]),
    ("plan.schedule", &Schedule::NAMES),
    ("plan.sharding", &["none", "zero1", "zero2", "fsdp", "fsdp-no-reshard", "hsdp:8"]),
    ("plan.precision.preset", &["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "int8", "tf32", "fp32"]),
];

/// The values of each setting that are possible while everything else stays as specified. What is open follows; data parallelism
/// always does. A run that is refused has them too: they are what makes it possible again.
pub fn valid_values(spec: &RunSpec, model: &Model, cluster: &Cluster) -> Vec<Valid> {
    let mut base = spec.clone();
    base.plan.data_parallel = None;
    let asked = Asked { spec: &base, model, cluster, plan: base.plan.resolve(model, cluster).ok() };
    let counts = asked.counts().into_iter().map(|(key, candidates)| {
        let possible = candidates.into_iter().map(|count| count.to_string()).filter(|one| asked.is(key, one));
        Valid { key, values: possible.collect() }
    });
    let words = WORDS.iter().map(|(key, words)| {
        let possible = words.iter().filter(|word| asked.is(key, word));
        Valid { key, values: possible.map(|word| (*word).to_owned()).collect() }
    });
    counts.chain(words).collect()
}

struct Asked<'a> {
    spec: &'a RunSpec,
    model: &'a Model,
    cluster: &'a Cluster,
    /// As the specification completes it; `None` where it contradicts itself.
    plan: Option<Plan>,
}

impl Asked<'_> {
    /// Whether the run with this value is possible.
    fn is(&self, key: &str, value: &str) -> bool {
        let mut specified = self.spec.clone();
        // A schedule has its own number of virtual stages, a uniform rule replaces a list of layers.
        match key {
            "plan.schedule" => specified.plan.virtual_stages = None,
            "plan.uneven_stages" => specified.plan.layers_per_stage = None,
            _ => {}
        }
        if specified.set_flag("", key, value).is_err() {
            return false;
        }
        if key != "cluster.devices" {
            return defaults::is_possible(&specified.plan, self.model, self.cluster);
        }
        // Rates do not matter for what is possible, so the calibration is not read again.
        specified.cluster.calibration = None;
        specified
            .cluster
            .resolve()
            .is_ok_and(|cluster| defaults::is_possible(&specified.plan, self.model, &cluster))
    }

    /// Candidates of the settings with counts.
    fn counts(&self) -> Vec<(&'static str, BTreeSet<u64>)> {
        let of_devices = divisors(self.cluster.devices);
        let up_to = |most: u64| of_devices.iter().copied().filter(|n| *n <= most).collect::<BTreeSet<_>>();
        let layers = self.model.num_layers();
        let experts = expert_count(self.model);
        vec![
            ("cluster.devices", self.devices()),
            ("plan.tensor_parallel", up_to(u64::MAX)),
            ("plan.pipeline_parallel", up_to(layers.saturating_mul(2))),
            ("plan.virtual_stages", (1..=layers.min(MOST_SMALL)).collect()),
            ("plan.context_parallel", up_to(u64::MAX)),
            (
                "plan.expert_parallel",
                experts.map_or_else(|| [1].into(), |n| divisors(n).into_iter().collect()),
            ),
            ("plan.expert_tensor_parallel", up_to(MOST_SMALL)),
            ("plan.micro_batch", (1..=MOST_SMALL).collect()),
            ("plan.global_batch", self.batches()),
            ("plan.sequence_length", self.lengths()),
        ]
    }

    /// Whole nodes and parts of one, doubled, and the neighbours in replicas of what is.
    fn devices(&self) -> BTreeSet<u64> {
        let now = self.cluster.devices;
        let node = self.cluster.devices_per_node.max(1);
        let specified = &self.spec.plan;
        let degrees = self.plan.as_ref().map_or_else(
            || {
                [specified.tensor_parallel, specified.pipeline_parallel, specified.context_parallel]
                    .map(|n| n.unwrap_or(1))
            },
            |plan| [plan.tensor_parallel, plan.pipeline_parallel, plan.context_parallel],
        );
        let replica = degrees.into_iter().fold(1, u64::saturating_mul);
        let near = neighbours(replica.max(1), now);
        let experts = self.spec.plan.expert_parallel.unwrap_or(1).saturating_mul(replica.max(1));
        let all = doubled(1, MOST_DEVICES).chain(doubled(replica.max(1), MOST_DEVICES)).chain(near);
        let all = all.chain(doubled(experts.max(1), MOST_DEVICES)).chain([now]);
        all.filter(|n| *n == now || n.is_multiple_of(node) || node.is_multiple_of(*n)).collect()
    }

    /// Multiples of what divides a batch, and the neighbours of what is.
    fn batches(&self) -> BTreeSet<u64> {
        let mut all: BTreeSet<u64> = doubled(1, MOST_SEQUENCES).collect();
        if let Some(plan) = &self.plan {
            let unit = plan.micro_batch.saturating_mul(plan.data_parallel).max(1);
            for unit in [unit, unit.saturating_mul(plan.pipeline_parallel)] {
                all.extend(doubled(unit, MOST_SEQUENCES));
                all.extend(neighbours(unit, plan.global_batch));
            }
            all.insert(plan.global_batch);
        }
        all
    }

    fn lengths(&self) -> BTreeSet<u64> {
        let now = self.spec.plan.tokens_per_sequence(self.model);
        let powers = (9..).map(|power| 1_u64 << power).take_while(|length| *length <= LONGEST);
        powers.chain([now]).collect()
    }
}

/// `unit` times the odd parts times powers of two.
fn doubled(unit: u64, most: u64) -> impl Iterator<Item = u64> {
    let of = move |odd: u64| {
        std::iter::successors(unit.checked_mul(odd), |n| n.checked_mul(2)).take_while(move |n| *n <= most)
    };
    ODD_PARTS.into_iter().flat_map(of)
}

/// The two multiples of `unit` on each side of `now`, and itself where it is one.
fn neighbours(unit: u64, now: u64) -> impl Iterator<Item = u64> {
    let at = now / unit;
    (at.saturating_sub(2)..=at.saturating_add(2)).filter(|n| *n > 0).filter_map(move |n| n.checked_mul(unit))
}

/// All divisors; of a number of devices, which the cluster bounds.
fn divisors(n: u64) -> Vec<u64> {
    let root = (n as f64).sqrt() as u64 + 1;
    (1..=root.min(n)).filter(|d| n.is_multiple_of(*d)).flat_map(|d| [d, n / d]).collect()
}

#[cfg(test)]
mod tests;
