//! Files of Megatron-Bridge and NeMo, complete and as overrides.

use super::*;
use crate::{Remark, detect};
use railwright_spec::model::by_name;
use railwright_spec::run::Value;

const NEMO: &str = include_str!("../../tests/fixtures/nemo/llama3_1_405b.yaml");
const TUNING: &str = include_str!("../../tests/fixtures/nemo/gpt_finetuning.yaml");
const BRIDGE: &str = include_str!("../../tests/fixtures/bridge/run_config.yaml");

fn read(reader: &dyn Reader, text: &str) -> Launch {
    reader.read(text, "f").unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn value(launch: &Launch, key: &str) -> String {
    launch.spec.get(key).as_ref().map_or_else(|| "open".to_owned(), Value::to_toml)
}

fn remarks(launch: &Launch, kind: RemarkKind) -> Vec<String> {
    launch.remarks_of(kind).map(|Remark { source, message, .. }| format!("{source}: {message}")).collect()
}

#[test]
fn nemo_is_read() {
    let launch = read(&NemoReader, NEMO);
    for (key, expected) in [
        ("cluster.devices", "576"),
        ("cluster.devices_per_node", "8"),
        ("model.layers", "126"),
        ("model.hidden", "16384"),
        ("model.kv_heads", "16"),
        ("model.ffn", "53248"),
        ("model.norm", "\"rms_norm\""),
        ("model.gated_mlp", "true"),
        ("model.biases", "false"),
        ("model.tied", "false"),
        ("model.vocab", "128256"),
        ("model.max_positions", "8192"),
        ("plan.tensor_parallel", "8"),
        ("plan.pipeline_parallel", "9"),
        ("plan.virtual_stages", "7"),
        ("plan.context_parallel", "2"),
        ("plan.sequence_parallel", "true"),
        ("plan.sequence_length", "8192"),
        ("plan.micro_batch", "1"),
        ("plan.global_batch", "252"),
        ("plan.precision.compute", "\"fp8\""),
        ("plan.sharding", "\"zero1\""),
        ("plan.overlap.gradient_reduce", "true"),
        ("plan.overlap.tensor", "true"),
        ("plan.dropout", "false"),
        ("plan.recompute", "\"none\""),
        ("plan.software", "\"megatron-core-2024\""),
        ("training.tokens", "2064384000.0"),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    let origin = launch.origins.iter().find(|o| o.key == "plan.tensor_parallel").expect("an origin");
    assert_eq!((origin.source.as_str(), origin.line), ("model.tensor_model_parallel_size = 8", Some(20)));
    // The published launcher has 16 query groups, the published model 8.
    assert_eq!(
        remarks(&launch, RemarkKind::Conflict),
        [
            "model.num_query_groups = 16: 16 key-value heads, but llama-3.1-405b, with the same layers, width and heads, has 8: one of the two is wrong; those of the file are used"
        ]
    );
    assert_eq!(remarks(&launch, RemarkKind::Unknown), Vec::<String>::new());
    assert_eq!(
        remarks(&launch, RemarkKind::Unresolved),
        Vec::<String>::new(),
        "paths of data are not remarks"
    );
}

#[test]
fn bridge_is_read() {
    let launch = read(&BridgeReader, BRIDGE);
    for (key, expected) in [
        ("model.experts", "128"),
        ("model.top_k", "8"),
        ("model.moe_ffn", "768"),
        ("model.kv_heads", "4"),
        ("model.head_dim", "128"),
        ("model.qk_norm", "true"),
        ("model.gated_mlp", "true"),
        ("model.vocab", "151936"),
        ("plan.expert_parallel", "8"),
        ("plan.expert_tensor_parallel", "1"),
        ("plan.virtual_stages", "12"),
        ("plan.global_batch", "512"),
        ("plan.micro_batch", "2"),
        ("plan.precision.compute", "\"mxfp8\""),
        ("plan.precision.gradients", "\"fp32\""),
        ("plan.sharding", "\"zero1\""),
        ("plan.recompute", "\"selective:core_attention,activation\""),
        ("plan.overlap.tensor", "true"),
        ("plan.overlap.gradient_reduce", "true"),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    let unknown = remarks(&launch, RemarkKind::Unknown);
    assert_eq!(unknown.len(), 1, "{unknown:?}");
    assert!(unknown[0].starts_with("model.frobnicate_factor = 3: unknown"), "{unknown:?}");
    let model = launch.spec.model.resolve(|_| Err(Problem::new("no file"))).expect("a model");
    let known = by_name("qwen3-30b-a3b").expect("known");
    assert_eq!(model.parameters().total, known.parameters().total);
}

#[test]
fn number_formats_may_be_objects() {
    let text = BRIDGE.replace(
        "  use_distributed_optimizer: true\n",
        "  use_distributed_optimizer: true\n  use_precision_aware_optimizer: true\n  exp_avg_dtype:\n    _call_: false\n    \
         _target_: torch.bfloat16\n  exp_avg_sq_dtype: {_target_: torch.bfloat16, _call_: false}\n",
    );
    assert_ne!(text, BRIDGE);
    let launch = read(&BridgeReader, &text);
    assert_eq!(value(&launch, "plan.precision.moments"), "\"bf16\"");
    assert_eq!(remarks(&launch, RemarkKind::Unresolved), Vec::<String>::new());
    let object = text.replace("_target_: torch.bfloat16\n", "_target_: own.formats.pick\n");
    let launch = read(&BridgeReader, &object);
    let open = remarks(&launch, RemarkKind::Unresolved);
    assert!(
        open.iter().any(|source| source.contains("`optimizer.exp_avg_dtype` is an object in this file")),
        "{open:?}"
    );
    assert_ne!(value(&launch, "plan.precision.moments"), "\"bf16\"");
}

#[test]
fn overrides_set_their_values() {
    let text = "python pretrain.py model.tensor_model_parallel_size=4 ++train.micro_batch_size=2 \\\n model.sequence_parallel=true \
                model.frobnicate=7";
    assert_eq!(detect(text)[0].format, Format::MegatronBridge);
    let launch = read(&BridgeReader, text);
    assert_eq!(value(&launch, "plan.tensor_parallel"), "4");
    assert_eq!(value(&launch, "plan.micro_batch"), "2");
    assert_eq!(value(&launch, "plan.sequence_parallel"), "true");
    for open in
        ["plan.pipeline_parallel", "plan.precision.preset", "plan.dropout", "model.layers", "plan.software"]
    {
        assert_eq!(value(&launch, open), "open", "{open}");
    }
    let partial =
        read(&BridgeReader, "model:\n  tensor_model_parallel_size: 4\ntrain:\n  global_batch_size: 64\n");
    assert_eq!(value(&partial, "plan.tensor_parallel"), "4");
    assert_eq!(value(&partial, "plan.global_batch"), "64");
    assert_eq!(value(&partial, "plan.precision.preset"), "open");
    let nemo =
        "trainer.num_nodes=4 trainer.devices=8 model.micro_batch_size=2 model.tensor_model_parallel_size=8";
    assert_eq!(detect(nemo)[0].format, Format::Nemo);
    assert_eq!(value(&read(&NemoReader, nemo), "cluster.devices"), "32");
}

#[test]
fn what_leads_out_of_the_file_is_reported() {
    let text = NEMO
        .replace("micro_batch_size: 1", "micro_batch_size: ${oc.env:MBS}")
        .replace("126", "${model.no_such}");
    let launch = read(&NemoReader, &text);
    let open = remarks(&launch, RemarkKind::Unresolved);
    assert!(
        open.iter().any(|o| o.contains(
            "model.micro_batch_size: ${oc.env:MBS}: cannot be resolved, so it stays unset: refers to another file"
        )),
        "{open:?}"
    );
    assert!(open.iter().any(|o| o.contains("`model.no_such` is not in this file")), "{open:?}");
    assert_eq!(value(&launch, "plan.micro_batch"), "open");
}

#[test]
fn what_is_open_gets_no_default() {
    for (key, field) in [
        ("sequence_parallel", "plan.sequence_parallel"),
        ("share_embeddings_and_output_weights", "model.tied"),
        ("tensor_model_parallel_size", "plan.tensor_parallel"),
    ] {
        let text: String = NEMO
            .lines()
            .map(|line| match line.split_once(':') {
                Some((name, _)) if name.trim() == key => format!("{name}: ${{oc.env:X}}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let launch = read(&NemoReader, &text);
        assert_ne!(value(&read(&NemoReader, NEMO), field), "open");
        assert_eq!(value(&launch, field), "open", "{key}");
        assert_eq!(
            remarks(&launch, RemarkKind::Unresolved).len(),
            1,
            "{:?}",
            remarks(&launch, RemarkKind::Unresolved)
        );
    }
}

#[test]
fn sections_may_stand_in_braces() {
    let text = "trainer: {devices: 8, num_nodes: 2}\nmodel: {num_layers: 32, hidden_size: 4096, num_attention_heads: 32, \
                micro_batch_size: 2, ffn_dropout: 0.0, grad_allreduce_chunk_size_mb: 125}\n";
    assert_eq!(detect(text).first().map(|seen| seen.format), Some(Format::Nemo));
    let launch = read(&NemoReader, text);
    assert_eq!(value(&launch, "cluster.devices"), "16");
    assert_eq!(value(&launch, "plan.micro_batch"), "2");
    assert_eq!(remarks(&launch, RemarkKind::Unknown), Vec::<String>::new());
    let rows = remarks(&launch, RemarkKind::Assumed);
    assert!(rows.iter().any(|source| source.contains("rows are assumed; `--vocab` sets it")), "{rows:?}");
    let bridge = "model: {num_layers: 32, tensor_model_parallel_size: 2}\ntrain: {micro_batch_size: 2}\n";
    assert_eq!(detect(bridge).first().map(|seen| seen.format), Some(Format::MegatronBridge));
}

#[test]
fn bad_yaml_is_refused() {
    let problems = NemoReader.read("model:\n  a: [1\ntrainer:\n", "f").expect_err("a mistake");
    assert!(problems[0].to_string().starts_with("f:"), "{problems:?}");
}

#[test]
fn both_are_recognised() {
    assert_eq!(detect(NEMO)[0].format, Format::Nemo);
    assert_eq!(detect(BRIDGE)[0].format, Format::MegatronBridge);
}

#[test]
fn adapters_of_nemo_1_are_read() {
    assert_eq!(detect(TUNING)[0].format, Format::Nemo);
    let launch = read(&NemoReader, TUNING);
    for (key, expected) in [
        ("cluster.devices", "16"),
        ("model.layers", "open"),
        ("plan.optimizer", "\"lora\""),
        ("plan.lora_rank", "16"),
        ("plan.lora_targets", "[\"linear_qkv\", \"o_proj\"]"),
        ("plan.tensor_parallel", "4"),
        ("plan.micro_batch", "2"),
        ("plan.global_batch", "64"),
        ("plan.sequence_length", "4096"),
        ("plan.sequence_parallel", "true"),
        ("plan.precision.preset", "\"bf16\""),
    ] {
        assert_eq!(value(&launch, key), expected, "{key}");
    }
    assert_eq!(remarks(&launch, RemarkKind::Unknown), Vec::<String>::new());
    assert_eq!(remarks(&launch, RemarkKind::Unresolved), Vec::<String>::new());
    assert!(remarks(&launch, RemarkKind::Assumed).iter().any(|remark| remark.contains("not packed")));
    let origin = launch.origins.iter().find(|o| o.key == "plan.lora_rank").expect("an origin");
    assert_eq!((origin.source.as_str(), origin.line), ("model.peft.lora_tuning.adapter_dim = 16", Some(33)));
    let with = |from: &str, to: &str| {
        let text = TUNING.replace(from, to);
        assert_ne!(text, TUNING, "{from}");
        read(&NemoReader, &text)
    };
    let apart = with("variant: nemo", "variant: canonical");
    assert_eq!(value(&apart, "plan.lora_targets"), "[\"q_proj\", \"k_proj\", \"v_proj\", \"o_proj\"]");
    let all = with("[attention_qkv, attention_dense]", "[all, frobnicate]");
    assert_eq!(
        value(&all, "plan.lora_targets"),
        "[\"linear_qkv\", \"linear_fc1\", \"o_proj\", \"down_proj\"]"
    );
    assert!(remarks(&all, RemarkKind::NotModelled).iter().any(|remark| remark.contains("`frobnicate`")));
    let open = with("      adapter_dim: 16\n", "");
    assert_eq!(value(&open, "plan.lora_rank"), "32");
    let quantized = with("peft_scheme: lora", "peft_scheme: qlora");
    assert_eq!(value(&quantized, "plan.optimizer"), "\"lora\"");
    assert_eq!(value(&quantized, "plan.frozen_weights"), "\"nf4\"");
    for (method, is_listed) in [("ptuning", true), ("adapter", true), ("none", false), ("null", false)] {
        let other = with("peft_scheme: lora", &format!("peft_scheme: {method}"));
        assert_ne!(value(&other, "plan.optimizer"), "\"lora\"", "{method}");
        assert_eq!(value(&other, "plan.lora_rank"), "open", "{method}");
        let left_out = remarks(&other, RemarkKind::NotModelled);
        assert_eq!(
            left_out.iter().any(|remark| remark.contains("an upper bound")),
            is_listed,
            "{left_out:?}"
        );
    }
}

/// A saved configuration, or overrides of one, that train adapters are no full fine-tuning.
#[test]
fn adapters_of_saved_configurations_are_read() {
    for (peft, rank, optimizer) in [
        ("  _target_: megatron.bridge.peft.lora.LoRA\n  dim: 16\n", "16", "\"lora\""),
        ("  _target_: megatron.bridge.peft.lora.LoRA\n", "32", "\"lora\""),
        (" null\n", "open", "\"adam\""),
        (" none\n", "open", "\"adam\""),
    ] {
        let gap = if peft.starts_with("  ") { "\n" } else { "" };
        let launch = read(&BridgeReader, &format!("{BRIDGE}peft:{gap}{peft}"));
        assert_eq!(value(&launch, "plan.lora_rank"), rank, "{peft}");
        assert_eq!(value(&launch, "plan.optimizer"), optimizer, "{peft}");
    }
    let text = "python finetune.py model.tensor_model_parallel_size=4 train.micro_batch_size=2 peft.dim=8";
    assert_eq!(value(&read(&BridgeReader, text), "plan.lora_rank"), "8");
}

/// Adapters that only resemble LoRA are listed, and no part of them is read as a default.
#[test]
fn other_adapters_are_listed() {
    let with = |peft: &str| read(&BridgeReader, &format!("{BRIDGE}peft:\n{peft}"));
    let listed = |launch: &Launch, part: &str| {
        remarks(launch, RemarkKind::NotModelled).iter().any(|r| r.contains(part))
    };
    let plain =
        with("  _target_: megatron.bridge.peft.lora.LoRA\n  dim: \"8\"\n  target_modules: linear_qkv\n");
    assert_eq!(value(&plain, "plan.lora_rank"), "8");
    assert_eq!(value(&plain, "plan.lora_targets"), "[\"linear_qkv\"]");
    assert!(!listed(&plain, "as LoRA"));
    let dora = with("  _target_: megatron.bridge.peft.dora.DoRA\n  exclude_modules: [linear_fc1]\n");
    assert!(
        listed(&dora, "is estimated as LoRA")
            && listed(
                &dora,
                "excluded modules are not supported: adapters are counted on all targets, an upper bound"
            )
    );
    let canonical = with("  _target_: megatron.bridge.peft.canonical_lora.CanonicalLoRA\n");
    assert!(!value(&canonical, "plan.lora_targets").contains("linear_qkv"));
    let two = |scheme: &str| {
        read(&NemoReader, &TUNING.replace("peft_scheme: lora", &format!("peft_scheme: {scheme}")))
    };
    for scheme in ["\"lora,ptuning\"", "[lora, ptuning]"] {
        let launch = two(scheme);
        assert_eq!(value(&launch, "plan.optimizer"), "\"lora\"", "{scheme}");
        assert!(listed(&launch, "a lower bound"), "{scheme}");
    }
    let negative = read(&NemoReader, &TUNING.replace("adapter_dim: 16", "adapter_dim: -1"));
    assert_eq!(value(&negative, "plan.lora_rank"), "0");
}
