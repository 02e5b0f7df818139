//! Causes of silent errors and of partial readings in an unseen draw of public launch files (eleventh,
//! November 2026), each with a text of its own.

use crate::folder;
use railwright_launch::{Launch, RemarkKind};

fn launch(text: &str, file: &str) -> Launch {
    folder::read(text, file, &[])
}

fn has(launch: &Launch, kind: RemarkKind, part: &str) -> bool {
    launch.remarks_of(kind).any(|remark| remark.message.contains(part))
}

/// Each command that starts a training is a run of its own: all lines are named, and the one that is read.
#[test]
fn several_trainings_of_one_script_are_named() {
    let first = "llamafactory-cli train conf/first.yaml\n";
    let last = "llamafactory-cli train --model_name_or_path Qwen/Qwen3-8B --stage sft --do_train --finetuning_type full \
        --dataset a --cutoff_len 512 --per_device_train_batch_size 4 --gradient_accumulation_steps 2 --bf16\n";
    let chat = "llamafactory-cli chat --model_name_or_path Qwen/Qwen3-8B --template qwen\n";
    let several = launch(&format!("#!/bin/bash\n{chat}{first}{last}"), "train.sh");
    folder::check(&several, &[("model.name", "\"qwen3-8b\""), ("plan.sequence_length", "512")]);
    let part = "2 commands start training, in lines 3 and 4; the command in line 4 is read";
    assert!(has(&several, RemarkKind::Conflict, part), "{:?}", several.remarks);
    let alone = launch(&format!("#!/bin/bash\n{chat}{last}"), "train.sh");
    assert!(!has(&alone, RemarkKind::Conflict, "commands start"), "{:?}", alone.remarks);
    let megatron = |tp: u64| {
        format!(
            "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 \
             --seq-length 512 --micro-batch-size 1 --global-batch-size 8 --bf16 --tensor-model-parallel-size {tp}\n"
        )
    };
    let read = launch(&format!("#!/bin/bash\n{}{}{}", megatron(1), megatron(2), megatron(1)), "run.sh");
    assert!(has(&read, RemarkKind::Conflict, "in lines 2 and 3"), "{:?}", read.remarks);
    let text = "#!/bin/bash\ntrain() {\n  torchrun --nproc_per_node 4 fit.py --model_name_or_path google/gemma-2b \
        --learning_rate 1e-5 --train_batch_size_per_device 4 --max_seq_len 1024 --data $1\n}\ntrain a\ntrain b\n";
    let repeated = launch(text, "run.sh");
    folder::check(&repeated, &[("plan.micro_batch", "4"), ("plan.sequence_length", "1024")]);
    assert!(
        has(&repeated, RemarkKind::Conflict, "runs 2 times with different arguments"),
        "{:?}",
        repeated.remarks
    );
}

/// Commands in the branches of one condition are alternatives: a run starts one of them.
#[test]
fn trainings_in_branches_of_a_condition_are_alternatives() {
    let train = |model: &str| {
        format!(
            "llamafactory-cli train --model_name_or_path {model} --stage sft --do_train --finetuning_type full --dataset a \
             --cutoff_len 512 --per_device_train_batch_size 4 --gradient_accumulation_steps 2 --bf16\n"
        )
    };
    let (small, large) = (train("Qwen/Qwen3-4B"), train("Qwen/Qwen3-8B"));
    let branches = format!(
        "#!/bin/bash\nif [ -e /data/big ]; then\n  {large}elif [ -e /data/c ]; then\n  {large}else\n  {small}fi\n"
    );
    let read = launch(&branches, "train.sh");
    let part = "in lines 3 and 7; the command in line 7 is read; a condition selects this command or that in line 3, so a run \
                starts only one of them";
    assert!(has(&read, RemarkKind::Conflict, part), "{:?}", read.remarks);
    assert!(!has(&read, RemarkKind::Conflict, "a separate run"), "{:?}", read.remarks);
    let either = format!("#!/bin/bash\ntest -e /data/big && {} || {small}", large.trim_end());
    let read = launch(&either, "train.sh");
    assert!(has(&read, RemarkKind::Conflict, "of which a condition selects one"), "{:?}", read.remarks);
    let more = launch(&format!("{branches}{}", train("Qwen/Qwen3-32B")), "train.sh");
    assert!(has(&more, RemarkKind::Conflict, "each of the others is a separate run"), "{:?}", more.remarks);
    assert!(!has(&more, RemarkKind::Conflict, "only one of them"), "{:?}", more.remarks);
    let twice = format!("#!/bin/bash\nif [ -e /data/big ]; then\n  {large}  {small}fi\n");
    let read = launch(&twice, "train.sh");
    assert!(has(&read, RemarkKind::Conflict, "each of the others is a separate run"), "{:?}", read.remarks);
}

/// Arguments of a loop of the script's own are not defaults of Transformers' trainer.
#[test]
fn arguments_of_an_own_loop_are_read_by_their_names() {
    let rest = "--model_name_or_path meta-llama/Llama-2-7b-hf --per_device_train_batch_size 2 --learning_rate 1e-5 \
        --model_max_length 2048";
    let divided = launch(&format!("torchrun --nproc_per_node 4 fit.py {rest} --tp 2\n"), "run.sh");
    folder::check(&divided, &[("plan.tensor_parallel", "2"), ("plan.pipeline_parallel", "1")]);
    let text = format!(
        "torchrun --nproc_per_node 4 fit.py {rest} --bf16 True --logging_steps 1 --use_gradient_checkpointing \
         --lora_path_prefix ckpt\n"
    );
    let adapted = launch(&text, "run.sh");
    folder::check(&adapted, &[("plan.recompute", "\"full\""), ("plan.optimizer", "\"lora\"")]);
    assert!(has(&adapted, RemarkKind::Assumed, "nothing else enables adapters"), "{:?}", adapted.remarks);
    let off = launch(&text.replace("--lora_path_prefix ckpt", "--use_lora False"), "run.sh");
    assert_ne!(folder::value(&off, "plan.optimizer"), "\"lora\"");
}

/// Wrappers of NeMo 2 have the sections of its trainer at the top level.
#[test]
fn sections_of_nemos_trainer_at_the_top_level_are_read() {
    let text = "data:\n  global_batch_size: 64\n  micro_batch_size: 2\n  seq_length: 4096\nddp:\n  grad_reduce_in_fp32: true\n\
        model:\n  config:\n    seq_length: 4096\noptim:\n  config:\n    use_distributed_optimizer: true\n    bf16: true\n\
        strategy:\n  tensor_model_parallel_size: 4\n  pipeline_model_parallel_size: 2\n  sequence_parallel: true\n\
        trainer:\n  devices: 8\n  num_nodes: 4\n";
    folder::check(
        &launch(text, "recipe.yaml"),
        &[
            ("cluster.devices", "32"),
            ("plan.tensor_parallel", "4"),
            ("plan.pipeline_parallel", "2"),
            ("plan.sequence_parallel", "true"),
            ("plan.micro_batch", "2"),
            ("plan.global_batch", "64"),
            ("plan.sequence_length", "4096"),
            ("plan.sharding", "\"zero1\""),
        ],
    );
}

/// A part of the layers is a share of the model's layers, and the number without its switch has no effect.
#[test]
fn layers_on_the_host_are_a_share_of_all() {
    let recipe = |switch: &str| {
        format!(
            "import nemo_run as run\nfrom nemo.collections import llm\n\ndef recipe():\n    \
             recipe = llm.llama3_8b.pretrain_recipe(num_nodes=1, num_gpus_per_node=8)\n    {switch}\
             recipe.model.config.cpu_offloading_num_layers = 8\n    \
             recipe.trainer.strategy.tensor_model_parallel_size = 2\n    \
             recipe.data.global_batch_size = 64\n    return recipe\n"
        )
    };
    let on = launch(&recipe("recipe.model.config.cpu_offloading = True\n    "), "recipe.py");
    folder::check(&on, &[("plan.tensor_parallel", "2"), ("plan.offload.activations", "0.25")]);
    folder::check(&launch(&recipe(""), "recipe.py"), &[("plan.offload.activations", "open")]);
}

/// DeepSpeed's list of hosts with their devices.
#[test]
fn devices_that_deepspeed_includes_are_counted() {
    let text = "deepspeed --hostfile /job/hosts --include a:0\\,1\\,2\\,3@b:0\\,1\\,2\\,3 pretrain_gpt.py --num-layers 8 \
        --hidden-size 512 --num-attention-heads 8 --seq-length 512 --micro-batch-size 1 --global-batch-size 8 --bf16 \
        --tensor-model-parallel-size 4 --deepspeed --zero-stage=1\n";
    folder::check(&launch(text, "run.sh"), &[("cluster.devices", "8"), ("plan.tensor_parallel", "4")]);
}

/// Branches with the same text are one alternative.
#[test]
fn equal_alternatives_of_a_branch_are_named_once() {
    let text = "#!/bin/bash\nSIZE=$1\ncase $SIZE in\n  a) L=8 ;;\n  b) L=8 ;;\n  c) L=16 ;;\nesac\n\
        torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers $L --hidden-size 512 --num-attention-heads 8 \
        --seq-length 512 --micro-batch-size 1 --global-batch-size 8 --bf16\n";
    let launch = launch(text, "run.sh");
    let open = launch.open.iter().find(|open| open.key == "model.layers").expect("an open key");
    assert!(open.why.contains("`8` or `16`") && !open.why.contains("`8` or `8`"), "{}", open.why);
}

/// EasyLM's mesh divides a batch of all hosts.
#[test]
fn easylm_is_read() {
    let text = |mesh: &str| {
        format!(
            "#!/bin/bash\npython -m EasyLM.models.llama.llama_train \\\n  --mesh_dim='{mesh}' --dtype='bf16' \\\n  \
             --load_llama_config='7b' --optimizer.accumulate_gradient_steps=4 \\\n  \
             --train_dataset.json_dataset.seq_length=2048 --train_dataset.json_dataset.batch_size=64\n"
        )
    };
    let read = launch(&text("1,32,2"), "run.sh");
    folder::check(
        &read,
        &[
            ("cluster.devices", "64"),
            ("model.layers", "32"),
            ("plan.tensor_parallel", "2"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.global_batch", "256"),
            // 64 samples of an accumulation step over 32 ranks.
            ("plan.micro_batch", "2"),
            ("plan.sequence_length", "2048"),
            ("plan.recompute", "\"full\""),
        ],
    );
    folder::check(
        &launch(&text("-1,8,1"), "run.sh"),
        &[("plan.sharding", "\"hsdp:8\""), ("cluster.devices", "open"), ("plan.micro_batch", "open")],
    );
    let ragged = launch(&text("1,48,1"), "run.sh");
    folder::check(&ragged, &[("plan.micro_batch", "open")]);
    assert!(has(&ragged, RemarkKind::Conflict, "cannot be divided over 48 ranks"), "{:?}", ragged.remarks);
    let rest = launch(&text("1,1,-1"), "run.sh");
    folder::check(&rest, &[("plan.tensor_parallel", "open"), ("plan.sharding", "\"none\"")]);
    folder::check(&launch(&text("a,b"), "run.sh"), &[("plan.sharding", "open")]);
}

/// The plugins of Colossal-AI's booster.
#[test]
fn plugins_of_colossal_ai_are_read() {
    let text = |more: &str| {
        format!(
            "colossalai run --nproc_per_node 8 train.py --pretrained meta-llama/Llama-2-7b-hf --mixed_precision bf16 \
             --max_length 4096 --batch_size 8 --accumulation_steps 2 --use_grad_checkpoint {more}\n"
        )
    };
    let split = "--plugin 3d --tp 2 --pp 2 --zero_stage 1 --microbatch_size 2";
    folder::check(
        &launch(&text(split), "run.sh"),
        &[
            ("cluster.devices", "8"),
            ("plan.tensor_parallel", "2"),
            ("plan.pipeline_parallel", "2"),
            ("plan.sharding", "\"zero1\""),
            ("plan.micro_batch", "2"),
            ("plan.micro_batches", "8"),
            ("plan.recompute", "\"full\""),
        ],
    );
    let zero = launch(&text("--plugin zero2_cpu"), "run.sh");
    folder::check(&zero, &[("plan.sharding", "\"zero2\""), ("plan.offload.optimizer", "1.0")]);
    folder::check(&zero, &[("plan.micro_batch", "8"), ("plan.micro_batches", "2")]);
    folder::check(&launch(&text("--plugin gemini"), "run.sh"), &[("plan.sharding", "\"fsdp\"")]);
    folder::check(&launch(&text("--plugin own"), "run.sh"), &[("plan.sharding", "open")]);
    let hosts = text("--plugin gemini").replace("run --n", "run --hostfile hosts --n");
    folder::check(&launch(&hosts, "run.sh"), &[("cluster.devices", "open")]);
}

/// RL2 packs samples up to a number of tokens of a data-parallel rank.
#[test]
fn rl2_is_read() {
    let text = "torchrun --nproc_per_node=4 -m RL2.trainer.sft data.path=a data.max_length=4096 data.batch_size=32 \
        actor.model_name=Qwen/Qwen2.5-7B-Instruct actor.sp_size=2 actor.max_length_per_device=8192\n";
    folder::check(
        &launch(text, "run.sh"),
        &[
            ("cluster.devices", "4"),
            ("plan.context_parallel", "2"),
            ("plan.sharding", "\"fsdp\""),
            ("plan.micro_batch", "4"),
            ("plan.global_batch", "32"),
            ("plan.recompute", "\"full\""),
        ],
    );
    let updates = "torchrun --nproc_per_node=8 -m RL2.trainer.ppo train_data.prompts_per_rollout=32 \
        train_data.responses_per_prompt=4 actor.model_name=Qwen/Qwen3-8B actor.tp_size=4 actor.ddp_size=2 \
        actor.max_length_per_device=2048\n";
    let ppo = launch(updates, "run.sh");
    folder::check(
        &ppo,
        &[("plan.global_batch", "128"), ("plan.tensor_parallel", "4"), ("plan.sequence_length", "open")],
    );
    folder::check(&ppo, &[("plan.sharding", "\"none\"")]);
}
