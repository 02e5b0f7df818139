//! Fine-tuning in NeMo 1: adapters under `model.peft`, and the data set whose lengths and batches apply.
//!
//! Responsible for: LoRA by NeMo's names of modules, and the other methods, which are listed. Does not read
//! the initial checkpoint of a file: the model is unknown.

use crate::adapter;
use crate::document::{Data, Document, Entry};
use crate::{Draft, RemarkKind, samples};
use railwright_spec::human::shorten;

/// NeMo's names of modules, and Megatron's. `variant: canonical` adapts the parts of fused matrices apart.
const TARGETS: &[(&str, &[&str], &[&str])] = &[
    ("attention_qkv", &["linear_qkv"], &["q_proj", "k_proj", "v_proj"]),
    ("attention_dense", &["linear_proj"], &["linear_proj"]),
    ("mlp_fc1", &["linear_fc1"], &["gate_proj", "up_proj"]),
    ("mlp_fc2", &["linear_fc2"], &["linear_fc2"]),
];

/// Names of several modules.
const GROUPS: &[(&str, &[&str])] = &[
    ("attention", &["attention_qkv", "attention_dense"]),
    ("mlp", &["mlp_fc1", "mlp_fc2"]),
    ("all", &["attention_qkv", "attention_dense", "mlp_fc1", "mlp_fc2"]),
];

/// NeMo 1 (`LoraPEFTConfig`): rank 32 on queries, keys and values as one matrix.
const USUAL: adapter::Usual =
    adapter::Usual { of: "NeMo", rank: 32, targets: &[railwright_spec::plan::LoraTarget::FusedQkv] };

const METHOD: &str = "model.peft.peft_scheme";

/// Methods of 2022, each with a section of its own.
const OLDER: [&str; 3] = ["model.adapter_tuning.type", "model.ia3_tuning", "model.virtual_prompt_style"];

fn source(entry: &Entry) -> (String, Option<usize>) {
    (format!("{} = {}", entry.name, entry.data.shown()), entry.spot.line())
}

/// Reads the settings that fine-tuning adds to a configuration of pre-training.
pub(super) fn read(document: &Document, draft: &mut Draft) {
    data(document, draft);
    let older = OLDER.iter().find_map(|path| document.get(path)).filter(|entry| entry.data != Data::Null);
    if let (Some(entry), None) = (older, document.get(METHOD)) {
        let (text, line) = source(entry);
        let message =
            "only adapters or prompts are trained: all parameters are estimated as trained, an upper bound";
        draft.remark(RemarkKind::NotModelled, &text, line, message);
    }
    let Some(entry) = document.get(METHOD) else { return };
    let (text, line) = source(entry);
    let methods = match &entry.data {
        Data::Text(methods) => methods.clone(),
        Data::List(items) => {
            items.iter().take(100).map(|item| item.data.plain()).collect::<Vec<_>>().join(",")
        }
        _ => return,
    };
    let plain = |method: &str| method.trim_matches([' ', '"', '\'']).to_ascii_lowercase();
    let methods: Vec<String> = methods.split(',').map(plain).collect();
    let has_adapters = methods.iter().any(|method| matches!(method.as_str(), "lora" | "qlora"));
    for method in methods {
        match method.as_str() {
            "lora" | "qlora" => {
                adapter::lora(draft, &text, line);
                if method == "qlora" {
                    adapter::quantized(draft, &text, line, "4");
                }
                lora(document, draft);
            }
            "" | "none" | "null" => {}
            other => {
                let instead = if has_adapters {
                    "only LoRA is estimated, a lower bound"
                } else {
                    "all parameters are assumed to be trained, an upper bound"
                };
                let message = format!("`{}` is not modelled: {instead}", shorten(other));
                draft.remark(RemarkKind::NotModelled, &text, line, message);
            }
        }
    }
}

/// Rank and targets.
fn lora(document: &Document, draft: &mut Draft) {
    let at = |key: &str| document.get(&format!("model.peft.lora_tuning.{key}"));
    if let Some(entry) = at("adapter_dim")
        && let Some(rank) = entry.data.count()
    {
        let (text, line) = source(entry);
        draft.set("plan.lora_rank", &rank, &text, line);
    }
    let is_apart = at("variant").is_some_and(|entry| entry.data == Data::Text("canonical".to_owned()));
    if let Some(entry) = at("target_modules") {
        let (text, line) = source(entry);
        adapter::set_targets(draft, &targets(&entry.data, is_apart), &text, line);
    }
    adapter::defaults(draft, USUAL);
    if let Some(entry) = at("layer_selection")
        && entry.data != Data::Null
    {
        let (text, line) = source(entry);
        let message = "names individual layers: adapters are counted on all layers";
        draft.remark(RemarkKind::NotModelled, &text, line, message);
    }
}

/// Megatron's names of NeMo modules; unknown names are unchanged.
fn targets(data: &Data, is_apart: bool) -> Vec<String> {
    let names = data.names();
    let mut found = Vec::new();
    for name in &names {
        let group = GROUPS.iter().find(|(group, _)| group == name).map(|(_, members)| *members);
        let own = [name.as_str()];
        for member in group.unwrap_or(&own) {
            match TARGETS.iter().find(|(known, ..)| known == member) {
                Some((_, fused, apart)) => {
                    let list = if is_apart { apart } else { fused };
                    found.extend(list.iter().map(|&name| name.to_owned()));
                }
                None => found.push((*member).to_owned()),
            }
        }
    }
    found
}

/// Lengths and batches of the training data set, which override those of the model.
fn data(document: &Document, draft: &mut Draft) {
    let at = |key: &str| document.get(&format!("model.data.train_ds.{key}"));
    for (name, key) in [
        ("max_seq_length", "plan.sequence_length"),
        ("micro_batch_size", "plan.micro_batch"),
        ("global_batch_size", "plan.global_batch"),
    ] {
        if let Some(entry) = at(name)
            && let Some(n) = entry.data.count()
        {
            let (text, line) = source(entry);
            draft.set(key, &n, &text, line);
        }
    }
    if let Some(entry) = at("max_src_seq_length").or_else(|| at("max_tgt_seq_length")) {
        let (text, line) = source(entry);
        let why = "source and target have separate lengths, one for the encoder and one for the decoder";
        draft.leave_open("plan.sequence_length", &text, line, why);
        draft.remark(RemarkKind::NotModelled, &text, line, why);
        return;
    }
    let is_packed = at("packed_sequence").is_some_and(|entry| entry.data == Data::Flag(true));
    if at("max_seq_length").is_some() && !is_packed {
        samples::unpacked(draft);
    }
}
