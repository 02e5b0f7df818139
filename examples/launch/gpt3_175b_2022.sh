#! /bin/bash
# Runs a 175B model as scripts of 2022 did: strings of arguments, Slurm starts one task per GPU.

#SBATCH <SLURM OPTIONS> --nodes=128 --exclusive --ntasks-per-node=8 --job-name=megatron_gpt3_175b
#SBATCH --nodes=128
#SBATCH --ntasks-per-node=8

DIR=`pwd`
DATETIME=`date +'date_%y-%m-%d_time_%H-%M-%S'`
mkdir -p $DIR/logs

options=" \
	--sequence-parallel \
	--tensor-model-parallel-size 8 \
	--pipeline-model-parallel-size 16 \
	--num-layers 96 \
	--hidden-size 12288 \
	--num-attention-heads 96 \
	--seq-length 2048 \
	--max-position-embeddings 2048 \
	--micro-batch-size 1 \
	--global-batch-size 1536 \
	--rampup-batch-size 16 16 5859375 \
	--train-samples 146484375 \
	--tokenizer-type GPT2BPETokenizer \
	--split 98,2,0 \
	--clip-grad 1.0 \
	--bf16 \
	--DDP-impl local \
	--recompute-granularity selective \
	--tensorboard-dir ${DIR}/tensorboard "

run_cmd="python -u ${DIR}/pretrain_gpt.py $@ ${options}"

srun -l \
     --container-image "some/image:22.09" \
     --output=$DIR/logs/%x_%j_$DATETIME.log sh -c "${run_cmd}"

set +x
