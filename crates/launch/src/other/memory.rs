//! Formats, recompute and optimizer from keys with clear names.
//!
//! Responsible for: one value each. Keys that disagree leave it open.

use super::found::{one, open, paths};
use super::parts::last;
use super::{adapters, names};
use crate::RemarkKind;
use crate::accelerate::set_optimizer;
use crate::document::Data;
use crate::fields::Fields;
use railwright_spec::plan::{AttentionKernel, PrecisionPreset, Recompute};

/// Precision, recompute, and which parameters are trained.
pub(super) fn read(fields: &mut Fields<'_>) {
    precision(fields);
    recompute(fields);
    attention(fields);
    let is_decided = adapters::read(fields);
    let key = "plan.optimizer";
    // With adapters, the name of their optimizer is known and changes little.
    if let Some(path) = one(fields, key, names::OPTIMIZER)
        && let Some(Data::Text(name)) = fields.document.get(&path).map(|entry| entry.data.clone())
    {
        if is_decided {
            fields.remark(RemarkKind::Ignored, &path, "the optimizer states of adapters are small");
        } else {
            set_optimizer(fields, &path, &name.to_ascii_lowercase());
        }
    }
    for (list, bits) in [(names::FOUR_BITS, "4"), (names::EIGHT_BITS, "8")] {
        for path in paths(fields, list) {
            let is_on = fields.take(&path).is_some_and(|entry| entry.data == Data::Flag(true));
            if is_on {
                let (source, line) = fields.source(&path);
                crate::adapter::quantized(&mut fields.draft, &source, line, bits);
            }
        }
    }
}

fn precision(fields: &mut Fields<'_>) {
    let key = "plan.precision.preset";
    let mut found: Vec<(String, Option<PrecisionPreset>)> = Vec::new();
    for path in paths(fields, names::PRECISION) {
        fields.take(&path);
        let Some(data) = fields.document.get(&path).map(|entry| entry.data.clone()) else { continue };
        let name = last(&path);
        let word = data.plain().to_ascii_lowercase();
        let preset = match (&data, name.as_str()) {
            (Data::Flag(false) | Data::Integer(0), "bf16" | "fp16") => continue,
            (Data::Flag(true) | Data::Integer(1), "bf16") => Some(PrecisionPreset::Bf16),
            (Data::Flag(true) | Data::Integer(1), "fp16") => Some(PrecisionPreset::Fp16),
            (Data::Text(_), _) if word.contains("bf16") || word.contains("bfloat16") => {
                Some(PrecisionPreset::Bf16)
            }
            (Data::Text(_), _)
                if matches!(word.as_str(), "fp16" | "float16" | "torch.float16" | "16-mixed") =>
            {
                Some(PrecisionPreset::Fp16)
            }
            _ => None,
        };
        found.push((path, preset));
    }
    let Some((path, preset)) = found.first().cloned() else { return };
    match preset {
        Some(preset) if found.iter().all(|(_, other)| *other == Some(preset)) => {
            fields.set(key, &preset, &path);
        }
        _ => open(fields, key, &path, "the keys do not determine the compute format"),
    }
}

/// Attention with scores in memory. The choice among kernels is a property of the software generation.
fn attention(fields: &mut Fields<'_>) {
    for path in paths(fields, names::ATTENTION) {
        if fields.word(&path).is_some_and(|word| word == "eager") {
            fields.set("plan.attention_kernel", &AttentionKernel::Unfused, &path);
        }
    }
}

fn recompute(fields: &mut Fields<'_>) {
    let key = "plan.recompute";
    let mut found: Vec<(String, Option<Recompute>)> = Vec::new();
    for path in paths(fields, names::RECOMPUTE) {
        fields.take(&path);
        let Some(data) = fields.document.get(&path).map(|entry| entry.data.clone()) else { continue };
        let negated = last(&path).starts_with("disable");
        let full = Recompute::Full { layers: None };
        let value = match &data {
            Data::Flag(flag) if *flag != negated => Some(full),
            Data::Flag(_) => Some(Recompute::None),
            Data::Text(word)
                if word == "full"
                    && !fields
                        .document
                        .entries
                        .iter()
                        .any(|entry| entry.data == Data::Text("block".to_owned())) =>
            {
                Some(full)
            }
            _ => None,
        };
        found.push((path, value));
    }
    let Some((path, value)) = found.first().cloned() else { return };
    match value {
        Some(value) if found.iter().all(|(_, other)| other.as_ref() == Some(&value)) => {
            fields.set(key, &value, &path);
        }
        _ => open(fields, key, &path, "the keys do not determine what is recomputed"),
    }
}
