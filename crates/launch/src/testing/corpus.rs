//! The runs whose exports are read by the frameworks' own parsers: layouts of a search, and 200 random ones.
//!
//! Responsible for: the same runs every time, and their files on disk for `xtask/peers/exports/check.sh`.
//! Excludes checks of acceptance by a framework: see the tables of `data/` and the peers.

use crate::testing::{Ranges, random, resolved};
use crate::{Written, writers};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use railwright_spec::run::Run;

/// Random runs.
const RANDOM: usize = 200;

/// Dense models, experts, hybrids, sparse attention, learned positions, ALiBi, windows.
const MODELS: &[&str] = &[
    "llama-3.1-8b",
    "llama-3.1-70b",
    "llama-3.1-405b",
    "llama-2-7b",
    "mistral-7b-v0.1",
    "mixtral-8x7b",
    "qwen2.5-7b",
    "qwen3-8b",
    "qwen3-30b-a3b",
    "qwen3-235b-a22b",
    "deepseek-v3-671b",
    "deepseek-v2-lite",
    "kimi-k2-1t",
    "llama-4-scout-17b-16e",
    "gpt3-175b",
    "gpt-oss-20b",
    "nemotron-4-15b",
    "nemotron-h-56b",
    "nemotron-3-nano-30b-a3b",
    "qwen3-next-80b-a3b",
    "deepseek-v3.2-685b",
    "bloom-176b",
    "gemma-2-9b",
    "olmoe-1b-7b",
];

const RANGES: Ranges = Ranges {
    models: MODELS,
    clusters: &["dgx-h100", "dgx-h100", "gb300-nvl72", "dgx-a100"],
    sequences: &[4096, 4096, 8192, 32768, 131_072, 1_048_576],
    choices: &[
        (
            "plan.software",
            &["megatron-core-2024", "megatron-core-2025", "megatron-core-2026", "megatron-core-2026-06"],
        ),
        (
            "plan.recompute",
            &[
                "none",
                "full",
                "full:2",
                "selective:core_attention",
                "selective:norm",
                "selective:norm,activation",
                "selective:mlp",
                "selective:moe",
                "selective:latent_up_projection",
                "selective:activation",
                "selective:operators",
                "none",
            ],
        ),
        ("plan.offload.activations", &["0", "0", "0", "0.25", "0.5"]),
        ("plan.offload.optimizer", &["0", "0", "0", "1"]),
        ("plan.precision.preset", &["bf16", "bf16", "fp8", "mxfp8", "nvfp4", "fp16", "fp32"]),
        ("plan.precision.parameters", &["bf16", "bf16", "bf16", "fp8"]),
        ("plan.expert_capacity", &["1.25", "none", "none", "2"]),
    ],
    settings: &[],
};

/// One replica per device or per few, as in trainers on Hugging Face's models.
pub(crate) const FLAT: Ranges = Ranges {
    models: &[
        "llama-3-8b",
        "llama-3-70b",
        "qwen3-8b",
        "qwen2.5-7b",
        "mistral-7b-v0.1",
        "mixtral-8x7b",
        "qwen3-30b-a3b",
    ],
    clusters: &["dgx-h100"],
    sequences: &[2048, 4096, 8192],
    choices: &[
        ("plan.optimizer", &["adam", "lora", "adafactor", "sgd"]),
        ("plan.software", &["deepspeed-2024", "torchtitan-2024-eager", "transformers-2026"]),
        ("plan.precision.preset", &["bf16", "bf16", "fp16"]),
        ("plan.tensor_parallel", &["1", "1", "2"]),
        ("plan.context_parallel", &["1", "1", "2"]),
        ("plan.sharding", &["none", "zero1", "zero2", "fsdp", "fsdp", "fsdp", "fsdp-no-reshard"]),
        ("plan.offload.optimizer", &["0", "0", "1"]),
        ("plan.offload.parameters", &["0", "0", "0"]),
    ],
    settings: &[
        "plan.pipeline_parallel=1",
        "plan.virtual_stages=1",
        "plan.expert_parallel=1",
        "plan.expert_tensor_parallel=1",
        "plan.uneven_stages=false",
    ],
};

/// Layouts of the kinds that a search names as best: model, machine, settings.
const WINNERS: &[(&str, &str, &str)] = &[
    ("llama-3.1-8b", "dgx-h100:64", "cp=4 gbs=64 seq=131072 sharding=zero2"),
    ("llama-3.1-70b", "dgx-h100:256", "tp=4 cp=2 pp=2 vp=5 gbs=512 seq=8192 sharding=zero1"),
    ("llama-3.1-405b", "dgx-h100:1024", "tp=8 cp=4 pp=16 vp=7 gbs=512 seq=8192 sharding=zero1 layers=1,1,1"),
    ("llama-3.1-405b", "dgx-h100:1024", "tp=8 pp=18 vp=7 gbs=512 seq=8192 sharding=zero1"),
    (
        "llama-3.1-70b",
        "dgx-h100:64",
        "tp=4 cp=2 pp=2 vp=5 gbs=128 seq=8192 precision=fp8 recompute=selective:norm",
    ),
    ("llama-2-7b", "dgx-a100:8", "gbs=64 seq=4096 sharding=fsdp recompute=selective:norm"),
    ("deepseek-v3-671b", "gb300-nvl72:256", "ep=64 gbs=4096 seq=4096 precision=mxfp8 overlap.expert=true"),
    ("qwen3-235b-a22b", "gb300-nvl72:256", "cp=4 ep=2 gbs=2048 seq=4096 sharding=fsdp recompute=full"),
    ("qwen3-30b-a3b", "gb300-nvl72:8", "ep=8 gbs=512 seq=4096 sharding=zero2"),
    ("kimi-k2-1t", "gb300-nvl72:256", "ep=64 gbs=4096 seq=4096 sharding=zero1"),
    ("mixtral-8x7b", "dgx-h100:64", "tp=2 ep=8 gbs=256 seq=4096 sharding=zero1 overlap.expert=true"),
    ("gpt-oss-120b", "gb300-nvl72:64", "ep=32 gbs=1280 seq=4096 sharding=zero2"),
    ("nemotron-3-super-120b-a12b", "gb300-nvl72:64", "cp=4 ep=32 gbs=512 seq=8192 sharding=fsdp"),
    ("nemotron-h-56b", "dgx-h100:64", "tp=8 gbs=256 seq=8192 sharding=zero1"),
    ("llama-3.1-8b", "dgx-h100:64", "cp=64 gbs=4 seq=1048576 sharding=zero1"),
];

/// A name and a run, always the same ones.
pub(crate) fn runs() -> Vec<(String, Run)> {
    let mut out = Vec::new();
    for (index, (model, machine, words)) in WINNERS.iter().enumerate() {
        if let Some(run) = winner(model, machine, words) {
            out.push((format!("winner-{index:02}"), run));
        }
    }
    assert!(out.len() + 2 >= WINNERS.len(), "only {} of the winners are valid", out.len());
    out.extend(drawn(RANGES));
    out
}

/// Random runs: the same ones every time, or others for a number in `RAILWRIGHT_EXPORTS_SEED`.
pub(crate) fn drawn(ranges: Ranges) -> Vec<(String, Run)> {
    let mut runner = match std::env::var("RAILWRIGHT_EXPORTS_SEED") {
        Ok(seed) => {
            let seed: u8 = seed.parse().expect("a seed from 0 to 255");
            TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]))
        }
        Err(_) => TestRunner::deterministic(),
    };
    let strategy = random(ranges);
    let drawn = (0..RANDOM).map(|_| strategy.new_tree(&mut runner).expect("a valid plan is found").current());
    drawn.enumerate().map(|(index, run)| (format!("random-{index:03}"), run)).collect()
}

fn winner(model: &str, machine: &str, words: &str) -> Option<Run> {
    let (preset, devices) = machine.split_once(':')?;
    let mut settings = vec![
        format!("model.name={model}"),
        format!("cluster.preset={preset}"),
        format!("cluster.devices={devices}"),
    ];
    for word in words.split(' ') {
        let (key, value) = word.split_once('=')?;
        let key = match key {
            "tp" => "tensor_parallel",
            "pp" => "pipeline_parallel",
            "vp" => "virtual_stages",
            "cp" => "context_parallel",
            "ep" => "expert_parallel",
            "gbs" => "global_batch",
            "seq" => "sequence_length",
            "precision" => "precision.preset",
            key => key,
        };
        settings.push(format!("plan.{key}={value}"));
    }
    settings.push("plan.uneven_stages=true".to_owned());
    resolved(&settings)
}

/// Writes the files of every writer if `RAILWRIGHT_EXPORTS` names a folder: a folder for each writer and
/// version.
#[test]
fn exports_are_written_where_asked() {
    let Ok(folder) = std::env::var("RAILWRIGHT_EXPORTS") else { return };
    for writer in writers() {
        let versions: Vec<Option<&str>> = match writer.versions() {
            [] => vec![None],
            versions => versions.iter().copied().map(Some).collect(),
        };
        for version in versions {
            let name = version
                .map_or_else(|| writer.name().to_owned(), |version| format!("{}-{version}", writer.name()));
            let folder = std::path::Path::new(&folder).join(name);
            std::fs::create_dir_all(&folder).expect("a folder");
            let is_flat = matches!(writer.name(), "accelerate" | "llama-factory" | "axolotl");
            for (name, run) in if is_flat { drawn(FLAT) } else { runs() } {
                let written = match version {
                    Some(version) => writer.write_for(&run, version),
                    None => writer.write(&run),
                };
                save(&folder, &name, &written);
            }
        }
    }
}

fn save(folder: &std::path::Path, name: &str, written: &Written) {
    for file in &written.files {
        std::fs::write(folder.join(format!("{name}.{}", file.name)), &file.text).expect("a file");
    }
    let lost = written.inexpressible().map(|lost| format!("{}: {}\n", lost.key, lost.message));
    std::fs::write(folder.join(format!("{name}.lost")), lost.collect::<String>()).expect("a file");
}
