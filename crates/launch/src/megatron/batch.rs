//! Requests of a job's script to its scheduler.
//!
//! Responsible for: nodes, tasks and GPUs of directives, and the variables that a scheduler sets from them.

/// Requests in lines that begin with `#SBATCH`, `#PBS` or `#PJM`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    pub(crate) nodes: Option<(u64, usize)>,
    pub(crate) tasks: Option<(u64, usize)>,
    pub(crate) tasks_per_node: Option<(u64, usize)>,
    pub(crate) gpus_per_node: Option<(u64, usize)>,
    /// Ranks of the whole job, with their source and line, for schedulers without tasks: chunks times GPUs
    /// (PBS), or processes (PJM).
    pub(super) ranks: Option<(u64, String, usize)>,
    /// Whether the script is one of Slurm: it runs inside its job.
    is_job: bool,
}

impl Batch {
    /// Reads the directives of a script; `first` is the number of its first line.
    pub(crate) fn read(text: &str, first: usize) -> Self {
        let mut batch = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_start();
            if let Some(ranks) = ranks_of(line) {
                batch.ranks = Some((ranks, line.trim_end().to_owned(), first + index));
            }
            let Some(rest) = line.strip_prefix("#SBATCH") else { continue };
            batch.is_job = true;
            let rest = rest.split('#').next().unwrap_or_default();
            // A line may have several options.
            let words: Vec<&str> = rest.split(['=', ' ', '\t']).filter(|word| !word.is_empty()).collect();
            for pair in words.windows(2) {
                let Some(number) = number(pair[1]) else { continue };
                let place = Some((number, first + index));
                match pair[0] {
                    "--nodes" | "-N" => batch.nodes = place,
                    "--ntasks" | "-n" => batch.tasks = place,
                    "--ntasks-per-node" => batch.tasks_per_node = place,
                    "--gpus-per-node" | "--gres" => batch.gpus_per_node = place,
                    _ => {}
                }
            }
        }
        batch
    }

    /// Adds the directives of another script of the same job where this one has none.
    pub(crate) fn add(&mut self, other: &Self) {
        self.nodes = self.nodes.or(other.nodes);
        self.tasks = self.tasks.or(other.tasks);
        self.tasks_per_node = self.tasks_per_node.or(other.tasks_per_node);
        self.gpus_per_node = self.gpus_per_node.or(other.gpus_per_node);
        self.ranks = self.ranks.take().or_else(|| other.ranks.clone());
        self.is_job |= other.is_job;
    }

    /// Variables that Slurm sets from these.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let named = [
            ("SLURM_NNODES", self.nodes),
            ("SLURM_JOB_NUM_NODES", self.nodes),
            ("SLURM_NTASKS_PER_NODE", self.tasks_per_node),
            ("SLURM_GPUS_PER_NODE", self.gpus_per_node),
            ("SLURM_GPUS_ON_NODE", self.gpus_per_node),
            ("SLURM_NTASKS", self.all_tasks()),
            ("SLURM_NPROCS", self.all_tasks()),
        ];
        // The number of the job does not matter, but scripts test whether they are in one: `[ -z
        // $SLURM_JOB_ID ] && sbatch $0`.
        let job = ["SLURM_JOB_ID", "SLURM_JOBID"]
            .into_iter()
            .filter(|_| self.is_job)
            .map(|name| (name, "1".to_owned()));
        named.into_iter().filter_map(|(name, value)| Some((name, value?.0.to_string()))).chain(job).collect()
    }

    fn all_tasks(&self) -> Option<(u64, usize)> {
        self.tasks.or_else(|| Some((self.nodes?.0.checked_mul(self.tasks_per_node?.0)?, self.nodes?.1)))
    }
}

/// Ranks that a directive asks for: `#PBS -l select=32:ngpus=8:mpiprocs=8`, `#PJM --mpi proc=32`.
fn ranks_of(line: &str) -> Option<u64> {
    if let Some(rest) = line.strip_prefix("#PBS") {
        let chunk = rest.split_whitespace().find_map(|word| word.strip_prefix("select="))?;
        // Chunks of several kinds are joined by `+`.
        let of = |chunk: &str| {
            let mut parts = chunk.split(':');
            let count: u64 = parts.next()?.parse().ok()?;
            let gpus: u64 = parts.find_map(|part| part.strip_prefix("ngpus="))?.parse().ok()?;
            count.checked_mul(gpus)
        };
        return chunk.split('+').map(of).sum();
    }
    let rest = line.strip_prefix("#PJM")?;
    rest.split_whitespace().find_map(|word| word.strip_prefix("proc="))?.parse().ok()
}

/// The number in `8`, `gpu:8`, `gpu:h100:8`, `1:4` (elastic: the least).
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim().trim_matches(['"', '\'']);
    let part = if text.starts_with(|c: char| c.is_ascii_digit()) {
        text.split(':').next()
    } else {
        text.rsplit(':').next()
    };
    part?.split('(').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Batch, ranks_of};

    #[test]
    fn directives_of_other_schedulers_have_ranks() {
        for (line, ranks) in [
            ("#PBS -l select=32:ncpus=8:ngpus=8:mpiprocs=8", Some(256)),
            ("#PBS -l select=2:ngpus=8+1:ngpus=4", Some(20)),
            ("#PBS -l walltime=1:00:00", None),
            ("#PBS -l select=4:ncpus=8", None),
            ("#PJM --mpi proc=32", Some(32)),
            ("#PJM -L node=4", None),
        ] {
            assert_eq!(ranks_of(line), ranks, "{line}");
        }
        let batch = Batch::read("#!/bin/bash\n#PJM -L node=4\n#PJM --mpi proc=32\n", 1);
        assert_eq!(batch.ranks, Some((32, "#PJM --mpi proc=32".to_owned(), 3)));
    }
}
