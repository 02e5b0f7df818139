//! Arguments of the commands that need no trace: `log` and `hang`.

use super::Output;
use clap::{Args, ValueHint};

/// Arguments of `log`.
#[derive(Args, Debug)]
#[command(after_long_help = "Examples:\n  \
    railwright log train.log\n  \
    railwright log train.log --accelerator h100-sxm5-80gb\n  \
    railwright log train.log --batch-size 256\n  \
    railwright log slurm-1234.out.gz --json | jq '.log.restarts'\n\n\
    Reads reports of Megatron-LM (with timers and straggler lines), DeepSpeed and torchtitan, plain, .gz or .zst; `-` is stdin.\n\
    DeepSpeed's own lines give samples per second: the time of a step is its batch over them, where the log prints `train_batch_size` or `--batch-size` says it; \
    else it is the sum of the timers of `wall_clock_breakdown`.\n\
    MFU needs the throughput in the log, or the arguments that Megatron prints at its start, and the accelerator.")]
pub(crate) struct Log {
    /// A training log
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: String,
    /// What it ran on: a name of `gpus list`
    #[arg(long, value_name = "ACCELERATOR")]
    pub(crate) accelerator: Option<String>,
    /// Sequences of a step on all devices, where a DeepSpeed log does not print them (`train_batch_size`)
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
    Takes dumps of PyTorch's flight recorder (pickle or JSON; the rank is the last number in a file's name) and XPUTimer's \
    metrics. Nothing in a pickle is ever run. Exit code 1: something hangs, or may, because dumps are missing or damaged.")]
pub(crate) struct Hang {
    /// Dumps: files, folders, patterns
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}
