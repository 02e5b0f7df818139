#!/bin/bash
#SBATCH --job-name=llama3-70b
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8      # one task per node, torchrun starts the ranks
#SBATCH --time=04:00:00

# A 70B model of llama's shape on 64 GPUs, in the structure that the public examples have.
export CUDA_DEVICE_MAX_CONNECTIONS=1
export NCCL_IB_TIMEOUT=${NCCL_IB_TIMEOUT:-19}

CHECKPOINT_PATH=${1:-"/checkpoints/llama3-70b"}
TOKENIZER_MODEL=${2:-"/tokenizers/Meta-Llama-3-70B"}

GPUS_PER_NODE=8
NUM_NODES=${SLURM_NNODES:-8}
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))

TP=8
PP=4
VP=5
MICRO_BATCH=1
# 2 Mi tokens a step
GLOBAL_BATCH=$((2*1024*1024/8192))
DTYPE="bf16"

if [ ! -f "pretrain_gpt.py" ]; then
    echo "run this in the folder of Megatron-LM"
    exit 1
fi

DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
    --rdzv_backend c10d --rdzv_endpoint ${MASTER_ADDR}:6000
)

MODEL_ARGS=(
    --use-mcore-models
    --num-layers 80
    --hidden-size 8192
    --ffn-hidden-size 28672
    --num-attention-heads 64
    --group-query-attention
    --num-query-groups 8     # as the model's configuration has it
    --seq-length 8192
    --max-position-embeddings 8192
    --position-embedding-type rope
    --rotary-base 500000
    --attention-dropout 0.0
    --hidden-dropout 0.0
    --swiglu
    --normalization RMSNorm
    --disable-bias-linear
    --untie-embeddings-and-output-weights
)

TRAINING_ARGS="
    --micro-batch-size $MICRO_BATCH \
    --global-batch-size ${GLOBAL_BATCH} \
    --train-samples 1953125 \
    --lr 1.5e-4 --min-lr 1.5e-5 --lr-decay-style cosine \
    --weight-decay 0.1 --clip-grad 1.0 \
    --optimizer adam \
"

DTYPE_ARGS=()
if [[ "$DTYPE" == "fp8" ]]; then
    DTYPE_ARGS+=(
        "--fp8-format hybrid"
        "--fp8-param-gather"
    )
else
    DTYPE_ARGS+=("--bf16")
fi

PARALLEL_ARGS=(
    --tensor-model-parallel-size $TP
    --pipeline-model-parallel-size $PP
    --num-virtual-stages-per-pipeline-rank $VP
    --sequence-parallel
    --use-distributed-optimizer
    --overlap-grad-reduce
    --overlap-param-gather
    # --tp-comm-overlap
    --recompute-activations
)

DATA_ARGS="--tokenizer-type HuggingFaceTokenizer --tokenizer-model ${TOKENIZER_MODEL} --split 99,1,0"
if [ -z ${DATA_PATH+x} ]; then
    DATA_ARGS="$DATA_ARGS --mock-data"
fi

LOGGING_ARGS=(
    --log-interval 1
    --log-throughput
    --eval-iters 0
    --save $CHECKPOINT_PATH --save-interval 1000
    --loss-scaling-factr 2
)

srun torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    ${MODEL_ARGS[@]} \
    $TRAINING_ARGS \
    ${DTYPE_ARGS[@]} \
    "${PARALLEL_ARGS[@]}" \
    $DATA_ARGS \
    ${LOGGING_ARGS[@]} \
    $EXTRA_ARGS 2>&1 | tee train.log
