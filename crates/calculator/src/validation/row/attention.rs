//! Attention kernel of a published run, from its texts.
//!
//! Responsible for: phrases for unfused attention, and versions of FlashAttention.

use crate::software::phrases::is_denied;
use railwright_spec::plan::AttentionKernel;
use railwright_spec::software::feature;

/// Feature of attention by PyTorch's own operators.
const PLAIN_SOFTMAX: &str = "plain-softmax";

/// Kernel of attention named in the texts. FlashAttention without a version is 2 where the generation's own
/// kernel keeps scores in memory, and otherwise the generation's.
pub(super) fn attention_kernel(framework: &str, notes: &str, own: AttentionKernel) -> AttentionKernel {
    let text = format!("{}; {notes}", framework.to_lowercase());
    let is_plain = || feature(PLAIN_SOFTMAX).is_some_and(|feature| feature.is_named_in(&text));
    let unfused = [
        "no flash",
        "without flash",
        "unfused attention",
        "attention eager",
        "attention: eager",
        "attn_implementation=eager",
        "megatron kernel",
        "kernel=megatron",
        "kernel megatron",
        "kernel: megatron",
    ];
    if unfused.iter().any(|phrase| text.contains(phrase)) || is_plain() {
        AttentionKernel::Unfused
    } else {
        match (named_flash(&text), own) {
            (Some(Flash::Version(1)), _) => AttentionKernel::Flash1,
            (Some(Flash::Version(2)), _) | (Some(Flash::Unknown), AttentionKernel::Unfused) => {
                AttentionKernel::Flash2
            }
            (Some(Flash::Version(_)), _) => AttentionKernel::Flash3,
            _ => AttentionKernel::Auto,
        }
    }
}

/// FlashAttention of a text, by version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Flash {
    Unknown,
    Version(u32),
}

/// FlashAttention named in a text, and its version if one follows: "FlashAttention-2", "flash_attn v3",
/// "FA2". The highest is used, since a text may compare several.
fn named_flash(text: &str) -> Option<Flash> {
    let version = |rest: &str| {
        let rest = rest.trim_start_matches([' ', '-', '_']);
        let rest = rest.strip_prefix("version").or(rest.strip_prefix('v')).unwrap_or(rest).trim_start();
        let mut digits = rest.chars();
        let first = digits.next().and_then(|c| c.to_digit(10)).filter(|n| (1..=4).contains(n));
        // "FlashAttention 2024" names a year.
        first.filter(|_| !digits.next().is_some_and(|c| c.is_ascii_digit()))
    };
    let words = [
        "flashattention",
        "flash attention",
        "flash_attention",
        "flash-attention",
        "flash-attn",
        "flash_attn",
        "flash attn",
    ];
    let long = words.iter().flat_map(|word| {
        text.match_indices(word)
            .filter(|&(at, _)| !is_denied(text, at, word.len()))
            .map(|(at, _)| version(&text[at + word.len()..]).map_or(Flash::Unknown, Flash::Version))
    });
    let is_start = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric());
    let short = text.match_indices("fa").filter(|&(at, _)| is_start(at)).filter_map(|(at, _)| {
        let rest = &text[at + 2..];
        let adjoins = rest.starts_with(|c: char| c.is_ascii_digit());
        version(rest).filter(|_| adjoins).map(Flash::Version)
    });
    let flash2 = text.contains("flash2").then_some(Flash::Version(2));
    long.chain(short).chain(flash2).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flash_attention_without_a_version_is_not_unfused() {
        let of = |framework: &str, notes: &str, own| attention_kernel(framework, notes, own);
        let (unfused, auto) = (AttentionKernel::Unfused, AttentionKernel::Auto);
        assert_eq!(of("Megatron-LM (2024), flash attention", "", unfused), AttentionKernel::Flash2);
        assert_eq!(of("Megatron-LM (2024), flash attention", "", AttentionKernel::Flash3), auto);
        assert_eq!(of("Megatron-LM", "without flash attention", unfused), unfused);
        assert_eq!(of("Megatron-LM", "flash attention not stated", unfused), auto);
        assert_eq!(of("HF Trainer", "attn_implementation=eager", AttentionKernel::Flash2), unfused);
        for (text, version) in [
            ("torchtitan, FlashAttention-4", AttentionKernel::Flash3),
            ("own code, FlashAttention, 2026", AttentionKernel::Auto),
            ("TRL, FlashAttention 2", AttentionKernel::Flash2),
            ("Megatron-LM, flash-attn v1.0.9", AttentionKernel::Flash1),
            ("FSDP, FA3 against FA2", AttentionKernel::Flash3),
            ("FlashAttention 2023, alfa3", AttentionKernel::Auto),
        ] {
            assert_eq!(of(text, "", AttentionKernel::Flash3), version, "{text}");
        }
        // Attention of PyTorch's own operators is the catalogue's feature, and its fused kernels are not.
        assert_eq!(of("FSDP, attention: torch", "", AttentionKernel::Flash3), unfused);
        assert_eq!(of("FSDP, attention: torch sdpa", "", AttentionKernel::Flash3), auto);
        assert_eq!(
            of("FSDP, attention: torch flash-attn 2", "", AttentionKernel::Flash3),
            AttentionKernel::Flash2
        );
        // The number belongs to the notes.
        assert_eq!(of("Megatron-LM, flash attention", "3_run.sh", unfused), AttentionKernel::Flash2);
    }
}
