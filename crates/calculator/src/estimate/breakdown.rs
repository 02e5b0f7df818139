//! Step breakdown as a tree whose children sum to their parent.

use crate::costing::Costing;
use crate::evaluate::{Evaluation, local_chunks};
use crate::layer::LayerCost;
use crate::work::{Dimension, Family, Work};
use railwright_spec::model::{Mixer, Model};
use railwright_spec::quantity::Seconds;
use serde::Serialize;

/// A part of the step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// Stable identifier, documented by `railwright explain`: `step`, `compute`, `compute.mlp`,
    /// `compute.mlp.forward`.
    pub id: String,
    /// Title for display.
    pub title: String,
    /// Duration.
    pub time: Seconds,
    /// Share of the step (0 to 1).
    pub share: f64,
    /// Child parts, whose times sum to this one.
    pub children: Vec<Part>,
}

impl Part {
    /// The part with an identifier, at any depth.
    pub fn find(&self, id: &str) -> Option<&Self> {
        if self.id == id { Some(self) } else { self.children.iter().find_map(|c| c.find(id)) }
    }

    /// Recompute of all operators of a step together, which is a part of its compute and which the tree lists
    /// by operator.
    #[must_use]
    pub fn recompute(&self) -> Self {
        let compute = self.children.iter().filter(|part| part.id == "compute");
        let passes = compute.flat_map(|part| &part.children).flat_map(|operator| &operator.children);
        let repeated: Vec<&Self> = passes.filter(|pass| pass.id.ends_with(".recompute")).collect();
        let time = repeated.iter().map(|pass| pass.time).sum();
        Self {
            share: repeated.iter().map(|pass| pass.share).sum(),
            ..part("compute.recompute", "of which recompute", time)
        }
    }

    /// Title and share of the largest part of a step that is not useful work: communication, bubble, host,
    /// update, or the recompute of all operators together, which the tree lists by operator.
    pub fn largest_loss(&self) -> Option<(&str, f64)> {
        let recompute = self.recompute().share;
        let others = self.children.iter().filter(|part| part.id != "compute");
        let all = others.map(|part| (part.title.as_str(), part.share)).chain([("recompute", recompute)]);
        all.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, share)| *share > 0.0)
    }
}

/// A part without children.
pub fn part(id: impl Into<String>, title: impl Into<String>, time: Seconds) -> Part {
    Part { id: id.into(), title: title.into(), time, share: 0.0, children: Vec::new() }
}

fn parent(id: &str, title: &str, children: Vec<Part>) -> Part {
    let children: Vec<Part> = children.into_iter().filter(|c| c.time.get() != 0.0).collect();
    let time = children.iter().map(|c| c.time).sum();
    Part { children, ..part(id, title, time) }
}

fn with_shares(mut tree: Part, total: Seconds) -> Part {
    tree.share = tree.time / total;
    tree.children = tree.children.into_iter().map(|c| with_shares(c, total)).collect();
    tree
}

/// Last word of the identifier of an operator family.
pub(super) const fn family_id(family: Family) -> &'static str {
    match family {
        Family::Embedding => "embedding",
        Family::Norm => "norm",
        Family::AttentionInput => "attention_input",
        Family::AttentionCore => "attention_core",
        Family::AttentionOutput => "attention_output",
        Family::Mlp => "mlp",
        Family::Activation => "activation",
        Family::Router => "router",
        Family::Experts => "experts",
        Family::Residual => "residual",
        Family::Head => "head",
        Family::Loss => "loss",
    }
}

/// Title of the token mixers of a model: attention, recurrent scans, or both.
fn mixer_title(model: &Model) -> &'static str {
    let mixers = || model.layer_kinds.iter().flat_map(|layer| layer.mixer.each());
    let is_recurrent =
        |mixer: &Mixer| matches!(mixer, Mixer::Linear(_) | Mixer::StateSpace(_) | Mixer::Selective(_));
    match (mixers().any(Mixer::is_attention), mixers().any(is_recurrent)) {
        (true, true) => "attention and recurrent scans",
        (false, true) => "recurrent scans",
        _ => Family::AttentionCore.label(),
    }
}

/// Last word of the identifier, and the title, of a parallel dimension.
pub(super) const fn dimension_id(dimension: Dimension) -> (&'static str, &'static str) {
    match dimension {
        Dimension::Tensor => ("tensor", "tensor parallel"),
        Dimension::Context => ("context", "context parallel"),
        Dimension::Expert => ("expert", "expert parallel"),
        Dimension::Shard => ("shard", "FSDP"),
        Dimension::Host => ("host-offload", "host offload"),
    }
}

/// Number of runs of each of a stage's chunks in a step: half of the micro-batches if the stage has two
/// directions.
pub(crate) fn runs_per_chunk(costing: &Costing<'_>) -> f64 {
    let micro_batches = costing.plan.micro_batches().max(1) as f64;
    if costing.plan.schedule.has_two_directions() { micro_batches / 2.0 } else { micro_batches }
}

/// Work of all chunks of a stage in a whole step.
pub(super) fn stage_work(costing: &Costing<'_>, evaluation: &Evaluation, stage: usize) -> LayerCost {
    let mut sum = LayerCost::default();
    let runs = runs_per_chunk(costing);
    for index in local_chunks(costing.plan, stage) {
        sum.add(&evaluation.chunks[index].cost, runs);
    }
    sum
}

/// Breakdown of the critical stage. Host time is the excess of its passes over the device's time.
pub fn tree(costing: &Costing<'_>, evaluation: &Evaluation) -> Part {
    let time = &evaluation.time;
    let work = stage_work(costing, evaluation, evaluation.critical_stage);
    let passes: [(&str, &str, &[&Work]); 3] = [
        ("forward", "forward", &[&work.forward]),
        ("backward", "backward", &[&work.backward_input, &work.backward_weight]),
        ("recompute", "recompute", &[&work.recompute]),
    ];
    let compute = Family::ALL
        .iter()
        .map(|&family| {
            let id = format!("compute.{}", family_id(family));
            let children = passes
                .iter()
                .map(|(name, title, works)| {
                    let time = works.iter().map(|w| w.compute[family as usize]).sum();
                    part(format!("{id}.{name}"), *title, time)
                })
                .collect();
            let title =
                if family == Family::AttentionCore { mixer_title(costing.model) } else { family.label() };
            parent(&id, title, children)
        })
        .collect();
    let exposed = Dimension::ALL
        .iter()
        .zip(&time.exposed)
        .map(|(&dimension, &(_, value))| {
            let (id, title) = dimension_id(dimension);
            part(format!("exposed.{id}"), title, value)
        })
        .collect();
    let compute = parent("compute", "compute", compute);
    let exposed = parent("exposed", "exposed communication", exposed);
    // The step waits for the stage whose update ends last; the communication table has the update of this
    // one.
    let update = evaluation.updates.get(evaluation.critical_stage);
    let own = update.map_or(Seconds::ZERO, |u| u.gradient_exposed + u.between_stages + u.parameter_exposed);
    let is_own = (time.data_parallel - own).get().abs() <= 0.01 * time.data_parallel.get();
    let data_parallel =
        if is_own { "data parallel, exposed" } else { "data parallel, exposed (slowest stage)" };
    let rest = [
        ("data_parallel", data_parallel, time.data_parallel),
        ("optimizer", "optimizer", time.optimizer),
        ("fixed", "fixed per step", time.fixed),
        ("jitter", "jitter allowance", time.jitter),
    ];
    let mut children = vec![
        compute,
        exposed,
        part("host", "waiting for the host", time.host),
        part("bubble", "pipeline bubble and transfers", time.bubble),
    ];
    children.extend(rest.map(|(id, title, value)| part(id, title, value)));
    let total = time.total;
    with_shares(Part { children, ..part("step", "step", total) }, total)
}
