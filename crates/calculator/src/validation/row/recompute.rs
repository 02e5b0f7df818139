//! The column `recompute`: conversion of the terms of frameworks to a policy.
//!
//! Responsible for: the policy of a cell, and its activations in host memory. Does not guess: a cell with an
//! unknown term counts as empty.

use crate::memory::{SoftwareCatalogue, kept_by_layer};
use railwright_spec::cluster::Cluster;
use railwright_spec::model::Model;
use railwright_spec::plan::{HostPart, LayerTensor, Memory, Placed, Plan, Recompute, RecomputeModule};
use railwright_spec::software::Software;
use std::collections::BTreeSet;

/// Published recompute of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Published {
    /// The policy; `None` if none is published.
    pub policy: Option<Recompute>,
    /// The kept activations in host memory.
    pub offload: Option<Offload>,
}

/// Selection of kept activations in host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offload {
    /// All of them.
    All,
    /// Only the residual stream: the input of each layer. All other kept activations stay on the device.
    Residual,
    /// All but the residual stream.
    AllButResidual,
}

impl Offload {
    /// Offloaded share of the kept activations of a stage's layers: `sum of inputs / sum of kept bytes`. The
    /// input is the memory that a layer keeps under full recompute.
    pub(super) fn share(self, model: &Model, cluster: &Cluster, plan: &Plan) -> f64 {
        let (Self::Residual | Self::AllButResidual, Ok(catalogue)) = (self, SoftwareCatalogue::shared())
        else {
            return 1.0;
        };
        let software = catalogue.get(&plan.software);
        let kept = |recompute: &Recompute| {
            let of = |at| kept_by_layer(model, cluster, model.layer(at), plan, recompute, software).get();
            (0..model.layers.len()).map(of).sum::<f64>()
        };
        let (inputs, all) = (kept(&Recompute::Full { layers: None }), kept(&plan.recompute));
        let residual = if all > inputs { inputs / all } else { 1.0 };
        if self == Self::Residual { residual } else { 1.0 - residual }
    }
}

/// Modules by name in Megatron-LM (`--recompute-modules`), torchtitan and llm.q. Other names are not
/// modelled.
const MODULES: [(&str, RecomputeModule); 16] = [
    ("core_attn", RecomputeModule::CoreAttention),
    ("core_attention", RecomputeModule::CoreAttention),
    ("att", RecomputeModule::CoreAttention),
    ("layernorm", RecomputeModule::Norm),
    ("norm", RecomputeModule::Norm),
    ("moe_act", RecomputeModule::Activation),
    ("swiglu", RecomputeModule::Activation),
    ("activation", RecomputeModule::Activation),
    ("mla_up_proj", RecomputeModule::LatentUpProjection),
    ("mlp", RecomputeModule::Mlp),
    ("ffn", RecomputeModule::Mlp),
    ("moe", RecomputeModule::Moe),
    ("op", RecomputeModule::Operators),
    ("per-op", RecomputeModule::Operators),
    ("operators", RecomputeModule::Operators),
    ("shared_experts", RecomputeModule::Mlp),
];

/// Words next to modules without an effect.
const FILLERS: [&str; 4] = ["selective", "recompute", "sac", "modules"];

/// Reads a cell, with modules from the notes. `layers` of a fraction of the model count per pipeline stage.
pub(super) fn read(
    cell: Option<&str>,
    notes: &str,
    model: &Model,
    stages: u64,
    generation: &Software,
) -> Published {
    let named = named_in(notes);
    let selective = |modules| Some(Recompute::Selective { modules, layers: None });
    let or_unnamed = |modules: BTreeSet<_>| {
        if modules.is_empty() { Some(unnamed(generation)) } else { selective(modules) }
    };
    // A cell that was filled with the tool's default counts as unpublished.
    let published = cell.filter(|_| !notes.contains("recompute/dtype/vocabulary from tool defaults"));
    let Some(text) = published else {
        return Published { policy: if named.is_empty() { None } else { selective(named) }, offload: None };
    };
    let text = text.to_lowercase();
    if let Some(placed) = placed(&text) {
        return placed;
    }
    let on_host = ["--offload-residual", "activation checkpoints offloaded", "checkpoints offloaded to"];
    let residual = on_host.iter().any(|phrase| notes.contains(phrase)).then_some(Offload::Residual);
    let offload = text.contains("activation offload").then_some(Offload::All).or(residual);
    let stages = stages.max(1);
    let policy = match text.as_str() {
        "none" | "no" | "0" => Some(Recompute::None),
        "full" | "yes" | "1" | "recompute-block" => Some(Recompute::Full { layers: None }),
        _ if text.starts_with("full + activation offload") => Some(Recompute::Full { layers: None }),
        _ if text.contains("every-other-layer") => {
            Some(Recompute::Full { layers: Some(model.num_layers().div_ceil(2 * stages)) })
        }
        _ if text.starts_with("full(") => {
            Some(Recompute::Full { layers: count(&text).map(|n| n.div_ceil(stages)) })
        }
        _ if text.starts_with("selective") || text.starts_with("recompute-") => {
            let modules = if named.is_empty() { modules(&text) } else { Some(named) };
            modules.and_then(or_unnamed)
        }
        // A list of modules alone.
        _ => modules(&text)
            .filter(|modules| !modules.is_empty())
            .or(Some(named).filter(|n| !n.is_empty()))
            .and_then(selective),
    };
    Published { offload: offload.filter(|_| policy.is_some()), policy }
}

/// `selective` without modules: core attention in Megatron, and the only choice of a framework that does not
/// offer it (torchtitan's is by operator).
fn unnamed(generation: &Software) -> Recompute {
    match generation.offers.recompute.as_slice() {
        [only] => Recompute::Selective { modules: BTreeSet::from([*only]), layers: None },
        _ => Recompute::core_attention(),
    }
}

/// MaxText's policies that place each tensor: by name (`minimal_flash`), or `custom: <tensors> offloaded,
/// rest rematerialised`, `custom: host offload of <tensors>`, `custom: <tensors> kept on device, ...`. What
/// is not kept is recomputed. `None` for other cells and tensors.
fn placed(text: &str) -> Option<Published> {
    let policy = match text.strip_prefix("custom:") {
        Some(kept) => custom(kept.trim())?,
        None => text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| word.contains('_') || *word == "minimal")
            .find_map(Placed::named)?,
    };
    let offload = match policy.on_host() {
        HostPart::Nothing => None,
        HostPart::All => Some(Offload::All),
        HostPart::Residual => Some(Offload::Residual),
        HostPart::AllButResidual => Some(Offload::AllButResidual),
        HostPart::Some => return None,
    };
    Some(Published { policy: Some(policy.recompute()), offload })
}

fn custom(text: &str) -> Option<Placed> {
    let (kept, memory) = if let Some(kept) = text.strip_prefix("host offload of ") {
        (kept, Memory::Host)
    } else if let Some((kept, _)) = text.split_once(" offloaded") {
        (kept, Memory::Host)
    } else {
        (text.split_once(" kept on device")?.0, Memory::Device)
    };
    let words: Vec<&str> = kept.split([',', ' ']).filter(|word| !word.is_empty() && *word != "and").collect();
    let mut policy = Placed::inputs(memory);
    for word in words {
        policy = match word {
            "layer" | "inputs" | "proj" => policy,
            "qkv" => policy.with(&[LayerTensor::Query, LayerTensor::Key, LayerTensor::Value], memory),
            "out" => policy.with(&[LayerTensor::Output], memory),
            _ => return None,
        };
    }
    Some(policy)
}

/// The modules in a cell such as `selective(mlp+core_attn)` or `recompute-ffn,recompute-norm`. `None` for an
/// unknown word.
fn modules(text: &str) -> Option<BTreeSet<RecomputeModule>> {
    let words = text.split(['(', ')', '+', ',', ' ']).map(|word| word.trim_start_matches("recompute-"));
    let mut modules = BTreeSet::new();
    for word in words.filter(|word| !word.is_empty() && !FILLERS.contains(word)) {
        modules.insert(MODULES.iter().find(|(name, _)| *name == word)?.1);
    }
    Some(modules)
}

/// The number between brackets.
fn count(text: &str) -> Option<u64> {
    let digits: String =
        text.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|n| (1..=65_536).contains(n))
}

/// Modules after the phrase `recompute modules:`, in Megatron's names.
fn named_in(notes: &str) -> BTreeSet<RecomputeModule> {
    let Some(at) = notes.find("recompute modules:") else { return BTreeSet::new() };
    let rest = notes[at..].split(';').next().unwrap_or_default();
    [
        ("core_attn", RecomputeModule::CoreAttention),
        ("layernorm", RecomputeModule::Norm),
        ("moe_act", RecomputeModule::Activation),
        ("mla_up_proj", RecomputeModule::LatentUpProjection),
        ("mlp", RecomputeModule::Mlp),
        ("moe,", RecomputeModule::Moe),
    ]
    .into_iter()
    .filter(|(name, _)| rest.contains(name))
    .map(|(_, module)| module)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing;
    use railwright_spec::software;

    fn of(cell: &str) -> Published {
        of_stack(cell, "megatron-core-2025")
    }

    fn of_stack(cell: &str, id: &str) -> Published {
        let generation = software::by_id(id).expect("known");
        read(Some(cell), "", &testing::llama(4096, 14336, 32, 8, 32, 128_256), 1, generation)
    }

    fn only(modules: &[RecomputeModule]) -> Recompute {
        Recompute::Selective { modules: modules.iter().copied().collect(), layers: None }
    }

    #[test]
    fn modules_stand_in_the_cell() {
        use RecomputeModule::{Activation, CoreAttention, Mlp, Moe, Norm, Operators};
        assert_eq!(of("selective(mlp+core_attn)").policy, Some(only(&[Mlp, CoreAttention])));
        assert_eq!(of("selective(moe+layernorm)").policy, Some(only(&[Moe, Norm])));
        assert_eq!(of("selective (per-op SAC)").policy, Some(only(&[Operators])));
        assert_eq!(of("recompute-norm,recompute-swiglu").policy, Some(only(&[Norm, Activation])));
        assert_eq!(of("selective").policy, Some(Recompute::core_attention()));
        assert_eq!(of_stack("selective", "torchtitan-2026-eager").policy, Some(only(&[Operators])));
        assert_eq!(of("mla_up_proj,mlp").policy, Some(only(&[RecomputeModule::LatentUpProjection, Mlp])));
        assert_eq!(of("unheard-of").policy, None);
        assert_eq!(of("full(5 layers)").policy, Some(Recompute::Full { layers: Some(5) }));
    }

    #[test]
    fn activations_in_host_memory_are_read() {
        let cell = of("full + activation offload to host");
        assert_eq!((cell.policy, cell.offload), (Some(Recompute::Full { layers: None }), Some(Offload::All)));
        assert_eq!(of("full").offload, None);
    }

    #[test]
    fn policies_that_place_each_tensor_are_read() {
        use RecomputeModule::{Activation, CoreAttention, Mlp, Moe, Norm};
        let full = Some(Recompute::Full { layers: None });
        let projections = Some(only(&[Norm, CoreAttention, Mlp, Moe]));
        let dots = Some(only(&[Norm, Activation]));
        for (cell, policy, offload) in [
            ("custom: layer inputs offloaded, rest rematerialised", &full, Some(Offload::All)),
            ("custom: host offload of layer inputs, qkv and out proj", &projections, Some(Offload::All)),
            ("custom: layer inputs kept on device, qkv rematerialised", &full, None),
            ("qkv_proj_offloaded", &projections, Some(Offload::AllButResidual)),
            (
                "minimal_offloaded",
                &Placed::named("minimal").map(|policy| policy.recompute()),
                Some(Offload::AllButResidual),
            ),
            ("minimal_flash (save dots)", &dots, None),
            ("selective(minimal_flash)", &dots, None),
            ("save_dot_with_context_except_mlp", &Some(only(&[Norm, Mlp, Moe])), None),
            ("custom: host offload of something", &None, None),
        ] {
            let published = of(cell);
            assert_eq!((&published.policy, published.offload), (policy, offload), "{cell}");
        }
    }

    /// Full recompute keeps only the inputs of layers, a small part of the memory kept without recompute.
    #[test]
    fn the_residual_stream_is_a_part_of_what_layers_keep() {
        use railwright_spec::cluster;
        use railwright_spec::plan::PlanSpec;
        let model = testing::llama(4096, 14336, 32, 8, 32, 128_256);
        let cluster = cluster::by_name("dgx-h100", 8).expect("a preset");
        let share = |recompute| {
            let spec = PlanSpec { recompute: Some(recompute), ..PlanSpec::default() };
            Offload::Residual.share(&model, &cluster, &spec.resolve(&model, &cluster).expect("a plan"))
        };
        assert_eq!(share(Recompute::Full { layers: None }), 1.0);
        let (none, some) = (share(Recompute::None), share(only(&[RecomputeModule::Mlp])));
        assert!(none < some && none < 0.15 && some < 0.5, "{none} {some}");
    }

    #[test]
    fn unknown_words_count_as_an_empty_cell() {
        for cell in ["some of it", "selective(qkv)", "recompute-qkv"] {
            assert_eq!(of(cell).policy, None, "{cell}");
        }
    }
}
