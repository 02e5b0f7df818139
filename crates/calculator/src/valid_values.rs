//! Values of each setting that are valid with the rest of a run: the range of a slider.
//!
//! Responsible for: candidates of each setting, each tested by the rules that reject plans
//! ([`crate::defaults::is_possible`]). Has no separate rule, so offered values are always valid. Does not
//! check the fit in memory.

use crate::defaults;
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::{Plan, Schedule, expert_count};
use railwright_spec::run::{RunSpec, Section};
use std::collections::BTreeSet;

/// The valid values of one setting, in input format; counts ascend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Valid {
    /// The dotted key, such as `plan.tensor_parallel`.
    pub key: &'static str,
    /// Its values.
    pub values: Vec<String>,
    /// True if the run is valid without the setting: it can be left to the program.
    pub open: bool,
}

/// Maximum number of devices offered; input may exceed it.
const MOST_DEVICES: u64 = 262_144;
/// Maximum sequence length offered.
const LONGEST: u64 = 1 << 20;
/// Maximum batch offered, in sequences.
const MOST_SEQUENCES: u64 = 65_536;
/// Maximum number of virtual stages, of sequences of a micro-batch and of expert tensor ranks offered.
const MOST_SMALL: u64 = 64;
/// Odd parts of offered counts: nodes come in these multiples of powers of two.
const ODD_PARTS: [u64; 5] = [1, 3, 5, 7, 9];

/// Settings with named values.
const WORDS: &[(&str, &[&str])] = &[
    ("plan.sequence_parallel", &["false", "true"]),
    ("plan.uneven_stages", &["false", "true"]),
    ("plan.schedule", &Schedule::NAMES),
    (
        "plan.recompute",
        &["none", "selective:core_attention", "selective:norm,activation", "selective:mlp", "full"],
    ),
    ("plan.overlap.gradient_reduce", &["false", "true"]),
    ("plan.overlap.parameter_gather", &["false", "true"]),
    ("plan.overlap.tensor", &["false", "true"]),
    ("plan.overlap.pipeline", &["false", "true"]),
    ("plan.overlap.expert", &["false", "true"]),
    ("plan.sharding", &["none", "zero1", "zero2", "fsdp", "fsdp-no-reshard", "hsdp:8"]),
    ("plan.precision.preset", &["bf16", "fp16", "fp8", "mxfp8", "nvfp4", "int8", "tf32", "fp32"]),
];

/// Valid values of each setting with all other settings unchanged. Open settings are derived; data
/// parallelism always is. An invalid run has values, too: those that make it valid.
pub fn valid_values(spec: &RunSpec, model: &Model, cluster: &Cluster) -> Vec<Valid> {
    let mut base = spec.clone();
    base.plan.data_parallel = None;
    let asked = Asked { spec: &base, model, cluster, plan: base.plan.resolve(model, cluster).ok() };
    let counts = asked.counts().into_iter().map(|(key, candidates)| {
        let possible = candidates.into_iter().map(|count| count.to_string()).filter(|one| asked.is(key, one));
        Valid { key, values: possible.collect(), open: asked.is_open(key) }
    });
    let words = WORDS.iter().map(|(key, words)| {
        let possible = words.iter().filter(|word| asked.is(key, word));
        Valid { key, values: possible.map(|word| (*word).to_owned()).collect(), open: asked.is_open(key) }
    });
    counts.chain(words).collect()
}

struct Asked<'a> {
    spec: &'a RunSpec,
    model: &'a Model,
    cluster: &'a Cluster,
    /// The resolved plan. `None` if the specification contradicts itself.
    plan: Option<Plan>,
}

impl Asked<'_> {
    /// Tests whether the run is valid with this value.
    fn is(&self, key: &str, value: &str) -> bool {
        let mut specified = self.without(key);
        specified.set_flag("", key, value).is_ok() && self.is_possible(specified, key)
    }

    /// The specification without the settings that one of this key replaces.
    fn without(&self, key: &str) -> RunSpec {
        let mut specified = self.spec.clone();
        // A schedule determines its number of virtual stages, and a uniform rule replaces a list by stage.
        match key {
            "plan.schedule" => specified.plan.virtual_stages = None,
            "plan.uneven_stages" => specified.plan.layers_per_stage = None,
            "plan.recompute" => specified.plan.stage_recompute = None,
            _ => {}
        }
        specified
    }

    /// Tests whether a specification that differs in this key is valid.
    fn is_possible(&self, mut specified: RunSpec, key: &str) -> bool {
        if key != "cluster.devices" {
            return defaults::is_possible(&specified.plan, self.model, self.cluster);
        }
        // Rates do not affect validity, so the calibration is not read again.
        specified.cluster.calibration = None;
        specified
            .cluster
            .resolve()
            .is_ok_and(|cluster| defaults::is_possible(&specified.plan, self.model, &cluster))
    }

    /// Tests whether the run is valid without a setting.
    fn is_open(&self, key: &str) -> bool {
        let mut specified = self.without(key);
        match key.split_once('.') {
            Some(("plan", name)) => specified.plan.clear(name),
            // A cluster has its own number of devices.
            _ => specified.cluster.devices = None,
        }
        self.is_possible(specified, key)
    }

    /// Candidates of the numeric settings.
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

    /// Candidates for devices: whole nodes and parts of one, doubled, and neighbours of the current number in
    /// replicas.
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

    /// Candidates for batches: multiples of the divisor of a batch, and neighbours of the current one.
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

/// The two multiples of `unit` on each side of `now`, and `now` itself if it is a multiple.
fn neighbours(unit: u64, now: u64) -> impl Iterator<Item = u64> {
    let at = now / unit;
    (at.saturating_sub(2)..=at.saturating_add(2)).filter(|n| *n > 0).filter_map(move |n| n.checked_mul(unit))
}

/// All divisors of a number of devices, which the cluster limits.
fn divisors(n: u64) -> Vec<u64> {
    let root = (n as f64).sqrt() as u64 + 1;
    (1..=root.min(n)).filter(|d| n.is_multiple_of(*d)).flat_map(|d| [d, n / d]).collect()
}

#[cfg(test)]
mod tests;
