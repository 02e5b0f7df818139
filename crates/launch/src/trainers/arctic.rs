//! ArcticTraining's YAML: Hugging Face's models under DeepSpeed, with sequences divided by heads.
//!
//! Responsible for: its keys and defaults (`arctic_training/config`, November 2026). Losses of two models are
//! remarks.

use super::common::named;
use crate::accelerate::{set_optimizer, software, unpadded};
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::{Format, Launch, RemarkKind, deepspeed, document};
use Meaning::{Ignored, Key, Lost, Read};
use railwright_spec::plan::{ContextKind, Optimizer, PrecisionPreset, Recompute};
use railwright_spec::problem::Problem;

/// Evidence of such a file.
pub(super) const WHY: &str =
    "YAML with the keys `type`, `model.name_or_path` and `data.sources` of ArcticTraining";

const KNOWN: &[Known] = &[
    ("micro_batch_size", Key("plan.micro_batch")),
    ("gradient_accumulation_steps", Key("plan.micro_batches")),
    ("data.max_length", Key("plan.sequence_length")),
    ("sequence_parallel_size", Read),
    ("expert_parallel_size", Key("plan.expert_parallel")),
    ("activation_checkpoint_cpu_offload", Read),
    ("tiled_mlp_compute", Lost(&["false"], "MLPs are estimated without tiles, an upper bound on memory")),
    ("arctic_moe", Lost(&["false"], "its kernels of experts are not modelled")),
    ("type", Read),
    ("model.name_or_path", Read),
    ("model.dtype", Read),
    ("model.disable_activation_checkpoint", Read),
    (
        "model.type",
        Lost(&["hf", "random-weight-hf", "liger", "random-weight-liger"], "a custom model is not supported"),
    ),
    ("model.peft_config.*", Ignored),
    ("model.*", Ignored),
    ("data.*", Ignored),
    ("optimizer.type", Read),
    ("optimizer.*", Ignored),
    ("scheduler.*", Ignored),
    ("checkpoint", Ignored),
    ("logger.*", Ignored),
    ("wandb.*", Ignored),
    ("epochs", Ignored),
    ("code", Ignored),
    ("min_iterations", Ignored),
    ("exit_iteration", Ignored),
    ("exit_iteration_this_run", Ignored),
    ("deepspeed.seq_parallel_communication_data_type", Ignored),
    ("zero_optimization.*", Ignored),
    ("skip_validation", Ignored),
    ("seed", Ignored),
];

/// Programs of one model and its next token.
const PLAIN: &[&str] = &["sft", "causal"];

pub(super) fn is_one(text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    let inside =
        |key: &str| text.lines().any(|line| line.starts_with(' ') && line.trim_start().starts_with(key));
    has("type:") && has("model:") && has("data:") && inside("name_or_path:") && inside("sources:")
}

pub(super) fn read(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let mut document = document::yaml(text, file).map_err(|problem| vec![problem])?;
    for entry in &mut document.entries {
        if let Some(rest) = entry.path.strip_prefix("deepspeed.") {
            entry.path = rest.to_owned();
        }
    }
    document.rename(&[(
        "seq_parallel_communication_data_type",
        "deepspeed.seq_parallel_communication_data_type",
    )]);
    let mut fields = Fields::new(Format::HfTrainer, file, text, document);
    fields.copy(KNOWN);
    let path = "model.name_or_path";
    if let Some(name) = fields.word(path) {
        named(&mut fields, path, &name);
    }
    fields.default("plan.micro_batch", &1_u64, "ArcticTraining uses 1 sample by default");
    fields.default("plan.micro_batches", &1_u64, "ArcticTraining does not accumulate by default");
    let path = "sequence_parallel_size";
    if let Some(ranks) = fields.count(path).filter(|&ranks| ranks > 1) {
        fields.set("plan.context_parallel", &ranks, path);
        fields.set("plan.context_kind", &ContextKind::Ulysses, path);
    }
    fields.undivided("ArcticTraining");
    let path = "model.dtype";
    match fields.word(path).map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("bf16" | "bfloat16") => fields.set("plan.precision.preset", &PrecisionPreset::Bf16, path),
        Some("fp16" | "float16") => fields.set("plan.precision.preset", &PrecisionPreset::Fp16, path),
        Some("fp32" | "float32") => fields.set("plan.precision.preset", &PrecisionPreset::Fp32, path),
        Some(other) => {
            fields.problem(Problem::new(format!("expected `bf16`, `fp16` or `fp32`, found `{other}`")), path);
        }
        None => {
            fields.default(
                "plan.precision.preset",
                &PrecisionPreset::Bf16,
                "ArcticTraining computes in bf16",
            );
        }
    }
    activations(&mut fields);
    if fields.document.has("zero_optimization") {
        deepspeed::shards(&mut fields, "");
    }
    software(&mut fields, deepspeed::SOFTWARE, "DeepSpeed");
    optimizer(&mut fields);
    let path = "type";
    if fields.word(path).is_some_and(|kind| !PLAIN.contains(&kind.as_str())) {
        let message =
            "second models and custom losses are not modelled: estimated as plain training, a lower bound";
        fields.remark(RemarkKind::NotModelled, path, message);
    }
    unpadded(&mut fields);
    missing(&mut fields, "ArcticTraining");
    fields.rest(KNOWN);
    fields.finish()
}

fn activations(fields: &mut Fields<'_>) {
    let path = "model.disable_activation_checkpoint";
    if fields.flag(path) == Some(true) {
        fields.set("plan.recompute", &Recompute::None, path);
    } else {
        let why = "ArcticTraining recomputes every layer by default";
        fields.default("plan.recompute", &Recompute::Full { layers: None }, why);
    }
    let path = "activation_checkpoint_cpu_offload";
    if fields.flag(path) == Some(true) {
        fields.set("plan.offload.activations", &1.0, path);
    }
}

fn optimizer(fields: &mut Fields<'_>) {
    if fields.document.has("model.peft_config") {
        let (source, line) = fields.source("model.peft_config");
        let why = "adapters of ArcticTraining are not supported";
        fields.draft.leave_open("plan.optimizer", &source, line, why);
        return fields.draft.remark(
            RemarkKind::Unresolved,
            &source,
            line,
            format!("{why}: pass `--optimizer lora`"),
        );
    }
    let path = "optimizer.type";
    match fields.word(path) {
        Some(name) => set_optimizer(fields, path, &name.to_ascii_lowercase()),
        None => {
            fields.default("plan.optimizer", &Optimizer::Adam, "ArcticTraining trains with Adam by default");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, RemarkKind, detect, read};
    use railwright_spec::run::Value;

    const FILE: &str = "type: sft\nmicro_batch_size: 1\nactivation_checkpoint_cpu_offload: true\nsequence_parallel_size: 8\ndeepspeed:\n  \
        zero_optimization:\n    stage: 3\n    offload_optimizer:\n      device: cpu\nmodel:\n  type: liger\n  name_or_path: \
        meta-llama/Llama-3.1-70B-Instruct\ndata:\n  sources:\n    - HuggingFaceH4/ultrachat_200k\n  max_length: 1_200_000\n";

    #[test]
    fn sequences_are_divided_by_heads_and_states_are_on_the_host() {
        assert_eq!(detect(FILE).first().map(|seen| seen.format), Some(Format::HfTrainer));
        let launch = read(FILE, "run.yml").expect("a launch file").expect("no problems");
        for (key, expected) in [
            ("model.name", "\"llama-3-70b\""),
            ("plan.context_parallel", "8"),
            ("plan.context_kind", "\"ulysses\""),
            ("plan.sharding", "\"fsdp\""),
            ("plan.offload.optimizer", "1.0"),
            ("plan.offload.activations", "1.0"),
            ("plan.recompute", "\"full\""),
            ("plan.sequence_length", "1200000"),
            ("plan.micro_batches", "1"),
            ("plan.precision.preset", "\"bf16\""),
        ] {
            let found = launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml);
            assert_eq!(found, expected, "{key}");
        }
        assert_eq!(launch.remarks_of(RemarkKind::Unknown).count(), 0, "{:?}", launch.remarks);
    }

    #[test]
    fn a_second_model_is_a_remark() {
        let text = FILE.replace("type: sft", "type: swiftkv");
        let launch = read(&text, "run.yml").expect("a launch file").expect("no problems");
        let lost = launch.remarks_of(RemarkKind::NotModelled).any(|remark| remark.source.contains("swiftkv"));
        assert!(lost, "{:?}", launch.remarks);
    }
}
