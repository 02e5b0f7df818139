NPROC_PER_NODE=4 \
swift sft \
    --model Qwen/Qwen2.5-7B-Instruct \
    --tuner_type lora \
    --per_device_train_batch_size $SIZE --max_length 2048 --deepspeed zero2
