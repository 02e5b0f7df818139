//! Comparison of an exported file, read back, with the priced run.
//!
//! Responsible for: pricing the file on the same machine. Settings that a file of its kind cannot have are
//! those of the run; a framework's own defaults apply to the others. Refuses to judge files that no reader
//! reads alone.

use crate::{ClosedForm, Estimated, Resolved, Texts, estimate, resolve};
use railwright_calculator::estimate::Estimate;
use railwright_launch::{Context, Written, read_with};
use railwright_spec::cluster::ClusterSpec;
use railwright_spec::human;
use railwright_spec::plan::PlanSpec;
use railwright_spec::run::{ModelSpec, Run, RunSpec, Section as _};

/// Difference of step times from which the file is another run: below it lie settings such as the multiple of
/// the vocabulary.
const NOTABLE: f64 = 0.03;

/// Settings that many kinds of files leave to others: data, batch and what a program's own arguments set.
const OF_THE_RUN: [&str; 12] = [
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
    "expert_parallel",
    "micro_batch",
    "global_batch",
    "sequence_length",
    "recompute",
    "optimizer",
    "lora_rank",
    "lora_targets",
    "precision.preset",
];

/// Differences of the written file from the run, in words; `None` if there are none, or if they are unknown.
pub fn difference_as_written(
    written: &Written,
    run: &Run,
    spec: &RunSpec,
    texts: &dyn Texts,
) -> Option<String> {
    let again = read_back(written, run, spec, texts)?;
    let planned =
        priced(Resolved { run: run.clone(), warnings: Vec::new(), chosen: Vec::new(), spec: spec.clone() })?;
    let again = priced(again)?;
    let (before, after) = (planned.estimate, again.estimate);
    let ratio = after.step_time.get() / before.step_time.get();
    let is_equal = before.memory.fit == after.memory.fit
        && before.model.parameters.total == after.model.parameters.total;
    if (ratio - 1.0).abs() < NOTABLE && is_equal {
        return None;
    }
    let mut differing = Vec::new();
    let mut compare = |written: String, planned: String, is_different: bool| {
        if is_different {
            differing.push(format!("{written} instead of {planned}"));
        }
    };
    let totals = [&after, &before].map(|estimate| estimate.model.parameters.total);
    let [written, planned] = match totals.map(|total| human::count(total as f64)) {
        [written, planned] if written == planned => totals.map(human::whole),
        short => short,
    };
    compare(format!("{written} parameters"), planned, totals[0] != totals[1]);
    let time = |estimate: &Estimate| format!("{} per step", human::seconds(estimate.step_time));
    compare(time(&after), time(&before), (ratio - 1.0).abs() >= NOTABLE);
    let memory = |estimate: &Estimate| {
        format!("{} ({})", human::bytes(estimate.memory.peak), estimate.memory.fit.words())
    };
    compare(memory(&after), memory(&before), after.memory.fit != before.memory.fit);
    let (written, planned) = (&after.plan.software, &before.plan.software);
    compare(format!("`{written}`"), format!("`{planned}`"), written != planned);
    let how = match ratio {
        ratio if ratio >= 1.0 + NOTABLE => "is slower than",
        ratio if ratio <= 1.0 - NOTABLE => "is faster than",
        _ => "differs from",
    };
    Some(format!("the exported file {how} the plan: {}", differing.join(", ")))
}

fn priced(resolved: Resolved) -> Option<Estimated> {
    estimate(resolved, &ClosedForm).ok()
}

/// The run of the file, on the cluster of the other.
fn read_back(written: &Written, run: &Run, spec: &RunSpec, texts: &dyn Texts) -> Option<Resolved> {
    let file = written.files.first()?;
    let launch = read_with(&file.text, &file.name, &Context::default())?.ok()?;
    if launch.partial.is_some() {
        return None;
    }
    let mut again = spec.clone();
    again.front_end = None;
    again.plan = PlanSpec::default();
    again.unspecified_software = None;
    let full = PlanSpec::from_plan(&run.plan);
    let gives_batch = ["micro_batches", "batch_tokens", "global_batch"]
        .iter()
        .any(|key| launch.spec.plan.get(key).is_some());
    for key in OF_THE_RUN {
        let is_given = launch.spec.plan.get(key).is_some() || (key == "global_batch" && gives_batch);
        if let Some(value) = full.get(key).filter(|_| !is_given) {
            // The value comes out of a specification, so it goes back into one.
            let _ = again.plan.set(key, &value);
        }
    }
    let mut read = launch.spec.clone();
    // The model of a file that describes it in another file's words stays that of the run.
    if launch.model_config.is_some() || !launch.has_model() {
        read.model = spec.model.clone();
    } else {
        again.model = ModelSpec::default();
    }
    read.cluster = ClusterSpec::default();
    again.overlay(&read);
    if again.model.layers.is_some() {
        again.model.name.get_or_insert_with(|| run.model.name.clone());
    }
    resolve(again, texts).ok()
}
