//! Edits of hand-written texts, and of the writers' output for random pairs of plans.

use super::*;
use crate::testing::{self, MODELS};
use crate::{detect, differences, read, writer_of};
use proptest::prelude::*;
use railwright_spec::run::RunSpec;

/// The run of a text on a cluster, with settings on top.
fn run_of(text: &str, settings: &[&str]) -> Result<Run, String> {
    let launch = read(text, "file").ok_or("not recognized")?.map_err(|problems| problems[0].to_string())?;
    let mut spec: RunSpec = launch.spec.clone();
    for setting in ["cluster.preset=dgx-h100"].iter().chain(settings) {
        spec.set(setting).map_err(|problem| problem.to_string())?;
    }
    let config = launch.model_config;
    spec.resolve(|_| config.clone().ok_or_else(|| railwright_spec::problem::Problem::new("no file")))
        .map_err(|problem| problem.to_string())
}

/// The text edited to a different plan, which is the text's own with `changes`.
fn edited(text: &str, settings: &[&str], changes: &[&str]) -> Result<Edited, Refused> {
    let from = run_of(text, settings).expect("a run");
    let mut to = from.clone();
    let mut spec = railwright_spec::plan::PlanSpec::from_plan(&from.plan);
    for change in changes {
        let mut all = RunSpec::default();
        all.plan = spec.clone();
        all.set(change).expect("a key");
        spec = all.plan;
    }
    spec.data_parallel = None;
    spec.expert_tensor_parallel = None;
    to.plan = spec.resolve(&to.model, &to.cluster).expect("a plan");
    let format = detect(text)[0].format;
    let is_right = |edited: &str| {
        let back = run_of(edited, settings)?;
        let keys = differences(&to.plan, &back.plan);
        if keys.is_empty() { Ok(()) } else { Err(format!("reads back with another {}", keys.join(", "))) }
    };
    edit(format, text, &from, &to, &is_right)
}

/// The lines of a diff that are added or removed.
fn diff(text: &str, settings: &[&str], changes: &[&str]) -> String {
    let edited = edited(text, settings, changes).unwrap_or_else(|refused| panic!("{refused:?}"));
    unified(text, &edited.text, ("a", "b"))
        .lines()
        .filter(|line| line.starts_with(['+', '-']))
        .collect::<Vec<_>>()
        .join("\n")
}

const SCRIPT: &str = r#"#!/bin/bash
# tensor parallel 4 for now
TP=4
PP=${PP:-4}
NODES=8
SP=true
sp_options=""
if [ $SP = true ]; then
    sp_options=" --sequence-parallel"
fi
MODEL_ARGS="
    --num-layers 80 --hidden-size 8192 \
    --ffn-hidden-size 28672 --num-attention-heads 64 \
    --group-query-attention --num-query-groups 8 \
    --swiglu --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights \
    --max-position-embeddings 8192 --seq-length 8192 \
    --attention-dropout 0.0 --hidden-dropout 0.0 --some-local-flag 4
"
TRAIN_ARGS=(
    --micro-batch-size 1
    --global-batch-size 256
    --bf16
    --use-distributed-optimizer
    --overlap-grad-reduce
    --recompute-activations
)
torchrun --nproc_per_node 8 --nnodes $NODES pretrain_gpt.py $MODEL_ARGS ${TRAIN_ARGS[@]} $sp_options \
    --tensor-model-parallel-size $TP \
    --pipeline-model-parallel-size $PP \
    --num-layers-per-virtual-pipeline-stage 4 \
    --save ckpt/tp$TP
"#;

#[test]
fn values_change_where_they_are_written() {
    assert_eq!(
        diff(SCRIPT, &[], &["plan.tensor_parallel=8"]),
        "--- a\n+++ b\n-TP=4\n+TP=8",
        "the variable, not the comment and not the flag that nobody knows"
    );
    assert_eq!(
        diff(SCRIPT, &[], &["plan.pipeline_parallel=2", "plan.virtual_stages=5", "plan.micro_batch=2"]),
        "--- a\n+++ b\n-PP=${PP:-4}\n+PP=${PP:-2}\n-    --micro-batch-size 1\n+    --micro-batch-size 2\n\
         -    --num-layers-per-virtual-pipeline-stage 4 \\\n+    --num-layers-per-virtual-pipeline-stage 8 \\"
    );
}

#[test]
fn flags_come_and_go_beside_their_like() {
    assert_eq!(
        diff(SCRIPT, &[], &["plan.virtual_stages=1", "plan.overlap.pipeline=false"]),
        "--- a\n+++ b\n-    --num-layers-per-virtual-pipeline-stage 4 \\"
    );
    assert_eq!(diff(SCRIPT, &[], &["plan.sequence_parallel=false"]), "--- a\n+++ b\n-SP=true\n+SP=false");
    assert_eq!(
        diff(SCRIPT, &[], &["plan.context_parallel=2"]),
        "--- a\n+++ b\n+    --context-parallel-size 2 \\"
    );
    assert_eq!(
        diff(SCRIPT, &[], &["plan.overlap.parameter_gather=true"]),
        "--- a\n+++ b\n+    --overlap-param-gather"
    );
    assert_eq!(diff(SCRIPT, &[], &["plan.recompute=none"]), "--- a\n+++ b\n-    --recompute-activations");
    assert_eq!(
        diff(SCRIPT, &[], &["plan.recompute=full"]),
        "--- a\n+++ b\n+    --recompute-granularity full\n+    --recompute-num-layers 1\n+    --recompute-method uniform\n\
         -    --recompute-activations"
    );
}

#[test]
fn one_variable_for_two_flags_is_not_turned_for_one() {
    let text = SCRIPT
        .replace("--num-layers-per-virtual-pipeline-stage 4", "--num-layers-per-virtual-pipeline-stage $TP");
    let lines = diff(&text, &[], &["plan.tensor_parallel=8"]);
    assert!(lines.contains("+    --tensor-model-parallel-size 8 \\"), "{lines}");
}

#[test]
fn logs_are_refused_with_the_flags_to_change() {
    let text = include_str!("../../../../examples/launch/mixtral_8x7b.log");
    let refused = edited(text, &[], &["plan.micro_batch=2"]).expect_err("a log is not a script");
    assert!(refused.reason.contains("a log cannot be edited: change the script of the run"), "{refused:?}");
    assert!(refused.by_hand.iter().any(|change| change.name == "--micro-batch-size"), "{refused:?}");
}

#[test]
fn toml_keeps_its_comments() {
    let text = "# mine\n[model]\nname = \"llama3\"\nflavor = \"8B\"\n\n[training]\nlocal_batch_size = 1 # small\n\
                global_batch_size = 64\nseq_len = 8192\n\n[parallelism]\ntensor_parallel_degree = 2   # TP\n";
    let settings = &["cluster.devices=16"][..];
    assert_eq!(
        diff(text, settings, &["plan.tensor_parallel=4", "plan.micro_batch=2"]),
        "--- a\n+++ b\n-local_batch_size = 1 # small\n+local_batch_size = 2 # small\n\
         -tensor_parallel_degree = 2   # TP\n+tensor_parallel_degree = 4   # TP"
    );
    let added = diff(text, settings, &["plan.context_parallel=2"]);
    assert!(added.contains("+context_parallel_degree = 2"), "{added}");
}

#[test]
fn diffs_are_unified() {
    let a = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
    let b = "1\n2\nthree\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13";
    assert_eq!(
        unified(a, b, ("old", "new")),
        "--- old\n+++ new\n@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n@@ -10,3 +10,4 @@\n 10\n 11\n 12\n+13\n\
         \\ No newline at end of file\n"
    );
    assert_eq!(unified(a, a, ("old", "new")), "");
    assert_eq!(unified("", "1\n", ("old", "new")), "--- old\n+++ new\n@@ -0,0 +1,1 @@\n+1\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A script written for one plan can be edited to a different plan, or is rejected. The edited script never describes a third plan.
    #[test]
    fn a_written_script_is_edited_to_any_other_plan(
        from in testing::run(MODELS, &["plan.optimizer=adam"]),
        micro in 0u32..2,
        tp in 0u32..3,
    ) {
        let mut spec = railwright_spec::plan::PlanSpec::from_plan(&from.plan);
        spec.data_parallel = None;
        spec.micro_batch = Some(1 << micro);
        spec.tensor_parallel = Some(1 << tp);
        let Ok(plan) = spec.resolve(&from.model, &from.cluster) else { return Ok(()) };
        let to = Run { plan, ..from.clone() };
        if !railwright_spec::plan::validate(&to.model, &to.cluster, &to.plan).is_empty() {
            return Ok(());
        }
        for format in [Format::MegatronScript, Format::Torchtitan] {
            let Some(writer) = writer_of(format, "") else { continue };
            let (before, after) = (writer.write(&from), writer.write(&to));
            // A writer rejects features that its framework lacks.
            if before.files.is_empty() || after.files.is_empty() {
                continue;
            }
            let back = |text: &str| -> Result<railwright_spec::plan::Plan, String> {
                let launch = read(text, "file").ok_or("not recognized")?.map_err(|p| p[0].to_string())?;
                launch.spec.plan.resolve(&from.model, &from.cluster).map_err(|problem| problem.to_string())
            };
            let (Ok(_), Ok(wanted)) = (back(&before.files[0].text), back(&after.files[0].text)) else { continue };
            let is_right = |text: &str| {
                let keys = differences(&wanted, &back(text)?);
                if keys.is_empty() { Ok(()) } else { Err(keys.join(", ")) }
            };
            let edited = edit(format, &before.files[0].text, &from, &to, &is_right);
            prop_assert!(edited.is_ok(), "{format}: {edited:?}\n{}", before.files[0].text);
        }
    }
}

const ARGS: &str = "ENV_VARS:\n  A: 1\nMODEL_ARGS:\n  --num-layers: 32 # of 70B: 80\n  --hidden-size: 4096\n  --num-attention-heads: 32\n  \
    --seq-length: 4096\n  --max-position-embeddings: 4096\n  --micro-batch-size: 1\n  --global-batch-size: 128\n  \
    --tensor-model-parallel-size: 4 # inside a node\n  --pipeline-model-parallel-size: 2\n  --save: ${SAVE}\n  --bf16: true\n  \
    --use-distributed-optimizer: true\n  --sequence-parallel: true\n  --vocab-size: 32000\nTEST_TYPE: regular\n";

#[test]
fn a_yaml_file_of_flags_is_edited_line_by_line() {
    let changed = diff(
        ARGS,
        &["cluster.devices=64"],
        &["plan.tensor_parallel=2", "plan.micro_batch=2", "plan.overlap.gradient_reduce=true"],
    );
    assert_eq!(
        changed,
        "--- a\n+++ b\n-  --micro-batch-size: 1\n+  --micro-batch-size: 2\n\
         -  --tensor-model-parallel-size: 4 # inside a node\n+  --tensor-model-parallel-size: 2 # inside a node\n\
         +  --overlap-grad-reduce: true"
    );
    let gone = diff(ARGS, &["cluster.devices=64"], &["plan.sequence_parallel=false"]);
    assert_eq!(gone, "--- a\n+++ b\n-  --sequence-parallel: true");
}

/// A framework's file keeps a model that its writer has no name for.
#[test]
fn files_of_models_without_a_name_are_edited_too() {
    let titan = "[model]\nname = \"llama2\"\nflavor = \"70B\" # of 2023\n[training]\nbatch_size = 2\nseq_len = 4096\n\
        tensor_parallel_degree = 8\n[activation_checkpoint]\nmode = 'full'\n";
    let changed = diff(titan, &["cluster.devices=64"], &["plan.recompute=none"]);
    assert_eq!(changed, "--- a\n+++ b\n-mode = 'full'\n+mode = \"none\"");
}

/// Flags in the item of another one would be one argument of a container: a manifest is not edited, and the
/// changes are listed.
#[test]
fn a_manifest_is_changed_by_hand() {
    let flags = [
        "--num-layers=32",
        "--hidden-size=4096",
        "--num-attention-heads=32",
        "--max-position-embeddings=2048",
    ];
    let items: String = flags.iter().fold(String::new(), |items, flag| items + "    - " + flag + "\n");
    let text = format!(
        "apiVersion: v1\nkind: Job\nspec:\n  containers:\n  - name: a\n    image: b\n    command: [\"torchrun\", \
         \"--nproc_per_node=8\"]\n    args:\n    - pretrain_gpt.py\n    - --tensor-model-parallel-size=8\n    - --seq-length=2048\n    \
         - --micro-batch-size=1\n    - --global-batch-size=32\n    - --bf16\n{items}"
    );
    let refused = edited(&text, &[], &["plan.tensor_parallel=4"]).expect_err("no edit");
    assert!(refused.reason.contains("item"), "{refused:?}");
    let listed = refused.by_hand.iter().any(|change| change.name == "--tensor-model-parallel-size");
    assert!(listed, "{refused:?}");
}

/// Formats with a reader alone: the value is replaced where it was read, in a variable as well; a setting
/// that the file leaves to the framework is a change by hand.
#[test]
fn files_without_a_writer_are_edited_in_place() {
    let script = "#!/bin/bash\nMBS=2\ntorchrun --nproc_per_node 8 fit.py \\\n  --model_name_or_path meta-llama/Llama-2-7b-hf \\\n  \
        --per_device_train_batch_size $MBS \\\n  --gradient_accumulation_steps 4 \\\n  --gradient_checkpointing True \\\n  \
        --model_max_length 2048 --bf16 True --logging_steps 1 \\\n  --fsdp \"full_shard auto_wrap\"\n";
    assert_eq!(
        diff(script, &[], &["plan.micro_batch=4", "plan.recompute=none"]),
        "--- a\n+++ b\n-MBS=2\n+MBS=4\n-  --gradient_accumulation_steps 4 \\\n-  --gradient_checkpointing True \\\n\
         +  --gradient_accumulation_steps 2 \\\n+  --gradient_checkpointing False \\"
    );
    assert!(
        diff(script, &[], &["plan.sharding=fsdp-no-reshard"])
            .contains("+  --fsdp \"shard_grad_op auto_wrap\"")
    );
    let config = "pipe_parallel_size: 1\nmodel_parallel_size: 2\nnum_layers: 8\nhidden_size: 512\nnum_attention_heads: 8\n\
        seq_length: 512\nmax_position_embeddings: 512\nzero_optimization:\n  stage: 1\nprecision: bfloat16\n\
        train_micro_batch_size_per_gpu: 4  # samples\ngradient_accumulation_steps: 2\n";
    let of = ["cluster.devices=8", "model.vocab=32000"];
    let changed = diff(config, &of, &["plan.micro_batch=8"]);
    assert!(changed.contains("+train_micro_batch_size_per_gpu: 8  # samples"), "{changed}");
    let keys = settable(Format::GptNeox, config).expect("a file without a writer");
    assert!(["micro_batch", "sharding", "tensor_parallel"].iter().all(|key| keys.contains(*key)), "{keys:?}");
    assert!(["recompute", "overlap.tensor", "schedule"].iter().all(|key| !keys.contains(*key)), "{keys:?}");
    assert_eq!(settable(Format::MegatronScript, SCRIPT), None);
    let refused = edited(config, &of, &["plan.recompute=full"]).expect_err("not in the file");
    assert!(refused.by_hand.iter().any(|change| change.name == "plan.recompute"), "{refused:?}");
}

/// A setting that another one determines passes through a third value, and a number of tokens is a multiple
/// of the micro-batch.
#[test]
fn settings_that_depend_on_each_other_are_edited_in_turn() {
    let script = "set -x\nsp=4\npython3 -m verl.trainer.main_ppo \\\n    data.max_prompt_length=2048 \\\n    \
        data.max_response_length=6144 \\\n    actor_rollout_ref.model.path=Qwen/Qwen2.5-7B \\\n    \
        actor_rollout_ref.actor.strategy=fsdp \\\n    actor_rollout_ref.actor.ppo_mini_batch_size=64 \\\n    \
        actor_rollout_ref.actor.use_dynamic_bsz=True \\\n    actor_rollout_ref.actor.ppo_max_token_len_per_gpu=16384 \\\n    \
        actor_rollout_ref.actor.fsdp_config.fsdp_size=8 \\\n    \
        actor_rollout_ref.actor.ulysses_sequence_parallel_size=${sp} \\\n    trainer.nnodes=2 trainer.n_gpus_per_node=8\n";
    let whole = diff(script, &[], &["plan.sharding=fsdp"]);
    assert!(whole.ends_with("+    actor_rollout_ref.actor.fsdp_config.fsdp_size=-1 \\"), "{whole}");
    let changed = diff(script, &[], &["plan.context_parallel=1", "plan.micro_batch=4"]);
    assert_eq!(
        changed,
        "--- a\n+++ b\n-sp=4\n+sp=1\n-    actor_rollout_ref.actor.ppo_max_token_len_per_gpu=16384 \\\n\
         +    actor_rollout_ref.actor.ppo_max_token_len_per_gpu=32768 \\"
    );
}

/// DeepSpeed ignores `--use-distributed-optimizer`.
#[test]
fn sharding_of_megatron_deepspeed_is_its_stage() {
    let script = "#!/bin/bash\nSTAGE=1\ndeepspeed --num_gpus 8 pretrain_gpt.py \\\n  --num-layers 24 --hidden-size 2048 \\\n  \
        --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 \\\n  --micro-batch-size 4 --global-batch-size 64 \\\n  \
        --bf16 --vocab-size 50000 --deepspeed --zero-stage ${STAGE}\n";
    assert_eq!(
        diff(script, &["cluster.devices=8"], &["plan.sharding=zero2"]),
        "--- a\n+++ b\n-STAGE=1\n+STAGE=2"
    );
}

/// Megatron-Core takes 1 virtual stage for an interleaved schedule.
#[test]
fn one_virtual_stage_is_none_in_verl() {
    let script = "set -x\npython3 -m verl.trainer.main_ppo --config-name ppo_megatron_trainer \\\n    data.max_prompt_length=512 \\\n    \
        data.max_response_length=1536 \\\n    actor_rollout_ref.model.path=Qwen/Qwen2.5-7B \\\n    \
        actor_rollout_ref.actor.strategy=megatron \\\n    actor_rollout_ref.actor.ppo_mini_batch_size=64 \\\n    \
        actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \\\n    \
        actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4 \\\n    \
        actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 \\\n    \
        actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size=2 \\\n    trainer.nnodes=2 trainer.n_gpus_per_node=8\n";
    let changed = diff(script, &[], &["plan.pipeline_parallel=1", "plan.virtual_stages=1"]);
    assert!(
        changed.contains("+    actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size=null"),
        "{changed}"
    );
}

/// A flag without a resolved value has its place, and a second one does not override it.
#[test]
fn an_open_value_changes_in_its_place() {
    let text = SCRIPT.replace("--micro-batch-size 1", "--micro-batch-size ${BATCH}");
    let changed = diff(&text, &[], &["plan.micro_batch=2"]);
    assert_eq!(changed.matches("--micro-batch-size").count(), 2, "{changed}");
    assert!(changed.contains("+    --micro-batch-size 2"), "{changed}");
}

/// A schedule without bubbles needs stages.
#[test]
fn a_schedule_of_stages_goes_with_them() {
    let text = SCRIPT
        .replace("    --num-layers-per-virtual-pipeline-stage 4 \\\n", "    --enable-zbh1-pipeline \\\n");
    let changed = diff(&text, &[], &["plan.pipeline_parallel=1", "plan.schedule=1f1b"]);
    assert!(changed.contains("-    --enable-zbh1-pipeline"), "{changed}");
}

/// A directive of the scheduler is the size of the job, not the place of a flag that uses its variable.
#[test]
fn directives_of_a_scheduler_stay() {
    let text = SCRIPT
        .replace("TP=4\n", "TP=$SLURM_GPUS_PER_NODE\n")
        .replace("#!/bin/bash\n", "#!/bin/bash\n#SBATCH --gpus-per-node=4\n#SBATCH --nodes=16\n")
        .replace("--nproc_per_node 8 --nnodes $NODES", "--nproc_per_node 4 --nnodes 16");
    let lines = diff(&text, &[], &["plan.tensor_parallel=2"]);
    assert!(lines.contains("+    --tensor-model-parallel-size 2") && !lines.contains("#SBATCH"), "{lines}");
}

/// The user's data, template, output and packing, which the writer's file has as examples.
#[test]
fn keys_without_a_part_in_the_plan_are_no_targets() {
    let text = "model_name_or_path: meta-llama/Llama-3.1-8B\nstage: sft\ndo_train: true\nfinetuning_type: full\ndataset: own\n\
        template: llama3\ncutoff_len: 4096\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 8\nbf16: true\n\
        output_dir: out\ndeepspeed: examples/deepspeed/ds_z3_config.json\n";
    let from = run_of(text, &["cluster.devices=16"]).expect("a run");
    let to =
        run_of(text, &["cluster.devices=16", "plan.micro_batch=2", "plan.micro_batches=4"]).expect("a run");
    let language = document::Document::of(detect(text)[0].format, text).expect("a language");
    let now = language.settings(text).expect("settings");
    let targets = language.targets(&from, &to, &now, true);
    let names: Vec<&str> = targets.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"per_device_train_batch_size"), "{names:?}");
    for kept in ["dataset", "template", "output_dir", "packing", "stage"] {
        assert!(!names.contains(&kept), "{names:?}");
    }
}

const AXOLOTL: &str = "base_model: meta-llama/Llama-3.1-8B\nmicro_batch_size: 1\ngradient_accumulation_steps: 8\nsequence_len: 4096\n\
    sample_packing: true\noptimizer: adamw_torch_fused\nbf16: true\ngradient_checkpointing: true\n";

/// Older configurations have all keys, many of them empty.
#[test]
fn an_empty_key_gets_a_value() {
    let text = format!("{AXOLOTL}deepspeed:\nfsdp:\n");
    let language = document::Document::of(detect(&text)[0].format, &text).expect("a language");
    let now = language.settings(&text).expect("settings");
    let target = ("deepspeed".to_owned(), Some(vec!["\"ds_z2.json\"".to_owned()]));
    let candidates = language.candidates(&text, &target, &now);
    let wanted = text.replace("deepspeed:", "deepspeed: ds_z2.json");
    assert!(candidates.iter().any(|candidate| candidate.applied(&text) == wanted), "{candidates:?}");
    let edited = apply(&language, &text, &[target]).expect("an edit");
    assert!(edited.contains("\ndeepspeed: ds_z2.json\nfsdp:\n"), "{edited}");
}

/// Recompute of FSDP itself, which stands for that of the trainer.
#[test]
fn recompute_of_fsdp_is_turned_off_at_its_own_key() {
    let text = format!(
        "{}fsdp_version: 2\nfsdp_config:\n  activation_checkpointing: true\n  offload_params: false\n  reshard_after_forward: true\n",
        AXOLOTL.replace("gradient_checkpointing: true\n", "")
    );
    let lines = diff(&text, &["cluster.devices=8"], &["plan.recompute=none"]);
    assert_eq!(lines, "--- a\n+++ b\n-  activation_checkpointing: true\n+  activation_checkpointing: false");
}

/// torchtitan stops with asynchronous tensor parallelism on layers that are not compiled.
#[test]
fn eager_layers_get_no_asynchronous_tensor_parallelism() {
    let text = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\nglobal_batch_size = 64\nseq_len = 8192\n\
        [parallelism]\ntensor_parallel_degree = 4\n[compile]\nenable = false\n";
    let refused = edited(text, &["cluster.devices=64"], &["plan.overlap.tensor=true"]).expect_err("refused");
    assert!(refused.by_hand.iter().all(|change| !change.name.contains("async")), "{refused:?}");
}

/// torchtitan of 2024 has its parallel sizes under `training` and `experimental`: no section of another
/// version is added.
#[test]
fn an_older_configuration_of_torchtitan_keeps_its_sections() {
    let text = "[job]\ndump_folder = \"out\"\n\n[model]\nname = \"llama3\"\nflavor = \"8B\"\n\n[training]\nbatch_size = 1\n\
        seq_len = 4096\ndata_parallel_shard_degree = -1\ntensor_parallel_degree = 1\n\n[experimental]\npipeline_parallel_degree = 1\n\n\
        [activation_checkpoint]\nmode = \"full\"\n";
    let of = ["cluster.devices=8"];
    let changed = diff(text, &of, &["plan.sharding=fsdp-no-reshard"]);
    assert!(changed.contains("+fsdp_reshard_after_forward = \"never\""), "{changed}");
    let edited = edited(text, &of, &["plan.sharding=fsdp-no-reshard"]).expect("an edit").text;
    let at = |part: &str| edited.find(part).expect(part);
    assert!(at("[training]") < at("fsdp_reshard") && at("fsdp_reshard") < at("[experimental]"), "{edited}");
    assert!(!edited.contains("[parallelism]"), "{edited}");
}

/// Megatron's configuration has a switch for the stage of sharding, and FlagScale's has Megatron's names in
/// sections of its own.
#[test]
fn configurations_with_the_names_of_megatron_are_edited_in_place() {
    let yaml = "language_model:\n  num_layers: 24\n  hidden_size: 1024\n  num_attention_heads: 16\nmodel_parallel:\n  \
        tensor_model_parallel_size: 1\n  bf16: True\nseq_length: 2048\nmicro_batch_size: 2\nglobal_batch_size: 64\n\
        max_position_embeddings: 2048\nvocab_size: 50304\nuse_distributed_optimizer: False\n";
    let of = ["cluster.devices=8"];
    assert!(diff(yaml, &of, &["plan.sharding=zero1"]).contains("+use_distributed_optimizer: True"));
    let scale = "system:\n  tensor_model_parallel_size: 2\n  pipeline_model_parallel_size: 2\n  sequence_parallel: true\n  \
        use_distributed_optimizer: true\n  precision:\n    bf16: true\nmodel:\n  num_layers: 32\n  hidden_size: 4096\n  \
        num_attention_heads: 32\n  seq_length: 2048\n  max_position_embeddings: 2048\n  micro_batch_size: 1\n  \
        global_batch_size: 64\n  vocab_size: 32000\n";
    let changed =
        diff(scale, &["cluster.devices=16"], &["plan.tensor_parallel=4", "plan.pipeline_parallel=1"]);
    assert!(changed.contains("+  tensor_model_parallel_size: 4"), "{changed}");
    let keys = settable(Format::MegatronArgsYaml, scale).expect("a file without a writer");
    assert!(keys.contains("tensor_parallel") && !keys.contains("recompute"), "{keys:?}");
}

/// ms-swift recomputes by default, so that no flag is not the word for none.
#[test]
fn recompute_of_ms_swift_is_switched_off_by_a_word() {
    let script = "NPROC_PER_NODE=8 \\\nmegatron sft \\\n    --model Qwen/Qwen2.5-7B-Instruct \\\n    --tensor_model_parallel_size 2 \\\n    \
        --micro_batch_size 1 \\\n    --global_batch_size 16 \\\n    --recompute_granularity full \\\n    --recompute_method uniform \\\n    \
        --recompute_num_layers 1 \\\n    --max_length 2048\n";
    let changed = diff(script, &[], &["plan.recompute=none"]);
    assert!(changed.contains("+    --recompute_granularity none"), "{changed}");
    assert!(changed.contains("-    --recompute_method uniform"), "{changed}");
}

/// With recompute of FSDP and of the trainer on, one of them alone does not switch it off.
#[test]
fn both_switches_of_recompute_of_axolotl_are_changed() {
    let text = "base_model: Qwen/Qwen2.5-7B\nsequence_len: 4096\nmicro_batch_size: 1\ngradient_accumulation_steps: 4\nbf16: true\n\
        datasets:\n  - path: a\n    type: alpaca\nsample_packing: true\ngradient_checkpointing: true\nfsdp_version: 2\nfsdp_config:\n  \
        offload_params: false\n  reshard_after_forward: true\n  activation_checkpointing: true\n";
    let changed = diff(text, &["cluster.devices=8"], &["plan.recompute=none"]);
    assert!(changed.contains("+gradient_checkpointing: false"), "{changed}");
    assert!(changed.contains("+  activation_checkpointing: false"), "{changed}");
}

/// A script that writes DeepSpeed's file has the batch in two places.
#[test]
fn a_batch_that_deepspeeds_file_has_as_well_is_not_edited_alone() {
    let script = "#!/bin/bash\nMICRO=4\ncat <<EOT > ds.json\n{\"train_micro_batch_size_per_gpu\": VALUE, \"zero_optimization\": {\"stage\": 1}}\nEOT\n\
        deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 \\\n  \
        --max-position-embeddings 1024 --micro-batch-size $MICRO --global-batch-size 256 --vocab-size 50257 --fp16 \\\n  \
        --deepspeed --deepspeed_config ds.json\n";
    let (apart, both) = (script.replace("VALUE", "4"), script.replace("VALUE", "$MICRO"));
    let refused = edited(&apart, &[], &["plan.micro_batch=8"]).expect_err("two places");
    assert!(refused.reason.contains("`train_micro_batch_size_per_gpu` into DeepSpeed's file"), "{refused:?}");
    assert_eq!(diff(&both, &[], &["plan.micro_batch=8"]), "--- a\n+++ b\n-MICRO=4\n+MICRO=8");
}

const RECIPE: &str = r#"from megatron.bridge.training.config import ConfigContainer, TrainingConfig, GPTDatasetConfig, DistributedDataParallelConfig
from megatron.bridge.models.deepseek import DeepSeekV2LiteModelProvider

def pretrain_config(
    tensor_parallelism: int = 1,
    expert_parallelism: int = 8,
    global_batch_size: int = 512,
    micro_batch_size: int = 1,
) -> ConfigContainer:
    return ConfigContainer(
        model=DeepSeekV2LiteModelProvider(
            tensor_model_parallel_size=tensor_parallelism,
            pipeline_model_parallel_size=1,
            expert_model_parallel_size=expert_parallelism,
            recompute_granularity="full",
        ),
        train=TrainingConfig(global_batch_size=global_batch_size, micro_batch_size=micro_batch_size),
        dataset=GPTDatasetConfig(sequence_length=4096),
        ddp=DistributedDataParallelConfig(use_distributed_optimizer=True, grad_reduce_in_fp32=True),
        mixed_precision="bf16_mixed",
    )
"#;

/// Megatron-Bridge's reader leaves out a degree of one.
#[test]
fn a_degree_becomes_one_in_the_defaults_of_a_recipe() {
    // Without expert parallelism nothing is dispatched, so the plan has no dispatcher either.
    let changes = ["plan.expert_parallel=1", "plan.software=megatron-core-2025"];
    let found = diff(RECIPE, &["cluster.devices=64"], &changes);
    assert_eq!(found, "--- a\n+++ b\n-    expert_parallelism: int = 8,\n+    expert_parallelism: int = 1,");
}

/// Most of the text is places where the value of a flag may come from.
#[test]
fn possible_edits_take_no_copies_of_the_text() {
    let unknown: String = (0..3000).map(|n| format!(" --unknown-{n} 8")).collect::<Vec<_>>().concat();
    let text = format!("torchrun pretrain_gpt.py --tensor-model-parallel-size 8{unknown}\n");
    let language = megatron::Megatron { format: Format::MegatronCommand };
    let now = language.settings(&text).expect("settings");
    let target = ("tensor_model_parallel_size".to_owned(), Some(vec!["4".to_owned()]));
    let candidates = language.candidates(&text, &target, &now);
    assert!(candidates.len() > 3000, "{}", candidates.len());
    let kept: usize = candidates.iter().map(|splice| size_of_val(splice) + format!("{splice:?}").len()).sum();
    assert!(kept < 10 * text.len(), "{kept} bytes for a text of {}", text.len());
    let edited = apply(&language, &text, &[target]).expect("an edit");
    assert_eq!(edited, text.replacen("size 8", "size 4", 1));
}

/// Every reading of the file meets the unknown names again.
#[test]
fn names_are_looked_up_once() {
    let unknown: String = (0..100).map(|n| format!(" --unknwon-{n}-flag {n}")).collect::<Vec<_>>().concat();
    let text = format!("torchrun pretrain_gpt.py --num-layers 8{unknown}\n");
    let language = megatron::Megatron { format: Format::MegatronCommand };
    let timed = || {
        let begin = std::time::Instant::now();
        assert!(language.settings(&text).is_some());
        begin.elapsed()
    };
    let (first, later) = (timed(), (0..5).map(|_| timed()).min().expect("five"));
    assert!(later * 3 < first, "{first:?}, then {later:?}");
}
