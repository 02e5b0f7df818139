//! Causes of a silent error, of missing settings and of poor messages in an unseen draw of public launch
//! files (twenty-first, November 2026), each with a text of its own.

use crate::folder;
use crate::refused;
use crate::remarks;
use railwright_launch::RemarkKind;
use refused::refused;
use remarks::has;

/// A program of Megatron with `flags`.
fn megatron(program: &str, flags: &str) -> String {
    format!(
        "#!/bin/bash\npython -m torch.distributed.launch --nproc_per_node 8 {program} --num-layers 24 --hidden-size 1024 \
         --num-attention-heads 16 --seq-length 1024 --max-position-embeddings 1024 --vocab-size 32000 {flags}\n"
    )
}

/// Options of releases before 2.0 have the meaning of those that replaced them.
#[test]
fn retired_options_are_read_with_their_current_names() {
    let text = megatron(
        "pretrain_gpt2.py",
        "--model-parallel-size 2 --batch-size 4 --warmup .01 --lazy-loader --train-data wiki --fp32-embedding --fp16",
    );
    let read = folder::read(&text, "run.sh", &[]);
    folder::check(
        &read,
        &[("plan.tensor_parallel", "2"), ("plan.micro_batch", "4"), ("cluster.devices", "8")],
    );
    assert!(!has(&read, RemarkKind::Unknown, "--"), "{:?}", read.remarks);
    assert!(has(&read, RemarkKind::NotModelled, "--fp32-embedding"), "{:?}", read.remarks);
    let origin = read.origins.iter().find(|origin| origin.key == "plan.tensor_parallel").expect("read");
    assert_eq!(origin.source, "--model-parallel-size 2");
    let message =
        read.remarks.iter().find(|remark| remark.source == "--model-parallel-size 2").expect("a remark");
    assert_eq!(message.message, "retired in Megatron-LM 2.0; read as `--tensor-model-parallel-size`");
}

/// Without a launcher, PyTorch's rendezvous has the number of ranks.
#[test]
fn ranks_of_a_rendezvous() {
    let of = |variables: &str| {
        let text = megatron("pretrain_gpt2.py", "--batch-size 4 --fp16");
        let text = text.replace("-m torch.distributed.launch --nproc_per_node 8 ", "");
        let text = text.replace("#!/bin/bash\n", &format!("#!/bin/bash\n{variables}\n"));
        folder::value(&folder::read(&text, "run.sh", &[]), "cluster.devices")
    };
    assert_eq!([of("RANK=0\nWORLD_SIZE=1"), of("WORLD_SIZE=8"), of("RANK=0")], ["1", "open", "open"]);
}

/// A program that is named after a model family has its parts in code, unless flags set them.
#[test]
fn a_program_of_another_family_has_no_default_of_gpt() {
    let flags = "--micro-batch-size 1 --global-batch-size 8 --bf16";
    let parts = |text: &str| {
        let read = folder::read(text, "run.sh", &[]);
        ["model.gated_mlp", "model.norm", "model.position", "model.tied"].map(|key| folder::value(&read, key))
    };
    assert_eq!(parts(&megatron("pretrain_llama.py", flags)), ["open"; 4]);
    let of_fork = format!("{flags} --deepspeed --zero-stage 1");
    assert_eq!(parts(&megatron("pretrain_llama.py", &of_fork)), ["open"; 4]);
    let of_flags =
        parts(&megatron("pretrain_llama.py", &format!("{flags} --swiglu --normalization RMSNorm")));
    assert_eq!(of_flags, ["true", "\"rms_norm\"", "open", "open"]);
    assert_eq!(
        parts(&megatron("pretrain_gpt.py", flags)),
        ["false", "\"layer_norm\"", "\"learned\"", "true"]
    );
}

/// MindSpeed-LLM's legacy models name matrices as Megatron-LM did.
#[test]
fn adapters_of_legacy_matrices() {
    let flags = "--micro-batch-size 1 --global-batch-size 8 --bf16 --lora-r 8 --lora-alpha 16 \
        --lora-target-modules query_key_value dense dense_h_to_4h dense_4h_to_h";
    let read = folder::read(&megatron("posttrain_gpt.py", flags), "run.sh", &[]);
    let targets = "[\"linear_qkv\", \"linear_fc1\", \"o_proj\", \"down_proj\"]";
    folder::check(&read, &[("plan.lora_rank", "8"), ("plan.lora_targets", targets)]);
    assert!(!has(&read, RemarkKind::NotModelled, "--lora-target-modules"), "{:?}", read.remarks);
}

/// Experts of a hybrid model can have a latent space, which its configuration has.
#[test]
fn latent_experts_of_a_hybrid_model() {
    let flags = "--hybrid-override-pattern MEM*ME --num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 512 \
        --moe-latent-size 256 --mamba-num-heads 32 --micro-batch-size 1 --global-batch-size 8 --bf16";
    let read = folder::read(&megatron("pretrain_mamba.py", flags), "run.sh", &[]);
    assert!(!has(&read, RemarkKind::NotModelled, "--moe-latent-size"), "{:?}", read.remarks);
    let flags = "--num-experts 8 --moe-latent-size 256 --micro-batch-size 1 --global-batch-size 8 --bf16";
    let read = folder::read(&megatron("pretrain_gpt.py", flags), "run.sh", &[]);
    assert!(has(&read, RemarkKind::NotModelled, "--moe-latent-size"), "{:?}", read.remarks);
}

/// LLaMA-Factory's program starts a process on each visible device.
#[test]
fn visible_devices_of_llama_factory() {
    let of = |program: &str| {
        let text = format!(
            "#!/bin/bash\nCUDA_VISIBLE_DEVICES=0,1,2,3 {program} --stage sft --do_train --model_name_or_path Qwen/Qwen3-8B \
             --dataset x --finetuning_type lora --output_dir y --cutoff_len 2048 --per_device_train_batch_size 2 --bf16\n"
        );
        folder::value(&folder::read(&text, "run.sh", &[]), "cluster.devices")
    };
    assert_eq!(of("llamafactory-cli train"), "4");
    assert_eq!(of("python src/train_bash.py"), "open");
}

/// Transformers' examples use its Trainer, which replicates without a sharding engine.
#[test]
fn the_examples_of_transformers_use_its_trainer() {
    let text = "#!/bin/bash\ntorchrun --nnodes 2 --nproc_per_node 8 ./run_clm.py --overwrite_output_dir --do_train \
        --model_name_or_path gpt2 --per_device_train_batch_size 8 --block_size 1024 --output_dir y\n";
    let read = folder::read(text, "run.sh", &[]);
    folder::check(
        &read,
        &[("plan.sharding", "\"none\""), ("plan.micro_batches", "1"), ("cluster.devices", "16")],
    );
}

/// A topology has a number of chips, which its name gives in cores.
#[test]
fn chips_of_a_topology_under_maxtext() {
    let of = |topology: &str| {
        let text = format!(
            "#!/bin/bash\npython3 MaxText/train_compile.py MaxText/configs/base.yml run_name=x model_name=llama2-7b \
             per_device_batch_size=2 max_target_length=4096 compile_topology={topology} compile_topology_num_slices=2\n"
        );
        folder::value(&folder::read(&text, "run.sh", &[]), "cluster.devices")
    };
    assert_eq!([of("v4-4096"), of("v5p-128"), of("v5e-256")], ["4096", "128", "512"]);
    assert_eq!(of("a3"), "open");
    let base = "model_name: 'llama2-7b'\nper_device_batch_size: 2\nmax_target_length: 4096\nici_fsdp_parallelism: -1\n\
        dcn_data_parallelism: -1\nremat_policy: 'full'\ncompile_topology: ''\ncompile_topology_num_slices: -1\n";
    folder::check(&folder::read(base, "base.yml", &[]), &[("cluster.devices", "open")]);
}

/// A reward model has a head of its own.
#[test]
fn heads_of_classes_are_named() {
    let text = "base_model: Qwen/Qwen2.5-7B\nmodel_type: AutoModelForTokenClassification\nnum_labels: 2\n\
        process_reward_model: true\nsequence_len: 4096\nmicro_batch_size: 8\ngradient_accumulation_steps: 1\nbf16: true\n";
    let read = folder::read(text, "prm.yaml", &[]);
    assert!(has(&read, RemarkKind::NotModelled, "num_labels"), "{:?}", read.remarks);
}

/// Keys of trackers and switches with a key for a value are secrets too.
#[test]
fn keys_of_trackers_are_not_repeated() {
    let secret = "WODn4567abcdefgh0123";
    let text = format!(
        "#!/bin/bash\nNPROC_PER_NODE=4 swift pt --model Qwen/Qwen3-8B --per_device_train_batch_size 4 --max_length 2048 \
         --torch_dtype bfloat16 --swanlab_token {secret}\n"
    );
    let read = folder::read(&text, "run.sh", &[]);
    assert!(!format!("{:?}", read.remarks).contains(secret), "{:?}", read.remarks);
    let text = format!(
        "#!/bin/bash\ndeepspeed --module openrlhf.cli.train_ppo --pretrain Qwen/Qwen2.5-7B --micro_train_batch_size 2 \
         --train_batch_size 128 --prompt_max_len 1024 --generate_max_len 2048 --zero_stage 2 --bf16 --use_wandb {secret}\n"
    );
    let read = folder::read(&text, "run.sh", &[]);
    assert!(!format!("{:?}", read.remarks).contains(secret), "{:?}", read.remarks);
    let expected =
        [("plan.global_batch", "128"), ("plan.micro_batch", "2"), ("plan.sequence_length", "3072")];
    folder::check(&read, &expected);
}

/// `envsubst` makes the configuration of a template, with the script's variables.
#[test]
fn a_configuration_made_of_a_template() {
    let script = "#!/bin/bash\nexport MODEL=Qwen/Qwen3-8B SEQ=4096\nenvsubst < run.tmpl > run.yaml\naxolotl train run.yaml\n";
    let template = "base_model: ${MODEL}\nsequence_len: $SEQ\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\nbf16: true\n";
    let template: &'static str = template;
    let files: &'static [(&'static str, &'static str)] = Box::leak(Box::new([("run.tmpl", template)]));
    let read = folder::read(script, "run.sh", files);
    folder::check(&read, &[("model.name", "\"qwen3-8b\""), ("plan.sequence_length", "4096")]);
    let problem = refused(script, "run.sh");
    assert!(problem.contains("`envsubst` generates it from `run.tmpl`"), "{problem}");
}

/// A virtual environment has no settings of a run.
#[test]
fn environments_of_python_are_not_missed() {
    let text = "#!/bin/bash\nsource .venv/bin/activate\ntorchrun --nproc_per_node 8 train.py\n";
    let problem = refused(text, "run.sh");
    assert!(problem.contains("not a known trainer") && !problem.contains("activate"), "{problem}");
}

/// GPT-NeoX's norms have a name for each kernel, and its LLaMA MLP has the width of LLaMA.
#[test]
fn norms_and_gated_widths_of_gpt_neox() {
    let llama = "{\n  \"pipe_parallel_size\": 2,\n  \"model_parallel_size\": 1,\n  \"num_layers\": 32,\n  \"hidden_size\": 4096,\n  \
        \"num_attention_heads\": 32,\n  \"mlp_type\": \"llama\",\n  \"train_micro_batch_size_per_gpu\": 4\n}\n";
    folder::check(
        &folder::read(llama, "run.yml", &[]),
        &[("model.ffn", "11008"), ("model.gated_mlp", "true")],
    );
    let of = |norm: &str| {
        let text = format!(
            "{{\n  \"pipe_parallel_size\": 2,\n  \"model_parallel_size\": 1,\n  \"num_layers\": 12,\n  \"hidden_size\": 768,\n  \
             \"num_attention_heads\": 12,\n  \"norm\": \"{norm}\",\n  \"train_micro_batch_size_per_gpu\": 4\n}}\n"
        );
        folder::value(&folder::read(&text, "run.yml", &[]), "model.norm")
    };
    assert_eq!([of("flash_rmsnorm"), of("te_layernorm")], ["\"rms_norm\"", "\"layer_norm\""]);
}
