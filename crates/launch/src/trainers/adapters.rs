//! What is trained: all parameters, adapters, or adapters on quantized weights.
//!
//! Responsible for: each trainer's words and defaults. Refuses to take an unknown method for full fine-tuning without a word.

use super::Dialect;
use crate::RemarkKind;
use crate::adapter;
use crate::document::Data;
use crate::fields::Fields;
use railwright_spec::human;
use railwright_spec::model::by_name;
use railwright_spec::plan::Optimizer;

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
            let (said, line) = fields.said("use_peft");
            adapter::lora(&mut fields.draft, &said, line);
            None
        }
        _ => None,
    };
    if let Some(method) = &method {
        let (said, line) = fields.said(path);
        match method.as_str() {
            "lora" | "qlora" | "dora" | "longlora" | "adalora" | "lora_ga" | "oft" | "qoft" => {
                adapter::lora(&mut fields.draft, &said, line);
            }
            "full" | "" | "none" | "null" => {}
            _ => {
                let message =
                    "this method is not modelled: all parameters are estimated as trained, an upper bound";
                fields.remark(RemarkKind::NotModelled, path, message);
            }
        }
    }
    rank(fields);
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

/// What the rank makes of the parameters, beside the share that is estimated.
fn rank(fields: &mut Fields<'_>) {
    let found = ["lora_rank", "lora_r"].into_iter().find_map(|path| Some((path, fields.count(path)?)));
    let spec = fields.draft.spec();
    let (Some((path, rank)), Some(Optimizer::Lora)) = (found, spec.plan.optimizer) else { return };
    let Some(model) = spec.model.name.as_deref().and_then(|name| by_name(name).ok()) else { return };
    let message = format!(
        "on every matrix of the layers this rank has {} parameters, {} of the model; 1% is estimated",
        human::count(adapter::parameters(&model, rank)),
        human::percent(adapter::parameters(&model, rank) / model.parameters().total.max(1) as f64)
    );
    fields.remark(RemarkKind::NotModelled, path, message);
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
            let (said, line) = fields.said(path);
            adapter::quantized(&mut fields.draft, &said, line, &bits);
        }
        None if is_qlora => {
            let (said, line) = fields.said("finetuning_type");
            adapter::quantized(&mut fields.draft, &said, line, "4");
        }
        None => {}
    }
}
