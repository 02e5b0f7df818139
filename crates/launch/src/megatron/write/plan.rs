//! The plan as flags: parallelism, batch, formats, memory, overlap.

use super::super::pipeline;
use super::Group;
use super::choices::{
    Sharded, fp8_recipe, has_aware_optimizer, has_narrow_parameters, offloaded_layers, offloads_optimizer,
    optimizer, overlaps_experts, recompute_words,
};
use super::structure::Structure;
use railwright_spec::plan::{AttentionKernel, ContextKind, Plan, RankOrder, Recompute};
use railwright_spec::precision::DataType;
use railwright_spec::run::Run;

/// Every group of the plan.
pub(super) fn groups(run: &Run, structure: &Structure) -> Vec<Group> {
    vec![parallel(run, structure), training(run), precision(run), memory(run), overlap(run)]
}

fn parallel(run: &Run, structure: &Structure) -> Group {
    let plan = &run.plan;
    let mut group = Group::new("PARALLEL_ARGS");
    group.value("--tensor-model-parallel-size", plan.tensor_parallel);
    // Megatron rejects experts with tensor parallelism without it.
    let sequence = plan.sequence_parallel || run.model.is_mixture_of_experts();
    group.flag_if(sequence && plan.tensor_parallel > 1, "--sequence-parallel");
    group.value("--pipeline-model-parallel-size", plan.pipeline_parallel);
    match &plan.layers_per_stage {
        // The pattern of a hybrid has its stages between bars.
        _ if matches!(structure, Structure::Hybrid(_)) => {}
        Some(list) => {
            let layout = pipeline::layout_of(&per_chunk(list, plan), predictions(run));
            group.value("--pipeline-model-parallel-layout", format!("'{layout}'"));
        }
        None if plan.virtual_stages > 1 => {
            group.value("--num-virtual-stages-per-pipeline-rank", plan.virtual_stages);
        }
        None => {}
    }
    group.value("--context-parallel-size", plan.context_parallel);
    if plan.context_parallel > 1 {
        let kind = match plan.context_kind {
            // A learned index selects keys anywhere in the sequence.
            _ if *structure == Structure::Sparse => "all_gather",
            ContextKind::Ring => "p2p",
            ContextKind::AllGather => "all_gather",
            ContextKind::Ulysses => "a2a",
        };
        group.value("--cp-comm-type", kind);
    }
    group.flag_if(plan.rank_order == RankOrder::TensorContextPipelineData, "--use-tp-pp-dp-mapping");
    group
}

/// Prediction modules of the model.
fn predictions(run: &Run) -> u64 {
    run.model.multi_token_prediction.as_ref().map_or(0, |prediction| prediction.depth)
}

/// A list for each stage, divided among the stage's chunks.
pub(super) fn per_chunk(list: &[u64], plan: &Plan) -> Vec<u64> {
    let (stages, chunks) = (plan.pipeline_parallel, plan.virtual_stages);
    if list.len() as u64 != stages || chunks == 1 {
        return list.to_vec();
    }
    let share = |chunk: u64, layers: u64| layers / chunks + u64::from(chunk < layers % chunks);
    (0..chunks).flat_map(|chunk| list.iter().map(move |layers| share(chunk, *layers))).collect()
}

fn training(run: &Run) -> Group {
    let plan = &run.plan;
    let mut group = Group::new("TRAINING_ARGS");
    group.value("--micro-batch-size", plan.micro_batch);
    group.value("--global-batch-size", plan.global_batch);
    group.value("--seq-length", plan.sequence_length);
    let steps =
        run.training.tokens.map_or(100.0, |tokens| (tokens / plan.tokens_per_step().max(1) as f64).ceil());
    group.value("--train-iters", steps.clamp(1.0, 1e15));
    group.value("--optimizer", optimizer(plan));
    let dropout = if plan.dropout { "0.1" } else { "0.0" };
    group.value("--attention-dropout", dropout);
    group.value("--hidden-dropout", dropout);
    group.value("--make-vocab-size-divisible-by", plan.vocabulary_multiple);
    match plan.attention_kernel {
        AttentionKernel::Flash2 => group.value("--attention-backend", "flash"),
        AttentionKernel::Flash3 => group.value("--attention-backend", "fused"),
        AttentionKernel::Unfused => group.value("--attention-backend", "unfused"),
        AttentionKernel::Auto | AttentionKernel::Flash1 => {}
    }
    group
}

fn precision(run: &Run) -> Group {
    let precision = run.plan.precision;
    let mut group = Group::new("PRECISION_ARGS");
    let sixteen = match precision.activations {
        DataType::Fp16 => Some(DataType::Fp16),
        DataType::Fp32 | DataType::Tf32 => None,
        _ => Some(DataType::Bf16),
    };
    match sixteen {
        Some(DataType::Fp16) => group.flag("--fp16"),
        Some(_) => group.flag("--bf16"),
        None => {}
    }
    match precision.compute {
        DataType::Fp8 => {
            group.value("--fp8-format", "hybrid");
            group.value("--fp8-recipe", fp8_recipe(run));
        }
        DataType::Mxfp8 => {
            group.value("--fp8-format", "e4m3");
            group.value("--fp8-recipe", "mxfp8");
        }
        DataType::Nvfp4 => group.value("--fp4-format", "e2m1"),
        _ => {}
    }
    group.flag_if(has_narrow_parameters(run), "--fp8-param-gather");
    match (sixteen, precision.gradients) {
        (Some(_), DataType::Fp32) => group.flag("--accumulate-allreduce-grads-in-fp32"),
        (Some(_), DataType::Bf16) => group.flag("--grad-reduce-in-bf16"),
        _ => {}
    }
    let is_usual = precision.master != Some(DataType::Fp16) && precision.moments == DataType::Fp32;
    if sixteen.is_some() && !is_usual && has_aware_optimizer(run) {
        group.flag("--use-precision-aware-optimizer");
        if precision.master == Some(DataType::Fp16) {
            group.value("--main-params-dtype", "fp16");
        }
        group.value("--exp-avg-dtype", precision.moments);
        group.value("--exp-avg-sq-dtype", precision.moments);
    }
    group.flag_if(precision.narrow_attention, "--fp8-dot-product-attention");
    group
}

fn memory(run: &Run) -> Group {
    let plan = &run.plan;
    let mut group = Group::new("MEMORY_ARGS");
    let sharded = Sharded::of(run);
    group.flag_if(sharded.has_distributed_optimizer(), "--use-distributed-optimizer");
    match sharded {
        Sharded::Whole | Sharded::Optimizer => {}
        Sharded::Torch => {
            group.flag("--use-torch-fsdp2");
            group.flag("--torch-fsdp2-no-reshard-after-forward");
            group.flag("--no-gradient-accumulation-fusion");
        }
        Sharded::Megatron => {
            group.flag("--use-megatron-fsdp");
            let strategy = if plan.sharding.zero_stage == 2 { "optim_grads" } else { "optim_grads_params" };
            group.value("--data-parallel-sharding-strategy", strategy);
            group.value("--ckpt-format", "fsdp_dtensor");
        }
    }
    let everyone = plan.data_parallel * plan.context_parallel;
    if let Some(ranks) =
        plan.sharding.group.filter(|ranks| *ranks > 0 && *ranks < everyone && everyone.is_multiple_of(*ranks))
    {
        group.value("--num-distributed-optimizer-instances", everyone / ranks);
    }
    recompute(run, &mut group);
    if offloads_optimizer(run) {
        let sixteen = !matches!(plan.precision.activations, DataType::Fp32 | DataType::Tf32);
        let is_aware = sixteen
            && (plan.precision.moments != DataType::Fp32 || plan.precision.master == Some(DataType::Fp16));
        group.flag("--optimizer-cpu-offload");
        group.value("--optimizer-offload-fraction", plan.offload.optimizer);
        group.flag_if(!is_aware, "--use-precision-aware-optimizer");
    }
    if let Some(layers) = offloaded_layers(run) {
        group.value("--cpu-offloading-num-layers", layers);
    }
    group
}

fn recompute(run: &Run, group: &mut Group) {
    let plan = &run.plan;
    match &plan.recompute {
        Recompute::None => {}
        Recompute::Full { layers: None } => {
            group.value("--recompute-granularity", "full");
            group.value("--recompute-method", "uniform");
            group.value("--recompute-num-layers", 1);
        }
        Recompute::Full { layers: Some(layers) } => {
            group.value("--recompute-granularity", "full");
            group.value("--recompute-method", "block");
            group.value("--recompute-num-layers", layers.div_ceil(plan.virtual_stages));
        }
        Recompute::Selective { .. } => {
            let words = recompute_words(run);
            if !words.is_empty() {
                group.value("--recompute-granularity", "selective");
                group.value("--recompute-modules", words.join(" "));
            }
        }
    }
}

fn overlap(run: &Run) -> Group {
    let plan = &run.plan;
    let mut group = Group::new("OVERLAP_ARGS");
    let overlap = &plan.overlap;
    group.flag_if(overlap.gradient_reduce, "--overlap-grad-reduce");
    let gathers =
        overlap.parameter_gather && overlap.gradient_reduce && Sharded::of(run).has_distributed_optimizer();
    group.flag_if(gathers, "--overlap-param-gather");
    group.flag_if(overlap.tensor && plan.sequence_parallel && plan.tensor_parallel > 1, "--tp-comm-overlap");
    // Between two stages alone Megatron rejects interleaving without it.
    let waits = plan.virtual_stages > 1 && !overlap.pipeline && plan.pipeline_parallel > 2;
    group.flag_if(waits, "--no-overlap-p2p-communication");
    group.flag_if(overlaps_experts(run), "--overlap-moe-expert-parallel-comm");
    group
}
