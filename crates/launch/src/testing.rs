//! Common parts of tests of writers: random valid runs, and the check that reading returns the written run.

#![allow(dead_code, reason = "each writer's tests use what they need")]

pub(crate) mod corpus;
mod keys;
mod written;

use crate::{Writer, Written, differences};
use proptest::prelude::*;
use railwright_spec::model::{Model, Weight, by_name};
use railwright_spec::plan::{PlanSpec, validate};
use railwright_spec::run::{Run, RunSpec, Section, Value};

/// Models of several families, small and large, dense and with experts.
pub(crate) const MODELS: &[&str] = &[
    "llama-3.1-8b",
    "llama-3.1-70b",
    "llama-3.1-405b",
    "llama-2-7b",
    "mistral-7b-v0.1",
    "mixtral-8x7b",
    "qwen2.5-7b",
    "qwen3-8b",
    "qwen3-30b-a3b",
    "deepseek-v3-671b",
    "gpt3-175b",
];

/// Ranges of random runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranges {
    /// Names of the catalogue.
    pub(crate) models: &'static [&'static str],
    /// Presets of machines.
    pub(crate) clusters: &'static [&'static str],
    /// Tokens of a sequence.
    pub(crate) sequences: &'static [u64],
    /// Keys of a run file with their values, beyond those that every random run has.
    pub(crate) choices: &'static [(&'static str, &'static [&'static str])],
    /// Set after the random ones, for settings that a format can only express one way:
    /// `&["plan.optimizer=adam"]`.
    pub(crate) settings: &'static [&'static str],
}

/// A run with a valid plan, on dgx-h100. `settings` are set after the random ones.
pub(crate) fn run(
    models: &'static [&'static str],
    settings: &'static [&'static str],
) -> impl Strategy<Value = Run> {
    random(Ranges { models, clusters: &["dgx-h100"], sequences: &[2048, 4096, 8192], choices: &[], settings })
}

/// A run with a valid plan.
pub(crate) fn random(ranges: Ranges) -> impl Strategy<Value = Run> {
    let degrees = (0..ranges.models.len(), 0u32..4, 0u32..5, 0u32..3, 0u32..3, 0u32..4, 0u32..4);
    let batch = (0u32..3, 1u64..4, prop::sample::select(ranges.sequences.to_vec()));
    let choices = prop::collection::vec(0usize..64, 40);
    (degrees, batch, choices).prop_filter_map("an impossible plan", move |(degrees, batch, choices)| {
        let (model, tp, pp, vp, cp, dp, ep) = degrees;
        let (micro, rounds, sequence) = batch;
        let model = by_name(ranges.models[model]).ok()?;
        let (tp, cp, dp, ep) = (1u64 << tp, 1u64 << cp, 1u64 << dp, 1u64 << ep);
        let divisors: Vec<u64> =
            (1..=model.num_layers().min(32)).filter(|d| model.num_layers().is_multiple_of(*d)).collect();
        let pp = divisors[pp as usize % divisors.len()];
        let per_stage = model.num_layers() / pp;
        let vp = if pp > 1 && per_stage.is_multiple_of(1 << vp) { 1 << vp } else { 1 };
        let ep = if model.is_mixture_of_experts() { ep } else { 1 };
        let micro = 1u64 << micro;
        let cluster = ranges.clusters[choices[39] % ranges.clusters.len()];
        let mut settings_made = vec![
            format!("model.name={}", model.name),
            format!("cluster.preset={cluster}"),
            format!("cluster.devices={}", tp * pp * cp * dp),
            format!("plan.tensor_parallel={tp}"),
            format!("plan.pipeline_parallel={pp}"),
            format!("plan.virtual_stages={vp}"),
            format!("plan.context_parallel={cp}"),
            format!("plan.expert_parallel={ep}"),
            format!("plan.micro_batch={micro}"),
            format!("plan.global_batch={}", rounds * micro * dp * pp),
            format!("plan.sequence_length={sequence}"),
        ];
        settings_made.extend(choices_of(&choices, ep));
        let picks = choices[24..].iter();
        let has_use = |key: &str| key != "plan.expert_capacity" || model.is_mixture_of_experts();
        let drawn = ranges.choices.iter().zip(picks).filter(|((key, _), _)| has_use(key));
        settings_made.extend(drawn.map(|((key, of), pick)| format!("{key}={}", of[pick % of.len()])));
        settings_made.extend(ranges.settings.iter().map(|&setting| setting.to_owned()));
        resolved(&settings_made)
    })
}

/// The run with settings such as `plan.optimizer=adam`; `None` if invalid.
pub(crate) fn resolved<T: AsRef<str>>(settings: &[T]) -> Option<Run> {
    let mut spec = RunSpec::default();
    for setting in settings {
        spec.set(setting.as_ref()).ok()?;
    }
    let run = spec.resolve(|_| Err(railwright_spec::problem::Problem::new("no file"))).ok()?;
    validate(&run.model, &run.cluster, &run.plan).is_empty().then_some(run)
}

/// One value of each choice.
fn choices_of(picks: &[usize], ep: u64) -> Vec<String> {
    const CHOICES: &[(&str, &[&str])] = &[
        ("plan.sequence_parallel", &["true", "false", "true", "true"]),
        ("plan.context_kind", &["ring", "all_gather", "ulysses"]),
        ("plan.sharding", &["none", "zero1", "zero1", "zero2", "fsdp", "fsdp-no-reshard"]),
        ("plan.rank_order", &["tp-cp-ep-dp-pp", "tp-cp-pp-ep-dp"]),
        ("plan.precision.preset", &["bf16", "bf16", "fp16", "fp8", "mxfp8", "fp32"]),
        ("plan.optimizer", &["adam", "adam", "sgd", "muon", "lion"]),
        (
            "plan.recompute",
            &[
                "none",
                "full",
                "full:1",
                "selective:core_attention",
                "selective:core_attention,mlp",
                "selective:norm",
            ],
        ),
        ("plan.schedule", &["1f1b", "1f1b", "1f1b", "gpipe", "zb-h1"]),
        ("plan.overlap.gradient_reduce", &["true", "false"]),
        ("plan.overlap.parameter_gather", &["true", "false"]),
        ("plan.overlap.tensor", &["false", "true"]),
        ("plan.overlap.pipeline", &["false", "true"]),
        ("plan.overlap.expert", &["false", "true"]),
        ("plan.attention_kernel", &["auto", "flash2", "unfused", "flash3"]),
        ("plan.dropout", &["false", "true"]),
        ("plan.offload.optimizer", &["0", "0", "0.5", "1"]),
        ("plan.vocabulary_multiple", &["128", "1", "64"]),
        ("plan.precision.gradient_reduce", &["fp32", "bf16"]),
        ("plan.uneven_stages", &["false", "true"]),
    ];
    let mut out: Vec<String> = CHOICES
        .iter()
        .zip(picks)
        .map(|((key, values), pick)| format!("{key}={}", values[pick % values.len()]))
        .collect();
    if ep > 1 && picks[CHOICES.len()].is_multiple_of(2) {
        out.push("plan.expert_tensor_parallel=1".to_owned());
    }
    out
}

/// Writes, reads, resolves and compares: the same plan and shapes, except for exactly the reported losses.
pub(crate) fn round_trip(writer: &dyn Writer, run: &Run) -> Result<(), String> {
    if writer.versions().is_empty() {
        return comes_back(&writer.write(run), run);
    }
    // Each version has a file of its own: the newest is read, and one of the others.
    let (newest, others) = writer.versions().split_at(1);
    let of_run = (run.plan.global_batch / run.plan.micro_batch.max(1)) as usize;
    let other = others.get(of_run % others.len().max(1));
    newest.iter().chain(other).try_for_each(|version| {
        comes_back(&writer.write_for(run, version), run).map_err(|why| format!("{version}: {why}"))
    })
}

/// The same of the first file.
fn comes_back(written: &Written, run: &Run) -> Result<(), String> {
    if written.files.is_empty() && !written.refused.is_empty() {
        return Ok(());
    }
    let file = written.files.first().ok_or("nothing was written")?;
    let fail = |what: String| {
        Err(format!("{what}\n--- written:\n{}\n--- lost: {:?}", file.text, written.not_expressed))
    };
    let launch = match crate::read(&file.text, &file.name) {
        Some(Ok(launch)) => launch,
        Some(Err(problems)) => return fail(format!("not read back: {problems:?}")),
        None => return fail("not recognized".to_owned()),
    };
    let mut spec = launch.spec.clone();
    spec.cluster.preset = Some(run.cluster.name.clone());
    if spec.cluster.devices.is_none() {
        spec.cluster.devices = Some(run.cluster.devices);
    }
    // A format that cannot express the model leaves it open, with a remark.
    let names_no_model = written.not_expressed.iter().any(|lost| lost.key.starts_with("model"));
    if names_no_model && spec.model == railwright_spec::run::ModelSpec::default() {
        spec.model.name = Some(run.model.name.clone());
    }
    let config = launch.model_config.clone();
    let back = match spec
        .resolve(|path| config.clone().ok_or_else(|| railwright_spec::problem::Problem::new(path.to_owned())))
    {
        Ok(back) => back,
        Err(problem) => return fail(format!("not resolved: {problem}")),
    };
    if back.cluster.devices != run.cluster.devices {
        return fail(format!("{} devices became {}", run.cluster.devices, back.cluster.devices));
    }
    let lost: Vec<&str> = written.not_expressed.iter().map(|lost| lost.key.as_str()).collect();
    let is_unfilled = lost.contains(&"cluster.devices_per_node");
    if is_unfilled && back.cluster.devices_per_node == run.cluster.devices_per_node {
        return fail("full nodes are called unfilled".to_owned());
    }
    let mut different = differences(&run.plan, &back.plan);
    // A segment as large as a domain is the whole domain.
    let is_same_domain = run.plan.domain(&run.cluster) == back.plan.domain(&back.cluster);
    different.retain(|key| key != "plan.segment" || !is_same_domain);
    for key in &different {
        if !lost.contains(&key.as_str()) {
            let value = |plan| {
                PlanSpec::from_plan(plan).get(key.trim_start_matches("plan.")).as_ref().map(Value::to_toml)
            };
            return fail(format!("{key}: {:?} became {:?}", value(&run.plan), value(&back.plan)));
        }
    }
    for key in lost.iter().filter(|key| key.starts_with("plan.")) {
        if !different.iter().any(|d| d == key) {
            return fail(format!("{key} is called lost, but came back"));
        }
    }
    if !lost.iter().any(|key| key.starts_with("model")) && shapes(&run.model) != shapes(&back.model) {
        return fail(format!("the model changed: {:?} became {:?}", shapes(&run.model), shapes(&back.model)));
    }
    Ok(())
}

/// Rows, columns and copies.
type Shape = (u64, u64, u64);

/// Parameters, and the sorted shapes of every layer and of the other modules.
fn shapes(model: &Model) -> (u64, Vec<Vec<Shape>>) {
    // A run has no keys for these vectors: a few thousand of 117 billion parameters.
    let has_key = |w: &&Weight| w.columns > 1 || !(w.name == "sinks" || w.name.contains("router"));
    let sorted = |weights: &[Weight]| {
        let mut shapes: Vec<_> =
            weights.iter().filter(has_key).map(|w| (w.rows, w.columns, w.copies)).collect();
        shapes.sort_unstable();
        shapes
    };
    let around = [&model.embedding, &model.final_norm, &model.head];
    let all = around.into_iter().map(|weights| sorted(weights));
    let layers = (0..model.layers.len()).map(|index| sorted(&model.layer(index).weights));
    let unnamed = |weights: &[Weight]| -> u64 {
        weights.iter().filter(|w| !has_key(w)).map(|w| w.rows * w.columns * w.copies).sum()
    };
    let left_out: u64 = (0..model.layers.len()).map(|index| unnamed(&model.layer(index).weights)).sum();
    (model.parameters().total - left_out, all.chain(layers).collect())
}
