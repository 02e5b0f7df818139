//! Predicts the peak memory of every run in a table of measured runs and prints it beside the measured one, as CSV.
//!
//! `cargo run --example memory_fit -- measured_runs.csv [memory.toml]`: with a second file, constants are read from it, so that a
//! fit can try many without compiling.
#![expect(clippy::print_stdout, reason = "a tool for calibration")]

use railwright_calculator::memory::{InFlight, Kind, MemoryInput, Moment, SoftwareCatalogue, peak, report};
use railwright_spec::cluster::{Cluster, from_parts};
use railwright_spec::model::{Dimensions, Model, from_dimensions};
use railwright_spec::plan::{Plan, PlanSpec, PrecisionPreset, Recompute, RecomputeModule, Schedule, Sharding};
use railwright_spec::precision::DataType;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

const KINDS: [(&str, Kind); 10] = [
    ("parameters", Kind::Parameters),
    ("gradients", Kind::Gradients),
    ("master", Kind::MasterWeights),
    ("moments", Kind::OptimizerMoments),
    ("narrow", Kind::NarrowWeights),
    ("activations", Kind::Activations),
    ("working", Kind::WorkingSet),
    ("logits", Kind::Logits),
    ("buffers", Kind::CommunicationBuffers),
    ("temporaries", Kind::OptimizerTemporaries),
];

type Row = BTreeMap<String, String>;

fn text<'a>(row: &'a Row, key: &str) -> &'a str {
    row.get(key).map_or("", String::as_str).trim()
}

fn number(row: &Row, key: &str) -> Option<f64> {
    text(row, key).parse().ok()
}

fn whole(row: &Row, key: &str) -> Option<u64> {
    number(row, key).map(|n| n as u64)
}

fn software(row: &Row) -> &'static str {
    let framework = text(row, "framework").to_lowercase();
    let notes = text(row, "notes").to_lowercase();
    let gpu = text(row, "gpu");
    if framework.contains("nanotron") {
        "nanotron-2024"
    } else if framework.contains("schedule") {
        "megatron-zero-bubble-2023"
    } else if framework.contains("deepspeed") && framework.contains("megatron") {
        "megatron-deepspeed-2022"
    } else if framework.contains("torchtitan") {
        if notes.contains("compile") || notes.contains("inductor") {
            if gpu.starts_with("H100") || gpu.starts_with("A100") { "torchtitan-2024-compile" } else { "torchtitan-2025" }
        } else {
            "torchtitan-2024-eager"
        }
    } else if framework.contains("torchtune") {
        "torchtune-2024"
    } else if framework.contains("deepspeed") {
        "deepspeed-zero3-2023"
    } else if framework.contains("megatron-lm") {
        "megatron-lm-2022"
    } else {
        "megatron-core-2024"
    }
}

fn model(row: &Row) -> Result<Model, Box<dyn Error>> {
    let notes = text(row, "notes");
    let hidden = whole(row, "hidden").ok_or("hidden")?;
    let gpt = text(row, "model_name").contains("GPT");
    Ok(from_dimensions(Dimensions {
        layers: whole(row, "n_layers").ok_or("layers")?,
        hidden,
        heads: whole(row, "n_heads").ok_or("heads")?,
        kv_heads: whole(row, "n_kv_heads"),
        ffn: whole(row, "ffn_hidden"),
        vocab: whole(row, "vocab"),
        gated_mlp: Some(number(row, "gated_mlp").map_or(!gpt, |g| g > 0.0)),
        tied: Some(gpt || notes.contains("tied emb") || text(row, "model_name").contains("Llama-3.2")),
        experts: whole(row, "n_experts").filter(|&n| n > 0),
        top_k: whole(row, "top_k"),
        moe_ffn: whole(row, "moe_ffn_hidden"),
        ..Dimensions::default()
    })?)
}

fn recompute(row: &Row) -> Recompute {
    let kind = text(row, "recompute");
    if kind.starts_with("full") {
        Recompute::Full { layers: None }
    } else if kind.contains("op") {
        Recompute::Selective { modules: BTreeSet::from([RecomputeModule::Operators]), layers: None }
    } else if kind.starts_with("selective") {
        Recompute::core_attention()
    } else {
        Recompute::None
    }
}

fn plan(row: &Row, model: &Model, cluster: &Cluster) -> Result<Plan, Box<dyn Error>> {
    let notes = text(row, "notes");
    let framework = text(row, "framework");
    let zero = match text(row, "zero_stage") {
        "fsdp" => 3,
        other => other.parse().unwrap_or(0),
    };
    let preset = match text(row, "dtype") {
        "fp16" => PrecisionPreset::Fp16,
        "fp8" => PrecisionPreset::Fp8,
        "mxfp8" => PrecisionPreset::Mxfp8,
        "nvfp4" => PrecisionPreset::Nvfp4,
        _ => PrecisionPreset::Bf16,
    };
    let schedule = if framework.contains("ZB-2p") {
        Schedule::ZbH2
    } else if framework.contains("ZB-1p") {
        Schedule::ZbH1
    } else {
        Schedule::OneForwardOneBackward
    };
    let mut plan = PlanSpec {
        tensor_parallel: whole(row, "tp"),
        pipeline_parallel: whole(row, "pp"),
        context_parallel: whole(row, "cp"),
        data_parallel: whole(row, "dp"),
        virtual_stages: whole(row, "vpp").or(Some(1)),
        expert_parallel: whole(row, "ep").or(Some(1)),
        sequence_parallel: Some(number(row, "sequence_parallel").is_some_and(|s| s > 0.0)),
        sharding: Some(Sharding { zero_stage: zero, group: None, reshard_after_forward: !notes.contains("reshard never") }),
        micro_batch: whole(row, "micro_batch"),
        global_batch: whole(row, "global_batch_seqs"),
        sequence_length: whole(row, "seq_len"),
        precision: Some(preset),
        recompute: Some(recompute(row)),
        schedule: Some(schedule),
        software: Some(software(row).to_owned()),
        ..PlanSpec::default()
    }
    .resolve(model, cluster)?;
    plan.dropout = plan.software.starts_with("megatron-") && text(row, "model_name").contains("GPT");
    if notes.contains("pure bf16") {
        plan.precision.gradients = DataType::Bf16;
        plan.precision.gradient_reduce = DataType::Bf16;
        plan.precision.master = None;
        plan.precision.moments = if notes.contains("8-bit") { DataType::Int8 } else { DataType::Bf16 };
    }
    if notes.contains("bf16 master weights") {
        plan.precision.gradients = DataType::Bf16;
        plan.precision.gradient_reduce = DataType::Bf16;
        plan.precision.master = Some(DataType::Bf16);
        plan.precision.moments = DataType::Bf16;
    }
    if framework.contains("NeMo") {
        plan.precision.gradients = DataType::Bf16;
        plan.precision.gradient_reduce = DataType::Bf16;
    }
    if framework.contains("DeepSpeed") && !notes.contains("fp32 gradient acc") {
        plan.precision.gradients = DataType::Bf16;
        plan.precision.gradient_reduce = DataType::Bf16;
    }
    let ends = notes.contains("one layer fewer") || notes.contains("each take a pipeline slot");
    let parts = plan.pipeline_parallel * plan.virtual_stages;
    if ends && parts > 1 && (model.num_layers() + 2) % parts == 0 {
        let each = (model.num_layers() + 2) / parts;
        let mut layers = vec![each; parts as usize];
        layers[0] -= 1;
        layers[parts as usize - 1] -= 1;
        plan.layers_per_stage = Some(layers);
    }
    Ok(plan)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let table = arguments.get(1).ok_or("usage: memory_fit measured_runs.csv [memory.toml]")?;
    let catalogue = match arguments.get(2) {
        Some(path) => SoftwareCatalogue::parse(&std::fs::read_to_string(path)?)?,
        None => SoftwareCatalogue::built_in()?,
    };
    println!("id,software,measured,published,allocated,reserved,device,stage,moment,memory,{}", KINDS.map(|k| k.0).join(","));
    for row in csv::Reader::from_path(table)?.deserialize() {
        let row: Row = row?;
        let Some(measured) = number(&row, "measured_peak_mem_gb") else { continue };
        let unit = if text(&row, "peak_mem_unit") == "GiB" { 1.0 } else { 1e9 / 1_073_741_824.0 };
        let predict = || -> Result<(String, Plan), Box<dyn Error>> {
            let model = model(&row)?;
            let cluster = from_parts(text(&row, "gpu"), whole(&row, "n_gpus").ok_or("devices")?, None, None)?;
            let plan = plan(&row, &model, &cluster)?;
            let in_flight: Option<InFlight<'_>> = None;
            let software = catalogue.get(&plan.software);
            let input = MemoryInput { model: &model, cluster: &cluster, plan: &plan, software, in_flight };
            let report = report(&input);
            let found = &report.stages[report.worst];
            let moment = match found.moment {
                Moment::Loss => "loss",
                Moment::Backward => "backward",
                Moment::BackwardEnd => "backward-end",
                Moment::OptimizerStep => "step",
            };
            let of = |kind| found.items.iter().filter(|i| i.kind == kind).map(|i| i.bytes.gib()).sum::<f64>();
            let kinds = KINDS.map(|(_, kind)| format!("{:.3}", of(kind))).join(",");
            let line = format!(
                "{:.3},{:.3},{:.3},{:.3},{},{moment},{:.1},{kinds}",
                peak(&input).published(software).gib(),
                found.allocated.gib(),
                found.reserved.gib(),
                found.device.gib(),
                found.stage,
                cluster.accelerator.memory.gib()
            );
            Ok((line, plan))
        };
        match predict() {
            Ok((line, plan)) => println!("{},{},{:.3},{line}", text(&row, "id"), plan.software, measured * unit),
            Err(error) => println!("{},{},{:.3},,,,,,{},", text(&row, "id"), "", measured * unit, error.to_string().replace(',', ";")),
        }
    }
    Ok(())
}
