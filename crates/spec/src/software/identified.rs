//! Identification of a software stack from free text and an accelerator.
//!
//! Responsible for: matching the fragments, refinements and features of `catalog/software.toml` with the
//! words of a table, log or report. Framework names are only in the catalogue.

use super::dated::{Month, dated};
use super::features::{Feature, feature};
use super::phrases;
use super::{Software, by_id, catalogue, features, generations};
use serde::Deserialize;

/// Refinement of a generation, found by its name alone, through accelerator or words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refinement {
    /// Generations that it refines.
    of: Vec<String>,
    /// Resulting generation.
    to: String,
    /// Architectures it applies to, by prefix; empty: all.
    #[serde(default)]
    architectures: Vec<String>,
    /// Lowercase phrases, one of which must be in the text; empty: no condition.
    #[serde(default)]
    words: Vec<String>,
    /// Lowercase phrases that exclude it.
    #[serde(default)]
    unless: Vec<String>,
    /// Identifier of a feature that the text must name.
    feature: Option<String>,
    /// First month of a dated stack that it applies to; without one, also to undated stacks.
    since: Option<Month>,
    /// The same, but undated stacks count as new ones.
    not_before: Option<Month>,
    /// Month before which a stack that it applies to is dated.
    until: Option<Month>,
}

impl Refinement {
    /// True if it applies to a stack of `month`, which is `None` if its date is unknown.
    fn covers(&self, month: Option<Month>) -> bool {
        self.since.is_none_or(|since| month.is_some_and(|month| since <= month))
            && self.not_before.is_none_or(|first| month.is_none_or(|month| first <= month))
            && self.until.is_none_or(|until| month.is_some_and(|month| month < until))
    }
}

/// An identified stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stack {
    /// Generation with the detected features.
    pub software: &'static Software,
    /// True if a word of the text named the framework; false if only the accelerator decided.
    pub is_named: bool,
}

/// Placeholder for an unknown framework in the list of generations of a refinement.
const UNNAMED: &str = "unnamed";

/// True if `text` names one of the phrases, if there are any, and none of the excluding ones. A denied phrase
/// is not named.
fn holds(text: &str, words: &[String], unless: &[String]) -> bool {
    let is_named = || words.is_empty() || words.iter().any(|word| phrases::names(text, word));
    !unless.iter().any(|word| phrases::names(text, word)) && is_named()
}

impl Feature {
    /// True if a lowercase text names the feature.
    pub fn is_named_in(&self, text: &str) -> bool {
        holds(text, &self.words, &self.unless)
    }
}

/// The generation on an architecture: a generation of TPUs is on other accelerators the one it refines there.
pub(crate) fn on<'a>(id: &'a str, architecture: &str) -> &'a str {
    let is_of_tpus = |r: &&Refinement| r.to == id && r.architectures == ["TPU"];
    let of = catalogue().and_then(|catalogue| catalogue.refinements.iter().find(is_of_tpus));
    let elsewhere = of.filter(|_| !architecture.starts_with("TPU")).and_then(|r| r.of.first());
    elsewhere.map_or(id, String::as_str)
}

/// Where a fragment starts a word of a text: `trl` is not part of `central`.
fn starts_word(text: &str, fragment: &str) -> Option<usize> {
    let is_start = |at: &usize| !text[..*at].ends_with(char::is_alphanumeric);
    text.match_indices(fragment).map(|(at, _)| at).find(is_start)
}

/// Stack described by `framework` and `notes` on an accelerator of `architecture`; `None` only if no
/// generation is bundled.
///
/// The longest fragment of `matches` in `framework` determines the generation, the name before a parenthesis
/// or comma first. If there is none, the longest fragment of `parts` does: a kernel or a way to shard.
/// Refinements then date it, and features of both texts are added. For an unknown framework the result is the
/// default stack of the architecture.
pub fn identify(framework: &str, notes: &str, architecture: &str) -> Option<Stack> {
    let framework = framework.to_lowercase();
    let text = format!("{framework}; {}", notes.to_lowercase());
    let longest = |fragments: fn(&Software) -> &[String], end: usize| {
        generations()
            .iter()
            .flat_map(|generation| fragments(generation).iter().map(move |fragment| (fragment, generation)))
            .filter(|(fragment, _)| starts_word(&framework, fragment).is_some_and(|start| start < end))
            // The first of equal matches, so that the order of the catalogue decides.
            .reduce(|best, next| if next.0.len() > best.0.len() { next } else { best })
    };
    let (name, whole) = (framework.find(['(', ',']).unwrap_or(framework.len()), framework.len());
    let named = longest(|software| &software.matches, name)
        .or_else(|| longest(|software| &software.matches, whole))
        .or_else(|| longest(|software| &software.parts, whole));
    let mut id = match named {
        Some((_, generation)) => generation.id.as_str(),
        None => UNNAMED,
    };
    let catalogue = catalogue();
    let refinements = catalogue.map_or(&[][..], |catalogue| &catalogue.refinements);
    let month =
        dated(&framework, &notes.to_lowercase(), catalogue.map_or(&[][..], |catalogue| &catalogue.releases));
    let is_read = |feature: &Feature| feature.is_named_in(&text);
    for refinement in refinements {
        let is_here = refinement.architectures.is_empty()
            || refinement.architectures.iter().any(|a| architecture.starts_with(a.as_str()));
        let is_worded = holds(&text, &refinement.words, &refinement.unless) && refinement.covers(month);
        let has_feature = refinement.feature.as_ref().is_none_or(|id| feature(id).is_some_and(is_read));
        if is_here && is_worded && has_feature && refinement.of.iter().any(|of| of == id) {
            id = &refinement.to;
        }
    }
    if id == UNNAMED {
        id = super::inferred(&crate::plan::PlanSpec::default(), architecture);
    }
    let framework = by_id(id).map_or("", |generation| generation.framework.as_str());
    let is_of_framework = |feature: &Feature| {
        feature.frameworks.is_empty() || feature.frameworks.iter().any(|own| own == framework)
    };
    let stack = features()
        .iter()
        .filter(|feature| is_read(feature) && is_of_framework(feature))
        .fold(id.to_owned(), |stack, feature| format!("{stack}+{}", feature.id));
    let software = by_id(&stack).or_else(|_| by_id(id)).ok()?;
    Some(Stack { software, is_named: named.is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(framework: &str, notes: &str, architecture: &str) -> String {
        identify(framework, notes, architecture).expect("a stack").software.id.clone()
    }

    #[test]
    fn an_eager_stack_on_blackwell_is_that_of_2026() {
        assert_eq!(id("torchtitan", "no compile", "Blackwell Ultra"), "torchtitan-2026-eager");
        assert_eq!(id("torchtitan", "", "Blackwell Ultra"), "torchtitan-2025");
    }

    #[test]
    fn own_code_that_is_compiled_is_of_torchtitans_style() {
        assert_eq!(id("own code", "PyTorch 2.9.1, torch.compile", "Hopper"), "torchtitan-2026-compile");
        assert_eq!(id("own code", "no torch.compile", "Hopper"), "megatron-core-2024");
        // torch.compile of 2023 left more to separate kernels.
        let plain = "flash-attention-2023+gathered-loss+plain-activation+plain-loss+plain-norm";
        assert_eq!(id("PyTorch 2.9.1, own code", "torch.compile", "Ampere"), "torchtitan-2026-compile");
        assert_eq!(id("own code (PyTorch 2.0 compile)", "torch.compile", "Ampere"), plain);
        assert_eq!(id("own code", "torch.compile", "Ampere"), "torchtitan-2026-compile");
    }

    /// Without this, graphs of the router alone were graphs of all kernels.
    /// Transformers of late 2025 gave attention a mask in training, unless the text names FlashAttention;
    /// FSDP 1 around its models has the collectives of FSDP 1. Features of other frameworks do not apply.
    #[test]
    fn masks_and_flat_shards_belong_to_hugging_face_models() {
        let of = |framework: &str| id(framework, "", "Hopper");
        assert_eq!(of("HF Transformers + Accelerate FSDP2 (2025-12)"), "transformers-2026+masked-attention");
        assert_eq!(of("HF Trainer (Transformers 4.57)"), "transformers-2026+masked-attention");
        assert_eq!(of("HF Transformers, FlashAttention-2 (2025-12)"), "transformers-2026");
        assert_eq!(of("HF Transformers (2026-03)"), "transformers-2026");
        assert_eq!(
            of("PyTorch FSDP 1 + HF Transformers, FlashAttention 2 (2026)"),
            "transformers-2026+flat-shards"
        );
        assert_eq!(of("Modalities (PyTorch FSDP 1, FlashAttention 2)"), "flash-attention-2023");
    }

    #[test]
    fn a_list_of_scopes_is_partial_graphs() {
        let of = |notes| id("Megatron-Bridge (NeMo 25.11)", notes, "Blackwell");
        assert_eq!(
            of("CUDA graphs moe_router, moe_preprocess scopes"),
            "megatron-core-2025+partial-cuda-graphs"
        );
        assert_eq!(of("CUDA graphs attn, moe_router scopes"), "megatron-core-2025+partial-cuda-graphs");
        assert_eq!(of("CUDA graphs"), "megatron-core-2025+cuda-graphs");
    }

    #[test]
    fn a_named_dispatcher_replaces_that_of_the_generation() {
        let of = |notes| identify("Megatron-Bridge (NeMo 26.04 container)", notes, "Blackwell Ultra");
        let fused = |notes| of(notes).expect("a stack").software.fused_expert_dispatch;
        assert!(fused("") && fused("DeepEP") && !fused("alltoall dispatcher (NCCL)"));
    }

    #[test]
    fn layers_written_by_hand_are_plain() {
        let stack = id("torchtitan (FSDP2)", "hand-written RMSNorm, RoPE and SwiGLU", "Hopper");
        assert_eq!(stack, "torchtitan-2024-eager+plain-activation+plain-norm");
    }

    #[test]
    fn a_dispatcher_that_reads_token_counts_on_the_host_has_no_graph_of_the_whole_step() {
        let of = |notes| id("Megatron-Bridge (NeMo 26.06 container)", notes, "Blackwell Ultra");
        assert_eq!(of("alltoall dispatcher"), "megatron-core-2026-06+alltoall-dispatch+partial-cuda-graphs");
        let with_graphs = "megatron-core-2026-06+alltoall-dispatch+cuda-graphs";
        assert_eq!(of("alltoall dispatcher with CUDA graphs"), with_graphs);
        assert_eq!(of("HybridEP dispatcher"), "megatron-core-2026-06+fused-dispatch");
        let of = |notes| id("NeMo 26.04 container (Megatron-Core 26.04)", notes, "Blackwell Ultra");
        assert!(of("full-iteration CUDA graph").starts_with("megatron-core-2026-06+"));
        assert!(!of("alltoall dispatcher, no CUDA graphs").contains("+partial"));
        assert_eq!(
            (on("maxtext-tpu", "Hopper"), on("maxtext-tpu", "TPU")),
            ("maxtext-gpu-2024", "maxtext-tpu")
        );
    }

    #[test]
    fn the_accelerator_dates_a_framework_without_a_version() {
        assert_eq!(id("Megatron-LM", "", "Volta"), "megatron-lm-2021");
        assert_eq!(id("Megatron-LM", "", "Hopper"), "megatron-core-2024");
        assert_eq!(id("Megatron-LM", "", "Blackwell Ultra"), "megatron-core-2025");
        assert_eq!(id("Megatron-LM ROCm", "", "CDNA3"), "megatron-core-2024");
        assert_eq!(id("Megatron-Core (26.08)", "", "Hopper"), "megatron-core-2026-06");
    }

    #[test]
    fn a_date_in_the_text_dates_megatron() {
        assert_eq!(id("Megatron-Core 0.14", "", "Hopper"), "megatron-core-2025");
        assert_eq!(id("Megatron-LM (core 0.16)", "", "Hopper"), "megatron-core-2026");
        assert_eq!(id("NeMo", "nemo:26.02", "Hopper"), "megatron-core-2026");
        assert_eq!(id("Megatron-Bridge (NeMo 26.06 container)", "", "Blackwell"), "megatron-core-2026-06");
        assert_eq!(
            id("Megatron-Core (2026, HybridEP)", "", "Blackwell"),
            "megatron-core-2026-06+fused-dispatch"
        );
        assert_eq!(id("Megatron-Core (24.07)", "as in NeMo 26.06", "Hopper"), "megatron-core-2024");
    }

    /// Without this, a kernel or a way to shard in the description named the framework: llm.c was
    /// FlashAttention's training script.
    #[test]
    fn the_name_of_the_framework_comes_before_the_description_of_its_parts() {
        assert_eq!(id("llm.c (C/CUDA, FlashAttention)", "", "Ampere"), "fused-cards-2025");
        assert_eq!(id("NeMo AutoModel (PyTorch FSDP2, TE)", "", "Hopper"), "torchtitan-2026-compile");
        assert_eq!(id("DeepSpeed + HF (FlashAttention)", "", "Hopper"), "deepspeed-2024");
        assert_eq!(id("PyTorch FSDP2 (torchtitan 2026 style)", "", "Hopper"), "torchtitan-2026-compile");
        assert_eq!(id("our trainer (PyTorch FSDP)", "", "Hopper"), "fsdp1-2023");
        assert_eq!(id("HF AutoModelForCausalLM + Accelerate FSDP", "", "Ampere"), "fsdp1-2023");
        assert_eq!(id("Neutrlab (PyTorch FSDP)", "", "Ampere"), "fsdp1-2023");
        assert_eq!(id("torchtune (compiled)", "", "Hopper"), "torchtitan-2024-compile+chunked-loss");
    }

    /// The generation of ZeRO-3 under Megatron's model code of 2021 has unfused attention, unlike models of
    /// Hugging Face.
    #[test]
    fn zero3_of_2021_is_that_of_megatrons_model_code() {
        assert_eq!(id("DeepSpeed ZeRO-3", "", "Ampere"), "deepspeed-zero3-2021");
        assert_eq!(id("DeepSpeed ZeRO-3", "", "Hopper"), "deepspeed-2024");
        assert_eq!(id("a trainer (HF Accelerate, DeepSpeed ZeRO-3)", "", "Ampere"), "deepspeed-2024");
        assert_eq!(id("TRL with DeepSpeed ZeRO-3", "", "Ampere"), "deepspeed-2024");
        assert_eq!(id("ModelLink (Megatron-LM on Ascend)", "", "Ascend"), "megatron-core-2024");
    }

    #[test]
    fn fsdp_of_a_generation_is_recognised_by_its_number_and_by_compilation() {
        assert_eq!(id("PyTorch FSDP", "", "Ampere"), "fsdp1-2023");
        assert_eq!(id("someone's trainer (PyTorch FSDP2)", "", "Hopper"), "torchtitan-2024-eager");
        assert_eq!(
            id("someone's trainer (PyTorch FSDP2)", "torch.compile on", "Hopper"),
            "torchtitan-2024-compile"
        );
        for notes in ["no compile", "torch.compile disabled", "recompute and compile not stated"] {
            assert_eq!(id("torchtitan", notes, "Hopper"), "torchtitan-2024-eager", "{notes}");
        }
        assert_eq!(id("torchtitan (main 2026-02)", "", "Hopper"), "torchtitan-2026-eager");
    }

    /// torchtitan's configurations have a loss in chunks since the end of April 2026; other programs of its
    /// style do not.
    #[test]
    fn torchtitan_of_may_2026_has_a_loss_in_chunks() {
        assert_eq!(id("torchtitan (main 2026-08)", "", "Hopper"), "torchtitan-2026-eager+chunked-loss");
        assert_eq!(
            id("torchtitan (2026-07, torch.compile)", "", "Blackwell"),
            "torchtitan-2025+chunked-loss"
        );
        assert_eq!(id("torchtitan (2026-04, torch.compile)", "", "Blackwell"), "torchtitan-2025");
        assert_eq!(
            id("torchtitan (2026-08, torch.compile)", "whole logits", "Hopper"),
            "torchtitan-2026-compile"
        );
        assert_eq!(id("own code, torch.compile (2026-08)", "", "Hopper"), "torchtitan-2026-compile");
    }

    /// torchtitan's selective checkpointing keeps the results of all-to-alls since September 2025. A stack
    /// without a date is taken for a newer one.
    #[test]
    fn torchtitan_before_september_2025_repeats_the_exchange_of_experts() {
        let of = |framework| id(framework, "", "Hopper");
        assert_eq!(of("torchtitan (2025-08)"), "torchtitan-2024-eager+recomputed-exchange");
        assert_eq!(of("torchtitan (2025-08, torch.compile)"), "torchtitan-2025+recomputed-exchange");
        assert_eq!(of("torchtitan (2025-09)"), "torchtitan-2024-eager");
        assert_eq!(of("torchtitan"), "torchtitan-2024-eager");
        assert_eq!(of("PyTorch FSDP2 (torchtitan style, 2025-08)"), "torchtitan-2024-eager");
    }

    /// Recipes for performance accumulate gradients in 16 bits; the library's other recipes do not.
    #[test]
    fn a_performance_recipe_has_gradients_in_16_bits() {
        let of = |text| {
            identify("Megatron-Bridge (NeMo 26.04 container)", text, "Blackwell").expect("a stack").software
        };
        let recipe = of("DGXC recipe; distributed optimizer");
        assert!(recipe.id.ends_with("+performance-recipe"), "{}", recipe.id);
        let formats = |software: &Software| (software.gradients, software.gradient_reduce);
        let sixteen = Some(crate::precision::DataType::Bf16);
        assert_eq!(formats(recipe), (sixteen, sixteen));
        assert_eq!(formats(of("mock data")), (None, None));
    }

    #[test]
    fn layers_of_litgpt_are_plain() {
        let of = |framework| id(framework, "", "Ampere");
        assert_eq!(of("LitGPT (Lightning Fabric FSDP, eager)"), "fsdp1-2023+plain-activation+plain-norm");
        assert_eq!(of("LitGPT (Lightning Thunder, nvfuser, FSDP)"), "fsdp1-2023");
        assert_eq!(
            of("PyTorch FSDP 1 (litgpt benchmark, not compiled)"),
            "fsdp1-2023+plain-activation+plain-norm"
        );
        let compiled = of("PyTorch FSDP 1 (torch.compile, 2024-08, litgpt benchmark)");
        assert!(compiled.starts_with("torchtitan-2024-compile") && !compiled.contains("plain"), "{compiled}");
    }

    /// A compiled loss leaves the layers eager, and PyTorch's fused attention is not unfused.
    #[test]
    fn parts_that_are_compiled_or_fused_alone_are_read_as_such() {
        let of = |notes| id("torchtitan (2025-10)", notes, "Hopper");
        assert_eq!(of("compile of loss"), "torchtitan-2024-eager+compiled-loss");
        assert_eq!(of("torch.compile, compiled loss"), "torchtitan-2025+compiled-loss");
        assert_eq!(of("torch.compile; attention: torch SDPA"), "torchtitan-2025");
        assert_eq!(of("torch.compile; attention: torch"), "torchtitan-2025+plain-softmax");
    }

    #[test]
    fn features_are_read_from_both_texts() {
        assert_eq!(id("NeMo", "HybridEP dispatcher", "Hopper"), "megatron-core-2024+fused-dispatch");
        assert_eq!(id("NeMo, CUDA graphs", "", "Hopper"), "megatron-core-2024+cuda-graphs");
        assert_eq!(id("NeMo", "no CUDA graphs", "Hopper"), "megatron-core-2024+no-cuda-graphs");
    }

    #[test]
    fn an_unknown_framework_is_what_is_usual_on_the_accelerator_and_marked() {
        let stack = identify("a trainer of our own", "", "Hopper").expect("a stack");
        assert!(!stack.is_named);
        assert!(identify("torchtitan", "", "Hopper").expect("a stack").is_named);
    }

    #[test]
    fn refinements_name_generations_that_exist() {
        for refinement in &catalogue().expect("reads").refinements {
            for id in refinement.of.iter().filter(|of| *of != UNNAMED).chain([&refinement.to]) {
                assert!(by_id(id).is_ok(), "{id}");
            }
            assert!(refinement.feature.as_ref().is_none_or(|id| feature(id).is_some()), "{refinement:?}");
        }
    }
}
