//! The kinds of files that people have beside a model and a cluster.
//!
//! Responsible for: their names. Which of them can be read and written is in the lists of readers and writers.

use serde::Serialize;

/// A kind of file, told by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// The log of a Megatron-LM run: the dump of its arguments, and what each iteration took.
    MegatronLog,
    /// A shell script that starts Megatron-LM.
    MegatronScript,
    /// A Megatron-LM command line, or flags alone.
    MegatronCommand,
    /// Megatron-LM's `--yaml-cfg`.
    MegatronYaml,
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
    /// A model's `config.json`.
    HuggingFace,
    /// A run file of this program.
    RunFile,
    /// A profiler's trace.
    Trace,
    /// MaxText's YAML.
    MaxText,
    /// What nccl-tests prints.
    NcclTests,
    /// What `nvidia-smi topo -m` prints.
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
            Self::Torchtitan => "torchtitan",
            Self::Deepspeed => "deepspeed",
            Self::Nanotron => "nanotron",
            Self::MegatronBridge => "megatron-bridge",
            Self::Nemo => "nemo",
            Self::Accelerate => "accelerate",
            Self::HuggingFace => "hugging-face",
            Self::RunFile => "run-file",
            Self::Trace => "trace",
            Self::MaxText => "max-text",
            Self::NcclTests => "nccl-tests",
            Self::Topology => "topology",
        }
    }

    /// What it is, in words behind "this is".
    pub const fn title(self) -> &'static str {
        match self {
            Self::MegatronLog => "the log of a Megatron-LM run",
            Self::MegatronScript => "a shell script that starts Megatron-LM",
            Self::MegatronCommand => "a Megatron-LM command line",
            Self::MegatronYaml => "a Megatron-LM YAML configuration",
            Self::Torchtitan => "a torchtitan configuration",
            Self::Deepspeed => "a DeepSpeed configuration",
            Self::Nanotron => "a nanotron configuration",
            Self::MegatronBridge => "a Megatron-Bridge configuration",
            Self::Nemo => "a NeMo configuration",
            Self::Accelerate => "an accelerate configuration",
            Self::HuggingFace => "a model's config.json",
            Self::RunFile => "a run file",
            Self::Trace => "a profiler's trace",
            Self::MaxText => "a MaxText configuration",
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
