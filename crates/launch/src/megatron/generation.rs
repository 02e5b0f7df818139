//! Inference of the software generation from its arguments.
//!
//! Responsible for: an inference with its evidence. Without evidence, the calculator's default is used.

use super::flags;
use super::meaning::Filler;
use super::write::kernels::{Graphs, features};
use crate::RemarkKind;

/// Years of flags, and the generation of each.
const GENERATIONS: &[(&str, &str)] = &[
    ("2021", "megatron-lm-2021"),
    ("2022", "megatron-lm-2022"),
    ("2023", "megatron-core-2024"),
    ("2024", "megatron-core-2024"),
    ("2025", "megatron-core-2025"),
    ("2026", "megatron-core-2026"),
];

/// Chooses the generation.
pub(crate) fn read(f: &mut Filler<'_>) {
    // Relatives' flags have their framework for a year.
    let is_dated = |flag: &flags::Flag| flag.since.starts_with(|c: char| c.is_ascii_digit());
    // A fork's flag that became one of Megatron's has no year of its own.
    let is_own = |name: &str, source: &str| {
        let word = source.split([' ', '=']).next().unwrap_or_default();
        !word.starts_with("--") || flags::by_spelling(word).is_none_or(|flag| flag.name == name)
    };
    let seen = f.arguments.iter().filter(|(name, argument)| is_own(name, &argument.source));
    let seen = seen.filter_map(|(name, _)| flags::by_name(name)).filter(is_dated);
    let newest = seen.max_by_key(|flag| (flag.since, std::cmp::Reverse(flag.name)));
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
        return;
    };
    let stack = with_features(f, id);
    f.set("plan.software", &stack, flag.name);
    let message = format!(
        "was introduced in {}, so the software is inferred as `{stack}`; `--software` overrides it",
        flag.since
    );
    f.remark(RemarkKind::Assumed, flag.name, message);
}

/// A generation with the features that its flags turn on, except those that it always has.
fn with_features(f: &Filler<'_>, id: &str) -> String {
    let own = features(id);
    let is_fused = f.arguments.is_on("moe_enable_deepep")
        || f.arguments.word("moe_token_dispatcher_type") == Some("flex");
    let has_graphs = f.arguments.word("cuda_graph_impl") == Some("full_iteration");
    let mut stack = id.to_owned();
    if has_graphs && own.graphs != Graphs::Full {
        stack.push_str("+cuda-graphs");
    }
    if is_fused && !own.fused_dispatch {
        stack.push_str("+fused-dispatch");
    }
    stack
}
