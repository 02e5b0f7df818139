#!/bin/sh
# One task of many: digests the traces that are its part. Started by slurm.sbatch, or by any launcher that numbers its tasks.
#
#   task.sh TRACES DIGESTS
#
# RAILWRIGHT names the program (default: railwright on PATH).
set -eu

if [ $# -ne 2 ]; then
    echo "usage: task.sh TRACES DIGESTS" >&2
    exit 2
fi

if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
    # An array: --array=0-15 or --array=1-16.
    part="$(((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN) / ${SLURM_ARRAY_TASK_STEP:-1}))/$SLURM_ARRAY_TASK_COUNT"
elif [ -n "${SLURM_PROCID:-}" ]; then
    # A task of srun.
    part="$SLURM_PROCID/$SLURM_NTASKS"
elif [ -n "${JOB_COMPLETION_INDEX:-}" ]; then
    # A pod of an indexed Kubernetes Job; COMPLETIONS is set by the manifest.
    part="$JOB_COMPLETION_INDEX/$COMPLETIONS"
else
    echo "error: no task number: SLURM_ARRAY_TASK_ID, SLURM_PROCID or JOB_COMPLETION_INDEX is needed" >&2
    exit 2
fi

exec "${RAILWRIGHT:-railwright}" digest "$1" -o "$2" --part "$part"
