//! Conversion of a row of measured runs to a model, a cluster and a plan, or to a reason for skipping it.
//!
//! Responsible for: the meaning of each column (`docs/validation.md` lists them) and of a few known phrases
//! in `notes`, as the specification of a user. Open settings are resolved as in every command. Does not guess
//! influential settings: a row without its parallel sizes or batch is skipped and listed. Contains no names
//! of sources or rows.

mod attention;
mod recompute;

use self::attention::attention_kernel;
use super::table::Cells;
use crate::memory::{Published, SoftwareCatalogue};
use crate::software::phrases::names;
use crate::software::{self, Software};
use railwright_spec::cluster::{self, Cluster, ClusterSpec};
use railwright_spec::model::{self, Dimensions, FeedForward, Mixer, Model};
use railwright_spec::plan::{
    self, ContextKind, LoraTarget, LoraTargets, Master, Optimizer, Plan, PlanSpec, PrecisionPreset, Schedule,
    Sharding, USUAL_IMBALANCE,
};
use railwright_spec::precision::DataType;
use railwright_spec::quantity::BytesPerSecond;
use railwright_spec::run::{Field, SoftwareOrigin, Value};
use std::collections::BTreeSet;

/// A row converted to inputs of the calculator.
#[derive(Clone, Debug)]
pub struct Case {
    /// The row's identifier.
    pub id: String,
    /// Publication.
    pub source: String,
    /// Trained parameters.
    pub model: Model,
    /// Cluster of the run.
    pub cluster: Cluster,
    /// Layout and training settings as specified, with the names of the command line.
    pub spec: PlanSpec,
    /// The resolved plan, as in every command.
    pub plan: Plan,
    /// True if the catalogue has the row's framework. Otherwise the accelerator alone determines the
    /// software generation.
    pub is_software_named: bool,
    /// True if the row specifies recompute. Otherwise the least that fits is assumed.
    pub recompute_known: bool,
    /// Measured step time in seconds.
    pub step_time: Option<f64>,
    /// Measured peak memory in bytes.
    pub peak_memory: Option<f64>,
    /// Metric of that peak; `None` if neither the row nor its text names it.
    pub peak_kind: Option<Published>,
    /// True if the run ran out of memory.
    pub out_of_memory: bool,
    /// True if dimensions, parallel sizes and batch are all published.
    pub complete: bool,
    /// Trust in the source: `A` or `B`.
    pub trust: String,
}

impl Case {
    /// Origin of the row's software generation.
    pub const fn software_origin(&self) -> SoftwareOrigin {
        if self.is_software_named { SoftwareOrigin::Specified } else { SoftwareOrigin::Assumed }
    }
}

/// Columns with counts.
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

/// Maximum number of virtual stages: more are not plausible.
const MOST_VIRTUAL_STAGES: u64 = 4096;

/// Converts a row to a case, or returns the reason why it cannot be priced.
pub fn case(cells: &Cells) -> Result<Case, String> {
    let notes = cells.text("notes").unwrap_or_default().to_lowercase();
    // An empty cell is unknown, but an invalid one is an error.
    for column in COUNTS {
        if cells.text(column).is_some() && cells.count(column).is_none() {
            return Err(format!("`{column}` is not a count: `{}`", cells.text(column).unwrap_or_default()));
        }
    }
    let need = |column: &str| cells.count(column).ok_or_else(|| format!("no `{column}`"));
    let gpu = cells.text("gpu").ok_or("no `gpu`")?;
    let devices = need("n_gpus")?;
    let framework = cells.text("framework").unwrap_or_default();
    let model = model(cells, &notes)?;
    let described = format!("{} {notes}", framework.to_lowercase());
    let cluster = cluster(cells, gpu, devices, &described)?;
    let texts = format!("{notes}; model {}", model_name(cells));
    let stack = software::identify(framework, &texts, &cluster.accelerator.architecture)
        .ok_or("no software generation is available")?;
    let generation = stack.software;

    let sequence_length = need("seq_len")?;
    let tensor_parallel = cells.count("tp").unwrap_or(1);
    let pipeline_parallel = cells.count("pp").unwrap_or(1);
    let context_parallel = cells.count("cp").unwrap_or(1);
    let inner = tensor_parallel.saturating_mul(pipeline_parallel).saturating_mul(context_parallel);
    let data_parallel = match cells.count("dp") {
        Some(dp) => dp,
        None if cells.text("tp").is_some() && devices.is_multiple_of(inner) => devices / inner,
        None => return Err("no parallel sizes".into()),
    };
    if pipeline_parallel.saturating_mul(cells.count("vpp").unwrap_or(1)) > MOST_VIRTUAL_STAGES {
        return Err(format!("more than {MOST_VIRTUAL_STAGES} virtual stages"));
    }
    if data_parallel.checked_mul(inner) != Some(devices) {
        return Err(format!(
            "parallel sizes multiply to {}, not to {devices} devices",
            data_parallel.saturating_mul(inner)
        ));
    }
    let micro_batch = need("micro_batch")?;
    let global_batch = need("global_batch_seqs")?;
    if !global_batch.is_multiple_of(micro_batch.saturating_mul(data_parallel)) {
        return Err(format!("batch {global_batch} is not a multiple of {micro_batch} x {data_parallel}"));
    }

    let published = recompute::read(cells.text("recompute"), &notes, &model, pipeline_parallel, generation);
    let recompute_known = published.policy.is_some();
    let schedule = schedule(framework, &notes);
    let virtual_stages = if pipeline_parallel > 1 { cells.count("vpp").unwrap_or(1) } else { 1 };
    let layers_per_stage = uneven(&notes, model.num_layers(), pipeline_parallel, virtual_stages);
    let divides = model.num_layers().is_multiple_of((pipeline_parallel * virtual_stages).max(1));
    let is_lora = model_name(cells).contains("lora") || described.contains("lora");
    let is_sharded = cells.flag("sequence_parallel") == Some(true) || generation.shards_residual;
    let sequence_parallel = is_sharded && tensor_parallel > 1;
    // Recipes specify the overlap that the generation has; elsewhere the framework's arguments may have
    // another.
    let is_recipe = {
        let framework = framework.to_lowercase();
        generation.recipes.iter().any(|recipe| framework.contains(recipe))
    };
    let own_kernel = generation.attention_kernel(&cluster.accelerator.architecture);
    let mut spec = PlanSpec {
        tensor_parallel: Some(tensor_parallel),
        sequence_parallel: Some(sequence_parallel),
        pipeline_parallel: Some(pipeline_parallel),
        virtual_stages: Some(virtual_stages),
        context_parallel: Some(context_parallel),
        context_kind: Some(if notes.contains("ulysses") { ContextKind::Ulysses } else { ContextKind::Ring }),
        data_parallel: Some(data_parallel),
        expert_parallel: Some(cells.count("ep").unwrap_or(1)),
        expert_tensor_parallel: number_after(&notes, "etp "),
        sharding: sharding(cells, generation, &notes)?,
        micro_batch: Some(micro_batch),
        global_batch: Some(global_batch),
        sequence_length: Some(sequence_length),
        optimizer: is_lora.then_some(Optimizer::Lora),
        lora_rank: number_after(&notes, "rank ").filter(|_| is_lora),
        lora_targets: if is_lora { lora_targets(&notes)? } else { None },
        recompute: published.policy,
        offload_optimizer: (cells.flag("optimizer_offload") == Some(true)).then_some(1.0),
        schedule: Some(schedule),
        // The run ran, so some division of its layers exists.
        uneven_stages: (layers_per_stage.is_none() && !divides).then_some(true),
        layers_per_stage,
        overlap_tensor: overlap_of(&described, &["async tp", "async tensor parallel"])
            .or_else(|| is_recipe.then_some(generation.overlap.tensor && sequence_parallel)),
        // Recipes are benchmarks with forced or random routing, unless they state otherwise.
        expert_imbalance: if notes.contains("natural routing") {
            Some(USUAL_IMBALANCE)
        } else {
            (BALANCED.iter().any(|phrase| names(&notes, phrase)) || is_recipe).then_some(1.0)
        },
        document_length: number_after(&notes, "mean document length "),
        overlap_expert: overlap_of(&described, EXPERT_OVERLAP),
        overlap_gradient_reduce: overlap_of_shards(&described)
            .or_else(|| is_recipe.then_some(generation.overlap.gradient_reduce)),
        overlap_parameter_gather: overlap_of_shards(&described)
            .or_else(|| is_recipe.then_some(generation.overlap.parameter_gather)),
        attention_kernel: Some(attention_kernel(framework, &notes, own_kernel)),
        software: Some(generation.id.clone()),
        ..PlanSpec::default()
    };
    precision(cells, &notes, &mut spec)?;
    let mut plan = spec.resolve(&model, &cluster).map_err(|problem| problem.to_string())?;
    if let Some(offload) = published.offload {
        plan.offload.activations = offload.share(&model, &cluster, &plan);
        spec.offload_activations = Some(plan.offload.activations);
    }
    if let Some(problem) = plan::validate(&model, &cluster, &plan).first() {
        return Err(format!("invalid plan: {problem}"));
    }
    Ok(Case {
        id: cells.text("id").map_or_else(|| format!("line {}", cells.line), str::to_owned),
        source: cells.text("source").unwrap_or("unknown").to_owned(),
        model,
        cluster,
        spec,
        plan,
        is_software_named: stack.is_named,
        recompute_known,
        step_time: step_time(cells, global_batch * sequence_length, devices),
        peak_memory: peak_memory(cells)?,
        peak_kind: peak_kind(cells, framework, &notes),
        out_of_memory: cells.text("status") == Some("oom"),
        complete: cells.flag("complete").unwrap_or(false),
        trust: cells.text("trust").unwrap_or_default().to_owned(),
    })
}

/// The measured step time in seconds: as published, or from the throughput.
pub fn step_time(cells: &Cells, tokens: u64, devices: u64) -> Option<f64> {
    let from_rate = |rate: f64| tokens as f64 / (rate * devices as f64);
    cells
        .number("measured_step_time_s")
        .or_else(|| cells.number("derived_step_time_s"))
        .or_else(|| cells.number("measured_tokens_per_s_per_gpu").map(from_rate))
        .or_else(|| cells.number("derived_tokens_per_s_per_gpu").map(from_rate))
        .filter(|t| *t > 0.0 && t.is_finite())
}

/// The metric of the measured peak: the column `peak_mem_kind`, otherwise what the text names.
fn peak_kind(cells: &Cells, framework: &str, notes: &str) -> Option<Published> {
    match cells.text("peak_mem_kind") {
        Some("allocated") => Some(Published::Allocated),
        Some("reserved") => Some(Published::Reserved),
        Some("device") => Some(Published::Device),
        _ => {
            let text = format!("{}; {notes}", framework.to_lowercase());
            SoftwareCatalogue::shared().ok()?.metric_in(&text)
        }
    }
}

/// The measured peak memory in bytes. `peak_mem_unit` is the unit of the column; the default is decimal
/// gigabytes. An error for a unit that is none.
pub fn peak_memory(cells: &Cells) -> Result<Option<f64>, String> {
    let unit = match cells.text("peak_mem_unit") {
        None | Some("" | "GB") => 1e9,
        Some("MB") => 1e6,
        Some(text) if text.contains("GiB") => 1_073_741_824.0,
        Some(text) if text.contains("MiB") => 1_048_576.0,
        Some(text) => {
            return Err(format!("peak_mem_unit: expected `GB`, `GiB`, `MB` or `MiB`, found `{text}`"));
        }
    };
    Ok(cells.number("measured_peak_mem_gb").filter(|v| *v > 0.0).map(|v| v * unit))
}

fn model_name(cells: &Cells) -> String {
    cells.text("model_name").unwrap_or_default().to_lowercase()
}

/// The catalogue's structure if name, layers and width agree with it (it includes latent attention, shared
/// experts and windows, which have no column). Otherwise the published dimensions.
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
            let is_off = |phrase: &&str| notes.contains(*phrase);
            if ["w/o mtp", "without mtp", "no mtp", "mtp off", "mtp disabled", "mtp=0"].iter().any(is_off) {
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
        // Plain MLPs indicate the GPT family with tied embeddings; gated ones the Llama family without.
        tied: Some(notes.contains("tied embeddings") && !notes.contains("untied") || !gated),
        experts,
        top_k: experts.and_then(|_| cells.count("top_k")),
        moe_ffn: experts.and_then(|_| cells.count("moe_ffn_hidden")),
        max_positions: cells.count("seq_len"),
        ..Dimensions::default()
    };
    model::from_dimensions(dimensions).map_err(|p| p.to_string())
}

/// Tests whether the published heads and experts are those of a catalogue model.
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

/// A catalogue model by a free name, ignoring case, vendor prefixes and fine-tuning suffixes.
fn catalogue_model(name: &str) -> Option<Model> {
    let plain = name.to_lowercase().replace("-lora", "").replace(' ', "-");
    let cut = plain.split('(').next().unwrap_or_default().trim_end_matches('-').to_owned();
    if cut != plain {
        // A remark in brackets marks a variant; the dimensions identify the model.
        return None;
    }
    model::by_name(&cut).ok()
}

/// The modules after `adapters on`, up to a bracket or a semicolon: `adapters on linear_qkv and linear_proj
/// (by the benchmark)`.
fn lora_targets(notes: &str) -> Result<Option<LoraTargets>, String> {
    let phrase = "adapters on ";
    let Some(at) = notes.find(phrase) else { return Ok(None) };
    let list = notes[at + phrase.len()..].split([';', '(']).next().unwrap_or_default();
    let names = list.split([' ', ',']).filter(|word| !word.is_empty() && *word != "and");
    let targets = names.map(LoraTarget::by_name).collect::<Result<BTreeSet<_>, _>>();
    targets.map(|targets| Some(LoraTargets(targets))).map_err(|problem| problem.to_string())
}

/// The whole number after a phrase.
fn number_after(notes: &str, phrase: &str) -> Option<u64> {
    let rest = &notes[notes.find(phrase)? + phrase.len()..];
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|n| (1..=65_536).contains(n))
}

/// Maximum bandwidth per device to other nodes, in Gbit/s: two NICs of 800 Gbit/s. More is the sum of a node.
const MOST_PER_DEVICE: f64 = 1600.0;

fn cluster(cells: &Cells, gpu: &str, devices: u64, text: &str) -> Result<Cluster, String> {
    let bandwidth = cells.number("inter_node_bw_gbps").filter(|b| *b > 0.0);
    if let Some(sum) = bandwidth.filter(|bandwidth| *bandwidth > MOST_PER_DEVICE) {
        return Err(format!(
            "`inter_node_bw_gbps` is per device: {sum} Gbit/s is more than {MOST_PER_DEVICE}; divide that of a node by its devices"
        ));
    }
    let bandwidth = bandwidth.map(BytesPerSecond::from_gbit);
    let per_node = cells.count("gpus_per_node");
    let usual =
        cluster::from_parts(gpu, devices, per_node, bandwidth).map_err(|problem| problem.to_string())?;
    let is_efa = text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "efa");
    let Some(preset) = is_efa.then(|| on_efa(&usual)).flatten() else { return Ok(usual) };
    let spec = ClusterSpec {
        preset: Some(preset.to_owned()),
        accelerator: Some(gpu.to_owned()),
        devices: Some(devices),
        devices_per_node: per_node,
        network_bandwidth: bandwidth,
        ..ClusterSpec::default()
    };
    spec.resolve().map_err(|problem| problem.to_string())
}

/// The preset with the accelerator of a cluster on EFA.
fn on_efa(cluster: &Cluster) -> Option<&'static str> {
    let lines = [format!("accelerator = \"{}\"", cluster.accelerator.id), "kind = \"EFA\"".to_owned()];
    let has_all = |text: &str| lines.iter().all(|line| text.contains(line));
    cluster::preset_names().into_iter().find(|name| cluster::preset_text(name).is_some_and(has_all))
}

/// Sharding as specified by the row, complete or by the size of its groups. `None` if it is not specified.
fn sharding(cells: &Cells, generation: &Software, notes: &str) -> Result<Option<Sharding>, String> {
    let stated = match cells.text("zero_stage") {
        Some("3" | "3.0" | "fsdp" | "hsdp") => Some(3),
        Some("2" | "2.0") => Some(2),
        Some("1" | "1.0") => Some(1),
        Some("0" | "0.0" | "none") => Some(0),
        Some(other) => return Err(format!("unknown `zero_stage`: `{other}`")),
        None => None,
    };
    let by_default = generation.reshards_by_default(cells.count("pp").unwrap_or(1));
    let is_never = notes.contains("reshard never");
    let reshards = !is_never && (by_default || notes.contains("reshard always"));
    let group = shard_group(notes);
    if stated.is_none() && group.is_none() && !is_never {
        return Ok(None);
    }
    let zero_stage = stated.unwrap_or(generation.zero_stage);
    Ok(Some(Sharding { zero_stage, group, reshard_after_forward: zero_stage == 3 && reshards }))
}

/// Phrases for routers that send each expert as many tokens.
const BALANCED: &[&str] = &[
    "forced-balanced",
    "forced balanced",
    "forced balance",
    "force balance",
    "force-load-balancing",
    "force_load_balancing",
    "balanced routing",
    "even routing",
    "uniform routing",
];

/// Phrases for parameters, gradients and moments in 16 bits, without a master copy: the model is loaded in
/// bf16 and trained as it is.
const ALL_SIXTEEN: &[&str] = &[
    "pure bf16",
    "full bf16",
    "bf16-true",
    "bf16 master weights",
    "bf16 model, gradients and adam moments",
    "bf16 weights and optimizer states",
    "parameters in bf16",
    "model loaded in bf16",
    "torch_dtype=torch.bfloat16",
    "torch_dtype bfloat16",
    "bf16 parameters, bf16 moments",
    "6 bytes a parameter",
];

/// Phrases for parameters that are stored and gathered in FP8.
const NARROW_PARAMETERS: &[&str] = &[
    "fp8_param_gather",
    "fp8-param-gather",
    "fp8 param gather",
    "fp8 parameter gather",
    "fp8 parameters",
    "fp8 primary weights",
];

/// Sets the number formats that the row specifies; the others are the generation's defaults.
fn precision(cells: &Cells, notes: &str, spec: &mut PlanSpec) -> Result<(), String> {
    let dtype = cells.text("dtype").unwrap_or("bf16");
    let preset = PrecisionPreset::read(&Value::Text(dtype.to_owned()))
        .map_err(|_| format!("unknown number format `{dtype}`"))?;
    let stated = cells
        .text("gradients")
        .map(|name| DataType::from_name(name).ok_or_else(|| format!("unknown `gradients`: `{name}`")))
        .transpose()?;
    let formats = preset.precision();
    let all_sixteen = !notes.contains("fp32 master") && ALL_SIXTEEN.iter().any(|phrase| names(notes, phrase));
    let moments = all_sixteen || notes.contains("bf16 gradients and moments");
    let sixteen = moments || notes.contains("fp16 gradients");
    spec.precision = Some(preset);
    spec.precision_gradients = sixteen.then_some(formats.parameters).or(stated);
    spec.precision_gradient_reduce =
        (sixteen || notes.contains("mp_mode=pure")).then_some(formats.parameters).or(stated);
    spec.precision_master = all_sixteen.then_some(Master(None));
    spec.precision_moments = moments.then_some(formats.parameters);
    // Transformer Engine keeps and gathers the parameters in the narrow format; masters stay in 32 bits.
    let is_narrow = formats.compute != formats.parameters;
    if is_narrow && NARROW_PARAMETERS.iter().any(|phrase| names(notes, phrase)) {
        spec.precision_parameters = Some(formats.compute);
    }
    Ok(())
}

fn schedule(framework: &str, notes: &str) -> Schedule {
    let text = format!("{} {notes}", framework.to_lowercase());
    Schedule::named_in(&text)
}

/// Phrases for exchanges of experts that overlap with compute.
const EXPERT_OVERLAP: &[&str] = &[
    "overlap_moe_expert_parallel_comm",
    "moe_a2a_overlap",
    "expert-parallel overlap",
    "expert overlap",
    "ep overlap",
    "a2a overlap",
];

/// Whether a text states that communication overlaps with compute, by phrases for it; `None` if it does not
/// mention it.
fn overlap_of(text: &str, phrases: &[&str]) -> Option<bool> {
    let mentioned = phrases.iter().find(|phrase| text.contains(*phrase))?;
    Some(names(text, mentioned))
}

/// `Some(false)` for SimpleFSDP without a compiler that orders its collectives: each gather and reduction
/// waits where the graph has it, and only passes of the compiler bucket them and move them over compute
/// (arXiv 2411.00284, sections 3 and 4; the backend `aot_eager` has none).
fn overlap_of_shards(text: &str) -> Option<bool> {
    let is_ordered = text.contains("bucketing") || text.contains("reordering");
    (text.contains("simplefsdp") && text.contains("aot_eager") && !is_ordered).then_some(false)
}

/// The hybrid shard group after `fsdp group N` or `HSDP shard N`.
fn shard_group(notes: &str) -> Option<u64> {
    ["fsdp group ", "shard group of ", "hsdp shard "].iter().find_map(|phrase| number_after(notes, phrase))
}

/// Layers per stage if the notes specify fewer at the ends.
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
        // A uniform partition assigns the remainder in order: the first stages have the larger share.
        let (base, extra) = (layers / parts, layers % parts);
        return Some((0..parts).map(|i| base + u64::from(i < extra)).collect());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathers_of_simplefsdp_overlap_only_where_a_compiler_orders_them() {
        assert_eq!(overlap_of_shards("torchtitan (simplefsdp, backend aot_eager)"), Some(false));
        assert_eq!(overlap_of_shards("torchtitan (simplefsdp, aot_eager_autobucketing)"), None);
        assert_eq!(overlap_of_shards("torchtitan (simplefsdp, torch.compile)"), None);
        assert_eq!(overlap_of_shards("torchtitan (fsdp2, eager)"), None);
    }

    #[test]
    fn overlap_of_experts_is_read_where_it_is_mentioned() {
        assert_eq!(overlap_of("expert-parallel overlap off; hybridep", EXPERT_OVERLAP), Some(false));
        assert_eq!(overlap_of("overlap_moe_expert_parallel_comm, 1f1b", EXPERT_OVERLAP), Some(true));
        assert_eq!(overlap_of("no expert overlap", EXPERT_OVERLAP), Some(false));
        assert_eq!(overlap_of("overlapped gradient reduction", EXPERT_OVERLAP), None);
    }

    /// Rows have no column for the kind of network: without this, EFA was priced as InfiniBand.
    #[test]
    fn a_row_that_names_efa_is_on_it() {
        let network = |gpu: &str, notes: &str| {
            let header = "gpu,n_gpus,gpus_per_node,inter_node_bw_gbps,model_name,framework,tp,pp,seq_len,micro_batch,global_batch_seqs,notes";
            let text = format!("{header}\n{gpu},16,8,400,Llama-3-8B,torchtitan,1,1,2048,1,16,{notes}\n");
            let rows = crate::validation::cases(&text, "runs.csv").expect("a table");
            let network = rows.into_iter().next().expect("a row").1.expect("a case").cluster.network;
            (network.kind, network.bandwidth.gb())
        };
        assert_eq!(network("H100", "EFA between nodes"), ("EFA".to_owned(), 50.0));
        assert_eq!(network("H100", "default settings"), ("InfiniBand".to_owned(), 50.0));
        // No preset of this accelerator is on EFA.
        assert_eq!(network("H100-PCIe", "EFA").0, "InfiniBand");
    }

    #[test]
    fn natural_routing_has_no_graph_of_the_whole_step_unless_it_is_named() {
        let of = |notes| {
            &software::identify("Megatron-Bridge (2026-07)", notes, "Blackwell").expect("one").software.id
        };
        assert_eq!(of("natural routing"), "megatron-core-2026-06+no-cuda-graphs");
        assert_eq!(of("natural routing; full-iteration cuda graph"), "megatron-core-2026-06+cuda-graphs");
        assert_eq!(of("forced-balanced routing"), "megatron-core-2026-06");
    }

    /// DeepSpeed runs the layers of Transformers, whose norms are composed unless a compiler fuses them.
    #[test]
    fn layers_under_deepspeed_are_composed_unless_compiled() {
        let of = |framework| software::identify(framework, "", "Hopper").expect("a stack").software;
        let (eager, compiled) = (of("DeepSpeed (transformers)"), of("DeepSpeed (transformers, DeepCompile)"));
        assert!(eager.norm_bytes.is_some() && eager.rotary_bytes.is_some(), "{}", eager.id);
        assert!(compiled.norm_bytes.is_none() && compiled.rotary_bytes.is_none(), "{}", compiled.id);
    }
}
