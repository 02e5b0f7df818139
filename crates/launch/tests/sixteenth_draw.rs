//! Causes of silent errors, of false remarks and of poor messages in an unseen draw of public launch files
//! (sixteenth, November 2026), each with a text of its own.

use crate::folder;
use crate::remarks;
use railwright_launch::{Context, Files, Launch, RemarkKind, read_with};
use remarks::has;

fn launch(text: &str) -> Launch {
    folder::read(text, "run.sh", &[])
}

fn refusal(text: &str, file: &str) -> String {
    let problems = railwright_launch::read(text, file).expect("a format").expect_err("refused");
    problems[0].message.clone()
}

const DENSE: &str = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \
    --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 64 --vocab-size 50257 --bf16";

/// A pasted command with earlier settings in comments.
#[test]
fn comments_of_a_pasted_command_are_no_flags() {
    let read = launch(&format!(
        "{DENSE}\n# --recompute-granularity full --recompute-method uniform\n  # --tensor-model-parallel-size 4\n"
    ));
    folder::check(&read, &[("plan.recompute", "\"none\""), ("plan.tensor_parallel", "1")]);
    let old = DENSE.replace("--num-layers 24", "--num-layers 48 --fp8-format hybrid");
    let read = launch(&format!("{DENSE} --tensor-model-parallel-size 2 # --fp16\n# {old}\n"));
    let expected =
        [("model.layers", "24"), ("plan.precision.preset", "\"bf16\""), ("plan.tensor_parallel", "2")];
    folder::check(&read, &expected);
}

const NEMO: &str = "trainer: {devices: 8, num_nodes: 1, precision: bf16}\nmodel:\n  mcore_gpt: true\n  micro_batch_size: 1\n  \
    global_batch_size: 64\n  tensor_model_parallel_size: 2\n  encoder_seq_length: 2048\n  num_layers: 32\n  hidden_size: 4096\n  \
    ffn_hidden_size: 14336\n  num_attention_heads: 32\n  num_query_groups: 8\n  normalization: rmsnorm\n  activation: fast-swiglu\n  \
    position_embedding_type: rope\n  pre_process: true\n  persist_layer_norm: true\n";

/// Switches that no reader knows, and that are on.
#[test]
fn unknown_switches_that_are_on_are_listed() {
    let read = folder::read(
        &format!("{NEMO}  adapter_part: {{freeze: true}}\n  new_flag: true\n  off: false\n"),
        "a.yaml",
        &[],
    );
    let of = |part: &str| has(&read, RemarkKind::Unknown, part);
    assert!(of("adapter_part.freeze") && of("new_flag"), "{:?}", read.remarks);
    assert!(!of("model.off") && !of("pre_process") && !of("persist"), "{:?}", read.remarks);
}

/// Three sizes that models of several families share.
#[test]
fn a_model_agrees_with_one_of_several_families() {
    let read = folder::read(NEMO, "a.yaml", &[]);
    assert!(!has(&read, RemarkKind::Conflict, "key-value heads"), "{:?}", read.remarks);
    let other = folder::read(&NEMO.replace("num_query_groups: 8", "num_query_groups: 16"), "a.yaml", &[]);
    assert!(has(&other, RemarkKind::Conflict, "16 key-value heads"), "{:?}", other.remarks);
}

/// The language model of NeMo 1's `neva` is a part of the trained model.
#[test]
fn a_vision_language_model_of_nemo_is_refused() {
    let text = format!("{NEMO}  mm_cfg:\n    llm: {{freeze: true}}\n    vision_encoder: {{freeze: true}}\n");
    assert!(refusal(&text, "a.yaml").contains("vision-language"));
}

/// A loop over layouts around a recipe.
#[test]
fn a_loop_around_a_recipe_is_named() {
    let text = "#!/bin/bash\nfor CONFIG in \"4,1\" \"2,2\"; do\nIFS=',' read -r TP PP <<< \"$CONFIG\"\n\
        srun python run_recipe.py --recipe llama3_8b_pretrain_config model.tensor_model_parallel_size=$TP \
        model.pipeline_model_parallel_size=$PP train.global_batch_size=32 train.micro_batch_size=1\ndone\n";
    assert!(has(&launch(text), RemarkKind::Unresolved, "the first of 2 iterations"));
}

/// `None` in a recipe is a setting.
#[test]
fn none_of_a_recipe_turns_recompute_off() {
    let text = |value: &str| {
        format!(
            "from megatron.bridge.training.config import ConfigContainer\n\ndef x_config() -> ConfigContainer:\n    cfg = common()\n    \
             cfg.model = AutoBridge.from_hf_pretrained(\"meta-llama/Meta-Llama-3-8B\").to_megatron_provider(load_weights=False)\n    \
             cfg.model.tensor_model_parallel_size = 2\n    cfg.model.seq_length = 4096\n{value}    cfg.train.global_batch_size = 32\n    \
             cfg.train.micro_batch_size = 1\n    return cfg\n"
        )
    };
    let stated = text("    cfg.model.recompute_granularity = None\n");
    folder::check(&folder::read(&stated, "a.py", &[]), &[("plan.recompute", "\"none\"")]);
    folder::check(&folder::read(&text(""), "a.py", &[]), &[("plan.recompute", "open")]);
}

const PRIMUS: &str = "modules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n    \
    model: ${PRIMUS_MODEL:small}.yaml\n    overrides:\n      micro_batch_size: ${MBS:2}\n      global_batch_size: 32\n      \
    seq_length: 2048\n";
const BASE: &str = "num_layers: 24\nhidden_size: 1024\nnum_attention_heads: 16\nhidden_dropout: 0.1\nattention_dropout: 0.1\nswiglu: false\n\
    add_bias_linear: true\nfancy_default: 3\n";

/// Files of a repository, by their path from its folder or from that of another file.
struct Repository(&'static [(&'static str, &'static str)]);

impl Files for Repository {
    fn open(&self, path: &str, from: &str) -> Result<(String, String), String> {
        let beside = from.rsplit_once('/').map(|(folder, _)| format!("{folder}/{path}"));
        let found = self.0.iter().find(|(name, _)| *name == path || Some(*name) == beside.as_deref());
        found.map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).ok_or_else(|| "absent".to_owned())
    }
}

fn read_in(text: &str, file: &str, files: &'static [(&'static str, &'static str)]) -> Launch {
    let files = Repository(files);
    let context = Context { files: Some(&files), ..Context::default() };
    read_with(text, file, &context).expect("a launch file").expect("no problems")
}

/// Files of 2025 name the files below them by other keys.
#[test]
fn bases_of_primus_are_files_below() {
    let files = &[
        ("primus/configs/modules/megatron/pre_trainer.yaml", "bases:\n  - trainer_base.yaml\n"),
        (
            "primus/configs/modules/megatron/trainer_base.yaml",
            "includes:\n  - module_base.yaml\nbf16: true\nmicro_batch_size: 4\n",
        ),
        ("primus/configs/modules/megatron/module_base.yaml", "bf16: false\ntensor_model_parallel_size: 2\n"),
        (
            "primus/configs/models/megatron/small.yaml",
            "bases:\n  - base.yaml\nnum_layers: 12\nswiglu: true\nhidden_dropout: 0.0\nattention_dropout: 0.0\n",
        ),
        ("primus/configs/models/megatron/base.yaml", BASE),
    ];
    let read = read_in(PRIMUS, "a.yaml", files);
    let expected = [
        ("plan.precision.preset", "\"bf16\""),
        ("plan.tensor_parallel", "2"),
        ("plan.dropout", "false"),
        ("model.layers", "12"),
        ("model.hidden", "1024"),
        ("model.gated_mlp", "true"),
    ];
    folder::check(&read, &expected);
    assert!(!has(&read, RemarkKind::Unknown, "fancy_default"), "{:?}", read.remarks);
}

/// A model's file with keys that nothing reads, and one with layers of its own.
#[test]
fn keys_of_a_model_that_nothing_reads_are_listed() {
    let files = &[
        ("primus/configs/modules/megatron/pre_trainer.yaml", "bf16: true\n"),
        (
            "primus/configs/models/megatron/small.yaml",
            "extends:\n  - base.yaml\nnum_layers: 12\nq_lora_rank: 1536\nlatent_width: 512\n",
        ),
        ("primus/configs/models/megatron/own.yaml", "extends:\n  - small.yaml\nmodel_type: own_kind\n"),
        ("primus/configs/models/megatron/base.yaml", BASE),
    ];
    let read = read_in(PRIMUS, "a.yaml", files);
    let of = |read: &Launch, part: &str| has(read, RemarkKind::Unknown, part);
    assert!(of(&read, "latent_width = 512") && of(&read, "q_lora_rank = 1536"), "{:?}", read.remarks);
    folder::check(&read, &[("model.layers", "12")]);
    let own = read_in(&PRIMUS.replace("small", "own"), "a.yaml", files);
    folder::check(&own, &[("model.layers", "open"), ("plan.micro_batch", "2")]);
    assert!(own.open.iter().any(|open| open.key == "model.name"), "{:?}", own.open);
    assert!(has(&own, RemarkKind::Unresolved, "own_kind") && of(&own, "latent_width"), "{:?}", own.remarks);
}

/// Variables of a configuration that the script exports.
#[test]
fn variables_of_a_configuration_have_the_values_of_the_script() {
    let files = &[
        ("exp.yaml", PRIMUS),
        ("primus/configs/modules/megatron/pre_trainer.yaml", "bf16: true\n"),
        ("primus/configs/models/megatron/small.yaml", BASE),
        ("primus/configs/models/megatron/large.yaml", "extends:\n  - small.yaml\nnum_layers: 48\n"),
    ];
    let text = "#!/bin/bash\nexport PRIMUS_MODEL=${PRIMUS_MODEL:-large}\nMBS=4 primus-cli direct -- train pretrain --config exp.yaml\n";
    let read = read_in(text, "run.sh", files);
    folder::check(&read, &[("model.layers", "48"), ("plan.micro_batch", "4")]);
    assert!(!has(&read, RemarkKind::Assumed, "PRIMUS_MODEL"), "{:?}", read.remarks);
    let nodes = text.replace("direct", "slurm srun -N 4");
    folder::check(&read_in(&nodes, "run.sh", files), &[("cluster.devices", "32")]);
    let unknown = text.replace("MBS=4 primus", "export MBS=$1\nprimus");
    folder::check(&read_in(&unknown, "run.sh", files), &[("plan.micro_batch", "open")]);
}

/// JAX counts two devices for a chip of some TPUs.
#[test]
fn a_chip_of_two_devices_has_the_batch_of_both() {
    let text = |device: &str, mesh: &str| {
        format!(
            "#!/bin/bash\nxpk workload create --device-type={device} --command \"python3 -m MaxText.train MaxText/configs/base.yml \
             model_name=llama3-8b per_device_batch_size=2 max_target_length=8192 {mesh}\"\n"
        )
    };
    let two = launch(&text("tpu7x-4x4x4", ""));
    folder::check(&two, &[("plan.micro_batch", "4")]);
    assert!(has(&two, RemarkKind::Assumed, "two devices of JAX"), "{:?}", two.remarks);
    folder::check(&launch(&text("v6e-64", "")), &[("plan.micro_batch", "2")]);
    let mesh = "ici_fsdp_parallelism=64 ici_data_parallelism=2 dcn_data_parallelism=1";
    let fixed = [("cluster.devices", "64"), ("plan.micro_batch", "4"), ("plan.global_batch", "256")];
    folder::check(&launch(&text("tpu7x-4x4x4", mesh)), &fixed);
    folder::check(
        &launch(&text("v5p-256", mesh)),
        &[("cluster.devices", "128"), ("plan.global_batch", "256")],
    );
}

/// Attention without a kernel, in the words of each trainer.
#[test]
fn eager_attention_is_read_everywhere() {
    let unfused = [("plan.attention_kernel", "\"unfused\"")];
    let factory = |word: &str| {
        format!(
            "model_name_or_path: Qwen/Qwen3-8B\nstage: sft\ndo_train: true\nfinetuning_type: full\ncutoff_len: 2048\n\
             per_device_train_batch_size: 1\nflash_attn: {word}\n"
        )
    };
    folder::check(&folder::read(&factory("disabled"), "a.yaml", &[]), &unfused);
    folder::check(&folder::read(&factory("fa2"), "a.yaml", &[]), &[("plan.attention_kernel", "open")]);
    let openrlhf = "deepspeed --module openrlhf.cli.train_sft --model.model_name_or_path Qwen/Qwen3-8B --train.micro_batch_size 1 \
        --ds.zero_stage 2 --ds.attn_implementation eager --data.max_len 2048\n";
    folder::check(&launch(openrlhf), &unfused);
    let axolotl =
        "base_model: Qwen/Qwen3-8B\nmicro_batch_size: 1\nsequence_len: 2048\neager_attention: true\n";
    folder::check(&folder::read(axolotl, "a.yaml", &[]), &unfused);
    let code = "from transformers import AutoModelForImageTextToText\nfrom trl import SFTConfig, SFTTrainer\n\
        model = AutoModelForImageTextToText.from_pretrained(\n    \"google/gemma-3-12b-it\", dtype=\"auto\", device_map=\"auto\",\n    \
        attn_implementation=\"eager\", sliding_part=3\n)\nargs = SFTConfig(output_dir=\"x\", max_length=2048, per_device_train_batch_size=1)\n\
        trainer = SFTTrainer(model=model, args=args, train_dataset=data)\ntrainer.train()\n";
    let read = folder::read(code, "a.py", &[]);
    folder::check(&read, &unfused);
    assert!(has(&read, RemarkKind::NotModelled, "vision tower"), "{:?}", read.remarks);
    assert!(has(&read, RemarkKind::Unresolved, "sliding_part = 3"), "{:?}", read.remarks);
    assert!(!has(&read, RemarkKind::Unresolved, "device_map"), "{:?}", read.remarks);
}

/// The configuration of early versions of verl has four tensor-parallel ranks, later ones have one.
#[test]
fn parallel_sizes_of_early_versions_of_verl_stay_open() {
    let text = |key: &str, more: &str| {
        format!(
            "#!/bin/bash\npython3 -m verl.trainer.main_ppo --config-name='ppo_megatron_trainer.yaml' data.max_prompt_length=128 \
             data.max_response_length=128 actor_rollout_ref.model.path=deepseek-ai/deepseek-llm-7b-chat \
             actor_rollout_ref.actor.ppo_mini_batch_size=128 actor_rollout_ref.actor.{key}=16 trainer.n_gpus_per_node=8 trainer.nnodes=1 {more}\n"
        )
    };
    let old = launch(&text("ppo_micro_batch_size", ""));
    folder::check(&old, &[("plan.tensor_parallel", "open"), ("plan.micro_batch", "open")]);
    assert!(old.open.iter().any(|open| open.key == "plan.tensor_parallel"), "{:?}", old.open);
    let given = "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4";
    let old = launch(&text("ppo_micro_batch_size", given));
    folder::check(&old, &[("plan.tensor_parallel", "4"), ("plan.micro_batch", "8")]);
    let new = launch(&text("ppo_micro_batch_size_per_gpu", ""));
    folder::check(&new, &[("plan.tensor_parallel", "1"), ("plan.micro_batch", "16")]);
}

/// Arguments of a fork in the dump of a log.
#[test]
fn unknown_arguments_of_a_log_are_listed_with_their_values() {
    let arguments = [
        ("num_layers", "24"),
        ("hidden_size", "2048"),
        ("num_attention_heads", "16"),
        ("seq_length", "2048"),
        ("micro_batch_size", "4"),
        ("global_batch_size", "64"),
        ("rank", "0"),
        ("world_size", "8"),
        ("fake_tp", "2"),
        ("is_scaling_mode", "True"),
        ("fake_off", "False"),
        ("dino_local_img_size", "96"),
    ];
    let lines: Vec<String> =
        arguments.iter().map(|(name, value)| format!("  {name} ....... {value}\n")).collect();
    let text = format!(
        "------------------------ arguments ------------------------\n{}-------------------- end of arguments ---------------------\n",
        lines.concat()
    );
    let read = folder::read(&text, "a.log", &[]);
    let of = |part: &str| has(&read, RemarkKind::Unknown, part);
    assert!(of("`fake_tp 2`") && of("`is_scaling_mode True`"), "{:?}", read.remarks);
    assert!(!of("fake_off") && !of("dino"), "{:?}", read.remarks);
}

/// A Python program within a shell script.
#[test]
fn a_script_with_python_inside_is_still_a_script() {
    let text = "#!/bin/bash\ndocker exec x bash -lc \"swift sft --model Qwen/Qwen3-8B --per_device_train_batch_size 2 --max_length 4096\"\n\
        python3 -c \"\nimport json\nfrom transformers import Trainer\nprint(json.dumps({}))\n\"\n";
    folder::check(&launch(text), &[("plan.micro_batch", "2"), ("plan.sequence_length", "4096")]);
}

const GRPO: &str = "defaults: base.yaml\ngrpo: {num_prompts_per_step: 32}\npolicy:\n  model_name: Qwen/Qwen2.5-1.5B\n  \
    train_global_batch_size: 512\n  train_micro_batch_size: 4\n  max_total_sequence_length: 512\n  precision: bfloat16\n  \
    dtensor_cfg:\n    enabled: true\n    tensor_parallel_size: 1\ncluster: {gpus_per_node: 1, num_nodes: 1}\n";

/// Overrides of NeMo-RL's configuration.
#[test]
fn overrides_of_a_configuration_of_reinforcement_learning_are_read() {
    let files = &[("configs/grpo.yaml", GRPO), ("base.yaml", "logger: {log_dir: x}\n")];
    let text = "#!/bin/bash\nuv run examples/run_grpo.py --config configs/grpo.yaml policy.model_name=Qwen/Qwen3-0.6B \
        policy.train_global_batch_size=4 ++policy.train_micro_batch_size=1 policy.max_total_sequence_length=$LENGTH cluster.gpus_per_node=2\n";
    let read = folder::read(text, "run.sh", files);
    let expected = [
        ("model.name", "\"qwen3-0.6b\""),
        ("plan.global_batch", "4"),
        ("plan.micro_batch", "1"),
        ("plan.sequence_length", "open"),
        ("cluster.devices", "2"),
    ];
    folder::check(&read, &expected);
    assert!(
        !has(&read, RemarkKind::Unresolved, "the setting of the configuration is used"),
        "{:?}",
        read.remarks
    );
}

/// Megatron-Bridge's performance scripts set the sizes of a recipe by flags, here in a text for each rank.
#[test]
fn a_performance_script_is_a_recipe_with_sizes() {
    let text = "worker=$(cat <<- EOM\n  numactl --membind=1 nsys profile --sample none \\\n  python scripts/performance/setup.py \\\n    --gpu gb300 \\\n    --model_name gpt_oss \\\n    \
        --model_size 120b \\\n    --num_gpus 64 \\\n    --gpus_per_node 4 \\\n    --compute_dtype bf16 \\\n    --global_batch_size 512 \\\n    \
        --micro_batch_size 4 \\\n    --tensor_model_parallel_size 1 \\\n    --pipeline_model_parallel_size 1 \\\n    \
        --expert_model_parallel_size 64 \\\n    --own_flag 3\nEOM\n)\necho \"$worker\" > w.sh\ntorchrun --nproc-per-node 4 --no-python bash w.sh\n";
    let read = launch(text);
    let expected = [
        ("model.name", "\"gpt-oss-120b\""),
        ("cluster.devices", "64"),
        ("plan.expert_parallel", "64"),
        ("plan.micro_batch", "4"),
        ("plan.global_batch", "512"),
        ("plan.sequence_length", "open"),
        ("plan.recompute", "open"),
    ];
    folder::check(&read, &expected);
    let of = |part: &str| has(&read, RemarkKind::Unknown, part);
    assert!(of("--own_flag 3") && !of("--sample"), "{:?}", read.remarks);
}

/// A recipe of a library that is not here.
#[test]
fn a_recipe_on_an_imported_one_is_refused_with_its_name() {
    let text = "import nemo_run as run\nfrom nemo.collections.llm.recipes import llama31_70b\n\ndef recipe(args):\n    \
        pretrain = llama31_70b.pretrain_recipe(name=\"x\", num_nodes=args.nodes)\n    return run.Experiment(pretrain)\n";
    assert!(refusal(text, "a.py").contains("llama31_70b.pretrain_recipe"));
}

/// Ranks of one run, and a program that prepares data.
#[test]
fn ranks_that_start_one_by_one_are_one_run() {
    let rank =
        |rank: u64| format!("python {} --rank {rank} &\n", DENSE.replace("torchrun --nproc_per_node 8 ", ""));
    let text = format!("#!/bin/bash\n{}{}wait\n", rank(0), rank(1));
    assert!(!has(&launch(&text), RemarkKind::Conflict, "separate run"), "{:?}", launch(&text).remarks);
    let text = format!("#!/bin/bash\npython data_formatter.py --config x.yaml\n{DENSE}\n");
    assert!(!has(&launch(&text), RemarkKind::Conflict, "commands start"), "{:?}", launch(&text).remarks);
}

/// Programs that pass on only a part of what their generation overlaps.
#[test]
fn programs_without_an_overlap_are_known() {
    let titan = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\nseq_len = 8192\n[parallelism]\n\
        tensor_parallel_degree = 4\n[compile]\nenable = false\n";
    let front = |launch: &Launch| launch.spec.front_end.clone();
    assert_eq!(front(&folder::read(titan, "a.toml", &[])).as_deref(), Some("torchtitan-eager"));
    assert_eq!(front(&folder::read(&titan.replace("false", "true"), "a.toml", &[])), None);
    assert_eq!(
        front(&launch(&format!("{DENSE} --moe-fb-overlap --context-parallel-algo ulysses_cp_algo\n")))
            .as_deref(),
        Some("mindspeed")
    );
    assert_eq!(front(&launch(DENSE)), None);
}

/// NeMo-Framework-Launcher starts a stage with overrides of its configuration.
#[test]
fn a_stage_of_the_launcher_of_nemo_is_read() {
    const CONFIG: &str = "trainer: {devices: 8, num_nodes: 1, precision: bf16}\nmodel:\n  micro_batch_size: 4\n  global_batch_size: 128\n  \
        tensor_model_parallel_size: 1\n  encoder_seq_length: ${peft.model.data.train_ds.max_seq_length}\n  data:\n    train_ds:\n      \
        max_seq_length: 2048\n      micro_batch_size: ${peft.model.micro_batch_size}\n";
    let files = &[("launcher_scripts/conf/peft/llama/sft.yaml", CONFIG)];
    let text = "#!/bin/bash\nDIR=${DIR:-\"/opt/launcher\"}\npython3 ${DIR}/launcher_scripts/main.py peft=llama/sft stages=[peft] \
        base_results_dir=${DIR}/results peft.trainer.num_nodes=2 peft.model.micro_batch_size=1 ++peft.model.global_batch_size=32 \
        peft.model.tensor_model_parallel_size=4 peft.model.data.train_ds.max_seq_length=4096\n";
    let read = folder::read(text, "run.sh", files);
    let expected = [
        ("cluster.devices", "16"),
        ("plan.tensor_parallel", "4"),
        ("plan.micro_batch", "1"),
        ("plan.global_batch", "32"),
        ("plan.sequence_length", "4096"),
        ("model.layers", "open"),
    ];
    folder::check(&read, &expected);
    let absent = launch(text);
    folder::check(&absent, &[("plan.tensor_parallel", "4"), ("plan.sequence_length", "4096")]);
}

/// The path of a configuration that another file sets.
#[test]
fn the_path_of_a_configuration_may_be_set_elsewhere() {
    let files = &[
        (
            "common.env",
            "NAME=$(basename $0 .sh)\nCONFIG_PATH=$(echo ./suites/$NAME.yaml | sed 's#suites#configs#')\n",
        ),
        ("configs/grpo.yaml", GRPO),
        ("base.yaml", "logger: {log_dir: x}\n"),
    ];
    let text = "#!/bin/bash\nsource ./common.env\nuv run examples/run_grpo.py --config $CONFIG_PATH policy.train_global_batch_size=8 $@\n";
    folder::check(
        &folder::read(text, "grpo.sh", files),
        &[("plan.global_batch", "8"), ("plan.micro_batch", "4")],
    );
}
