//! Causes of silent errors and of partial readings in an unseen draw of public launch files (fifteenth,
//! November 2026), each with a text of its own.

use crate::folder;
use crate::remarks;
use railwright_launch::{Launch, RemarkKind};
use remarks::has;

fn launch(text: &str) -> Launch {
    folder::read(text, "run.sh", &[])
}

const DENSE: &str = "pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 \
    --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 64 --vocab-size 50257";

/// A variable with two values in a quoted command line ended it, so that the flags after it were lost.
#[test]
fn a_quoted_command_line_goes_on_behind_a_choice() {
    let choice =
        "if [ \"$(hostname)\" = \"x\" ]; then OPT=\"--fp16 --num-experts 8\"; else OPT=\"--bf16\"; fi\n";
    for start in ["bash -c", "srun bash -c", "eval"] {
        let text = format!("{choice}{start} \"python {DENSE} $OPT --tensor-model-parallel-size 2\"\n");
        let read = launch(&text);
        let expected =
            [("plan.tensor_parallel", "2"), ("plan.precision.preset", "open"), ("model.experts", "open")];
        folder::check(&read, &expected);
    }
}

/// A template before its owner fills it in (Megatron-LM's own examples).
#[test]
fn placeholders_are_words() {
    for hole in ["<PATH>", "<TENSORBOARD DIRECTORY>", "<path/to_data>", "<PATH TO gpt-vocab.json>"] {
        let line = format!("OPTIONS=\"--save {hole} --fp16 \"\nsrun -l sh -c \"python {DENSE} $OPTIONS\"\n");
        folder::check(&launch(&line), &[("plan.precision.preset", "\"fp16\"")]);
        let read = launch(&format!("python {DENSE} --save {hole} --fp16\n"));
        folder::check(&read, &[("plan.precision.preset", "\"fp16\"")]);
        let read = launch(&format!("python {DENSE} --tensor-model-parallel-size={hole} --fp16\n"));
        folder::check(&read, &[("plan.tensor_parallel", "open"), ("plan.precision.preset", "\"fp16\"")]);
    }
    // Redirections stay redirections.
    let read = launch(&format!("python {DENSE} <in.txt --bf16 >out.txt 2>&1\n"));
    folder::check(&read, &[("plan.precision.preset", "\"bf16\"")]);
}

const RECIPE: &str = "from megatron.bridge.recipes import x\n";

/// Overrides of Megatron-Bridge without a value, and those of one branch.
#[test]
fn an_override_without_a_value_replaces_that_of_the_recipe() {
    let text = "if [ \"$(hostname)\" = \"x\" ]; then OPT=\"ddp.use_megatron_fsdp=true\"; else OPT=\"\"; fi\n\
        python run_recipe.py --recipe llama3_8b_pretrain_config model.tensor_model_parallel_size=$TP \
        model.seq_length=512 train.global_batch_size=32 train.micro_batch_size=1 ddp.overlap_grad_reduce=true $OPT\n";
    let read = folder::read(text, "run.sh", &[("recipes.py", RECIPE)]);
    folder::check(
        &read,
        &[("plan.tensor_parallel", "open"), ("plan.sharding", "open"), ("plan.sequence_length", "512")],
    );
    for key in ["plan.tensor_parallel", "plan.sharding"] {
        assert!(read.open.iter().any(|open| open.key == key), "{key}: {:?}", read.open);
    }
    let list = "for CONFIG in \"2,8\"; do\nIFS=',' read -r TP EP <<< \"$CONFIG\"\n\
        python run_recipe.py --recipe llama3_8b_pretrain_config model.tensor_model_parallel_size=$TP \
        model.seq_length=512 train.global_batch_size=32 train.micro_batch_size=1 ddp.overlap_grad_reduce=true\ndone\n";
    folder::check(&launch(list), &[("plan.tensor_parallel", "2")]);
}

/// A fork whose program has model flags of its own (Yuan 2.0): its default feed-forward size is not
/// Megatron-LM's.
#[test]
fn model_flags_of_a_fork_leave_its_defaults_open() {
    let text = format!(
        "torchrun --nproc_per_node 8 {} --swiglu --use-lf-gate --norm-dtype RMSNorm\n",
        DENSE.replace("pretrain_gpt", "pretrain_x")
    );
    let read = launch(&text);
    folder::check(&read, &[("model.ffn", "open"), ("model.norm", "open"), ("model.hidden", "2048")]);
    let open = read.open.iter().find(|open| open.key == "model.ffn").expect("open");
    assert!(Launch::needs(open, &read.spec));
    let own = launch(&text.replace("pretrain_x", "pretrain_gpt"));
    folder::check(&own, &[("model.ffn", "5440"), ("model.norm", "open")]);
    let given = launch(&text.replace("--swiglu", "--swiglu --ffn-hidden-size 8192"));
    folder::check(&given, &[("model.ffn", "8192")]);
}

/// Environment variables, wherever they are set.
#[test]
fn variables_that_nobody_reads_are_listed() {
    let run = format!("torchrun --nproc_per_node 8 {DENSE} --bf16");
    for text in [
        format!("export NVTE_FLASH_ATTN=0\n{run}\n"),
        format!("NVTE_FLASH_ATTN=0 {run}\n"),
        format!("env NVTE_FLASH_ATTN=0 {run}\n"),
        format!("docker run -e A=1 -e NVTE_FLASH_ATTN=0 image {run}\n"),
        format!("mpirun -x NVTE_FLASH_ATTN=0 {run}\n"),
        format!("srun --export=ALL,NVTE_FLASH_ATTN=0 {run}\n"),
    ] {
        assert!(has(&launch(&text), RemarkKind::NotModelled, "NVTE_FLASH_ATTN=0"), "{text}");
    }
    let read = launch(&format!(
        "export OURS_FAST=1\nexport TP=2\nexport HF_HOME=/x\nexport X_OFFLOAD=1\n{run} --tensor-model-parallel-size $TP\n"
    ));
    let of = |part: &str| has(&read, RemarkKind::Unknown, part);
    assert!(of("`OURS_FAST`") && of("X_OFFLOAD=1"), "{:?}", read.remarks);
    assert!(!of("HF_HOME") && !of("`TP`"), "{:?}", read.remarks);
    let tuned = launch(&format!(
        "export NCCL_NVLS_ENABLE=0\nexport NCCL_IB_QPS_PER_CONNECTION=4\nexport NCCL_IB_HCA=mlx5\nexport TRITON_CACHE_DIR=/x\n{run}\n"
    ));
    let of = |part: &str| has(&tuned, RemarkKind::NotModelled, part);
    assert!(of("`NCCL_NVLS_ENABLE=0`") && of("`NCCL_IB_QPS_PER_CONNECTION=4`"), "{:?}", tuned.remarks);
    assert!(!of("NCCL_IB_HCA") && !of("TRITON_CACHE_DIR"), "{:?}", tuned.remarks);
    let usual = launch(&format!(
        "export CUDA_LAUNCH_BLOCKING=0\nexport NCCL_DEBUG=INFO\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\n{run}\n"
    ));
    assert!(
        !has(&usual, RemarkKind::Unknown, "") && !has(&usual, RemarkKind::NotModelled, ""),
        "{:?}",
        usual.remarks
    );
}

/// A flag that is known and that another setting disables.
#[test]
fn a_flag_that_decides_nothing_is_listed() {
    let read = |more: &str| launch(&format!("torchrun --nproc_per_node 8 {DENSE} --bf16 {more}\n"));
    let of = |launch: &Launch, flag: &str| has(launch, RemarkKind::Unknown, flag);
    assert!(of(&read("--moe-router-topk 4"), "--moe-router-topk 4"));
    for used in [
        "--context-parallel-size 1",
        "--attention-dropout 0.0",
        "--use-distributed-optimizer",
        "--num-experts 8 --moe-router-topk 4",
    ] {
        let launch = read(used);
        assert!(!has(&launch, RemarkKind::Unknown, ""), "{used}: {:?}", launch.remarks);
    }
}

/// Schedulers other than Slurm.
#[test]
fn a_job_of_pbs_has_its_gpus() {
    let text = format!(
        "#!/bin/bash\n#PBS -l select=4:ncpus=96:ngpus=8\nN=$(wc -l < $PBS_NODEFILE)\nmpirun -np $((N * 8)) python {DENSE} --bf16\n"
    );
    let read = launch(&text);
    folder::check(&read, &[("cluster.devices", "32")]);
    assert!(read.open.iter().all(|open| open.key != "cluster.devices"), "{:?}", read.open);
}

/// A schedule of a fork of Megatron-DeepSpeed.
#[test]
fn a_pipeline_without_bubbles_of_a_fork_is_read() {
    let read = launch(&format!(
        "deepspeed --num_gpus 8 {DENSE} --fp16 --pipeline-model-parallel-size 8 --deepspeed --zero-stage 0 --enable-zbh1-pipeline\n"
    ));
    folder::check(&read, &[("plan.schedule", "\"zb-h1\"")]);
}

const SLIME: &str = "python3 train.py --hf-checkpoint /m/x --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --vocab-size 50257 \
    --actor-num-nodes 1 --actor-num-gpus-per-node 8 --rollout-max-prompt-len 1024 --rollout-max-response-len 1024 \
    --micro-batch-size 1 --bf16 --rollout-batch-size 128";

/// slime divides the samples of a rollout among its steps.
#[test]
fn the_batch_of_slime_follows_from_its_rollouts() {
    let read = |more: &str| launch(&format!("#!/bin/bash\n{SLIME} {more}\n"));
    folder::check(
        &read("--n-samples-per-prompt 8 --num-steps-per-rollout 4"),
        &[("plan.global_batch", "256")],
    );
    folder::check(&read("--n-samples-per-prompt 8 --global-batch-size 64"), &[("plan.global_batch", "64")]);
    let open = read("--n-samples-per-prompt 8");
    folder::check(&open, &[("plan.global_batch", "open")]);
    assert!(open.open.iter().any(|open| open.key == "plan.global_batch"), "{:?}", open.open);
}

/// DeepSpeed's file from the script itself, whose name indicates settings other than its text.
#[test]
fn a_file_that_the_script_writes_is_read() {
    let text = "#!/bin/bash\nCONFIG=./ds_z3_cpu_offload.json\ncat <<EOT > $CONFIG\n\
        {\"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": {\"device\": \"none\"}}}\nEOT\n\
        deepspeed --num_gpus 8 train.py --model_name_or_path meta-llama/Llama-2-7b-hf --per_device_train_batch_size 2 \
        --model_max_length 2048 --fp16 True --deepspeed ${CONFIG}\n";
    folder::check(&launch(text), &[("plan.sharding", "\"zero2\""), ("plan.offload.parameters", "open")]);
    let absent = text.replace("cat <<EOT > $CONFIG", "cat <<EOT > other.json");
    let read = launch(&absent);
    folder::check(&read, &[("plan.offload.parameters", "open"), ("plan.offload.optimizer", "open")]);
    assert!(read.open.iter().any(|open| open.key == "plan.offload.optimizer"), "{:?}", read.open);
}

/// T5 of NeMo.
#[test]
fn two_stacks_are_refused() {
    for more in ["defaults:\n  - .@model.encoder: base\n  - .@model.decoder: base\n", "x: 1\n"] {
        let dec = if more.starts_with('x') { "  seq_length_dec: 128\n" } else { "" };
        let text = format!(
            "{more}trainer:\n  devices: 2\n  num_nodes: 1\nmodel:\n  micro_batch_size: 4\n  seq_length: 512\n{dec}"
        );
        let problems = railwright_launch::read(&text, "t5.yaml").expect("NeMo").expect_err("refused");
        assert!(problems[0].message.contains("encoder"), "{problems:?}");
    }
}

const HYDRA: &str = "trainer: {devices: 8, num_nodes: 1, precision: bf16}\nmodel:\n  micro_batch_size: 1\n  global_batch_size: 64\n  \
    tensor_model_parallel_size: 1\n  encoder_seq_length: 2048\n  num_layers: 12\n  hidden_size: 768\n  num_attention_heads: 12\n  \
    normalization: rmsnorm\n  activation: fast-swiglu\n  position_embedding_type: rope\n";

const NEMO: &str = "#!/bin/bash\ntorchrun --nproc_per_node 8 megatron_gpt_pretraining.py --config-path=tuning/conf --config-name=x.yaml \
    model.micro_batch_size=2 model.global_batch_size=64 model.num_layers=24 model.hidden_size=768 model.num_attention_heads=12 \
    model.tensor_model_parallel_size=1\n";

/// The configuration of Hydra that a script names, with the script's overrides.
#[test]
fn the_configuration_of_hydra_is_read() {
    let files = &[("tuning/conf/x.yaml", HYDRA)];
    let read = folder::read(NEMO, "run.sh", files);
    let expected = [
        ("model.norm", "\"rms_norm\""),
        ("model.layers", "24"),
        ("plan.micro_batch", "2"),
        ("plan.sequence_length", "2048"),
    ];
    folder::check(&read, &expected);
    let norm = read.origins.iter().find(|origin| origin.key == "model.norm").expect("a value");
    assert_eq!((norm.file.as_deref(), norm.line), (Some("tuning/conf/x.yaml"), Some(10)));
    let absent = launch(NEMO);
    folder::check(&absent, &[("model.norm", "open"), ("model.layers", "24"), ("plan.dropout", "open")]);
    assert!(has(&absent, RemarkKind::Unresolved, "x.yaml"), "{:?}", absent.remarks);
    let few = NEMO.replace("model.tensor_model_parallel_size=1", "").replace("model.num_layers=24", "");
    folder::check(&folder::read(&few, "run.sh", files), &[("model.norm", "\"rms_norm\"")]);
}
