//! Arguments of the commands that need no trace of a job: `log`, `hang` and `memory-snapshot`.

use super::Output;
use clap::{Args, ValueHint};

/// Arguments of `log`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright log train.log\n  \
    railwright log train.log --accelerator h100-sxm5-80gb\n  \
    railwright log train.log --batch-size 256\n  \
    railwright log slurm-1234.out.gz --json | jq '.log.restarts'\n\n\
    Reads logs of Megatron-LM (including timers and straggler lines), DeepSpeed and torchtitan: plain, .gz or .zst.\n\
    DeepSpeed reports samples per second: step time is `train_batch_size` (or --batch-size) divided by that rate.\n\
    Without a batch size, step time is the sum of the `wall_clock_breakdown` timers.\n\
    MFU requires the accelerator and either a logged throughput or the arguments that Megatron prints at startup.")]
pub(crate) struct Log {
    /// Training log, or `-` for stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: String,
    /// Accelerator of the run, from `gpus list`
    #[arg(long, value_name = "ACCELERATOR")]
    pub(crate) accelerator: Option<String>,
    /// Global batch in sequences, if a DeepSpeed log lacks `train_batch_size`
    #[arg(long, value_name = "SEQUENCES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) batch_size: Option<u64>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `hang`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright hang /tmp/nccl_trace_rank_*\n  \
    railwright hang dumps/ --json | jq '.hang.roots'\n\n\
    Reads PyTorch flight-recorder dumps (pickle or JSON) and XPUTimer metrics. The rank is the last number in the file name.\n\
    Pickles are parsed, never executed. Exit code 1: a hang is found, or cannot be excluded because dumps are missing or damaged.")]
pub(crate) struct Hang {
    /// Dumps: files, folders or patterns
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `memory-snapshot`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright memory-snapshot snapshot.pickle\n  \
    railwright memory-snapshot snapshot.pickle --run run.toml --stage 0\n  \
    railwright memory-snapshot trace.json.gz --json | jq '.devices[0].places[:5]'\n\n\
    Reads `torch.cuda.memory._dump_snapshot` pickles, and the `[memory]` events of PyTorch profiler traces (`profile_memory=True`).\n\
    Pickles are parsed, never executed. Stacks require `torch.cuda.memory._record_memory_history()` before the first allocation.\n\
    With --run, the measured peak is compared with the calculator's prediction.")]
pub(crate) struct MemorySnapshot {
    /// Snapshot or trace
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: String,
    /// Run file, launch file or log: compare its predicted memory with the measurement
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Model")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) beside: super::Beside,
    /// Accelerator [default: from the run]
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) accelerator: Option<String>,
    /// Pipeline stage of the recorded rank [default: the stage with the highest peak]
    #[arg(long, value_name = "N", requires = "run", help_heading = "Model")]
    pub(crate) stage: Option<usize>,
    /// Number of allocation sites to list
    #[arg(long, value_name = "N", default_value_t = 12, help_heading = "Output")]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}
