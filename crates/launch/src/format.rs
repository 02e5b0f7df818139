//! The kinds of input files other than models and clusters.
//!
//! Responsible for: their names. Which of them can be read and written is in the lists of readers and
//! writers.

use serde::Serialize;

/// A kind of file, detected by content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// The log of a Megatron-LM run: the dump of its arguments, and the time of each iteration.
    MegatronLog,
    /// A shell script that starts Megatron-LM.
    MegatronScript,
    /// A Megatron-LM command line, or only flags.
    MegatronCommand,
    /// Megatron-LM's `--yaml-cfg`.
    MegatronYaml,
    /// A YAML file of Megatron-LM flags under `MODEL_ARGS`.
    MegatronArgsYaml,
    /// torchtitan's TOML, JSON or overrides.
    Torchtitan,
    /// DeepSpeed's JSON.
    Deepspeed,
    /// nanotron's YAML.
    Nanotron,
    /// Megatron-Bridge's YAML.
    MegatronBridge,
    /// NeMo's YAML.
    Nemo,
    /// The YAML of Hugging Face accelerate.
    Accelerate,
    /// A trainer on Hugging Face models: LLaMA-Factory, Axolotl, TRL, ms-swift, llm-foundry, LitGPT,
    /// OpenRLHF, NeMo Automodel, xtuner, VeOmni.
    HfTrainer,
    /// Reinforcement learning: verl, NeMo-RL.
    Rl,
    /// GPT-NeoX's YAML.
    GptNeox,
    /// Primus' YAML.
    Primus,
    /// torchtune's YAML.
    Torchtune,
    /// OLMo-core's configuration in Python.
    OlmoCore,
    /// A library that pretrains a model from its dimensions: Levanter, lingua, InternEvo.
    Pretrainer,
    /// A model's `config.json`.
    HuggingFace,
    /// A run file of this program.
    RunFile,
    /// A profiler's trace.
    Trace,
    /// MaxText's YAML.
    MaxText,
    /// A shell script that starts a program with a configuration file.
    Script,
    /// A configuration of a program without a reader, with keys of common names.
    Other,
    /// Output of nccl-tests.
    NcclTests,
    /// Output of `nvidia-smi topo -m`.
    Topology,
}

impl Format {
    /// Its name on the command line and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MegatronLog => "megatron-log",
            Self::MegatronScript => "megatron-script",
            Self::MegatronCommand => "megatron-command",
            Self::MegatronYaml => "megatron-yaml",
            Self::MegatronArgsYaml => "megatron-model-args",
            Self::Torchtitan => "torchtitan",
            Self::Deepspeed => "deepspeed",
            Self::Nanotron => "nanotron",
            Self::MegatronBridge => "megatron-bridge",
            Self::Nemo => "nemo",
            Self::Accelerate => "accelerate",
            Self::HfTrainer => "hf-trainer",
            Self::Rl => "rl",
            Self::GptNeox => "gpt-neox",
            Self::Primus => "primus",
            Self::Torchtune => "torchtune",
            Self::OlmoCore => "olmo-core",
            Self::Pretrainer => "pretrainer",
            Self::HuggingFace => "hugging-face",
            Self::RunFile => "run-file",
            Self::Trace => "trace",
            Self::MaxText => "max-text",
            Self::Script => "script",
            Self::Other => "other",
            Self::NcclTests => "nccl-tests",
            Self::Topology => "topology",
        }
    }

    /// Description that follows "this is".
    pub const fn title(self) -> &'static str {
        match self {
            Self::MegatronLog => "the log of a Megatron-LM run",
            Self::MegatronScript => "a shell script that starts Megatron-LM",
            Self::MegatronCommand => "a Megatron-LM command line",
            Self::MegatronYaml => "a Megatron-LM YAML configuration",
            Self::MegatronArgsYaml => "a YAML file of Megatron-LM flags",
            Self::Torchtitan => "a torchtitan configuration",
            Self::Deepspeed => "a DeepSpeed configuration",
            Self::Nanotron => "a nanotron configuration",
            Self::MegatronBridge => "a Megatron-Bridge configuration",
            Self::Nemo => "a NeMo configuration",
            Self::Accelerate => "an accelerate configuration",
            Self::HfTrainer => "a Hugging Face trainer configuration",
            Self::Rl => "a reinforcement-learning configuration",
            Self::GptNeox => "a GPT-NeoX configuration",
            Self::Primus => "a Primus configuration",
            Self::Torchtune => "a torchtune configuration",
            Self::OlmoCore => "an OLMo-core configuration",
            Self::Pretrainer => "a configuration for a pretraining library",
            Self::HuggingFace => "a model's config.json",
            Self::RunFile => "a run file",
            Self::Trace => "a profiler's trace",
            Self::MaxText => "a MaxText configuration",
            Self::Script => "a shell script that starts a program",
            Self::Other => "a configuration for an unknown program",
            Self::NcclTests => "the output of nccl-tests",
            Self::Topology => "the output of `nvidia-smi topo -m`",
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A file as read, before edits.
#[derive(Clone, Debug)]
pub struct Original {
    /// Its path.
    pub path: String,
    /// Its content.
    pub text: String,
    /// Its kind; `None` for a model, which has no layout.
    pub format: Option<Format>,
}
