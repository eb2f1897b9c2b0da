#!/bin/sh
# A job array of Slurm: each task computes one shard. The arguments are the command:
#
#   sbatch --array=1-16 slurm.sh compare lcr peterson --n 8..1048576 --orders 100000
#   ringleader merge part-*
#
# A task that is killed or requeued continues from its file. A task that failed is run again by
# sbatch --array=N with SHARDS=16, the number of all.
#SBATCH --job-name=ringleader
#SBATCH --cpus-per-task=2
#SBATCH --requeue
set -eu
exec ringleader "$@" --shard "$SLURM_ARRAY_TASK_ID/${SHARDS:-$SLURM_ARRAY_TASK_MAX}" --out "part-$SLURM_ARRAY_TASK_ID"
