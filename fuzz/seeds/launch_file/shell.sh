A=xxxxxxxx
A="$A$A"
A="$A$A"
for T in 1 2; do case $T in 1) B=$((T*8));; *) B=0;; esac; done
eval torchrun --nproc_per_node ${B:-8} x.py --num-layers ${#A} --hidden-size 64 --num-attention-heads 4 --tensor-model-parallel-size 2
