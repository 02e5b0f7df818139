//! Words in names of keys that indicate an effect on time or memory.
//!
//! Responsible for: keys that no reader understands and that must not pass as harmless. Reads no configuration.

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

/// Formats of products in fewer bits than 16, as parts of names. Integers are left out: they mostly store moments or frozen weights.
const NARROW: &[&str] = &["fp8", "float8", "mxfp8", "fp4", "nvfp4"];

/// Tests whether the name of a key indicates products in fewer bits.
pub(crate) fn narrows(name: &str) -> bool {
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    parts.any(|part| NARROW.contains(&part.as_str()))
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
    use super::named;

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
