//! From a row of measured runs to what the calculator takes: a model, a cluster and a plan, or the reason why not.
//!
//! Responsible for: the meaning of each column (`docs/validation.md` lists them) and of a few well-known phrases in `notes`. Refuses
//! to guess what changes the answer much: a row without its parallel degrees or batch is skipped, loudly. Knows no source and no row by name.

use super::software;
use super::table::Cells;
use crate::memory::{self, SoftwareCatalogue, StageSplit};
use crate::stage;
use railwright_spec::cluster::{self, Cluster};
use railwright_spec::model::{self, Dimensions, FeedForward, Mixer, Model};
use railwright_spec::plan::{
    self, AttentionKernel, ContextKind, Layout, Offload, Optimizer, Plan, Precision, RankOrder, Recompute,
    RecomputeModule, Schedule, Sharding,
};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::BytesPerSecond;
use std::collections::BTreeSet;

/// A row made ready.
#[derive(Clone, Debug)]
pub struct Case {
    /// The row's identifier.
    pub id: String,
    /// Where it was published.
    pub source: String,
    /// What was trained.
    pub model: Model,
    /// On what.
    pub cluster: Cluster,
    /// How.
    pub plan: Plan,
    /// Whether the row says what was recomputed; if not, the least that fits is assumed.
    pub recompute_known: bool,
    /// Measured step time in seconds.
    pub step_time: Option<f64>,
    /// Measured peak memory in bytes.
    pub peak_memory: Option<f64>,
    /// What that peak counts: `allocated`, `reserved`, or unknown.
    pub peak_kind: Option<String>,
    /// Whether the run ran out of memory.
    pub out_of_memory: bool,
    /// `1` when dimensions, degrees and batch are all published.
    pub complete: bool,
    /// How far the source can be trusted: `A` or `B`.
    pub trust: String,
}

/// Columns that hold counts.
const COUNTS: [&str; 18] = [
    "n_gpus",
    "gpus_per_node",
    "n_layers",
    "hidden",
    "ffn_hidden",
    "n_heads",
    "n_kv_heads",
    "vocab",
    "seq_len",
    "tp",
    "pp",
    "cp",
    "dp",
    "ep",
    "vpp",
    "micro_batch",
    "global_batch_seqs",
    "top_k",
];

/// More virtual stages than this are no pipeline that anyone runs.
const MOST_VIRTUAL_STAGES: u64 = 4096;

/// Makes a case of a row, or says why it cannot be priced.
pub fn case(cells: &Cells) -> Result<Case, String> {
    let notes = cells.text("notes").unwrap_or_default().to_lowercase();
    // An empty cell is unknown, but one that cannot be read is not empty.
    for column in COUNTS {
        if cells.text(column).is_some() && cells.count(column).is_none() {
            return Err(format!("`{column}` is no count: `{}`", cells.text(column).unwrap_or_default()));
        }
    }
    let need = |column: &str| cells.count(column).ok_or_else(|| format!("no `{column}`"));
    let gpu = cells.text("gpu").ok_or("no `gpu`")?;
    let devices = need("n_gpus")?;
    let framework = cells.text("framework").unwrap_or_default();
    let generation =
        software::generation(framework, &notes, gpu).ok_or("no software generation is bundled")?;
    let model = model(cells, &notes)?;
    let mut cluster = cluster(cells, gpu, devices)?;

    let sequence_length = need("seq_len")?;
    let tensor_parallel = cells.count("tp").unwrap_or(1);
    let pipeline_parallel = cells.count("pp").unwrap_or(1);
    let context_parallel = cells.count("cp").unwrap_or(1);
    let inner = tensor_parallel.saturating_mul(pipeline_parallel).saturating_mul(context_parallel);
    let data_parallel = match cells.count("dp") {
        Some(dp) => dp,
        None if cells.text("tp").is_some() && devices.is_multiple_of(inner) => devices / inner,
        None => return Err("no parallel degrees".into()),
    };
    if pipeline_parallel.saturating_mul(cells.count("vpp").unwrap_or(1)) > MOST_VIRTUAL_STAGES {
        return Err(format!("more than {MOST_VIRTUAL_STAGES} virtual stages"));
    }
    if data_parallel.checked_mul(inner) != Some(devices) {
        return Err(format!(
            "degrees multiply to {}, not to {devices} devices",
            data_parallel.saturating_mul(inner)
        ));
    }
    let micro_batch = need("micro_batch")?;
    let global_batch = need("global_batch_seqs")?;
    if !global_batch.is_multiple_of(micro_batch.saturating_mul(data_parallel)) {
        return Err(format!("batch {global_batch} is no multiple of {micro_batch} x {data_parallel}"));
    }
    let expert_parallel = cells.count("ep").unwrap_or(1);
    let expert_tensor_parallel = match number_after(&notes, "etp ") {
        Some(etp) => etp,
        None if generation.expert_tensor_follows_tensor && model.is_mixture_of_experts() => tensor_parallel,
        None => 1,
    };
    let sequence_parallel = cells.flag("sequence_parallel").unwrap_or(false) && tensor_parallel > 1;
    let precision = precision(cells.text("dtype").unwrap_or("bf16"), generation, &notes)?;
    let (recompute, recompute_known) = recompute(cells.text("recompute"), &notes, &model, pipeline_parallel);
    let full_shard = matches!(cells.text("zero_stage"), Some("3" | "3.0" | "fsdp" | "hsdp"));
    let zero_stage = match cells.text("zero_stage") {
        _ if full_shard => 3,
        Some("2" | "2.0") => 2,
        Some("1" | "1.0") => 1,
        Some("0" | "0.0" | "none") => 0,
        Some(other) => return Err(format!("unknown `zero_stage`: `{other}`")),
        None => generation.zero_stage,
    };
    let schedule = schedule(framework, &notes);
    let optimizer = if model_name(cells).contains("lora") || notes.contains("lora") {
        Optimizer::Lora
    } else {
        Optimizer::Adam
    };
    let virtual_stages = if pipeline_parallel > 1 { cells.count("vpp").unwrap_or(1) } else { 1 };
    let offload = Offload {
        optimizer: if cells.flag("optimizer_offload") == Some(true) { 1.0 } else { 0.0 },
        ..Offload::default()
    };
    let mut overlap = generation.overlap;
    overlap.tensor &= sequence_parallel;
    if notes.contains("no async tp") {
        overlap.tensor = false;
    } else if notes.contains("async tp") {
        overlap.tensor = true;
    }
    let mut plan = Plan {
        tensor_parallel,
        sequence_parallel,
        pipeline_parallel,
        virtual_stages,
        context_parallel,
        context_kind: if notes.contains("ulysses") { ContextKind::Ulysses } else { ContextKind::Ring },
        data_parallel,
        expert_parallel,
        expert_tensor_parallel,
        sharding: Sharding {
            zero_stage,
            group: shard_group(&notes),
            reshard_after_forward: !notes.contains("reshard never"),
        },
        rank_order: RankOrder::TensorContextDataPipeline,
        micro_batch,
        global_batch,
        sequence_length,
        precision,
        optimizer,
        recompute,
        stage_recompute: None,
        offload,
        schedule,
        layers_per_stage: uneven(&notes, model.num_layers(), pipeline_parallel, virtual_stages),
        overlap,
        attention_kernel: attention_kernel(framework, &notes),
        software: generation.id.clone(),
        dropout: generation.dropout,
        expert_imbalance: 1.0,
        expert_capacity: None,
        document_length: None,
        vocabulary_multiple: generation.vocabulary_multiple,
    };
    if plan.layers_per_stage.is_none() && !model.num_layers().is_multiple_of(stage::virtual_stages(&plan)) {
        // The run ran, so its layers were laid out somehow: as its generation does.
        let split =
            SoftwareCatalogue::shared().map_or(StageSplit::Even, |c| c.get(&plan.software).stage_split);
        plan.layers_per_stage = Some(memory::layers_per_chunk(&model, &plan, split));
    }
    // Whoever measures takes segments of racks, equally many nodes of each, and such that groups stay whole.
    let per_node = cells.count("gpus_per_node").unwrap_or(1);
    cluster.scale_up.domain_size = segment_of(cluster.scale_up.domain_size, devices, per_node);
    if let Some(segment) = Layout::segment(&plan, cluster.scale_up.domain_size) {
        cluster.scale_up.domain_size = segment;
    }
    if let Some(problem) = plan::validate(&model, &cluster, &plan).first() {
        return Err(format!("impossible plan: {problem}"));
    }
    Ok(Case {
        id: cells.text("id").map_or_else(|| format!("line {}", cells.line), str::to_owned),
        source: cells.text("source").unwrap_or("unknown").to_owned(),
        model,
        cluster,
        plan,
        recompute_known,
        step_time: step_time(cells, global_batch * sequence_length, devices),
        peak_memory: peak_memory(cells),
        peak_kind: cells.text("peak_mem_kind").map(str::to_owned),
        out_of_memory: cells.text("status") == Some("oom"),
        complete: cells.flag("complete").unwrap_or(false),
        trust: cells.text("trust").unwrap_or_default().to_owned(),
    })
}

/// How many devices of each scale-up domain a job has whose size domains do not divide: the most, in whole nodes, that do divide it. NeMo's and
/// Megatron-Bridge's launchers ask Slurm for the most nodes up to a rack's 18 that divide the job's (`segment` in `executors.py`), so 64 nodes
/// get 16 in each of 4 racks, not 18, 18, 18 and 10. Less than half a domain is taken by nobody who can choose.
fn segment_of(domain: u64, devices: u64, per_node: u64) -> u64 {
    let node = per_node.clamp(1, domain.max(1));
    if devices <= domain || devices.is_multiple_of(domain.max(1)) || domain > MOST_SEGMENTED {
        return domain;
    }
    let nodes = (1..=domain / node).rev().find(|nodes| devices.is_multiple_of(nodes * node));
    nodes.map(|nodes| nodes * node).filter(|segment| 2 * segment >= domain).unwrap_or(domain)
}

/// Domains of more devices are no racks.
const MOST_SEGMENTED: u64 = 1024;

/// The measured step time: printed, or through the throughput.
pub fn step_time(cells: &Cells, tokens: u64, devices: u64) -> Option<f64> {
    let from_rate = |rate: f64| tokens as f64 / (rate * devices as f64);
    cells
        .number("measured_step_time_s")
        .or_else(|| cells.number("derived_step_time_s"))
        .or_else(|| cells.number("measured_tokens_per_s_per_gpu").map(from_rate))
        .or_else(|| cells.number("derived_tokens_per_s_per_gpu").map(from_rate))
        .filter(|t| *t > 0.0 && t.is_finite())
}

/// The measured peak memory in bytes: the column is in the unit that `peak_mem_unit` names, decimal gigabytes without one.
pub fn peak_memory(cells: &Cells) -> Option<f64> {
    let unit =
        if cells.text("peak_mem_unit").is_some_and(|u| u.contains("GiB")) { 1_073_741_824.0 } else { 1e9 };
    cells.number("measured_peak_mem_gb").filter(|v| *v > 0.0).map(|v| v * unit)
}

fn model_name(cells: &Cells) -> String {
    cells.text("model_name").unwrap_or_default().to_lowercase()
}

/// The catalogue's structure when name, layers and width agree with it (it knows latent attention, shared experts and windows that no
/// column holds); else the printed dimensions.
fn model(cells: &Cells, notes: &str) -> Result<Model, String> {
    let name = cells.text("model_name").unwrap_or("unnamed");
    let layers = cells.count("n_layers");
    let hidden = cells.count("hidden");
    let known = catalogue_model(name);
    if let Some(known) = known {
        let agrees =
            layers.is_none_or(|l| l == known.num_layers()) && hidden.is_none_or(|h| h == known.hidden_size);
        let vocabulary = cells.count("vocab").is_none_or(|v| v == known.vocabulary);
        if agrees && vocabulary && routing_agrees(cells, &known) {
            let mut known = known;
            if notes.contains("w/o mtp") {
                known.multi_token_prediction = None;
            }
            return Ok(known);
        }
    }
    let (Some(layers), Some(hidden)) = (layers, hidden) else { return Err("no dimensions".into()) };
    let heads = cells.count("n_heads").ok_or("no `n_heads`")?;
    let gated = cells.flag("gated_mlp").unwrap_or(false);
    let vocabulary = cells.count("vocab").unwrap_or(if gated { 32_000 } else { 51_200 });
    let experts = cells.count("n_experts").filter(|&e| e > 1);
    let ffn = cells.count("ffn_hidden").or_else(|| cells.count("moe_ffn_hidden")).unwrap_or(if gated {
        (hidden * 8 / 3).div_ceil(256) * 256
    } else {
        4 * hidden
    });
    let dimensions = Dimensions {
        layers,
        hidden,
        heads,
        kv_heads: cells.count("n_kv_heads"),
        head_dim: number_after(notes, "head dim "),
        ffn: Some(ffn),
        vocab: Some(vocabulary),
        gated_mlp: Some(gated),
        // Plain MLPs mark the GPT family, which ties; gated ones the llama family, which does not.
        tied: Some(notes.contains("tied embeddings") && !notes.contains("untied") || !gated),
        experts,
        top_k: experts.and_then(|_| cells.count("top_k")),
        moe_ffn: experts.and_then(|_| cells.count("moe_ffn_hidden")),
        max_positions: cells.count("seq_len"),
        ..Dimensions::default()
    };
    model::from_dimensions(dimensions).map_err(|p| p.to_string())
}

/// Whether the printed heads and experts are those of a catalogue model.
fn routing_agrees(cells: &Cells, known: &Model) -> bool {
    known.layer_kinds.iter().all(|layer| {
        let heads = match &layer.mixer {
            Mixer::Attention(a) => Some(a.heads),
            Mixer::Latent(a) => Some(a.heads),
            _ => None,
        };
        let routing = match &layer.feed_forward {
            FeedForward::MixtureOfExperts(moe) => Some((moe.experts, moe.top_k)),
            _ => None,
        };
        let same = |column: &str, own: Option<u64>| {
            own.is_none() || cells.count(column).is_none_or(|v| Some(v) == own)
        };
        same("n_heads", heads)
            && same("n_experts", routing.map(|r| r.0))
            && same("top_k", routing.map(|r| r.1))
    })
}

/// A catalogue model by a free name: case, vendor prefixes and fine-tuning suffixes do not matter.
fn catalogue_model(name: &str) -> Option<Model> {
    let plain = name.to_lowercase().replace("-lora", "").replace(' ', "-");
    let cut = plain.split('(').next().unwrap_or_default().trim_end_matches('-').to_owned();
    if cut != plain {
        // A remark in brackets marks a variant; the dimensions tell.
        return None;
    }
    model::by_name(&cut).ok()
}

/// The whole number behind a phrase.
fn number_after(notes: &str, phrase: &str) -> Option<u64> {
    let rest = &notes[notes.find(phrase)? + phrase.len()..];
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|n| (1..=65_536).contains(n))
}

fn cluster(cells: &Cells, gpu: &str, devices: u64) -> Result<Cluster, String> {
    let bandwidth = cells.number("inter_node_bw_gbps").filter(|b| *b > 0.0).map(BytesPerSecond::from_gbit);
    cluster::from_parts(gpu, devices, cells.count("gpus_per_node"), bandwidth).map_err(|p| p.to_string())
}

fn precision(dtype: &str, generation: &crate::software::Software, notes: &str) -> Result<Precision, String> {
    let compute = DataType::from_name(dtype).ok_or_else(|| format!("unknown number format `{dtype}`"))?;
    let wide = if compute == DataType::Fp16 { DataType::Fp16 } else { DataType::Bf16 };
    let pure = notes.contains("mp_mode=pure");
    let sixteen = |name: Option<DataType>| {
        if name == Some(DataType::Bf16) { wide } else { name.unwrap_or(DataType::Fp32) }
    };
    let all_sixteen = notes.contains("pure bf16") || notes.contains("bf16 master weights");
    Ok(Precision {
        compute,
        parameters: wide,
        gradients: if all_sixteen || notes.contains("fp16 gradients") {
            wide
        } else {
            sixteen(generation.gradients)
        },
        gradient_reduce: if pure || all_sixteen || notes.contains("fp16 gradients") {
            wide
        } else {
            sixteen(generation.gradient_reduce)
        },
        master: if all_sixteen { None } else { Some(DataType::Fp32) },
        moments: if all_sixteen { wide } else { DataType::Fp32 },
        activations: wide,
        narrow_attention: false,
    })
}

/// The recompute policy, and whether the row states it. `layers` of a fraction of the model count per pipeline stage.
fn recompute(cell: Option<&str>, notes: &str, model: &Model, stages: u64) -> (Recompute, bool) {
    let named = named_modules(notes);
    // A cell that its transcriber filled with the tool's default was not published either.
    let published = cell.filter(|_| !notes.contains("recompute/dtype/vocabulary from tool defaults"));
    let Some(text) = published else {
        return if named.is_empty() {
            (Recompute::None, false)
        } else {
            (Recompute::Selective { modules: named, layers: None }, true)
        };
    };
    let text = text.to_lowercase();
    let only = |module| Recompute::Selective { modules: BTreeSet::from([module]), layers: None };
    let policy = match text.as_str() {
        "none" | "no" | "0" => Recompute::None,
        "full" | "yes" | "1" => Recompute::Full { layers: None },
        "selective(op)" => only(RecomputeModule::Operators),
        _ if text.contains("every-other-layer") => {
            Recompute::Full { layers: Some(model.num_layers().div_ceil(2 * stages)) }
        }
        _ if text.starts_with("full(") => {
            Recompute::Full { layers: number_after(&text, "full(").map(|n| n.div_ceil(stages)) }
        }
        _ if text.contains("minimal") => Recompute::Selective {
            modules: BTreeSet::from([RecomputeModule::Norm, RecomputeModule::Activation]),
            layers: None,
        },
        _ if text.starts_with("selective") && !named.is_empty() => {
            Recompute::Selective { modules: named, layers: None }
        }
        _ if text.starts_with("selective") => Recompute::core_attention(),
        _ => return (Recompute::None, false),
    };
    (policy, true)
}

/// Modules behind the phrase `recompute modules:`, in Megatron's names.
fn named_modules(notes: &str) -> BTreeSet<RecomputeModule> {
    let Some(at) = notes.find("recompute modules:") else { return BTreeSet::new() };
    let rest = notes[at..].split(';').next().unwrap_or_default();
    [
        ("core_attn", RecomputeModule::CoreAttention),
        ("layernorm", RecomputeModule::Norm),
        ("moe_act", RecomputeModule::Activation),
        ("mla_up_proj", RecomputeModule::LatentUpProjection),
        ("mlp", RecomputeModule::Mlp),
        ("moe,", RecomputeModule::Moe),
    ]
    .into_iter()
    .filter(|(name, _)| rest.contains(name))
    .map(|(_, module)| module)
    .collect()
}

fn schedule(framework: &str, notes: &str) -> Schedule {
    let text = format!("{} {notes}", framework.to_lowercase());
    if text.contains("zb-2p") || text.contains("zb-h2") {
        Schedule::ZbH2
    } else if text.contains("zb-1p") || text.contains("zb-h1") {
        Schedule::ZbH1
    } else if text.contains("zb-v") || text.contains("zbv") {
        Schedule::ZbV
    } else if text.contains("dualpipe") {
        Schedule::DualPipe
    } else if text.contains("gpipe") || text.contains("afab") {
        Schedule::Gpipe
    } else {
        Schedule::OneForwardOneBackward
    }
}

/// The hybrid shard group behind `fsdp group N`.
fn shard_group(notes: &str) -> Option<u64> {
    number_after(notes, "fsdp group ").or_else(|| number_after(notes, "shard group of "))
}

/// Layers per stage when the notes say that the ends hold fewer.
fn uneven(notes: &str, layers: u64, stages: u64, virtual_stages: u64) -> Option<Vec<u64>> {
    if stages < 2 {
        return None;
    }
    let ends_lighter = notes.contains("first and last stage hold one layer fewer")
        || notes.contains("embedding and lm head each take a pipeline slot");
    let parts = stages * virtual_stages;
    if ends_lighter && (layers + 2).is_multiple_of(parts) {
        let each = (layers + 2) / parts;
        let mut split = vec![each; parts as usize];
        split[0] -= 1;
        *split.last_mut()? -= 1;
        return Some(split);
    }
    if notes.contains("uniform layer partition") && !layers.is_multiple_of(parts) {
        // A uniform partition gives the remainder to the last stage's neighbours in order: the first stages hold the larger share.
        let (base, extra) = (layers / parts, layers % parts);
        return Some((0..parts).map(|i| base + u64::from(i < extra)).collect());
    }
    None
}

fn attention_kernel(framework: &str, notes: &str) -> AttentionKernel {
    let text = format!("{} {notes}", framework.to_lowercase());
    let unfused = [
        "no flash",
        "without flash",
        "unfused attention",
        "torch attention",
        "attention torch",
        "attention=torch",
        "attention: torch",
        "kernel=torch",
        "kernel torch",
        "kernel: torch",
        "megatron kernel",
        "kernel=megatron",
        "kernel megatron",
        "kernel: megatron",
    ];
    if unfused.iter().any(|phrase| text.contains(phrase)) {
        AttentionKernel::Unfused
    } else if text.contains("flashattention-3") || text.contains("flash attention 3") || text.contains("fa3")
    {
        AttentionKernel::Flash3
    } else if text.contains("flashattention-2")
        || text.contains("flash attention 2")
        || text.contains("flash_attention2")
        || text.contains("flash_attention_2")
        || text.contains("flash2")
    {
        AttentionKernel::Flash2
    } else if text.contains("flashattention-1")
        || text.ends_with("flashattention")
        || text.contains(", flashattention")
    {
        AttentionKernel::Flash1
    } else {
        AttentionKernel::Auto
    }
}

#[cfg(test)]
mod tests {
    use super::segment_of;

    #[test]
    fn jobs_take_equally_much_of_every_rack() {
        // (domain, devices, devices in a node): 64 nodes of 4 in racks of 18, as the launchers named there ask.
        for (domain, devices, node, expected) in [
            (72, 256, 4, 64),
            (72, 512, 4, 64),
            (72, 288, 4, 72),
            (72, 64, 4, 72),
            (72, 96, 4, 48),
            (72, 292, 4, 72),
            (8, 1024, 8, 8),
            (8, 12, 1, 6),
            (256, 6144, 4, 256),
        ] {
            assert_eq!(segment_of(domain, devices, node), expected, "{devices} in domains of {domain}");
        }
    }
}
