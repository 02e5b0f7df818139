//! ms-swift's commands `megatron sft`, `pt` and `rlhf`.
//!
//! Responsible for: its defaults, models by name, adapters, processes of its variables, and its flags of data
//! and checkpoints. Source: modelscope/ms-swift, docs/source_en/Megatron-SWIFT/Command-line-parameters.md.

use super::stated::{Stated, value, values};
use crate::megatron::arguments::{Argument, Arguments};
use crate::megatron::world::World;
use crate::shell::{Command, Script, Word};
use crate::{Draft, RemarkKind};

/// Tests whether a program and its first argument are ms-swift's command.
pub(in crate::megatron) fn is_started(program: &str, argument: &str) -> bool {
    let program = program.rsplit('/').next().unwrap_or_default();
    program == "megatron" && matches!(argument, "sft" | "pt" | "rlhf" | "export")
}

/// Flags of data, templates, checkpoints and hubs.
const QUIET: &[&str] = &[
    "dataset",
    "val-dataset",
    "cached-dataset",
    "split-dataset-ratio",
    "data-seed",
    "dataset-num-proc",
    "dataset-shuffle",
    "load-from-cache-file",
    "streaming",
    "shuffle-buffer-size",
    "interleave-prob",
    "columns",
    "strict",
    "lazy-tokenize",
    "custom-dataset-info",
    "custom-register-path",
    "external-plugins",
    "template",
    "template-backend",
    "system",
    "truncation-strategy",
    "loss-scale",
    "agent-template",
    "response-prefix",
    "enable-thinking",
    "add-non-thinking-prefix",
    "load-safetensors",
    "save-safetensors",
    "save-strategy",
    "merge-lora",
    "use-hf",
    "hub-token",
    "no-initialization",
    "add-version",
    "check-model",
    "create-checkpoint-symlink",
    "lora-alpha",
    "lora-dropout",
    "use-rslora",
];

/// The flag of a word, without its value.
fn flag(word: &Word) -> &str {
    word.text.split('=').next().unwrap_or(&word.text)
}

/// The name of a flag, as in [`QUIET`].
fn name(word: &Word) -> Option<String> {
    Some(flag(word).strip_prefix("--")?.replace('_', "-"))
}

/// Marks flags of data and checkpoints as without effect.
fn quiet(words: &[Word], draft: &mut Draft) {
    let is_quiet = |word: &&Word| name(word).is_some_and(|name| QUIET.contains(&name.as_str()));
    let flags: Vec<&str> = words.iter().filter(is_quiet).map(flag).collect();
    draft.forget_unknown(&flags);
    if let Some(first) = flags.first() {
        let message = match flags.len() - 1 {
            0 => "concerns data or checkpoints".to_owned(),
            more => format!("and {more} more flags concern data and checkpoints"),
        };
        draft.remark(RemarkKind::Ignored, first, None, message);
    }
}

/// Sets its defaults and translates its names.
pub(super) fn apply(
    launch: &Command,
    script: &Script,
    arguments: &mut Arguments,
    says: &mut Stated,
    draft: &mut Draft,
    world: &mut World,
) {
    let words = &launch.words;
    let line = |word: &Word| (word.line > 0).then_some(word.line);
    for (name, value) in [
        ("bf16", "True"),
        ("hidden_dropout", "0.0"),
        ("attention_dropout", "0.0"),
        ("use_distributed_optimizer", "True"),
        ("micro_batch_size", "1"),
        ("global_batch_size", "16"),
        ("recompute_granularity", "selective"),
        ("expert_tensor_parallel_size", "1"),
        ("attention_backend", "flash"),
        ("moe_token_dispatcher_type", "alltoall"),
    ] {
        arguments.presume(name, value, &format!("no --{name}; ms-swift uses {value}"));
    }
    if let Some((word, length, source)) = value(words, &["--max-length"]) {
        let argument = Argument { values: vec![length], source, line: line(word) };
        *arguments = arguments.with("seq_length", Some(argument));
        draft.forget(&["--max_length"]);
    } else if !arguments.mentions("seq_length") {
        let why = "without --max_length it is the longest sample plus completions";
        draft.leave_open("plan.sequence_length", "", None, why);
    }
    if arguments.is_on("fp16") {
        *arguments = arguments.with("bf16", None);
    }
    let model = value(words, &["--model", "--load", "--mcore-model"]);
    says.model = model.map(|(word, name, source)| (name, source, line(word)));
    draft.forget(&["--model", "--tuner", "--train_type", "--packing", "--num_train_epochs", "--max_epochs"]);
    if let Some((word, kind, source)) = value(words, &["--tuner-type", "--train-type"])
        && kind.starts_with("lora")
    {
        says.adapter = Some((source, line(word)));
    }
    says.rank = value(words, &["--lora-rank"])
        .and_then(|(word, rank, source)| Some((rank.parse().ok()?, source, line(word))));
    says.targets = values(words, "--target-modules").map(|(word, names, source)| (names, source, line(word)));
    draft.forget(&["--lora_rank", "--lora-rank", "--target_modules", "--target-modules"]);
    processes(launch, script, world);
    quiet(words, draft);
    let of_tower = |name: &str| {
        ["vit", "aligner", "freeze-vit", "freeze-aligner"].iter().any(|start| name.starts_with(start))
    };
    let towers: Vec<&Word> =
        words.iter().filter(|word| name(word).is_some_and(|name| of_tower(&name))).collect();
    draft.forget_unknown(&towers.iter().map(|word| flag(word)).collect::<Vec<_>>());
    if let Some(word) = towers.first() {
        draft.remark(RemarkKind::NotModelled, &word.text, line(word), crate::lost::TOWER_IS_LEFT_OUT);
    }
    if let Some((word, value, source)) = value(words, &["--freeze-llm"]) {
        draft.forget_unknown(&[flag(word)]);
        if value.eq_ignore_ascii_case("true") {
            let message = "the language model is estimated as if it were trained";
            draft.remark(RemarkKind::NotModelled, &source, line(word), message);
        }
    }
    if let Some(word) = words.iter().find(|word| word.text == "rlhf") {
        let message = "trains on preferences or rewards: reference models, reward models and \
            generation are not estimated";
        draft.remark(RemarkKind::NotModelled, "megatron rlhf", line(word), message);
    }
    let packs = value(words, &["--packing"]).is_some_and(|(_, value, _)| value.eq_ignore_ascii_case("true"));
    let message = "one sample has at most this many tokens";
    let message = if packs {
        message.to_owned()
    } else {
        format!("{message}; ms-swift packs samples only with `--packing true`")
    };
    draft.remark(RemarkKind::Assumed, "--max_length", None, message);
}

/// A variable in front of the command, or of the script.
fn variable(name: &str, launch: &Command, script: &Script) -> Option<u64> {
    let before = launch.prefix.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let set = || Some(script.variables.get(name)?.first()?.text.clone());
    before.or_else(set)?.parse().ok()
}

/// The processes of its variables; without them it starts one.
fn processes(launch: &Command, script: &Script, world: &mut World) {
    let per_node = variable("NPROC_PER_NODE", launch, script);
    let nodes = variable("NNODES", launch, script).unwrap_or(1);
    let Some(per_node) = per_node else {
        if world.ranks.is_none() {
            *world = World {
                ranks: Some(1),
                per_node: Some(1),
                source: "no NPROC_PER_NODE".to_owned(),
                line: Some(launch.line),
            };
        }
        return;
    };
    let source = format!("NNODES={nodes} NPROC_PER_NODE={per_node}");
    *world = World {
        ranks: nodes.checked_mul(per_node),
        per_node: Some(per_node),
        source,
        line: Some(launch.line),
    };
}

#[cfg(test)]
mod tests {
    use crate::{RemarkKind, read};

    /// Flags of its documentation are known: only an invented one is not.
    #[test]
    fn flags_of_data_checkpoints_and_towers_are_known() {
        let text = "NPROC_PER_NODE=4 megatron sft --model Qwen/Qwen3-VL-30B-A3B-Instruct --load_safetensors true \\\n  \
            --dataset 'a#500' 'b#20' --split_dataset_ratio=0.01 --freeze_llm false --freeze_vit true --max_length 2048 \\\n  \
            --vit_gradient_checkpointing true --packing false --use_hf true --invented_flag 1\n";
        let launch = read(text, "sft.sh").expect("a launch file").expect("no problems");
        let unknown: Vec<&str> =
            launch.remarks_of(RemarkKind::Unknown).map(|remark| remark.source.as_str()).collect();
        assert_eq!(unknown, ["--invented_flag"]);
        let has = |kind: RemarkKind, part: &str| {
            launch
                .remarks_of(kind)
                .any(|remark| format!("{} {}", remark.source, remark.message).contains(part))
        };
        assert!(has(RemarkKind::NotModelled, "--freeze_vit"));
        assert!(has(RemarkKind::Ignored, "concern data"));
        assert!(has(RemarkKind::Assumed, "packs samples only"));
        let frozen = read(&text.replace("--freeze_llm false", "--freeze_llm true"), "sft.sh");
        let frozen = frozen.expect("a launch file").expect("no problems");
        assert!(
            frozen.remarks_of(RemarkKind::NotModelled).any(|remark| remark.source.contains("freeze_llm"))
        );
    }
}
