//! Which software generation a row ran on, told from its framework, accelerator and notes.

use crate::software::{self, Software};

/// The generation of a framework named in free text.
///
/// The longest fragment of `catalog/software.toml`'s `matches` that occurs in the text wins; a few refinements follow that no
/// fragment can express: compiled or eager torchtitan, and Megatron's age by accelerator when the text does not date it.
pub fn generation(framework: &str, notes: &str, gpu: &str) -> Option<&'static Software> {
    let text = framework.to_lowercase();
    let notes = notes.to_lowercase();
    let mut best: Option<(&str, &Software)> = None;
    for candidate in software::generations() {
        for fragment in &candidate.matches {
            if text.contains(fragment.as_str()) && best.is_none_or(|(found, _)| fragment.len() > found.len())
            {
                best = Some((fragment, candidate));
            }
        }
    }
    let Some((_, found)) = best else { return of_hardware(gpu) };
    let compiled =
        notes.contains("compile") && !notes.contains("no compile") && !notes.contains("eager or compile");
    let id = match found.id.as_str() {
        // A fused norm is what sets the two stacks of that time apart.
        "torch-3d-2023" if notes.contains("rms") && notes.contains("kernel") => "flash-attention-2023",
        "torchtitan-2024-eager" if gpu.starts_with('B') || gpu.starts_with("GB") => "torchtitan-2025",
        "torchtitan-2024-eager" if compiled => "torchtitan-2024-compile",
        "torchtune-2024" if notes.contains("+compile") => "torchtitan-2024-compile",
        // Undated Megatron: an accelerator of 2022 or later means the fused stack of its time.
        "megatron-lm-2021" if gpu.starts_with('H') => "megatron-core-2024",
        "megatron-lm-2021" | "megatron-core-2024" if gpu.starts_with('B') || gpu.starts_with("GB") => {
            "megatron-core-2025"
        }
        "maxtext-gpu-2024" if gpu.to_lowercase().starts_with("tpu") => "maxtext-tpu",
        id => id,
    };
    software::by_id(id).ok().or(Some(found))
}

/// A framework that nothing matches is taken for what most people ran on such hardware in its time.
fn of_hardware(gpu: &str) -> Option<&'static Software> {
    let gpu = gpu.to_lowercase();
    let id = if gpu.starts_with("tpu") {
        "maxtext-tpu"
    } else if gpu.starts_with('v') {
        "megatron-lm-2021"
    } else if gpu.starts_with('a') {
        "torch-3d-2023"
    } else if gpu.starts_with('b') || gpu.starts_with("gb") {
        "megatron-core-2025"
    } else {
        "megatron-core-2024"
    };
    software::by_id(id).ok()
}
