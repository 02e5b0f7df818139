//! Trained parameters: all, adapters, or adapters on quantized weights.
//!
//! Responsible for: each trainer's words and defaults. Never reads an unknown method as full fine-tuning
//! without a remark.

use super::common::Dialect;
use crate::RemarkKind;
use crate::adapter;
use crate::document::Data;
use crate::fields::Fields;
use railwright_spec::model::by_name;
use railwright_spec::plan::{LoraTarget, LoraTargets, Optimizer};

/// Flags of scripts that train adapters; the last two on quantized weights.
const SWITCHES: [&str; 7] =
    ["lora", "use_peft", "use_lora", "lora_enable", "enable_lora", "q_lora", "use_qlora"];

/// Of these, the ones that turn adapters themselves on or off: `--q_lora False` keeps weights in 16 bits.
const PLAIN: usize = 5;

/// Flags of scripts for the shape of adapters.
const SHAPES: [&str; 5] = ["lora_r", "lora_rank", "lora_alpha", "lora_target", "lora_target_modules"];

pub(super) fn read(fields: &mut Fields<'_>, dialect: Dialect) {
    let path = "finetuning_type";
    let word = fields.word(path).map(|word| word.to_ascii_lowercase());
    let switch = SWITCHES.into_iter().filter(|switch| fields.flag(switch) == Some(true)).last();
    let method = match (dialect, word) {
        (_, Some(word)) => Some(word),
        (Dialect::LlamaFactory | Dialect::Swift, None) if !fields.is_auto(path) => {
            let why = format!("{} trains adapters by default", dialect.name());
            adapter::lora(&mut fields.draft, &why, None);
            None
        }
        (_, None) if switch.is_some() => {
            let (source, line) = fields.source(switch.unwrap_or_default());
            adapter::lora(&mut fields.draft, &source, line);
            None
        }
        (Dialect::Transformers, None) if of_internvl(fields) => None,
        (Dialect::Transformers, None) => {
            shaped(fields);
            None
        }
        (Dialect::Trl, None) => {
            own_switch(fields);
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
                    "this method is not modelled: all parameters are assumed to be trained, an upper bound";
                fields.remark(RemarkKind::NotModelled, path, message);
            }
        }
    }
    shape(fields, dialect);
    let is_qlora = matches!(switch, Some("q_lora" | "use_qlora"));
    quantized(fields, is_qlora || method.as_deref() == Some("qlora"));
    for path in
        ["use_galore", "use_badam", "use_adam_mini", "use_apollo", "use_llama_pro", "unfrozen_parameters"]
    {
        let entry = fields.take(path);
        if entry.is_some_and(|entry| entry.data != Data::Flag(false)) {
            let message =
                "not modelled: all parameters and their moments are assumed to be trained, an upper bound";
            fields.remark(RemarkKind::NotModelled, path, message);
        }
    }
    frozen(fields);
}

/// InternVL's switches are ranks: of adapters on all linear layers of the language model, and on those of the
/// tower (`internvl_chat/internvl/model/internvl_chat/modeling_internvl_chat.py`, `wrap_llm_lora`).
fn of_internvl(fields: &mut Fields<'_>) -> bool {
    let tower = "use_backbone_lora";
    if fields.count(tower).is_some_and(|rank| rank > 0) {
        fields.remark(RemarkKind::NotModelled, tower, "adapters of the vision tower are not estimated");
    }
    let path = "use_llm_lora";
    let Some(rank) = fields.count(path).filter(|&rank| rank > 0) else { return false };
    let (source, line) = fields.source(path);
    adapter::lora(&mut fields.draft, &source, line);
    fields.set("plan.lora_rank", &rank, path);
    fields.set("plan.lora_targets", &LoraTargets([LoraTarget::AllLinear].into()), path);
    true
}

/// A configuration with the shape of adapters and a switch of its program's own trains them. TRL's own switch
/// takes precedence.
fn own_switch(fields: &mut Fields<'_>) {
    let has = |path: &str| fields.document.has(path);
    if SWITCHES.into_iter().any(has) || !SHAPES.into_iter().any(has) {
        return;
    }
    let names_them = |path: &str| path.split(['_', '.', '-']).any(|part| matches!(part, "peft" | "lora"));
    let mut entries = fields.document.entries.iter();
    let own = entries.find(|entry| entry.data == Data::Flag(true) && names_them(&entry.path));
    let Some(path) = own.map(|entry| entry.path.clone()) else { return };
    let (source, line) = fields.source(&path);
    adapter::lora(&mut fields.draft, &source, line);
    let message = "not a key of TRL; adapters are assumed to be trained, not all parameters";
    fields.remark(RemarkKind::Assumed, &path, message);
}

/// A script without a switch trains adapters if it sets their shape or if its name contains their name, and
/// no switch is off.
fn shaped(fields: &mut Fields<'_>) {
    if SWITCHES[..PLAIN].iter().any(|switch| fields.document.has(switch)) {
        return;
    }
    let is_zero = |fields: &mut Fields<'_>, path: &str| fields.count(path) == Some(0);
    if is_zero(fields, "lora_r") || is_zero(fields, "lora_rank") {
        return;
    }
    let program = fields.word("program").unwrap_or_default().to_ascii_lowercase();
    let is_named = program.split_whitespace().next().is_some_and(|name| name.contains("lora"));
    let shape = SHAPES.into_iter().find(|path| fields.document.has(path)).map(str::to_owned);
    // A name of the program's own: `lora_path_prefix`.
    let names_them = |path: &str| {
        let has = |names: &[&str]| path.split(['_', '.', '-']).any(|part| names.contains(&part));
        has(&["lora", "loras", "qlora"]) && !has(&["no", "not", "disable", "disabled", "without", "skip"])
    };
    let own = || {
        let entries = fields.document.entries.iter();
        let mut own = entries.filter(|entry| names_them(&entry.path) && !crate::effects::is_off(&entry.data));
        own.next().map(|entry| entry.path.clone())
    };
    let Some(path) = shape.or_else(own).or_else(|| is_named.then(|| "program".to_owned())) else { return };
    let path = path.as_str();
    let (source, line) = fields.source(path);
    adapter::lora(&mut fields.draft, &source, line);
    let message = "nothing else enables adapters: they are assumed to be trained, not all parameters";
    fields.remark(RemarkKind::Assumed, path, message);
}

/// Parts of a model with towers that are not trained.
fn frozen(fields: &mut Fields<'_>) {
    let name = fields.draft.spec().model.name.clone();
    let has_tower = name.and_then(|name| by_name(&name).ok()).map(|model| !model.towers.is_empty());
    for path in ["freeze_vision_tower", "freeze_multi_modal_projector", "freeze_vit", "freeze_aligner"] {
        let is_frozen = fields.flag(path);
        // Either value of a switch for a part that the model has no tower for shows that one is missing.
        match (is_frozen, has_tower) {
            (Some(_), Some(false)) => {
                fields.remark(RemarkKind::NotModelled, path, crate::lost::TOWER_IS_LEFT_OUT);
            }
            (Some(true), _) => {
                let message = "frozen parts are not modelled: they are assumed to be trained";
                fields.remark(RemarkKind::NotModelled, path, message);
            }
            _ => {}
        }
    }
    // InternVL's `freeze_backbone` is the vision tower if `freeze_llm` is set too; LLaVA's is the language
    // model.
    let backbone = if fields.document.has("freeze_llm") { None } else { Some("freeze_backbone") };
    let switches = ["freeze_language_model", "freeze_llm", "tune_mm_mlp_adapter"].into_iter().chain(backbone);
    // The weights under adapters are frozen anyway.
    let has_adapters = fields.draft.spec().plan.optimizer == Some(Optimizer::Lora);
    let switch = switches.filter(|path| fields.flag(path) == Some(true)).last().filter(|_| !has_adapters);
    let parts = "mm_tunable_parts";
    let excludes =
        fields.words(parts).is_some_and(|all| !all.iter().any(|part| part.contains("language_model")));
    if let Some(path) = switch.or_else(|| excludes.then_some(parts)) {
        let message = "the language model is frozen, which is not modelled: it is assumed to be trained, an upper bound on time and memory";
        fields.remark(RemarkKind::NotModelled, path, message);
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
    if dialect == Dialect::Transformers && is_lora {
        of_script(fields, &targets);
    }
    let path = "modules_to_save";
    if is_lora && fields.words(path).is_some_and(|names| !names.is_empty()) {
        let message = "modules that are trained as a whole in addition to adapters are not estimated: a lower bound on memory";
        fields.remark(RemarkKind::NotModelled, path, message);
    }
    let path = "adapter_name_or_path";
    let is_new = fields.flag("create_new_adapter") == Some(true);
    if is_lora && fields.word(path).is_some_and(|name| !name.is_empty()) && !is_new {
        let message = "training continues this adapter: its rank and modules are in its own file, and those of the keys or the \
                       defaults are assumed";
        fields.remark(RemarkKind::Unresolved, path, message);
    }
    let usual = match dialect {
        Dialect::LlamaFactory | Dialect::Swift => adapter::ALL_OF_RANK_8,
        _ => adapter::PEFT,
    };
    adapter::read(fields, &["lora_rank", "lora_r"], &targets, usual);
}

/// Shapes of adapters that a script leaves to its code. Scripts with LLaVA's switch adapt every linear layer
/// of the language model (haotian-liu/LLaVA `llava/train/train.py`, `find_all_linear_names`).
fn of_script(fields: &mut Fields<'_>, targets: &[&str]) {
    of_chat(fields);
    let switch = "lora_enable";
    let is_named = targets.iter().any(|path| fields.document.has(path));
    let is_set = fields.draft.value("plan.lora_targets").is_some();
    if !is_named && !is_set && fields.document.has(switch) {
        fields.set("plan.lora_targets", &LoraTargets([LoraTarget::AllLinear].into()), switch);
        let message =
            "not in this file: every linear layer is assumed, as LLaVA's script with this switch has it";
        fields.draft.remark(RemarkKind::Assumed, "plan.lora_targets", None, message);
    } else if !is_named && !is_set {
        let message = "not in this file: the script's own modules are in its code, and PEFT's are assumed";
        fields.draft.remark(RemarkKind::Assumed, "plan.lora_targets", None, message);
    }
    let has_rank = fields.draft.spec().plan.lora_rank.is_some();
    if !has_rank && !SHAPES[..2].iter().any(|path| fields.document.has(path)) {
        let message = "not in this file: the script's own default is in its code, and PEFT's is assumed";
        fields.draft.remark(RemarkKind::Assumed, "plan.lora_rank", None, message);
    }
}

/// DeepSpeed-Chat adapts linear layers whose name contains a text, such as `layers.` of a decoder, and trains
/// all other weights as well unless `only_optimize_lora` is set (`dschat/utils/module/lora.py`).
fn of_chat(fields: &mut Fields<'_>) {
    let path = "lora_module_name";
    let Some(name) = fields.word(path) else { return };
    if ["layers", "h."].iter().any(|part| name.contains(part)) {
        fields.set("plan.lora_targets", &LoraTargets([LoraTarget::AllLinear].into()), path);
    }
    let switch = "only_optimize_lora";
    if fields.flag(switch) != Some(true) {
        let message =
            "embeddings, norms and biases are trained as well, which is not modelled: a lower bound";
        fields.remark(RemarkKind::NotModelled, path, message);
    }
}

/// Switches for frozen weights in fewer bits: Transformers' own, and those of TRL's and PEFT's examples and
/// of scripts after them.
const QUANTIZED: [(&str, &str); 8] = [
    ("load_in_4bit", "4"),
    ("use_4bit", "4"),
    ("use_4bit_quantization", "4"),
    ("load_4bit", "4"),
    ("load_in_8bit", "8"),
    ("use_8bit", "8"),
    ("use_8bit_quantization", "8"),
    ("load_8bit", "8"),
];

fn quantized(fields: &mut Fields<'_>, is_qlora: bool) {
    let mut found = None;
    for (path, bits) in QUANTIZED {
        if fields.flag(path) == Some(true) {
            found.get_or_insert((path, bits.to_owned()));
        }
    }
    // LLaVA's and QLoRA's `bits` is 16 by default.
    for path in ["quantization_bit", "quant_bits", "bits"] {
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
