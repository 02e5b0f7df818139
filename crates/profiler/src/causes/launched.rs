//! Host calls by the device work that they launched.
//!
//! Responsible for: copies that stage pageable memory, and long launches of kernels that ran before. Excludes
//! calls without device work, as within the capture of a graph.

use crate::trace::{GpuActivities, GpuKind, NONE, RankTrace};

/// Minimum length of host work other than launch overhead in one frame, in nanoseconds. A launch costs the
/// host 2 to 20 us (NVIDIA, "Getting Started with CUDA Graphs": 2.2 to 3.8 us; a PyTorch operator in eager
/// mode adds about 10 us). This is fifty launches without a call. A start this long after its launch is late.
pub(crate) const LONG: i64 = 1_000_000;

/// Host rows of one rank in order.
#[derive(Debug, Default)]
pub(super) struct Launched {
    /// Copies from or to pageable memory.
    staged: Vec<u32>,
    /// Launches of 1 ms or longer whose kernels had all been launched before: their modules were loaded.
    repeats: Vec<u32>,
}

impl Launched {
    /// Calls of a rank; `launches` are the host rows that launched the device rows, or [`NONE`].
    pub(super) fn new(trace: &RankTrace, gpu: &GpuActivities, launches: &[u32]) -> Self {
        let host = &trace.host;
        let is_pageable: Vec<bool> = trace.names.iter().map(|name| name.contains("Pageable")).collect();
        let rows = || gpu.iter().zip(launches).filter(|(_, launch)| **launch != NONE);
        let mut staged: Vec<u32> = rows()
            .filter(|(row, _)| is_pageable.get(row.name.0 as usize) == Some(&true))
            .map(|(_, launch)| *launch)
            .collect();
        // Rows are in order of start, so the smallest one is the first launch.
        let mut firsts = vec![NONE; trace.names.len()];
        let kernels = || rows().filter(|(row, _)| row.kind == GpuKind::Kernel);
        for (row, &launch) in kernels() {
            if let Some(first) = firsts.get_mut(row.name.0 as usize) {
                *first = (*first).min(launch);
            }
        }
        let is_long = |launch: u32| {
            let at = launch as usize;
            host.ends().get(at).zip(host.starts().get(at)).is_some_and(|(end, start)| end - start >= LONG)
        };
        let is_first = |name: usize, launch: u32| firsts.get(name) == Some(&launch);
        let mut long: Vec<(u32, bool)> = kernels()
            .filter(|(_, launch)| is_long(**launch))
            .map(|(row, &launch)| (launch, is_first(row.name.0 as usize, launch)))
            .collect();
        long.sort_unstable();
        let alike = long.chunk_by(|a, b| a.0 == b.0);
        let repeats = alike.filter(|rows| rows.iter().all(|row| !row.1)).map(|rows| rows[0].0).collect();
        staged.sort_unstable();
        staged.dedup();
        Self { staged, repeats }
    }

    /// Tests whether a call copies from or to pageable memory: it returns when its staging has ended (CUDA
    /// Runtime API, "API synchronization behavior").
    pub(super) fn is_staged(&self, row: u32) -> bool {
        self.staged.binary_search(&row).is_ok()
    }

    /// Tests whether a call of 1 ms or longer launched only kernels that ran before. Modules are loaded at
    /// the first launch (CUDA C++ Programming Guide, "Lazy Loading"), so that is not its reason.
    pub(super) fn repeats(&self, row: u32) -> bool {
        self.repeats.binary_search(&row).is_ok()
    }
}
