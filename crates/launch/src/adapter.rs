//! Fine-tuning with adapters: rank and target modules for every reader and writer.
//!
//! Responsible for: distinguishing adapters from full fine-tuning, the frameworks' defaults, and module names
//! that a plan lacks. Excludes the dropout and the scale of adapters, which have little effect on time and
//! memory.

use crate::fields::Fields;
use crate::{Draft, RemarkKind};
use railwright_spec::model::{FeedForward, Mixer, Model};
use railwright_spec::plan::{FrozenWeights, LoraTarget, LoraTargets, Optimizer, Plan};
use std::collections::BTreeSet;

/// Trains adapters; `source` is the text of the file.
pub(crate) fn lora(draft: &mut Draft, source: &str, line: Option<usize>) {
    draft.set("plan.optimizer", &Optimizer::Lora, source, line);
}

/// Weights of `bits` bits: frozen ones in four bits are a plan's, others a remark.
pub(crate) fn quantized(draft: &mut Draft, source: &str, line: Option<usize>, bits: &str) {
    if bits == "4" && draft.spec().plan.optimizer == Some(Optimizer::Lora) {
        draft.set("plan.frozen_weights", &FrozenWeights::Nf4, source, line);
        return;
    }
    let message = format!(
        "frozen weights in {bits} bits are not modelled: they are estimated in 16, an upper bound on memory"
    );
    draft.remark(RemarkKind::NotModelled, source, line, message);
}

/// Remarks on frozen weights in 4 and in 8 bits, which two flags set.
pub(crate) fn quantized_by(fields: &mut Fields<'_>, [four, eight]: [&str; 2]) {
    for (path, bits) in [(four, "4"), (eight, "8")] {
        if fields.flag(path) == Some(true) {
            let (source, line) = fields.source(path);
            quantized(&mut fields.draft, &source, line, bits);
        }
    }
}

/// A framework's defaults for adapter settings that a file leaves open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usual {
    /// The framework.
    pub(crate) of: &'static str,
    /// Its rank.
    pub(crate) rank: u64,
    /// Its target modules.
    pub(crate) targets: &'static [LoraTarget],
}

/// PEFT without a choice (`LoraConfig`): rank 8, and for Llama and its relatives queries and values.
pub(crate) const PEFT: Usual =
    Usual { of: "PEFT", rank: 8, targets: &[LoraTarget::Query, LoraTarget::Value] };

/// Megatron-Bridge and NeMo (`LoRA`): rank 32 on attention and MLP, queries with keys and values as one
/// matrix.
pub(crate) const BRIDGE: Usual = Usual {
    of: "Megatron-Bridge",
    rank: 32,
    targets: &[LoraTarget::FusedQkv, LoraTarget::FusedGateUp, LoraTarget::Output, LoraTarget::Down],
};

/// The same with adapters of the parts of fused matrices (`CanonicalLoRA`).
pub(crate) const CANONICAL: Usual = Usual {
    targets: &[
        LoraTarget::Query,
        LoraTarget::Key,
        LoraTarget::Value,
        LoraTarget::Output,
        LoraTarget::Gate,
        LoraTarget::Up,
        LoraTarget::Down,
    ],
    ..BRIDGE
};

/// Rank 8 on all linear layers: LLaMA-Factory (`lora_target: all`) and ms-swift (`--target_modules
/// all-linear`).
pub(crate) const ALL_OF_RANK_8: Usual =
    Usual { of: "the trainer", rank: 8, targets: &[LoraTarget::AllLinear] };

/// Reads rank and targets from the first present keys; open ones have the framework's default. Does nothing
/// unless adapters are trained.
pub(crate) fn read(fields: &mut Fields<'_>, ranks: &[&str], targets: &[&str], usual: Usual) {
    let rank = ranks.iter().find_map(|path| Some((*path, fields.count(path)?)));
    let names = targets.iter().find_map(|path| Some((*path, fields.words(path)?)));
    if fields.draft.spec().plan.optimizer != Some(Optimizer::Lora) {
        return;
    }
    // A rank of 0, which no trainer accepts, is rejected with the plan.
    if let Some((path, rank)) = rank {
        fields.set("plan.lora_rank", &rank, path);
    }
    let names = names.filter(|(path, _)| !fields.is_auto(path));
    if let Some((path, names)) = names.filter(|_| fields.draft.value("plan.lora_targets").is_none()) {
        let (source, line) = fields.source(path);
        set_targets(&mut fields.draft, &names, &source, line);
    }
    // A value that the file or its program computes is none of the framework's defaults.
    for (key, paths) in [("plan.lora_rank", ranks), ("plan.lora_targets", targets)] {
        let computed = paths.iter().find(|path| fields.is_auto(path));
        if let Some(path) = computed.filter(|_| fields.draft.value(key).is_none()) {
            let (source, line) = fields.source(path);
            fields.draft.leave_open(key, &source, line, "its value is computed");
        }
    }
    defaults(&mut fields.draft, usual);
}

/// The modules of a regular expression whose last part has alternatives:
/// `...(mlp|self_attn).(up|down|q|v)_proj`. `None` for a plain name and for other expressions.
fn of_pattern(name: &str) -> Option<Vec<String>> {
    let (before, end) = name.trim().rsplit_once(')')?;
    let (_, alternatives) = before.rsplit_once('(')?;
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let parts: Vec<&str> = alternatives.split('|').collect();
    let is_list =
        parts.len() > 1 && is_word(end) && parts.iter().all(|part| !part.is_empty() && is_word(part));
    is_list.then(|| parts.into_iter().map(|part| format!("{part}{end}")).collect())
}

/// Sets the targets of a list of module names, with remarks on those that a plan lacks.
pub(crate) fn set_targets(draft: &mut Draft, names: &[String], source: &str, line: Option<usize>) {
    let mut found = BTreeSet::new();
    let mut unknown = Vec::new();
    let mut of_layers = Vec::new();
    // Hydra writes lists in brackets.
    let bare = |name: &str| name.trim_matches([' ', '[', ']', '"', '\'']).to_owned();
    let names: Vec<String> =
        names.iter().flat_map(|name| of_pattern(name).unwrap_or_else(|| vec![bare(name)])).collect();
    for name in names.iter().filter(|name| !name.is_empty()) {
        let name = name.as_str();
        // Bridge and PEFT take paths as well: `*.layers.0.*.linear_qkv`.
        if name.split('.').any(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())) {
            of_layers.push(format!("`{}`", railwright_spec::human::shorten(name)));
        }
        match LoraTarget::by_name(name.rsplit('.').next().unwrap_or(name)) {
            Ok(target) => {
                found.insert(target);
            }
            Err(_) => unknown.push(format!("`{}`", railwright_spec::human::shorten(name))),
        }
    }
    if !unknown.is_empty() {
        let message = format!("adapters on {} are not modelled", unknown.join(", "));
        draft.remark(RemarkKind::NotModelled, source, line, message);
    }
    if !of_layers.is_empty() {
        let message =
            format!("{} names individual layers: adapters are counted on all layers", of_layers.join(", "));
        draft.remark(RemarkKind::NotModelled, source, line, message);
    }
    if !found.is_empty() {
        draft.set("plan.lora_targets", &LoraTargets(found), source, line);
    }
}

/// Sets defaults of adapter settings that a file leaves open.
pub(crate) fn defaults(draft: &mut Draft, usual: Usual) {
    if draft.value("plan.lora_rank").is_none() && !draft.is_open("plan.lora_rank") {
        draft.set("plan.lora_rank", &usual.rank, &format!("the default rank of {}", usual.of), None);
    }
    if draft.value("plan.lora_targets").is_none() && !draft.is_open("plan.lora_targets") {
        let targets = LoraTargets(usual.targets.iter().copied().collect());
        draft.set("plan.lora_targets", &targets, &format!("the default targets of {}", usual.of), None);
    }
}

/// Names of modules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Names {
    /// PEFT: every matrix has its own name.
    Peft,
    /// Megatron's: queries, keys and values are one matrix, and so are gate and up.
    Megatron,
    /// Megatron-Bridge's `CanonicalLoRA`: adapters of the parts of these matrices.
    Canonical,
}

/// Each target with the names that cover its weights, PEFT's and Megatron's.
const NAMES: [(LoraTarget, &[&str], &[&str]); 17] = [
    (LoraTarget::AllLinear, &["all-linear"], &["linear_qkv", "linear_proj", "linear_fc1", "linear_fc2"]),
    (LoraTarget::FusedQkv, &["q_proj", "k_proj", "v_proj"], &["linear_qkv"]),
    (LoraTarget::FusedGateUp, &["gate_proj", "up_proj"], &["linear_fc1"]),
    (LoraTarget::Query, &["q_proj"], &["linear_qkv"]),
    (LoraTarget::Key, &["k_proj"], &["linear_qkv"]),
    (LoraTarget::Value, &["v_proj"], &["linear_qkv"]),
    (LoraTarget::Output, &["o_proj"], &["linear_proj"]),
    (LoraTarget::Gate, &["gate_proj"], &["linear_fc1"]),
    (LoraTarget::Up, &["up_proj"], &["linear_fc1"]),
    (LoraTarget::Down, &["down_proj"], &["linear_fc2"]),
    (LoraTarget::Experts, &["experts"], &["linear_fc1", "linear_fc2"]),
    (LoraTarget::QueryDown, &["q_a_proj"], &["linear_q_down_proj"]),
    (LoraTarget::QueryUp, &["q_b_proj"], &["linear_q_up_proj"]),
    (LoraTarget::KeyValueDown, &["kv_a_proj_with_mqa"], &["linear_kv_down_proj"]),
    (LoraTarget::KeyValueUp, &["kv_b_proj"], &["linear_kv_up_proj"]),
    (LoraTarget::MixerIn, &["in_proj"], &["in_proj"]),
    (LoraTarget::MixerOut, &["out_proj"], &["out_proj"]),
];

/// Names of the parts of Megatron's fused matrices in `CanonicalLoRA`; `None` for targets that it names as
/// `LoRA` does.
const fn canonical(target: LoraTarget) -> Option<&'static [&'static str]> {
    match target {
        LoraTarget::Query => Some(&["linear_q"]),
        LoraTarget::Key => Some(&["linear_k"]),
        LoraTarget::Value => Some(&["linear_v"]),
        LoraTarget::Gate => Some(&["linear_fc1_gate"]),
        LoraTarget::Up => Some(&["linear_fc1_up"]),
        LoraTarget::AllLinear => Some(&[
            "linear_q",
            "linear_k",
            "linear_v",
            "linear_proj",
            "linear_fc1_gate",
            "linear_fc1_up",
            "linear_fc2",
        ]),
        _ => None,
    }
}

/// Megatron-Bridge's class for a plan's adapters with its names. `CanonicalLoRA` adapts the parts of fused
/// matrices, of a model that has all of them, and no fused matrix as a whole.
pub(crate) fn bridge_class(plan: &Plan, model: &Model) -> (&'static str, &'static str, Names) {
    let targets = plan.adapters().map(|lora| lora.targets.clone()).unwrap_or_default();
    let is_plain = model.layer_kinds.iter().all(|layer| {
        matches!(layer.mixer, Mixer::Attention(_))
            && matches!(&layer.feed_forward, FeedForward::Dense(mlp) if mlp.gated)
    });
    let has = |target: LoraTarget| targets.contains(&target);
    let is_fused = has(LoraTarget::FusedQkv) || has(LoraTarget::FusedGateUp);
    let has_parts = targets.iter().any(|target| canonical(*target).is_some());
    if is_plain && has_parts && !is_fused {
        ("canonical_lora", "CanonicalLoRA", Names::Canonical)
    } else {
        ("lora", "LoRA", Names::Megatron)
    }
}

/// The rank of a plan's adapters and the names of their targets, for a writer. `None` if the plan trains all
/// parameters.
///
/// Names of the adapters' modules for a framework. A target without an exact name is covered by several
/// names: such adapters differ in the parts that share `A`.
pub(crate) fn written(plan: &Plan, names: Names) -> Option<(u64, Vec<&'static str>)> {
    let lora = plan.adapters()?;
    let mut list: Vec<&'static str> = Vec::new();
    for (target, peft, megatron) in NAMES.iter().filter(|(target, ..)| lora.targets.contains(target)) {
        let own = match names {
            Names::Peft => peft,
            Names::Megatron => megatron,
            Names::Canonical => canonical(*target).unwrap_or(megatron),
        };
        list.extend(own.iter().filter(|name| !list.contains(name)).copied().collect::<Vec<_>>());
    }
    Some((lora.rank, list))
}

/// The reason for targets that read back as others.
pub(crate) const LOST_TARGETS: &str =
    "module names with the same weights are written, whose adapters can differ in shape";
