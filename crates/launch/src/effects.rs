//! Words in names of keys that indicate an effect on time or memory.
//!
//! Responsible for: keys that no reader understands and that must not pass as harmless. Reads no
//! configuration.

use crate::document::Data;

/// Parts of a name, between underscores, dots and dashes.
const MARKS: &[&str] = &[
    "offload",
    "swap",
    "freeze",
    "frozen",
    "unfreeze",
    "shard",
    "sharding",
    "sharded",
    "recompute",
    "remat",
    "fp8",
    "fp4",
    "int8",
    "lora",
    "qlora",
    "peft",
    "parallel",
    "parallelism",
    "zero",
    "fsdp",
    "quantize",
    "quantization",
    "mtp",
];

/// Beginnings of parts: `optimizer_cpuoffload`, `zero3`.
const STEMS: &[&str] = &["offload", "cpuoffload", "zero1", "zero2", "zero3", "zeropp"];

/// Tests whether the name of a key indicates an effect on time or memory.
pub(crate) fn named(name: &str) -> bool {
    name.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase).any(|part| {
        MARKS.contains(&part.as_str())
            || STEMS.iter().any(|stem| part.starts_with(stem) || part.ends_with(stem))
    })
}

/// Tests whether the last part of a key's path names kernels, compilation, or recomputed activations.
pub(crate) fn of_kernels(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let parts: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(part));
    let recomputes = has(&["activation", "activations", "gradient", "grad"])
        && has(&["checkpoint", "checkpointing", "ckpt"]);
    recomputes || has(&["compile", "liger", "flash", "attn", "sdpa", "xformers"])
}

/// Formats of products in fewer bits than 16, as parts of names. Integers are left out: they mostly store
/// moments or frozen weights.
const NARROW: &[&str] = &["fp8", "float8", "mxfp8", "fp4", "nvfp4"];

/// The setting that a key without a known meaning may change, by its name, with the reason.
pub(crate) fn setting(name: &str) -> Option<(&'static str, &'static str)> {
    let parts: Vec<String> =
        name.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase).collect();
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(&part.as_str()));
    if has(NARROW) {
        return Some(("plan.precision.compute", "its name indicates low-precision GEMMs"));
    }
    if has(&["pp", "pipeline", "stage", "stages"]) && has(&["partition", "partitions", "split", "splits"]) {
        return Some(("plan.layers_per_stage", "its name indicates the layers of each stage"));
    }
    let of_host = |words: &[&str]| has(&["offload", "offloading"]) && has(words);
    let why = "its name indicates tensors on the host";
    [
        (&["optimizer", "optim"][..], "plan.offload.optimizer"),
        (&["activation", "activations"], "plan.offload.activations"),
        (&["param", "params", "parameters", "weights"], "plan.offload.parameters"),
    ]
    .into_iter()
    .find(|(words, _)| of_host(words))
    .map(|(_, key)| (key, why))
}

/// Tests whether a value turns a feature off: absent, false, zero, or a word for none.
pub(crate) fn is_off(data: &Data) -> bool {
    match data {
        Data::Null | Data::Flag(false) => true,
        Data::Integer(n) => *n == 0,
        Data::Number(x) => *x == 0.0,
        Data::List(items) => items.is_empty(),
        Data::Table(pairs) => pairs.is_empty(),
        Data::Text(text) => {
            matches!(
                text.trim().to_ascii_lowercase().as_str(),
                "" | "none" | "no" | "false" | "off" | "disabled" | "null"
            )
        }
        Data::Flag(true) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{named, of_kernels, setting};

    #[test]
    fn names_indicate_the_setting_that_they_may_change() {
        let key = |name: &str| setting(name).map(|(key, _)| key);
        assert_eq!(key("actor.megatron.fp8_config.mode"), Some("plan.precision.compute"));
        assert_eq!(key("parallelism.pp_layer_partition"), Some("plan.layers_per_stage"));
        assert_eq!(key("experimental.activation_offload"), Some("plan.offload.activations"));
        for name in ["lr", "dataset.split", "stage", "load_in_8bit", "parallelism.pp_engine", "offload_dir"] {
            assert_eq!(key(name), None, "{name}");
        }
    }

    #[test]
    fn names_of_kernels_and_recomputation() {
        for name in ["use_liger_kernel", "torch_compile", "use_flash_attn", "do_activation_ckpt"] {
            assert!(of_kernels(name), "{name}");
        }
        for name in ["checkpoint_dir", "gradient_clipping", "compiler_cache", "resume_from_checkpoint"] {
            assert!(!of_kernels(name), "{name}");
        }
    }

    #[test]
    fn parts_of_names_indicate_effects() {
        for name in
            ["swap_optimizer", "optimizer_cpu_offload", "zero3_init", "a.freeze", "expert-parallel-size"]
        {
            assert!(named(name), "{name}");
        }
        for name in ["load", "learning_rate", "offline", "parameters", "save_freq", "zeros"] {
            assert!(!named(name), "{name}");
        }
    }
}
