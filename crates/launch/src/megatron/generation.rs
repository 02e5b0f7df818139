//! Software generation of a Megatron-LM run: inferred from its arguments, and for a script that is written.
//!
//! Responsible for: an inference with its evidence, without which the calculator's default is used;
//! Megatron's own generation for a run that is priced with another framework's.

use super::features::{Graphs, IN_PLACE_LOSS, features};
use super::filler::Filler;
use super::flags;
use crate::{RemarkKind, framework_of};
use railwright_spec::run::Run;
use railwright_spec::software::{UsualPlans, usual_among};

/// Years of flags, and the generation of each.
const GENERATIONS: &[(&str, &str)] = &[
    ("2021", "megatron-lm-2021"),
    ("2022", "megatron-lm-2022"),
    ("2023", "megatron-core-2024"),
    ("2024", "megatron-core-2024"),
    ("2025", "megatron-core-2025"),
    ("2026", "megatron-core-2026"),
];

/// Flags of 2022 that later versions kept. They correct the year of a script with earlier flags, and alone
/// they date nothing: scripts of any later year have them. Sources: Korthikanti et al., arXiv 2205.05198, May
/// 2022; NVIDIA/Megatron-LM pull request 237, July 2022.
const KEPT: &[&str] = &[
    "recompute_activations",
    "recompute_granularity",
    "recompute_method",
    "recompute_num_layers",
    "sequence_parallel",
];

/// Reason why a script has another generation than its plan.
pub(crate) const NATIVE: &str = "Megatron-LM does not run other frameworks' software";

/// The run with a generation of Megatron-LM: its own, or the default of its accelerator if another
/// framework's was priced.
pub(crate) fn native(run: &Run) -> Run {
    let mut run = run.clone();
    let is_own = |id: &str| framework_of(id) == Some("megatron");
    if !is_own(&run.plan.software) {
        let architecture = &run.cluster.accelerator.architecture;
        if let Some(usual) =
            usual_among(UsualPlans::Others, architecture, |generation| is_own(&generation.id))
        {
            run.plan.software.clone_from(&usual.id);
        }
    }
    run
}

/// Chooses the generation.
pub(crate) fn read(f: &mut Filler<'_>) {
    // Relatives' flags have their framework for a year.
    let is_dated = |flag: &flags::Flag| flag.since.starts_with(|c: char| c.is_ascii_digit());
    // A fork's flag that became one of Megatron's has no year of its own.
    let is_own = |name: &str, source: &str| {
        let word = source.split([' ', '=']).next().unwrap_or_default();
        !word.starts_with("--") || flags::by_spelling(word).is_none_or(|flag| flag.name == name)
    };
    // Graphs that are off are those of every release.
    let is_off = |name: &str| name == "cuda_graph_impl" && f.arguments.word(name) == Some("none");
    let seen = f.arguments.iter().filter(|(name, argument)| is_own(name, &argument.source) && !is_off(name));
    let seen = seen.filter_map(|(name, _)| flags::by_name(name)).filter(is_dated);
    let seen: Vec<flags::Flag> = seen.collect();
    let is_telling = seen.iter().any(|flag| !KEPT.contains(&flag.name));
    let newest = seen.iter().filter(|_| is_telling);
    let newest = newest.max_by_key(|flag| (flag.since, std::cmp::Reverse(flag.name)));
    if f.arguments.is_on("deepspeed") {
        f.set("plan.software", &"megatron-deepspeed-2022".to_owned(), "deepspeed");
        f.remark(
            RemarkKind::Assumed,
            "deepspeed",
            "Megatron-DeepSpeed, inferred as software `megatron-deepspeed-2022`",
        );
        return;
    }
    let Some((flag, (_, id))) =
        newest.and_then(|flag| Some((flag, GENERATIONS.iter().find(|(year, _)| *year == flag.since)?)))
    else {
        if gathers_tokens(f) && !f.arguments.is_on("moe_enable_deepep") {
            let message = "means `allgather`, which is priced as an all-to-all; `--software GENERATION+allgather-dispatch` \
                           prices the gather";
            f.remark(RemarkKind::Assumed, "moe_token_dispatcher_type", message);
        }
        return;
    };
    let stack = with_features(f, id);
    f.set("plan.software", &stack, flag.name);
    if stack.contains("+allgather-dispatch") && !f.arguments.mentions("moe_token_dispatcher_type") {
        let message =
            "means the default `allgather`, which gathers the tokens of all ranks of an expert group";
        f.remark(RemarkKind::Assumed, "moe_token_dispatcher_type", message);
    }
    let message = format!(
        "introduced in {}: the software is inferred as `{stack}`; `--software` overrides it",
        flag.since
    );
    f.remark(RemarkKind::Assumed, flag.name, message);
}

/// Tests whether a run has the router of 2024, whose default is 2 experts for a token: by its flags, or by a
/// format that is not of flags.
pub(super) fn has_new_router(f: &Filler<'_>) -> bool {
    let is_new = |name: &str| {
        let year = flags::by_name(name).map_or("", |flag| flag.since);
        name.starts_with("moe_") || matches!(year, "2024" | "2025" | "2026")
    };
    !f.arguments.origin("num_experts").0.starts_with("--") || f.arguments.iter().any(|(name, _)| is_new(name))
}

/// Tests whether experts are distributed over ranks, and the dispatcher gathers their tokens: the default of
/// the argument, which programs over Megatron-Core may replace by an all-to-all.
fn gathers_tokens(f: &Filler<'_>) -> bool {
    f.arguments.word("expert_model_parallel_size").is_some_and(|own| own != "1")
        && f.arguments.word("moe_token_dispatcher_type").is_none_or(|own| own == "allgather")
}

/// Share of a step in CUDA graphs: Megatron-LM's arguments leave them off. Older releases had a switch in
/// place of `--cuda-graph-impl`.
fn graphs(f: &Filler<'_>) -> Graphs {
    let switch =
        ["enable_cuda_graph", "external_cuda_graph"].into_iter().find(|name| f.arguments.is_on(name));
    let kind = f.arguments.word("cuda_graph_impl").filter(|kind| *kind != "none").or(switch);
    let scope = ["cuda_graph_scope", "cuda_graph_modules"].into_iter().find_map(|name| f.arguments.get(name));
    Graphs::of(kind.unwrap_or("none"), scope.map_or(&[], |scope| scope.values.as_slice()))
}

/// A generation with the features that its flags turn on, except those that it always has.
fn with_features(f: &Filler<'_>, id: &str) -> String {
    let own = features(id);
    let is_fused = f.arguments.is_on("moe_enable_deepep")
        || f.arguments.word("moe_token_dispatcher_type") == Some("flex");
    let gathers = gathers_tokens(f) && !is_fused;
    let graphs = graphs(f);
    let mut stack = id.to_owned();
    if gathers && framework_of(id) == Some("megatron") {
        stack.push_str("+allgather-dispatch");
    }
    if graphs != own.graphs {
        // Graphs of a dense model's layers change its host's time by little; no value was measured.
        if graphs != Graphs::None || f.arguments.word("num_experts").is_some() {
            stack.push('+');
            stack.push_str(graphs.feature());
        }
    }
    if is_fused && !own.fused_dispatch {
        stack.push_str("+fused-dispatch");
    }
    // The other fused loss is compiled PyTorch, with the copies of the unfused one.
    let is_in_place = f.arguments.is_on("cross_entropy_loss_fusion")
        && f.arguments.word("cross_entropy_fusion_impl") == Some("te");
    if is_in_place && id.starts_with("megatron-core") {
        stack.push('+');
        stack.push_str(IN_PLACE_LOSS);
    }
    stack
}
