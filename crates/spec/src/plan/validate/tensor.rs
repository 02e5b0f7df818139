//! Rules on sharding of matrices and sequences: tensor, sequence, context and expert parallelism against the
//! model's shapes.

use super::super::part_counts::{expert_count, head_counts};
use super::super::{ContextKind, Plan};
use super::advice::{divides_ranks, nearest_where, with_values, with_values_or};
use crate::greatest_common_divisor;
use crate::model::{FeedForward, Model, Position};
use crate::problem::{Problem, Warning};

pub(super) fn check(model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    heads(model, plan, problems);
    widths(model, plan, problems);
    experts(model, plan, problems);
    sequence(model, plan, problems);
}

/// Query heads divide among ranks; key-value heads divide, or each is shared by a whole number of ranks.
fn heads(model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    let tp = plan.tensor_parallel;
    let kinds = head_counts(model);
    let common = common_heads(&kinds);
    let works = |n: u64| tensor_works(model, plan, n);
    if let Some((heads, _)) = kinds.iter().find(|(heads, _)| heads % tp != 0) {
        problems.push(with_values(
            Problem::new(format!("{heads} attention heads are not divisible by {tp} ranks"))
                .at_key("plan.tensor_parallel"),
            &nearest_where(common, tp, works),
        ));
    } else if let Some((_, kv)) =
        kinds.iter().find(|(_, kv)| *kv > 0 && kv % tp != 0 && !tp.is_multiple_of(*kv))
    {
        problems.push(with_values(
            Problem::new(format!(
                "{kv} key-value heads can be neither divided over {tp} ranks nor evenly replicated"
            ))
            .at_key("plan.tensor_parallel"),
            &nearest_where(common, tp, works),
        ));
    }
    let (cp, both) = (plan.context_parallel, tp * plan.context_parallel);
    if cp > 1
        && plan.context_kind == ContextKind::Ulysses
        && !common.is_multiple_of(both)
        && common.is_multiple_of(tp)
    {
        let works = nearest_where(common / tp, cp, |n| divides_ranks(plan, [n, tp, plan.pipeline_parallel]));
        problems.push(
            with_values_or(
                Problem::new(format!(
                    "ulysses assigns whole heads to each of {tp} x {cp} = {both} ranks, but {common} heads are not divisible by {both}"
                ))
                .at_key("plan.context_parallel"),
                &works,
                "context_kind = \"ring\"",
            )
            .remedy("plan.context_kind", "ring"),
        );
    }
}

fn common_heads(kinds: &[(u64, u64)]) -> u64 {
    kinds.iter().fold(0, |gcd, (heads, _)| greatest_common_divisor(gcd, *heads))
}

/// True if `n` tensor-parallel ranks divide the heads and the widths of the model, and the ranks of the job.
/// Key-value heads are divided or shared.
fn tensor_works(model: &Model, plan: &Plan, n: u64) -> bool {
    let kinds = head_counts(model);
    let heads = |(heads, kv): &(u64, u64)| {
        heads.is_multiple_of(n) && (*kv == 0 || kv.is_multiple_of(n) || n.is_multiple_of(*kv))
    };
    let tensor = |width: &Width| width.key != TENSOR || width.elements.is_multiple_of(n);
    kinds.iter().all(heads)
        && inner_widths(model).iter().all(tensor)
        && divides_ranks(plan, [n, plan.pipeline_parallel, plan.context_parallel])
}

/// Warning if ulysses needs copies of key-value heads. Transformer Engine's `a2a` asserted that the
/// context-parallel size divides the key-value heads of a rank (`attn_forward_func_with_cp`); later releases
/// and DeepSpeed copy them.
pub(super) fn copied_heads(model: &Model, plan: &Plan) -> Option<Warning> {
    let (tp, cp) = (plan.tensor_parallel.max(1), plan.context_parallel);
    if cp <= 1 || plan.context_kind != ContextKind::Ulysses {
        return None;
    }
    let kinds = head_counts(model);
    let of_rank = kinds.iter().filter(|(_, kv)| *kv > 0).map(|(_, kv)| (kv / tp).max(1));
    let heads = of_rank.filter(|heads| !heads.is_multiple_of(cp)).min()?;
    Some(Warning::new(
        "ulysses-copies-heads",
        format!(
            "ulysses replicates the {heads} key-value heads of a tensor-parallel rank on {cp} ranks, which older releases of Transformer Engine do not support"
        ),
    ))
}

const TENSOR: &str = "plan.tensor_parallel";

/// An inner width, with the key of the ranks that divide it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Width {
    what: &'static str,
    elements: u64,
    key: &'static str,
}

fn inner_widths(model: &Model) -> Vec<Width> {
    let of = |what, elements, key| Width { what, elements, key };
    let mut widths: Vec<Width> = Vec::new();
    for layer in &model.layer_kinds {
        match &layer.feed_forward {
            FeedForward::Dense(mlp) => widths.push(of("the MLP's width", mlp.intermediate_size, TENSOR)),
            FeedForward::MixtureOfExperts(moe) => {
                widths.push(of("the shared experts' width", moe.shared_intermediate_size, TENSOR));
                let width = moe.expert.intermediate_size;
                widths.push(of("an expert's width", width, "plan.expert_tensor_parallel"));
            }
            FeedForward::None => {}
        }
    }
    widths.sort_unstable();
    widths.dedup();
    widths
}

/// Inner widths of MLPs and experts divide among ranks.
fn widths(model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    let common = common_heads(&head_counts(model));
    let stage = plan.tensor_parallel * plan.context_parallel * plan.data_parallel;
    let experts = |n: u64| stage.is_multiple_of(n.saturating_mul(plan.expert_parallel));
    for Width { what, elements: width, key } in inner_widths(model) {
        let ranks = if key == TENSOR { plan.tensor_parallel } else { plan.expert_tensor_parallel };
        if width % ranks == 0 {
            continue;
        }
        let works = if key == TENSOR {
            // A model without attention has no heads.
            nearest_where(if common == 0 { width } else { common }, ranks, |n| tensor_works(model, plan, n))
        } else {
            nearest_where(width, ranks, experts)
        };
        let problem =
            Problem::new(format!("{what} of {width} is not divisible by {ranks} ranks")).at_key(key);
        problems.push(with_values(problem, &works));
    }
}

fn experts(model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    let ep = plan.expert_parallel;
    let stage = plan.tensor_parallel * plan.context_parallel * plan.data_parallel;
    match expert_count(model) {
        None if ep > 1 => problems.push(
            Problem::new(format!("{ep} expert-parallel ranks are set, but {} has no experts", model.name))
                .at_key("plan.expert_parallel")
                .hint("use 1")
                .remedy("plan.expert_parallel", 1),
        ),
        Some(experts) if experts % ep != 0 => problems.push(with_values(
            Problem::new(format!("{experts} experts are not divisible by {ep} ranks"))
                .at_key("plan.expert_parallel"),
            &nearest_where(experts, ep, |n| {
                stage.is_multiple_of(n.saturating_mul(plan.expert_tensor_parallel))
            }),
        )),
        _ => {}
    }
}

/// The sequence divides among the ranks that share it.
fn sequence(model: &Model, plan: &Plan, problems: &mut Vec<Problem>) {
    let (length, tp, cp) = (plan.sequence_length, plan.tensor_parallel, plan.context_parallel);
    let split = plan.context_kind == ContextKind::Ulysses;
    // Causal load is balanced by a piece from either end per rank: two pieces per rank.
    let pieces = if cp == 1 {
        1
    } else if split {
        cp
    } else {
        2 * cp
    };
    // A table of learned positions has no longer sequence.
    let longest = if model.position == Position::Learned && model.max_positions > 0 {
        model.max_positions
    } else {
        u64::MAX
    };
    let lengths = |unit: u64| -> Vec<u64> {
        multiples(length, unit).into_iter().filter(|near| *near <= longest).collect()
    };
    // Sequence parallelism divides the part of a context-parallel rank again.
    let is_divided_again = plan.sequence_parallel && tp > 1;
    let unit =
        if is_divided_again { pieces / greatest_common_divisor(pieces, cp * tp) * cp * tp } else { pieces };
    if length % pieces != 0 {
        let why = if split { "" } else { " (two per rank, to balance causal attention)" };
        problems.push(with_values(
            Problem::new(format!("{length} tokens are not divisible into {pieces} shards{why}"))
                .at_key("plan.sequence_length"),
            &lengths(unit),
        ));
    } else if is_divided_again && (length / cp) % tp != 0 {
        problems.push(with_values(
            Problem::new(format!(
                "sequence parallelism cannot divide {} tokens evenly over {tp} ranks",
                length / cp
            ))
            .at_key("plan.sequence_length"),
            &lengths(unit),
        ));
    }
    if model.position == Position::Learned && model.max_positions > 0 && length > model.max_positions {
        let most = (model.max_positions / unit * unit).max(1);
        problems.push(
            Problem::new(format!(
                "{length} tokens, but {} has learned positions for only {}",
                model.name, model.max_positions
            ))
            .at_key("plan.sequence_length")
            .hint(format!("use at most {most}"))
            .remedy("plan.sequence_length", most),
        );
    }
    if plan.document_length.is_some_and(|document| document > length) {
        problems.push(
            Problem::new("the mean document is longer than the sequence")
                .at_key("plan.document_length")
                .hint(format!("use at most {length}, or omit it"))
                .remedy("plan.document_length", length),
        );
    }
    if plan.document_length.is_none() && plan.document_length_cv > 0.0 {
        problems.push(
            Problem::new("the variation of document lengths is set, but not their mean")
                .at_key("plan.document_length")
                .hint("set the mean length of the documents, or omit `document_length_cv`"),
        );
    }
    if cp > 1 && split && !model.layer_kinds.iter().any(|layer| layer.mixer.is_attention()) {
        problems.push(
            Problem::new("ulysses divides attention heads, but the model has no attention")
                .at_key("plan.context_kind"),
        );
    }
}

/// Multiples of `unit` below and above a number.
fn multiples(n: u64, unit: u64) -> Vec<u64> {
    let below = n / unit * unit;
    [below, below + unit].into_iter().filter(|m| *m > 0).collect()
}
