//! slime: Megatron trains on the output of a rollout engine.
//!
//! Responsible for: lengths, packed micro-batches and GPUs of the actor from its flags, and exclusion of the
//! flags of rollouts. Excludes the time of generation: an estimate covers the training step.

use super::super::arguments::{Argument, Arguments, OpenArgument};
use super::stated::{by_hub_name, value};
use crate::megatron::world::World;
use crate::shell::Word;
use crate::{Draft, RemarkKind};

/// `--allgather-cp`: ranks of a sequence gather keys and values, as sparse attention requires.
pub(super) fn exchange(arguments: &mut Arguments) {
    if arguments.is_on("allgather_cp") && !arguments.mentions("cp_comm_type") {
        let (source, line) = arguments.origin("allgather_cp");
        let kind = Argument { values: vec!["all_gather".to_owned()], source, line };
        *arguments = arguments.with("cp_comm_type", Some(kind));
    }
}

/// Lengths of rollouts, and micro-batches that are filled up to a number of tokens.
pub(super) fn lengths(words: &[Word], arguments: &mut Arguments, draft: &mut Draft) {
    let line = |word: &Word| (word.line > 0).then_some(word.line);
    let number = |flag: &str| {
        let (word, count, source) = value(words, &[flag])?;
        Some((count.parse::<u64>().ok().filter(|&n| n > 0)?, source, line(word)))
    };
    if !arguments.mentions("seq_length")
        && let (Some((prompt, _, _)), Some((response, source, line))) =
            (number("--rollout-max-prompt-len"), number("--rollout-max-response-len"))
    {
        let values = vec![prompt.saturating_add(response).to_string()];
        *arguments = arguments.with("seq_length", Some(Argument { values, source: source.clone(), line }));
        let message = "all samples are assumed to have the maximum prompt and response length, an upper bound on time and \
             memory";
        draft.remark(RemarkKind::Assumed, &source, line, message);
    }
    batch(words, arguments);
    let length = arguments.word("seq_length").and_then(|word| word.parse::<u64>().ok()).filter(|&n| n > 0);
    if let (Some((tokens, source, line)), Some(length)) = (number("--max-tokens-per-gpu"), length)
        && words.iter().any(|word| word.text == "--use-dynamic-batch-size")
        && !arguments.mentions("micro_batch_size")
    {
        // Ranks that share a sequence each take this many tokens.
        let shared =
            arguments.word("context_parallel_size").and_then(|word| word.parse::<u64>().ok()).unwrap_or(1);
        let global = arguments.word("global_batch_size").and_then(|word| word.parse::<u64>().ok());
        let micro = crate::packed::samples(shared.saturating_mul(tokens), length, global);
        *arguments = arguments.with(
            "micro_batch_size",
            Some(Argument { values: vec![micro.to_string()], source: source.clone(), line }),
        );
        let message = "samples are packed up to this number of tokens: estimated with as many samples of maximum length as fit";
        draft.remark(RemarkKind::Assumed, &source, line, message);
    }
    if let Some(word) = words.iter().find(|word| word.text == "--colocate") {
        let message = "the rollout engine shares these GPUs: it is assumed to release its memory while the actor \
             trains";
        draft.remark(RemarkKind::Assumed, "--colocate", line(word), message);
    }
}

/// The batch of a step: the samples of a rollout, divided among its steps (`slime/utils/arguments.py`).
fn batch(words: &[Word], arguments: &mut Arguments) {
    if arguments.mentions("global_batch_size") {
        return;
    }
    let flags = ["--rollout-batch-size", "--n-samples-per-prompt", "--num-steps-per-rollout"];
    let number = |flag: &str| value(words, &[flag])?.1.parse::<u64>().ok().filter(|&n| n > 0);
    let is_given = |flag: &str| words.iter().any(|word| word.text.split('=').next() == Some(flag));
    let samples = if is_given(flags[1]) { number(flags[1]) } else { Some(1) };
    let product = number(flags[0]).zip(samples).and_then(|(prompts, samples)| prompts.checked_mul(samples));
    let word = words.iter().find(|word| word.text.split('=').next() == Some(flags[2]));
    let line = word.and_then(|word| (word.line > 0).then_some(word.line));
    match product.zip(number(flags[2])) {
        Some((product, steps)) if product.is_multiple_of(steps) => {
            let source = flags.iter().filter(|flag| is_given(flag)).copied().collect::<Vec<_>>().join(" ");
            let values = vec![(product / steps).to_string()];
            *arguments = arguments.with("global_batch_size", Some(Argument { values, source, line }));
        }
        _ => {
            let why = "set by the samples and the steps of a rollout".to_owned();
            let open = OpenArgument { source: flags[0].to_owned(), line, why, alternatives: Vec::new() };
            arguments.leave_open("global_batch_size", open);
        }
    }
}

/// Flags of rollouts, rewards and Ray concern another part of the job than the training step.
pub(super) fn quiet(words: &[Word], draft: &mut Draft) {
    const STARTS: &[&str] = &[
        "--rollout-",
        "--sglang-",
        "--eval-",
        "--n-samples-",
        "--num-rollout",
        "--num-steps-per-rollout",
        "--prompt-data",
        "--input-key",
        "--label-key",
        "--apply-chat-template",
        "--rm-",
        "--advantage-",
        "--kl-",
        "--use-kl-",
        "--entropy-",
        "--eps-clip",
        "--hf-checkpoint",
        "--ref-load",
        "--balance-data",
        "--colocate",
        "--actor-num-",
        "--runtime-env-json",
        "--address",
        "--dynamic-sampling-",
        "--over-sampling-",
        "--use-tis",
        "--custom-",
        "--metadata-key",
        "--tool-key",
        "--use-dynamic-batch-size",
        "--max-tokens-per-gpu",
        "--multimodal-keys",
    ];
    let concern = |text: &str| STARTS.iter().any(|start| text.starts_with(start));
    let flags: Vec<&str> = words
        .iter()
        .map(|word| word.text.split('=').next().unwrap_or_default())
        .filter(|text| concern(text))
        .collect();
    draft.forget_unknown(&flags);
    if let Some(first) = flags.first() {
        let message =
            format!("and {} more flags concern rollouts and rewards", flags.len().saturating_sub(1));
        draft.remark(RemarkKind::Ignored, first, None, message);
    }
}

/// GPUs of the actor.
pub(super) fn world(words: &[Word], world: &mut World, draft: &mut Draft) {
    let count = |flag: &str| value(words, &[flag]);
    let (nodes, per_node) = (count("--actor-num-nodes"), count("--actor-num-gpus-per-node"));
    if let (Some((_, nodes, source)), Some((word, per_node, also))) = (&nodes, &per_node)
        && let (Ok(nodes), Ok(per_node)) = (nodes.parse::<u64>(), per_node.parse::<u64>())
    {
        let line = (word.line > 0).then_some(word.line);
        let ranks = nodes.checked_mul(per_node);
        *world = World { ranks, per_node: Some(per_node), source: format!("{source} {also}"), line };
        return;
    }
    *world = World::default();
    draft.leave_open(
        "cluster.devices",
        "--actor-num-gpus-per-node",
        None,
        "the number is known only at run time",
    );
}

/// The model of a checkpoint of Hugging Face, if slime builds its layers in Python, where flags describe only
/// a part of them. `None` if it is not in the catalogue.
pub(super) fn built(words: &[Word], arguments: &mut Arguments) -> Option<(String, String, Option<usize>)> {
    let is_built = arguments.word("spec").is_some_and(|module| module.starts_with("slime_plugins."));
    let (word, name, source) = value(words, &["--hf-checkpoint"]).filter(|_| is_built)?;
    by_hub_name(&name)?;
    for field in ["spec", "attention_output_gate"] {
        *arguments = arguments.with(field, None);
    }
    Some((name, source, (word.line > 0).then_some(word.line)))
}

#[cfg(test)]
mod tests {
    use crate::{Launch, RemarkKind, read};
    use railwright_spec::run::Value;

    const SCRIPT: &str = "#!/bin/bash\nray job submit --address=http://127.0.0.1:8265 -- python3 train.py \\\n    \
        --actor-num-nodes 2 --actor-num-gpus-per-node 8 --colocate \\\n    --num-layers 36 --hidden-size 2560 \\\n    \
        --ffn-hidden-size 9728 --num-attention-heads 32 --vocab-size 151936 --swiglu --disable-bias-linear \\\n    \
        --hf-checkpoint /root/model --rollout-batch-size 32 --rollout-max-prompt-len 1024 --rollout-max-response-len 7168 \\\n    \
        --global-batch-size 256 --use-dynamic-batch-size --max-tokens-per-gpu 9216 --sglang-mem-fraction-static 0.7 \\\n    \
        --tensor-model-parallel-size 2 --context-parallel-size 2 --bf16\n";

    fn launch(text: &str) -> Launch {
        read(text, "f").expect("a launch file").expect("no problems")
    }

    fn value(launch: &Launch, key: &str) -> String {
        launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml)
    }

    /// 1,024 + 7,168 tokens a sample; two ranks share a sequence and take 9,216 tokens each, so two samples
    /// fit.
    #[test]
    fn rollouts_decide_lengths_and_micro_batches() {
        let found = launch(SCRIPT);
        for (key, expected) in [
            ("cluster.devices", "16"),
            ("plan.sequence_length", "8192"),
            ("plan.micro_batch", "2"),
            ("plan.global_batch", "256"),
            ("plan.sharding", "\"zero1\""),
        ] {
            assert_eq!(value(&found, key), expected, "{key}");
        }
        let unknown: Vec<&str> = found.remarks_of(RemarkKind::Unknown).map(|r| r.source.as_str()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        assert!(found.remarks_of(RemarkKind::Assumed).any(|r| r.source == "--colocate"));
    }

    #[test]
    fn without_a_prompt_length_both_stay_open() {
        let found = launch(&SCRIPT.replace("--rollout-max-prompt-len 1024", ""));
        for key in ["plan.sequence_length", "plan.micro_batch"] {
            assert_eq!(value(&found, key), "open");
            assert!(found.open.iter().any(|open| open.key == key), "{key}");
        }
    }
}
