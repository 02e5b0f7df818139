//! Frameworks that start Megatron with similar flags and their own defaults.
//!
//! Responsible for: detection of the dialect by the started program, its defaults, and its names of
//! Megatron's fields. Rejects programs that do not train a causal language model: an encoder is never read as
//! a GPT.

pub(crate) mod deepspeed_file;
mod epfl;
mod mindspeed;
mod slime;
mod stated;
mod swift;

use super::arguments::{Argument, Arguments, is_program};
use super::world::World;
use crate::shell::{Command, Script, Word};
use crate::{Draft, RemarkKind};
pub(crate) use stated::Stated;
use stated::{value, values};
pub(super) use swift::is_started as is_swift;

/// Program that a command starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Megatron-LM itself, and forks with its defaults.
    #[default]
    Megatron,
    /// `megatron sft`, `megatron pt`, `megatron rlhf` of ms-swift: the model is one of Hugging Face, by name.
    Swift,
    /// slime's `train.py`: Megatron trains on the output of a rollout engine.
    Slime,
    /// Megatron-DeepSpeed: DeepSpeed's engine under Megatron's model.
    Deepspeed,
    /// Pai-Megatron-Patch: Megatron with its own tokenizers and offload.
    Pai,
}

const CONVERTS: &str = "only converts a checkpoint";
/// Programs that train no causal language model: a part of their name, and their purpose.
const OTHERS: &[(&str, &str)] = &[
    ("pretrain_bert", "trains an encoder (BERT)"),
    ("pretrain_t5", "trains an encoder-decoder model (T5)"),
    ("pretrain_ict", "trains two encoders for retrieval"),
    ("pretrain_biencoder", "trains two encoders for retrieval"),
    ("pretrain_retro", "trains a model with retrieval (RETRO)"),
    ("pretrain_realm", "trains a model with retrieval"),
    ("pretrain_vision", "trains a vision model"),
    ("pretrain_vlm", "trains a vision-language model"),
    ("finetune_vlm", "trains a vision-language model"),
    ("multimodal/train", "trains a vision-language model"),
    ("mimo/train", "trains a vision-language model"),
    ("pretrain_mimo", "trains a vision-language model"),
    ("run_text_generation", "only generates text"),
    ("text_generation", "only generates text"),
    ("generate_", "only generates text"),
    ("_inference", "only runs inference"),
    ("checkpoint/convert", CONVERTS),
    ("checkpoint/util", CONVERTS),
    ("hf2mcore", CONVERTS),
    ("_hf_to_", CONVERTS),
    ("_to_hf", CONVERTS),
    ("convert_", CONVERTS),
    ("/convert.py", CONVERTS),
    ("preprocess_data", "only prepares data"),
    ("merge_mp_partitions", CONVERTS),
    ("create_doc_index", "only builds an index"),
    ("tasks/", "only runs a downstream task"),
    ("evaluate", "only evaluates a model"),
];

/// Purpose of a program that trains no causal language model, with the word that shows it. `None` for other
/// programs.
pub(crate) fn other(words: &[Word]) -> Option<(&Word, &'static str)> {
    let exports = words.windows(2).find_map(|pair| match pair {
        [program, export] if program.text == "megatron" && export.text == "export" => Some(export),
        _ => None,
    });
    if let Some(export) = exports {
        return Some((export, CONVERTS));
    }
    // Only converters have sizes for the files that they write.
    let is_target = |word: &&Word| word.text.starts_with("--target-") && word.text.contains("parallel-size");
    if let Some(word) = words.iter().find(is_target) {
        return Some((word, CONVERTS));
    }
    if let Some(word) = words.iter().find(|word| word.text == "--retro-add-retriever") {
        return Some((word, "adds an encoder for retrieved text (RETRO)"));
    }
    // A file of Python, or a module: `python -m examples.mimo.pretrain_mimo`.
    let before = std::iter::once(None).chain(words.iter().map(Some));
    let is_module =
        |before: Option<&Word>| before.is_some_and(|word| matches!(word.text.as_str(), "-m" | "--module"));
    let started = before.zip(words).filter(|(before, word)| is_program(&word.text) || is_module(*before));
    started.map(|(_, word)| word).find_map(|word| {
        let (_, what) = OTHERS.iter().find(|(name, _)| word.text.contains(name))?;
        Some((word, *what))
    })
}

/// The dialect of a command.
pub(crate) fn of(command: &Command) -> Dialect {
    let has = |spelling: &str| command.words.iter().any(|word| word.text.split('=').next() == Some(spelling));
    let is_swift = command.words.windows(2).any(|pair| swift::is_started(&pair[0].text, &pair[1].text))
        || command.words.iter().any(|word| word.text.contains("swift/cli/_megatron"));
    if is_swift {
        Dialect::Swift
    } else if has("--rollout-batch-size") || has("--actor-num-nodes") || has("--hf-checkpoint") {
        Dialect::Slime
    } else if has("--deepspeed") {
        Dialect::Deepspeed
    } else if has("--patch-tokenizer-type") || has("--extra-vocab-size") {
        Dialect::Pai
    } else {
        Dialect::Megatron
    }
}

/// Words as Megatron's own parser would take them: ms-swift gives every switch a value.
pub(crate) fn words(dialect: Dialect, words: &[Word]) -> Vec<Word> {
    if dialect != Dialect::Swift {
        return words.to_vec();
    }
    let mut out: Vec<Word> = Vec::with_capacity(words.len());
    for word in words {
        let is_truth = matches!(word.text.to_ascii_lowercase().as_str(), "true" | "false");
        match out.last_mut() {
            Some(flag) if is_truth && flag.text.starts_with("--") && !flag.text.contains('=') => {
                flag.text = format!("{}={}", flag.text, word.text.to_ascii_lowercase());
            }
            _ => {
                out.push(word.clone());
            }
        }
    }
    out
}

/// Sets a dialect's defaults and translates its names.
pub(crate) fn apply(
    dialect: Dialect,
    launch: &Command,
    script: &Script,
    arguments: &mut Arguments,
    world: &mut World,
    draft: &mut Draft,
) -> Stated {
    let words = &launch.words;
    let line = |word: &Word| (word.line > 0).then_some(word.line);
    let mut says = Stated::default();
    match dialect {
        Dialect::Megatron => {
            mindspeed::translate(arguments, &mut says, draft);
            epfl::translate(words, arguments, draft);
            // Megatron-Bridge builds the model from its config.json and ignores flags of dimensions.
            if let Some(word) = words.iter().find(|word| word.text == "--use-bridge") {
                let named = value(words, &["--bridge-hf-model"]);
                let of_flag = || (word.text.clone(), word.text.clone(), line(word));
                says.model =
                    Some(named.map_or_else(of_flag, |(word, name, source)| (name, source, line(word))));
            }
        }
        Dialect::Swift => swift::apply(launch, script, arguments, &mut says, draft, world),
        Dialect::Slime => {
            slime::exchange(arguments);
            slime::lengths(words, arguments, draft);
            slime::quiet(words, draft);
            for (flag, key) in [
                ("--use-dynamic-batch-size", "plan.micro_batch"),
                ("--rollout-batch-size", "plan.sequence_length"),
            ] {
                let Some(word) = words.iter().find(|word| word.text == flag) else { continue };
                let what = if key == "plan.micro_batch" { "micro_batch_size" } else { "seq_length" };
                if !arguments.mentions(what) {
                    draft.leave_open(key, flag, line(word), "set by the rollouts of a step");
                }
            }
            for (name, value) in [("use_distributed_optimizer", "True"), ("bf16", "True")] {
                if name != "bf16" || !arguments.is_on("fp16") {
                    arguments.presume(
                        name,
                        value,
                        &format!("no --{}; slime uses it", name.replace('_', "-")),
                    );
                }
            }
            if let Some((word, rank, source)) = value(words, &["--lora-rank"])
                && let Ok(rank) = rank.parse::<u64>()
                && rank > 0
            {
                says.adapter = Some((source.clone(), line(word)));
                says.rank = Some((rank, source, line(word)));
                says.targets = values(words, "--target-modules")
                    .map(|(word, names, source)| (names, source, line(word)));
            }
            draft.forget_unknown(&["--lora-rank", "--lora-alpha", "--lora-dropout", "--target-modules"]);
            slime::world(words, world, draft);
            says.model = slime::built(words, arguments);
            let message = "trains on rollouts: the estimate of the training step excludes generation";
            draft.remark(RemarkKind::Assumed, "slime", None, message);
        }
        Dialect::Deepspeed => deepspeed(words, arguments, draft),
        Dialect::Pai => pai(words, arguments, draft),
    }
    if dialect != Dialect::Swift
        && let Some(word) =
            words.iter().find(|word| TOWERS.contains(&word.text.split('=').next().unwrap_or_default()))
    {
        draft.remark(RemarkKind::NotModelled, &word.text, line(word), crate::lost::TOWER_IS_LEFT_OUT);
    }
    says
}

/// Flags that only a model with a vision tower has.
const TOWERS: [&str; 4] =
    ["--mrope-section", "--disable-vision-class-token", "--vision-model-type", "--language-model-type"];

/// Applies DeepSpeed's rules that are not visible in Megatron's flags.
fn deepspeed(words: &[Word], arguments: &mut Arguments, draft: &mut Draft) {
    // DeepSpeed's sequence parallelism is Ulysses.
    if let Some((word, degree, source)) = value(words, &["--ds-sequence-parallel-size"]) {
        let line = (word.line > 0).then_some(word.line);
        for (name, text) in [("context_parallel_size", degree.as_str()), ("cp_comm_type", "a2a")] {
            let argument = Argument { values: vec![text.to_owned()], source: source.clone(), line };
            *arguments = arguments.with(name, Some(argument));
        }
        draft.forget(&["--ds-sequence-parallel-size"]);
    }
    if arguments.word("pp_partition_method").is_some_and(|method| method.contains("embedding")) {
        // Layers and embeddings weigh the same, so the first and the last stage have a layer less.
        let (source, line) = arguments.origin("pp_partition_method");
        for name in ["account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split"] {
            let argument = Argument { values: vec!["True".to_owned()], source: source.clone(), line };
            *arguments = arguments.with(name, Some(argument));
        }
    }
    // Its defaults for experts differ from Megatron-Core's (Megatron-DeepSpeed, megatron/arguments.py).
    if arguments.mentions("num_experts") && !arguments.mentions("moe_router_topk") {
        for (name, value) in [("topk", "1"), ("expert_interval", "2"), ("moe_train_capacity_factor", "1.0")] {
            let source = format!("no --{}; Megatron-DeepSpeed uses {value}", name.replace('_', "-"));
            arguments.presume(name, value, &source);
        }
    }
    let is_zero = arguments.word("zero_stage").is_none_or(|stage| stage == "0");
    if arguments.is_on("bf16") && is_zero {
        let (_, line) = arguments.origin("bf16");
        let source = "--deepspeed --bf16 --zero-stage 0".to_owned();
        *arguments = arguments.with(
            "zero_stage",
            Some(Argument { values: vec!["1".to_owned()], source: source.clone(), line }),
        );
        let message = "DeepSpeed's bf16 optimizer shards its states over the replicas, as ZeRO stage 1 does";
        draft.remark(RemarkKind::Assumed, &source, line, message);
    }
}

/// Rows of the tokenizers named by Pai-Megatron-Patch; `--extra-vocab-size` is added.
const PAI_TOKENIZERS: &[(&str, u64)] = &[
    ("Qwen2Tokenizer", 151_643),
    ("Qwen3Tokenizer", 151_643),
    ("LLama3Tokenizer", 128_000),
    ("LLamaTokenizer", 32_000),
];

fn pai(words: &[Word], arguments: &mut Arguments, draft: &mut Draft) {
    if arguments.word("optimizer") == Some("hybridadam") {
        let (source, line) = arguments.origin("optimizer");
        let on = Argument { values: vec!["True".to_owned()], source, line };
        *arguments = arguments.with("optimizer_cpu_offload", Some(on));
        let adam = arguments
            .get("optimizer")
            .cloned()
            .map(|old| Argument { values: vec!["adam".to_owned()], ..old });
        *arguments = arguments.with("optimizer", adam);
    }
    draft.forget(&["--extra-vocab-size", "--patch-tokenizer-type"]);
    if arguments.mentions("vocab_size") || arguments.mentions("padded_vocab_size") {
        return;
    }
    let extra = value(words, &["--extra-vocab-size"]);
    let tokenizer = value(words, &["--patch-tokenizer-type"]);
    let rows = tokenizer
        .and_then(|(_, name, _)| PAI_TOKENIZERS.iter().find(|(known, _)| *known == name))
        .map(|(_, rows)| *rows);
    match (rows, extra) {
        (Some(rows), Some((word, count, source))) if count.parse::<u64>().is_ok() => {
            let rows = rows + count.parse::<u64>().unwrap_or(0);
            let line = (word.line > 0).then_some(word.line);
            *arguments = arguments
                .with("padded_vocab_size", Some(Argument { values: vec![rows.to_string()], source, line }));
        }
        _ => draft.leave_open(
            "model.vocab",
            "--patch-tokenizer-type",
            None,
            "the vocabulary depends on the tokenizer, which is not in this file",
        ),
    }
}
