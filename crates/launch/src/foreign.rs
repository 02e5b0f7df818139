//! Files of tools with the key names of other tools.
//!
//! Responsible for: features that identify such a file, so that a reader does not claim the file of another
//! tool because of an equal key name. Does not read them.

/// Keys that begin a line, all of which a file must have, and the tool of the file.
const MARKS: &[(&[&str], &str)] = &[
    (&["actor_rollout_ref:"], "verl"),
    (&["work_group:", "modules:"], "Primus"),
    (&["model:", "data:", "train:"], "VeOmni"),
    (&["base_model:"], "Axolotl"),
    (&["train_loader:", "max_duration:"], "llm-foundry"),
    (&["train_loader:", "max_seq_len:"], "llm-foundry"),
    (&["policy:", "grpo:"], "NeMo-RL"),
    (&["policy:", "sft:"], "NeMo-RL"),
    (&["policy:", "dpo:"], "NeMo-RL"),
    (&["distributed_strategy:", "trainer:"], "NeuronX Distributed Training"),
];

/// Keys of GPT-NeoX anywhere in a file; it is written as JSON or YAML, with dashes or underscores.
const NEOX: &[&str] = &[
    "\"pipe-parallel-size\"",
    "\"pipe_parallel_size\"",
    "pipe-parallel-size:",
    "pipe_parallel_size:",
    "\"synchronize_each_layer\"",
    "\"synchronize-each-layer\"",
    "\"override_lr_scheduler\"",
    "\"override-lr-scheduler\"",
    "\"checkpoint_factor\"",
    "\"checkpoint-factor\"",
];

/// Beginnings of lines, all of which a file must have; the reason why it is not read, and the action.
const NOT_READ: &[(&[&str], &str, &str)] = &[
    (
        &["type: basic", "format_version:", "spec:"],
        "a recipe of NVIDIA's test runner, whose script has placeholders instead of values",
        "pass the script that it starts, with its variables: `--launch-args \"TP_SIZE=2 PP_SIZE=4\"`",
    ),
    (
        &["model:", "trainer:", "optimizer:", "  max_num_tokens:"],
        "a recipe of fairseq2: its batch is a number of tokens, and its defaults are in its code",
        "pass the model with its layout, as in `railwright estimate llama-3.1-8b --sharding fsdp`",
    ),
    (
        &["base_config: \"inference", "model_name:"],
        "a configuration of MaxText for inference: it trains nothing",
        "pass a configuration that sets `per_device_batch_size` and `max_target_length`",
    ),
    (
        &["base_config: inference", "model_name:"],
        "a configuration of MaxText for inference: it trains nothing",
        "pass a configuration that sets `per_device_batch_size` and `max_target_length`",
    ),
];

/// The reason why a file of a known kind is not read, and the action; `None` for files of other kinds.
pub(crate) fn not_read(text: &str) -> Option<(&'static str, &'static str)> {
    let has = |start: &str| text.lines().any(|line| line.starts_with(start));
    let found = NOT_READ.iter().find(|(starts, ..)| starts.iter().all(|start| has(start)));
    found.map(|(_, reason, hint)| (*reason, *hint))
}

/// The tool of a text, among those that share key names with a supported format; `None` for others.
pub(crate) fn owner(text: &str) -> Option<&'static str> {
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    let found = MARKS.iter().find(|(keys, _)| keys.iter().all(|key| has(key))).map(|(_, tool)| *tool);
    found.or_else(|| NEOX.iter().any(|key| text.contains(key)).then_some("GPT-NeoX"))
}

#[cfg(test)]
mod tests {
    use super::owner;
    use crate::{Format, detect};

    #[test]
    fn files_of_other_tools_are_not_claimed() {
        for (text, tool) in [
            ("base_model: x/y\nfsdp_config:\n  fsdp_version: 2\n", "Axolotl"),
            (
                "work_group: amd\nmodules:\n  pre_trainer:\n    overrides:\n      per_device_batch_size: 4\n",
                "Primus",
            ),
            (
                "max_seq_len: 2048\nmodel:\n  name: mpt\ntrain_loader:\n  a: 1\nfsdp_config:\n  a: 1\n",
                "llm-foundry",
            ),
            (
                "trainer:\n  devices: 32\n  num_nodes: 4\nmodel:\n  num_layers: 80\n  hidden_size: 8192\n\
                 distributed_strategy:\n  tensor_model_parallel_size: 32\n",
                "NeuronX Distributed Training",
            ),
            ("actor_rollout_ref:\n  model: x\ntrainer:\n  a: 1\nmodel:\n  micro_batch_size: 1\n", "verl"),
            ("{\n \"pipe-parallel-size\": 4,\n \"zero_optimization\": {\"stage\": 1}\n}\n", "GPT-NeoX"),
        ] {
            assert_eq!(owner(text), Some(tool));
            let claimed = [
                Format::Accelerate,
                Format::MaxText,
                Format::Nemo,
                Format::MegatronBridge,
                Format::Deepspeed,
            ];
            let seen = detect(text);
            assert!(seen.iter().all(|sighting| !claimed.contains(&sighting.format)), "{tool}: {seen:?}");
        }
        assert_eq!(owner("distributed_type: FSDP\nfsdp_config:\n  a: 1\n"), None);
    }
}
