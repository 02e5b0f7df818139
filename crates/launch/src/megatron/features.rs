//! Kernel features of a software generation: fused kernels, token dispatcher and CUDA graphs.

use railwright_spec::software;

/// Table of generations with their kernel features.
pub(super) const TABLE: &str = include_str!("../../data/megatron_generations.csv");

/// Kernel features assumed for a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::megatron) struct Features {
    /// Permutation, router and cross entropy run as fused kernels.
    pub(in crate::megatron) fusions: bool,
    /// Tokens travel through a fused dispatcher (DeepEP, HybridEP).
    pub(in crate::megatron) fused_dispatch: bool,
    /// Each rank gathers the tokens of its expert group.
    pub(in crate::megatron) gathers_tokens: bool,
    /// Share of a step in CUDA graphs.
    pub(in crate::megatron) graphs: Graphs,
}

/// Share of a step in CUDA graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Graphs {
    /// No graphs.
    #[default]
    None,
    /// Parts of layers.
    Partial,
    /// The whole iteration.
    Full,
}

impl Graphs {
    /// The share that an implementation and its scope have. Up to 2025 the whole iteration was a scope of the
    /// `local` implementation, and graphs of generation alone are another scope: neither is a share of
    /// layers. Source: Megatron-Core, `transformer_config.py`.
    pub(crate) fn of(implementation: &str, scope: &[String]) -> Self {
        let has = |part: &str| {
            scope.iter().any(|word| {
                word.split([' ', ',', '+']).any(|word| word.trim_matches(['[', ']', '"', '\'']) == part)
            })
        };
        match implementation {
            "none" => Self::None,
            "full_iteration" => Self::Full,
            // Its graphs are those of layers in every scope.
            "transformer_engine" | "external_cuda_graph" => Self::Partial,
            _ if has("full_iteration") => Self::Full,
            _ if has("full_iteration_inference") => Self::None,
            _ => Self::Partial,
        }
    }

    /// The feature of the software that stands for the share.
    pub(crate) const fn feature(self) -> &'static str {
        match self {
            Self::None => "no-cuda-graphs",
            Self::Partial => "partial-cuda-graphs",
            Self::Full => "cuda-graphs",
        }
    }
}

/// Kernel features of a stack: the row of its generation, and the features in its name. Generations without a
/// row have none.
pub(in crate::megatron) fn features(stack: &str) -> Features {
    let generation = software::generation_of(stack);
    let has = |feature: &str| software::features_of(stack).any(|name| name == feature);
    let row = TABLE.lines().skip(1).find(|line| line.split(',').next() == Some(generation));
    let cell = |index: usize| row.and_then(|row| row.split(',').nth(index)).unwrap_or_default();
    Features {
        fusions: cell(1) == "yes",
        fused_dispatch: cell(2) == "flex" || has("fused-dispatch"),
        gathers_tokens: has("allgather-dispatch"),
        graphs: match cell(3) {
            _ if has("no-cuda-graphs") => Graphs::None,
            _ if has("partial-cuda-graphs") => Graphs::Partial,
            _ if has("cuda-graphs") => Graphs::Full,
            "partial" => Graphs::Partial,
            "full" => Graphs::Full,
            _ => Graphs::None,
        },
    }
}

/// Feature of Transformer Engine's loss, which replaces the logits by their gradient.
pub(super) const IN_PLACE_LOSS: &str = "in-place-loss";
