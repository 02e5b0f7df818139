//! Memory of a rank: kept, sharded, recomputed and offloaded states, as chosen by Megatron's flags.
//!
//! Responsible for: the distributed optimizer and FSDP, recompute of every age of Megatron, offload. Excludes
//! settings that the plan cannot express: the table of flags reports them.

use super::degrees::Degrees;
use super::filler::Filler;
use crate::RemarkKind;
use railwright_spec::plan::{Recompute, RecomputeModule, Sharding};
use std::collections::BTreeSet;

/// Reads sharding, recompute and offload.
pub(crate) fn read(f: &mut Filler<'_>, layers: Option<u64>, degrees: &Degrees) {
    sharding(f, degrees);
    let chunks = f.draft.spec().plan.virtual_stages.unwrap_or(1);
    let per_stage = layers.map(|layers| layers.div_ceil(degrees.pipeline.max(1)));
    recompute(f, per_stage, chunks);
    offload(f, per_stage);
}

fn sharding(f: &mut Filler<'_>, degrees: &Degrees) {
    let stage = |zero_stage, reshard| Sharding { zero_stage, group: None, reshard_after_forward: reshard };
    let fsdp = ["use_megatron_fsdp", "use_custom_fsdp"].into_iter().any(|name| f.arguments.is_on(name));
    let (mut sharding, field) = if f.arguments.is_on("use_torch_fsdp2") {
        let reshard = f.arguments.switch("torch_fsdp2_reshard_after_forward").unwrap_or(true);
        (stage(3, reshard), "use_torch_fsdp2")
    } else if fsdp {
        let sharding = match f.arguments.word("data_parallel_sharding_strategy") {
            Some("optim_grads_params") => stage(3, true),
            Some("optim_grads") => stage(2, false),
            Some("optim") => stage(1, false),
            _ => stage(0, false),
        };
        (sharding, "data_parallel_sharding_strategy")
    } else if let Some(zero) = f.count("zero_stage").filter(|_| f.arguments.is_on("deepspeed")) {
        (stage(zero.min(3) as u8, zero >= 3), "zero_stage")
    } else if f.arguments.is_on("deepspeed") && f.arguments.mentions("deepspeed_config") {
        let why = "the stage is in DeepSpeed's file, which is not read: pass --sharding";
        let (source, line) = f.arguments.origin("deepspeed_config");
        f.remark(RemarkKind::Unresolved, "deepspeed_config", why);
        return f.draft.leave_open("plan.sharding", &source, line, why);
    } else if f.count("zero_stage").is_some_and(|zero| zero > 0)
        || f.arguments.open().any(|(name, _)| name == "zero_stage")
    {
        // Programs over parts of Megatron shard by it; Megatron-DeepSpeed ignores it without `--deepspeed`.
        let why = "no `--deepspeed`, so its effect depends on the program: pass --sharding";
        let (source, line) = f.arguments.origin("zero_stage");
        f.remark(RemarkKind::Unresolved, "zero_stage", why);
        return f.draft.leave_open("plan.sharding", &source, line, why);
    } else {
        (stage(u8::from(f.arguments.is_on("use_distributed_optimizer")), false), "use_distributed_optimizer")
    };
    if sharding.zero_stage > 0
        && let Some(instances) = f.count("num_distributed_optimizer_instances").filter(|n| *n > 1)
    {
        let ranks = degrees.data.map(|data| data.saturating_mul(degrees.context));
        sharding.group = ranks.filter(|ranks| ranks.is_multiple_of(instances)).map(|ranks| ranks / instances);
        if sharding.group.is_none() {
            let message = "the shard group size depends on the world size; one group is assumed";
            f.remark(RemarkKind::Unresolved, "num_distributed_optimizer_instances", message);
        }
    }
    f.set("plan.sharding", &sharding, field);
}

fn recompute(f: &mut Filler<'_>, per_stage: Option<u64>, chunks: u64) {
    let granularity = f.arguments.word("recompute_granularity").map(str::to_owned);
    let legacy = [
        ("activations_checkpoint_method", "activations_checkpoint_num_layers"),
        ("checkpoint_activations", "checkpoint_num_layers"),
        ("deepspeed_activation_checkpointing", "checkpoint_num_layers"),
    ]
    .into_iter()
    .find(|(name, _)| f.arguments.switch(name) == Some(true));
    let (recompute, field) = match granularity.as_deref() {
        Some("full") => {
            let method = f.arguments.word("recompute_method").map(str::to_owned);
            (full(f, method.as_deref(), "recompute_num_layers", per_stage, chunks), "recompute_granularity")
        }
        Some("selective") => (selective(f), "recompute_granularity"),
        Some(other) => {
            let message = format!("`{other}` is neither `full` nor `selective`; nothing is recomputed");
            f.remark(RemarkKind::Unresolved, "recompute_granularity", message);
            (Recompute::None, "recompute_granularity")
        }
        None if f.arguments.is_on("recompute_activations") => (selective(f), "recompute_activations"),
        None => match legacy {
            Some((name, number)) => {
                let method = f.arguments.word(name).map(str::to_owned);
                (full(f, method.as_deref(), number, per_stage, chunks), name)
            }
            None => (Recompute::None, "recompute_granularity"),
        },
    };
    let recompute = with_experts(f, recompute);
    // `None` in a recipe or an override is a setting, unlike the absence of one.
    if recompute == Recompute::None
        && let Some((source, line)) = f.arguments.stated_none(field)
    {
        return f.draft.set("plan.recompute", &recompute, &source, line);
    }
    f.set("plan.recompute", &recompute, field);
}

/// Whole layers: all of them in groups (`uniform`), or the first of each chunk (`block`).
fn full(
    f: &mut Filler<'_>,
    method: Option<&str>,
    number: &str,
    per_stage: Option<u64>,
    chunks: u64,
) -> Recompute {
    let count = f.count(number);
    if method != Some("block") {
        if count.is_some_and(|count| count > 1) {
            let message = "layers are checkpointed in groups; the input of each layer is counted";
            f.remark(RemarkKind::NotModelled, number, message);
        }
        return Recompute::Full { layers: None };
    }
    let layers = count.unwrap_or(1).saturating_mul(chunks);
    match per_stage {
        _ if layers == 0 => Recompute::None,
        Some(all) if layers >= all => Recompute::Full { layers: None },
        _ => Recompute::Full { layers: Some(layers) },
    }
}

fn selective(f: &mut Filler<'_>) -> Recompute {
    let words: Vec<String> = f.arguments.get("recompute_modules").map_or_else(Vec::new, |argument| {
        let all = argument.values.join(" ");
        all.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|w| !w.is_empty())
            .map(str::to_owned)
            .collect()
    });
    if words.is_empty() {
        return Recompute::core_attention();
    }
    let mut modules = BTreeSet::new();
    for word in &words {
        match word.as_str() {
            "core_attn" => modules.insert(RecomputeModule::CoreAttention),
            "moe_act" => modules.insert(RecomputeModule::Activation),
            "layernorm" => modules.insert(RecomputeModule::Norm),
            "mla_up_proj" => modules.insert(RecomputeModule::LatentUpProjection),
            "mlp" => modules.insert(RecomputeModule::Mlp),
            "moe" => modules.insert(RecomputeModule::Moe),
            other => {
                let message = format!("recompute of `{other}` is not modelled; it is assumed to be kept");
                f.remark(RemarkKind::NotModelled, "recompute_modules", message);
                false
            }
        };
    }
    if modules.is_empty() { Recompute::None } else { Recompute::Selective { modules, layers: None } }
}

/// The older flag for recompute of the expert block, in addition to other recompute.
fn with_experts(f: &Filler<'_>, recompute: Recompute) -> Recompute {
    if !f.arguments.is_on("moe_layer_recompute") {
        return recompute;
    }
    match recompute {
        Recompute::None => {
            Recompute::Selective { modules: BTreeSet::from([RecomputeModule::Moe]), layers: None }
        }
        Recompute::Selective { mut modules, layers } => {
            modules.insert(RecomputeModule::Moe);
            Recompute::Selective { modules, layers }
        }
        full @ Recompute::Full { .. } => full,
    }
}

fn offload(f: &mut Filler<'_>, per_stage: Option<u64>) {
    let field = ["optimizer_cpu_offload", "cpu_optimizer"].into_iter().find(|name| f.arguments.is_on(name));
    let share = match field {
        Some(_) => f.arguments.number("optimizer_offload_fraction", f.draft).unwrap_or(1.0).clamp(0.0, 1.0),
        None => 0.0,
    };
    f.set("plan.offload.optimizer", &share, field.unwrap_or("optimizer_cpu_offload"));
    if let Some(moved) = f.count("cpu_offloading_num_layers").filter(|n| *n > 0) {
        let Some(all) = per_stage else {
            let (source, line) = f.arguments.origin("cpu_offloading_num_layers");
            let why = "some of the layers, but their number is not in this file";
            return f.draft.leave_open("plan.offload.activations", &source, line, why);
        };
        let share = (moved as f64 / all.max(1) as f64).min(1.0);
        f.set("plan.offload.activations", &share, "cpu_offloading_num_layers");
        f.remark(
            RemarkKind::NotModelled,
            "cpu_offloading_num_layers",
            format!("estimated as {:.0}% of the activations of every layer", share * 100.0),
        );
    }
}
