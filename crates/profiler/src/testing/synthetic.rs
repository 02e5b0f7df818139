//! A simulated job that follows a plan.
//!
//! Responsible for: layers of compute with a tensor-parallel all-reduce each, then a data-parallel all-reduce
//! and an optimizer. A host that runs ahead launches them. Some ranks can be slow, late or idle. Waits are
//! simulated, so the traces are consistent. Not realistic beyond that.

use super::Recurrence;
use crate::Job;
use crate::trace::{CollectiveCall, GpuActivity, GpuKind, HostActivity, HostKind, RankGroup, RankTrace};
use railwright_step::CollectiveKind;
use std::collections::VecDeque;

const COMPUTE: u32 = 7;
const COMMUNICATION: u32 = 20;
/// Midnight of a day in 2024, in nanoseconds.
const EPOCH: i64 = 1_710_000_000_000_000_000;

/// The plan of a job.
#[derive(Clone, Debug)]
pub struct Synthetic {
    /// Ranks per tensor-parallel group, which are neighbours.
    pub tensor: u32,
    /// Number of data-parallel replicas.
    pub data: u32,
    /// Number of steps.
    pub steps: u32,
    /// Layers per step.
    pub layers: u32,
    /// Kernels per layer.
    pub kernels: u32,
    /// Compute time of a layer, in nanoseconds.
    pub compute: i64,
    /// Transfer time of a tensor-parallel all-reduce in nanoseconds; the data parallel one takes ten times
    /// that.
    pub transfer: i64,
    /// Variation of kernel durations, in parts per thousand.
    pub jitter: u64,
    /// True if collectives record their group and size.
    pub described: bool,
    /// True if they record their sequence number.
    pub numbered: bool,
    /// Variation of attention (half as long as the other kernels of a layer) between layers of replicas, in
    /// parts per thousand; 0 for none. It represents different sequence lengths.
    pub sequences: u64,
    /// True if few of these lengths are far above the others, as in real data sets, with the same mean.
    pub skewed: bool,
    /// (rank, factor): kernels that take longer.
    pub slow_chip: Vec<(u32, f64)>,
    /// Steps in which these are slow; empty for all of them.
    pub slow_chip_steps: Vec<u32>,
    /// (rank, factor): more kernels of the same kind.
    pub more_work: Vec<(u32, f64)>,
    /// (rank, step, nanoseconds): idle time of the host in the middle of a step.
    pub stalls: Vec<(u32, u32, i64)>,
    /// (rank, step, nanoseconds): idle time of the host before the first launch of a step.
    pub late: Vec<(u32, u32, i64)>,
    /// (rank, step, nanoseconds): delay of the step's first kernel after its launch, on an idle device.
    pub late_start: Vec<(u32, u32, i64)>,
    /// (rank, nanoseconds): host time per launch.
    pub slow_host: Vec<(u32, i64)>,
    /// (shard, factor): slower transfers of the data-parallel group of this tensor parallel shard.
    pub slow_links: Vec<(u32, f64)>,
    /// Steps in which these are slow; empty for all of them. If not, the sizes of reductions are those of
    /// every step, as in a real job.
    pub slow_link_steps: Vec<u32>,
    /// (replica, number, nanoseconds): one in this number of the replica's tensor-parallel all-reduces takes
    /// longer by this time.
    pub rare_long: Vec<(u32, u32, i64)>,
    /// (replica, layers): further layers in each step of this replica, like those of another micro-batch.
    pub more_layers: Vec<(u32, u32)>,
    /// Maximum difference between the ends of one collective, in nanoseconds.
    pub end_jitter: u64,
    /// True if gradients are reduced after every layer, concurrently with later layers. The optimizer waits
    /// for all reductions; tensor groups of one rank then have none.
    pub overlapped: bool,
    /// Neighbouring replicas that exchange tokens in the middle of every layer; 1 for none. Must divide the
    /// number of replicas.
    pub experts: u32,
    /// True if weights are gathered a layer ahead on the stream of the gradients, as in full sharding;
    /// requires `overlapped`.
    pub gathered: bool,
}

impl Default for Synthetic {
    fn default() -> Self {
        Self {
            tensor: 2,
            data: 2,
            steps: 4,
            layers: 8,
            kernels: 4,
            compute: 1_000_000,
            transfer: 100_000,
            jitter: 20,
            described: true,
            numbered: false,
            sequences: 0,
            skewed: false,
            slow_chip: Vec::new(),
            slow_chip_steps: Vec::new(),
            more_work: Vec::new(),
            stalls: Vec::new(),
            late: Vec::new(),
            late_start: Vec::new(),
            slow_host: Vec::new(),
            slow_links: Vec::new(),
            slow_link_steps: Vec::new(),
            rare_long: Vec::new(),
            more_layers: Vec::new(),
            end_jitter: 1_000,
            overlapped: false,
            experts: 1,
            gathered: false,
        }
    }
}

/// State of one rank during the simulation.
struct Runner {
    trace: RankTrace,
    host: i64,
    device: i64,
    /// End of its concurrent reductions, in nanoseconds.
    beside: i64,
    /// Ends of gathers that no layer has waited for, in nanoseconds.
    gathers: VecDeque<i64>,
    correlation: u32,
    random: Recurrence,
    launch: i64,
}

impl Runner {
    fn launched(&mut self, name: &str, at: i64) -> u32 {
        self.correlation += 1;
        let name = self.trace.names.intern(name);
        self.trace.host.push(HostActivity {
            start: at,
            end: at + 4_000,
            name,
            kind: HostKind::Runtime,
            correlation: Some(self.correlation),
            ..HostActivity::default()
        });
        self.correlation
    }

    fn kernel(&mut self, name: &str, duration: i64) {
        self.host += self.launch;
        let correlation = self.launched("cudaLaunchKernel", self.host);
        let start = self.device.max(self.host + 6_000);
        self.device = start + duration;
        let name = self.trace.names.intern(name);
        self.trace.gpu.push(GpuActivity {
            start,
            end: start + duration,
            name,
            kind: GpuKind::Kernel,
            stream: COMPUTE,
            correlation: Some(correlation),
            ..GpuActivity::default()
        });
    }
}

impl Synthetic {
    /// Number of ranks.
    pub fn world(&self) -> u32 {
        self.tensor * self.data
    }

    /// Simulates the job.
    pub fn job(&self) -> Job {
        let mut ranks: Vec<Runner> = (0..self.world()).map(|rank| self.start(rank)).collect();
        let tensor: Vec<Vec<usize>> = (0..self.data)
            .map(|replica| (0..self.tensor).map(|shard| (replica * self.tensor + shard) as usize).collect())
            .collect();
        let data: Vec<Vec<usize>> = (0..self.tensor)
            .map(|shard| (0..self.data).map(|replica| (replica * self.tensor + shard) as usize).collect())
            .collect();
        let experts: Vec<Vec<usize>> = (data.iter())
            .flat_map(|group| group.chunks(self.experts.max(1) as usize).map(<[usize]>::to_vec))
            .collect();
        for step in 0..self.steps {
            let begins: Vec<i64> = ranks.iter().map(|rank| rank.host).collect();
            for &(rank, _, late) in self.late.iter().filter(|late| late.1 == step) {
                if let Some(rank) = ranks.get_mut(rank as usize) {
                    rank.host = rank.host.max(rank.device) + late;
                }
            }
            for &(rank, _, latency) in self.late_start.iter().filter(|late| late.1 == step) {
                if let Some(rank) = ranks.get_mut(rank as usize) {
                    rank.device = rank.host.max(rank.device) + rank.launch + latency;
                }
            }
            if self.gathered {
                self.gather(&mut ranks, &data, step);
            }
            for layer in 0..self.layers {
                if self.gathered {
                    if layer + 1 < self.layers {
                        self.gather(&mut ranks, &data, step);
                    }
                    for rank in &mut ranks {
                        let gathered = rank.gathers.pop_front().unwrap_or(rank.device);
                        rank.device = rank.device.max(gathered);
                    }
                }
                for group in experts.iter().filter(|group| group.len() > 1) {
                    self.reduce(&mut ranks, group, (3, step), self.transfer, 2_097_152);
                }
                for (rank, runner) in ranks.iter_mut().enumerate() {
                    self.layer(runner, rank as u32, step, layer);
                }
                for group in tensor.iter().filter(|group| group.len() > 1 || !self.overlapped) {
                    self.reduce(&mut ranks, group, (1, step), self.transfer, 4_194_304);
                }
                for group in data.iter().filter(|_| self.overlapped) {
                    self.reduce(&mut ranks, group, (2, step), self.transfer, 8_388_608);
                }
            }
            for &(replica, layers) in &self.more_layers {
                let Some(group) = tensor.get(replica as usize) else { continue };
                for layer in self.layers..self.layers + layers {
                    for &at in group {
                        self.layer(&mut ranks[at], at as u32, step, layer);
                    }
                    self.reduce(&mut ranks, group, (1, step), self.transfer, 4_194_304);
                }
            }
            if self.overlapped {
                for rank in &mut ranks {
                    rank.device = rank.device.max(rank.beside);
                }
            }
            for group in data.iter().filter(|_| !self.overlapped) {
                self.reduce(
                    &mut ranks,
                    group,
                    (2, step),
                    self.transfer * 10,
                    67_108_864 + if self.slow_link_steps.is_empty() { u64::from(step) * 4 } else { 0 },
                );
            }
            for (rank, begin) in ranks.iter_mut().zip(begins) {
                rank.kernel("multi_tensor_adam", self.compute / 2);
                // The host reads the loss, so it is at most a step ahead.
                rank.host = rank.host.max(rank.device);
                let name = rank.trace.names.intern(&format!("ProfilerStep#{step}"));
                rank.trace.host.push(HostActivity {
                    start: begin,
                    end: rank.host,
                    name,
                    kind: HostKind::Annotation,
                    ..HostActivity::default()
                });
            }
        }
        let mut traces: Vec<RankTrace> = ranks.into_iter().map(|rank| rank.trace).collect();
        for trace in &mut traces {
            trace.gpu.sort();
            trace.host.sort();
        }
        Job::new(traces)
    }

    fn start(&self, rank: u32) -> Runner {
        let mut trace = RankTrace::default();
        trace.identity.label = format!("synthetic rank {rank}");
        trace.identity.rank = Some(rank);
        trace.identity.world_size = Some(self.world());
        let shard = rank % self.tensor;
        let first = rank - shard;
        let group = |name: String, ranks: Vec<u32>| RankGroup {
            name,
            description: None,
            size: Some(ranks.len() as u32),
            ranks: Some(ranks),
        };
        trace.groups = vec![
            group("0".to_owned(), (0..self.world()).collect()),
            // Names are counters of the rank, as in real jobs.
            group((1 + rank / self.tensor).to_string(), (first..first + self.tensor).collect()),
            group((10 + shard).to_string(), (0..self.data).map(|r| r * self.tensor + shard).collect()),
        ];
        if self.experts > 1 {
            let replica = rank / self.tensor / self.experts * self.experts;
            let ranks = (replica..replica + self.experts).map(|r| r * self.tensor + shard).collect();
            trace.groups.push(group((100 + rank).to_string(), ranks));
        }
        let launch = self.slow_host.iter().find(|slow| slow.0 == rank).map_or(5_000, |slow| slow.1);
        Runner {
            trace,
            host: EPOCH,
            device: EPOCH,
            beside: EPOCH,
            gathers: VecDeque::new(),
            correlation: 0,
            random: Recurrence(u64::from(rank) * 977 + 5),
            launch,
        }
    }

    fn layer(&self, rank: &mut Runner, number: u32, step: u32, layer: u32) {
        let factor =
            |list: &[(u32, f64)]| list.iter().find(|entry| entry.0 == number).map_or(1.0, |entry| entry.1);
        let kernels = (f64::from(self.kernels) * factor(&self.more_work)).round() as u32;
        let is_slow = self.slow_chip_steps.is_empty() || self.slow_chip_steps.contains(&step);
        let slower = if is_slow { factor(&self.slow_chip) } else { 1.0 };
        let usual = self.compute as f64 / f64::from(self.kernels.max(1)) * slower;
        if layer == self.layers / 2 {
            let stall = self
                .stalls
                .iter()
                .filter(|stall| stall.0 == number && stall.1 == step)
                .map(|s| s.2)
                .sum::<i64>();
            if stall > 0 {
                // An idle host starves the device once the device has caught up.
                rank.host = rank.host.max(rank.device) + stall;
            }
        }
        for k in 0..kernels {
            let wobble = 1.0 + (rank.random.below(2 * self.jitter + 1) as f64 - self.jitter as f64) * 1e-3;
            let name = if k % 2 == 0 { "sm90_gemm_bf16" } else { "layer_norm_kernel" };
            rank.kernel(name, (usual * wobble) as i64);
        }
        if self.sequences > 0 {
            // Ranks of one replica have the same sequences.
            let seed = u64::from(number / self.tensor) * 7919 + u64::from(step) * 104_729 + u64::from(layer);
            let mut random = Recurrence(seed);
            random.below(2);
            let length = random.below(2 * self.sequences + 1) as f64 - self.sequences as f64;
            // The mean of 5 u^4 is 1 for u between 0 and 1.
            let u = 0.5 + 0.5 * length / self.sequences as f64;
            let length = if self.skewed { (5.0 * u.powi(4) - 1.0) * self.sequences as f64 } else { length };
            rank.kernel("flash_fwd_kernel", (self.compute as f64 / 2.0 * (1.0 + length * 1e-3)) as i64);
        }
    }

    /// Gathers the weights of a layer concurrently.
    fn gather(&self, ranks: &mut [Runner], data: &[Vec<usize>], step: u32) {
        for group in data {
            self.reduce(ranks, group, (2, step), self.transfer, 16_777_216);
        }
        for rank in ranks {
            rank.gathers.push_back(rank.beside);
        }
    }

    fn reduce(
        &self,
        ranks: &mut [Runner],
        group: &[usize],
        (local, step): (u32, u32),
        transfer: i64,
        elements: u64,
    ) {
        let beside = self.overlapped && local == 2;
        let mut starts = Vec::with_capacity(group.len());
        for &at in group {
            let rank = &mut ranks[at];
            rank.host += rank.launch;
            let correlation = rank.launched("cudaLaunchKernelExC", rank.host);
            let free = if beside { rank.device.max(rank.beside) } else { rank.device };
            starts.push((free.max(rank.host + 6_000), correlation));
        }
        let shard = group.first().map_or(0, |&first| first as u32 % self.tensor);
        let in_step = self.slow_link_steps.is_empty() || self.slow_link_steps.contains(&step);
        let is_slow = |slow: &&(u32, f64)| local == 2 && slow.0 == shard && in_step;
        let slower = self.slow_links.iter().find(is_slow).map_or(1.0, |slow| slow.1);
        let number = |local: u32| {
            let calls = group.first().map(|&at| &ranks[at].trace.collectives);
            calls.map_or(0, |calls| calls.iter().filter(|call| call.group == Some(local)).count())
        };
        let replica = group.first().map_or(0, |&first| first as u32 / self.tensor);
        let is_long =
            |long: &&(u32, u32, i64)| local == 1 && long.0 == replica && number(1) % long.1 as usize == 1;
        let longer = self.rare_long.iter().filter(is_long).map(|long| long.2).sum::<i64>();
        let transfer = (transfer as f64 * slower) as i64 + longer;
        let enter = starts.iter().map(|start| start.0).max().unwrap_or_default();
        for (&at, (start, correlation)) in group.iter().zip(starts) {
            let rank = &mut ranks[at];
            // Ends differ by the time in which devices detect them.
            let end = enter + transfer + rank.random.below(self.end_jitter.max(1)) as i64;
            *(if beside { &mut rank.beside } else { &mut rank.device }) = end;
            let sequence = rank.trace.collectives.iter().filter(|call| call.group == Some(local)).count();
            let call = self.described.then(|| {
                rank.trace.collectives.push(CollectiveCall {
                    kind: Some(CollectiveKind::AllReduce),
                    label: "allreduce".to_owned(),
                    elements_in: Some(elements),
                    elements_out: Some(elements),
                    element: Some("BFloat16".to_owned()),
                    element_bytes: Some(2),
                    group: Some(local),
                    sequence: self.numbered.then_some(sequence as u64),
                    peer: None,
                });
                rank.trace.collectives.len() as u32 - 1
            });
            let name = rank
                .trace
                .names
                .intern("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
            rank.trace.gpu.push(GpuActivity {
                start,
                end,
                name,
                kind: GpuKind::Kernel,
                // Undescribed groups are distinguished by their stream.
                stream: COMMUNICATION + local,
                correlation: Some(correlation),
                collective: call,
                bytes: 0,
            });
        }
    }
}
