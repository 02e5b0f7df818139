//! Trained parameters: all, adapters, or adapters on quantized weights.
//!
//! Responsible for: each trainer's words and defaults. Never reads an unknown method as full fine-tuning without a remark.

use super::common::Dialect;
use crate::RemarkKind;
use crate::adapter;
use crate::document::Data;
use crate::fields::Fields;
use railwright_spec::plan::{LoraTarget, LoraTargets, Optimizer};

pub(super) fn read(fields: &mut Fields<'_>, dialect: Dialect) {
    let path = "finetuning_type";
    let word = fields.word(path).map(|word| word.to_ascii_lowercase());
    let peft = fields.flag("use_peft");
    let method = match (dialect, word) {
        (_, Some(word)) => Some(word),
        (Dialect::LlamaFactory | Dialect::Swift, None) if !fields.is_auto(path) => {
            let why = format!("{} trains adapters by default", dialect.name());
            adapter::lora(&mut fields.draft, &why, None);
            None
        }
        (_, None) if peft == Some(true) => {
            let (source, line) = fields.source("use_peft");
            adapter::lora(&mut fields.draft, &source, line);
            None
        }
        _ => None,
    };
    if let Some(method) = &method {
        let (source, line) = fields.source(path);
        match method.as_str() {
            "lora" | "qlora" | "dora" | "longlora" | "adalora" | "lora_ga" | "oft" | "qoft" => {
                adapter::lora(&mut fields.draft, &source, line);
                // Orthogonal fine-tuning (Qiu 2023) multiplies frozen weights by block-diagonal rotations.
                if method.contains("oft") {
                    let message =
                        "rotations of weights are not modelled: estimated as LoRA on the same modules";
                    fields.remark(RemarkKind::NotModelled, path, message);
                }
            }
            "full" | "" | "none" | "null" => {}
            _ => {
                let message =
                    "this method is not modelled: all parameters are estimated as trained, an upper bound";
                fields.remark(RemarkKind::NotModelled, path, message);
            }
        }
    }
    shape(fields, dialect);
    quantized(fields, method.as_deref() == Some("qlora"));
    for path in ["use_galore", "use_badam", "use_apollo", "use_llama_pro", "unfrozen_parameters"] {
        let entry = fields.take(path);
        if entry.is_some_and(|entry| entry.data != Data::Flag(false)) {
            let message =
                "not modelled: all parameters and their moments are estimated as trained, an upper bound";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
    for path in ["freeze_vision_tower", "freeze_multi_modal_projector", "freeze_language_model"] {
        if fields.flag(path) == Some(true) {
            let message = "frozen parts are not modelled: they are estimated as trained";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
}

/// Rank and targets of adapters, by each trainer's keys and defaults.
fn shape(fields: &mut Fields<'_>, dialect: Dialect) {
    let is_lora = fields.draft.spec().plan.optimizer == Some(Optimizer::Lora);
    let path = "lora_target_linear";
    if fields.flag(path) == Some(true) && is_lora {
        fields.set("plan.lora_targets", &LoraTargets([LoraTarget::AllLinear].into()), path);
    }
    let targets = ["lora_target", "lora_target_modules", "target_modules"];
    let usual = match dialect {
        Dialect::LlamaFactory | Dialect::Swift => adapter::ALL_OF_RANK_8,
        _ => adapter::PEFT,
    };
    adapter::read(fields, &["lora_rank", "lora_r"], &targets, usual);
}

fn quantized(fields: &mut Fields<'_>, is_qlora: bool) {
    let mut found = None;
    for (path, bits) in [("load_in_4bit", "4"), ("load_in_8bit", "8")] {
        if fields.flag(path) == Some(true) {
            found.get_or_insert((path, bits.to_owned()));
        }
    }
    for path in ["quantization_bit", "quant_bits"] {
        if let Some(bits) = fields.count(path).filter(|&bits| bits > 0 && bits < 16) {
            found.get_or_insert((path, bits.to_string()));
        }
    }
    match found {
        Some((path, bits)) => {
            let (source, line) = fields.source(path);
            adapter::quantized(&mut fields.draft, &source, line, &bits);
        }
        None if is_qlora => {
            let (source, line) = fields.source("finetuning_type");
            adapter::quantized(&mut fields.draft, &source, line, "4");
        }
        None => {}
    }
}
