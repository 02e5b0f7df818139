//! Levanter's YAML: JAX on TPUs and GPUs, with parameters sharded over the data axis.
//!
//! Responsible for: `model`, `trainer` and `optimizer` of `train_lm` with the defaults of `trainer.py` and
//! `models/` (November 2026).

use super::common::{dimensions, has_key, has_sections, open_model, sharding, vocabulary};
use crate::accelerate::{set_optimizer, software};
use crate::document::{self, Data};
use crate::fields::{Fields, Known, Meaning};
use crate::missing::missing;
use crate::{Format, Launch, RemarkKind};
use Meaning::{Ignored, Lost, Read};
use railwright_spec::model::Style;
use railwright_spec::plan::{PrecisionPreset, Recompute};
use railwright_spec::problem::Problem;

pub(super) const WHY: &str = "YAML with the keys `model` and `trainer` of Levanter";

const KNOWN: &[Known] = &[
    ("model.type", Read),
    ("model.seq_len", Read),
    ("model.hidden_dim", Read),
    ("model.intermediate_dim", Read),
    ("model.num_layers", Read),
    ("model.num_heads", Read),
    ("model.num_kv_heads", Read),
    ("model.head_dim", Read),
    ("model.gradient_checkpointing", Read),
    ("model.tie_word_embeddings", Read),
    ("model.use_bias", Read),
    ("model.hybrid_norm", Lost(&["false"], "norms after attention and MLP are not modelled")),
    ("model.input_embedding_norm", Lost(&["false"], "the norm of the embedding is not modelled")),
    ("model.upcast_attn", Lost(&["false"], "scores are estimated in the format of GEMMs")),
    ("model.scale_attn_by_inverse_layer_idx", Ignored),
    ("model.initializer_range", Ignored),
    ("model.layer_norm_epsilon", Ignored),
    ("model.activation_function", Ignored),
    ("model.use_layer_norm_weight", Ignored),
    ("model.use_flash_attention", Ignored),
    ("model.flash_attention_block_size", Ignored),
    ("model.attn_backend", Ignored),
    ("model.scan_layers", Ignored),
    ("model.reference_checkpoint", Ignored),
    ("model.attn_pdrop", Ignored),
    ("model.embed_pdrop", Ignored),
    ("model.resid_pdrop", Ignored),
    ("model.tokenizer", Ignored),
    ("model.rope.*", Ignored),
    ("trainer.mp", Read),
    ("trainer.train_batch_size", Read),
    ("trainer.per_device_parallelism", Read),
    ("trainer.model_axis_size", Read),
    ("trainer.replica_ici_axis_size", Read),
    ("trainer.replica_dcn_axis_size", Read),
    ("trainer.tensor_parallel_axes", Read),
    ("trainer.fsdp_axis", Read),
    ("trainer.fp8", Read),
    ("trainer.quantization.fwd_dtype", Read),
    ("trainer.batch_axis", Ignored),
    ("trainer.num_train_steps", Ignored),
    ("trainer.per_device_eval_parallelism", Ignored),
    ("trainer.*", Ignored),
    ("optimizer.type", Read),
    ("optimizer.*", Ignored),
    ("data.*", Ignored),
    ("train_seq_len", Read),
    ("max_seq_len", Read),
    ("tokenizer", Read),
    ("initialize_from_hf", Read),
    ("model_name_or_path", Read),
    ("use_hf_model_config", Read),
    ("initialize_from_checkpoint_path", Ignored),
    ("z_loss_weight", Ignored),
    ("epoch", Ignored),
    ("hf_save_steps", Ignored),
    ("hf_save_path", Ignored),
    ("hf_upload", Ignored),
    ("data_seed", Ignored),
    ("eval_harness.*", Ignored),
    ("eval_harness_steps", Ignored),
    ("dataset_type", Ignored),
    ("supervised_data.*", Ignored),
    ("chat_train_urls", Ignored),
];

pub(super) fn is_one(text: &str) -> bool {
    let own = [
        "num_train_steps",
        "per_device_parallelism",
        "per_device_eval_parallelism",
        "model_axis_size",
        "tensor_parallel_axes",
        "fsdp_axis",
    ];
    has_sections(text, &["model", "trainer"])
        && own.iter().any(|key| has_key(text, key))
        && (has_key(text, "train_batch_size") || has_key(text, "mp"))
}

pub(super) fn read(text: &str, file: &str) -> Result<Launch, Vec<Problem>> {
    let mut document = document::yaml(text, file).map_err(|problem| vec![problem])?;
    // Its older name.
    document.rename(&[("trainer.ray", "trainer.cluster")]);
    let mut fields = Fields::new(Format::Pretrainer, file, text, document);
    model(&mut fields);
    batch(&mut fields);
    parallel(&mut fields);
    precision(&mut fields);
    recompute(&mut fields);
    let path = "optimizer.type";
    let optimizer = fields.word(path).unwrap_or_else(|| "adam".to_owned());
    if fields.document.has(path) {
        set_optimizer(&mut fields, path, &optimizer.to_ascii_lowercase());
    } else {
        let why = "Levanter trains with Adam by default";
        fields.default("plan.optimizer", &railwright_spec::plan::Optimizer::Adam, why);
    }
    if fields.document.has("lora") {
        let (source, line) = fields.source("lora.r");
        fields.draft.leave_open("plan.optimizer", &source, line, "adapters of Levanter are not supported");
        fields.draft.remark(
            RemarkKind::Unresolved,
            &source,
            line,
            "adapters are not supported: pass `--optimizer lora`",
        );
    }
    fields.default("plan.vocabulary_multiple", &1_u64, "Levanter pads the vocabulary only for its shards");
    software(&mut fields, "maxtext-tpu", "JAX; no generation of Levanter is measured");
    missing(&mut fields, "Levanter");
    fields.rest(KNOWN);
    fields.finish()
}

/// Layers, width, heads, heads of keys, MLP and sequence of a type without keys.
type Usual = (&'static str, [u64; 6]);

const TYPES: &[Usual] = &[
    ("llama", [32, 4096, 32, 32, 11_008, 2048]),
    ("mistral", [32, 4096, 32, 8, 14_336, 8192]),
    ("qwen3", [32, 4096, 32, 32, 11_008, 2048]),
    ("gpt2", [12, 768, 12, 12, 3072, 1024]),
];

fn model(fields: &mut Fields<'_>) {
    // A checkpoint of Hugging Face replaces the dimensions of the file if it is asked to.
    let from = fields.take("initialize_from_hf");
    let replaces = fields.flag("use_hf_model_config") == Some(true);
    let named = fields.word("model_name_or_path");
    if replaces {
        let path = match from.map(|entry| entry.data) {
            Some(Data::Text(_)) => "initialize_from_hf",
            _ => "model_name_or_path",
        };
        if let Some(name) = fields.word(path) {
            return fields.named_model(path, &name);
        }
        return open_model(fields, "use_hf_model_config", "the Hugging Face checkpoint is not named");
    }
    drop(named);
    let path = "model.type";
    let name = fields.word(path).unwrap_or_else(|| "gpt2".to_owned());
    let Some((_, usual)) = TYPES.iter().find(|(known, _)| *known == name) else {
        let paths: Vec<String> = fields.document.entries.iter().map(|entry| entry.path.clone()).collect();
        for path in paths.iter().filter(|path| path.starts_with("model.") && *path != "model.seq_len") {
            let _ = fields.take(path);
        }
        return open_model(fields, path, "layers of this type are not supported");
    };
    let [layers, hidden, heads, kv_heads, ffn, _] = *usual;
    let of = format!("Levanter's `{name}`");
    let keys = [
        ("model.num_layers", "model.layers", Some(layers)),
        ("model.hidden_dim", "model.hidden", Some(hidden)),
        ("model.num_heads", "model.heads", Some(heads)),
        ("model.head_dim", "model.head_dim", None),
    ];
    dimensions(fields, &of, &keys);
    if name == "gpt2" {
        fields.default("model.style", &Style::Gpt, "Levanter's `gpt2`");
        let scale = fields.count("model.mlp_scale").unwrap_or(4);
        let width = fields.draft.spec().model.hidden.unwrap_or(hidden);
        fields.default("model.ffn", &width.saturating_mul(scale), "`mlp_scale` times the width");
        let bias = fields.flag("model.use_bias").unwrap_or(true);
        fields.default("model.biases", &bias, "`use_bias`, which is on by default");
    } else {
        let keys = [
            ("model.num_kv_heads", "model.kv_heads", Some(kv_heads)),
            ("model.intermediate_dim", "model.ffn", Some(ffn)),
        ];
        dimensions(fields, &of, &keys);
        let path = "model.tie_word_embeddings";
        match fields.flag(path) {
            Some(tied) => fields.set("model.tied", &tied, path),
            None => fields.default("model.tied", &false, "Levanter does not tie embeddings by default"),
        }
        let path = "model.use_bias";
        if fields.flag(path) == Some(true) {
            fields.set("model.biases", &true, path);
        }
    }
    let path = ["data.tokenizer", "tokenizer"].into_iter().find(|path| fields.document.has(path));
    vocabulary(fields, path.unwrap_or("data.tokenizer"));
}

/// `train_batch_size` counts sequences of all devices; `per_device_parallelism` those of a device in a pass,
/// -1 for all of them.
fn batch(fields: &mut Fields<'_>) {
    let lengths = ["train_seq_len", "max_seq_len", "model.seq_len"];
    let found = lengths.iter().find_map(|path| Some((*path, fields.count(path)?)));
    for path in lengths {
        let _ = fields.take(path);
    }
    if let Some((path, length)) = found {
        fields.set("plan.sequence_length", &length, path);
    } else if let Some((_, [.., length])) =
        fields.word("model.type").and_then(|name| TYPES.iter().find(|(known, _)| *known == name))
    {
        fields.default("plan.sequence_length", length, "the default of the model's type");
    }
    let path = "trainer.train_batch_size";
    match fields.take(path).map(|entry| entry.data) {
        None => fields.default("plan.global_batch", &512_u64, "Levanter's default"),
        Some(Data::List(_) | Data::Table(_)) => {
            let why = "the batch changes during the run";
            let (source, line) = fields.source(path);
            fields.draft.leave_open("plan.global_batch", &source, line, why);
            fields.remark(RemarkKind::Unresolved, path, format!("{why}: pass --global-batch"));
        }
        Some(_) => {
            if let Some(batch) = fields.integer(path).and_then(|n| u64::try_from(n).ok()) {
                fields.set("plan.global_batch", &batch, path);
            }
        }
    }
    let path = "trainer.per_device_parallelism";
    match fields.integer(path) {
        Some(each) if each > 0 => fields.set("plan.micro_batch", &(each as u64), path),
        Some(_) => fields.set("plan.micro_batches", &1_u64, path),
        None => {
            fields.default("plan.micro_batches", &1_u64, "Levanter computes a batch in one pass by default");
        }
    }
}

/// One axis divides the model, the others replicas; the width of every parameter is sharded over the data
/// axis.
fn parallel(fields: &mut Fields<'_>) {
    let path = "trainer.model_axis_size";
    if let Some(ranks) = fields.count(path) {
        fields.set("plan.tensor_parallel", &ranks, path);
    }
    for path in ["trainer.tensor_parallel_axes", "trainer.batch_axis"] {
        let _ = fields.take(path);
    }
    fields.undivided("Levanter");
    let axis = "trainer.fsdp_axis";
    let replicas = ["trainer.replica_ici_axis_size", "trainer.replica_dcn_axis_size"];
    let copies = replicas.iter().find(|path| fields.integer(path).is_some_and(|n| n != 1)).copied();
    let older = ["trainer.axis_resources", "trainer.parameter_axis_resources", "trainer.mesh"]
        .into_iter()
        .find(|section| fields.document.has(section));
    if let Some(path) = copies.or(older) {
        let why = "device axes are not supported";
        let (source, line) = fields.source(path);
        fields.draft.leave_open("plan.sharding", &source, line, why);
        fields.draft.remark(RemarkKind::Unresolved, &source, line, format!("{why}: pass --sharding"));
        if older == Some("trainer.axis_resources") || older == Some("trainer.mesh") {
            fields.draft.leave_open("plan.tensor_parallel", &source, line, why);
        }
    } else if fields.document.get(axis).is_some_and(|entry| entry.data == Data::Null) {
        let _ = fields.take(axis);
        fields.set("plan.sharding", &sharding(0, None), axis);
    } else {
        let _ = fields.take(axis);
        fields.default(
            "plan.sharding",
            &sharding(3, None),
            "Levanter shards parameters over all replicas by default",
        );
    }
}

/// `mp: p=f32,c=bfloat16`: formats of parameters and of products. A single format is that of all.
fn precision(fields: &mut Fields<'_>) {
    let path = "trainer.mp";
    let text = fields.word(path);
    let of = |name: &str| {
        let text = text.as_deref()?;
        let part =
            text.split(',').map(str::trim).find_map(|part| part.strip_prefix(name)?.trim().strip_prefix('='));
        Some(part.unwrap_or(if text.contains('=') { "f32" } else { text }).trim())
    };
    let names = |format: &str| ["c", "compute"].iter().any(|name| of(name) == Some(format));
    let (parameters, is_short) = (of("p").or_else(|| of("params")), names("bfloat16") || names("bf16"));
    let narrow =
        ["trainer.fp8", "trainer.quantization.fp8"].into_iter().find(|path| fields.flag(path) == Some(true));
    match (&text, narrow) {
        (_, Some(path)) => fields.set("plan.precision.preset", &PrecisionPreset::Fp8, path),
        (Some(_), None) if is_short => fields.set("plan.precision.preset", &PrecisionPreset::Bf16, path),
        (Some(_), None) if names("f32") || names("float32") || names("full") => {
            fields.set("plan.precision.preset", &PrecisionPreset::Fp32, path);
        }
        (Some(_), None) => {
            let (source, line) = fields.source(path);
            fields.draft.leave_open("plan.precision.preset", &source, line, "its formats have no equivalent");
        }
        (None, None) => fields.default("plan.precision.preset", &PrecisionPreset::Fp32, "Levanter's default"),
    }
    if parameters.is_some_and(|format| !matches!(format, "f32" | "float32" | "full")) {
        let message = "parameters are estimated in 32 bits, an upper bound on memory";
        fields.remark(RemarkKind::NotModelled, path, message);
    }
}

fn recompute(fields: &mut Fields<'_>) {
    let path = "model.gradient_checkpointing";
    let full = Recompute::Full { layers: None };
    match fields.take(path).map(|entry| entry.data) {
        Some(Data::Flag(false)) => fields.set("plan.recompute", &Recompute::None, path),
        Some(Data::Flag(true)) => fields.set("plan.recompute", &full, path),
        Some(Data::Text(text)) if text == "full" => fields.set("plan.recompute", &full, path),
        Some(_) => {
            let why = "its policy has no equivalent";
            let (source, line) = fields.source(path);
            fields.draft.leave_open("plan.recompute", &source, line, why);
            fields.remark(RemarkKind::Unresolved, path, format!("{why}, so recompute stays unset"));
        }
        None => fields.default("plan.recompute", &full, "Levanter recomputes every layer by default"),
    }
}
