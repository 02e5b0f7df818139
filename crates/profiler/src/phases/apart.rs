//! The forward pass of recordings that name the backward pass alone.
//!
//! Responsible for: recordings of kernels without launches or ranges, where libraries write the backward pass into the names of their kernels (`flash_bwd_...`) but no
//! name says the forward pass: a longer row of arithmetic without a backward kernel is forward work. Refuses recordings in which anything else tells of a forward pass, and those with
//! too little of either.

use super::FoundBy;
use crate::RankTrace;
use crate::communication::NameTable;
use crate::trace::{GpuActivities, GpuKind};
use railwright_step::Phase;

/// In a backward pass no more kernels than these follow each other without one that says so.
const NEAR: usize = 16;

/// Of the time of kernels at least this share is backward work, and this share is not.
const SHARE: f64 = 0.2;

pub(super) fn forward(trace: &RankTrace, gpu: &GpuActivities, found: &mut [Option<Phase>], by: &mut FoundBy) {
    let is_backward = |phase: &Option<Phase>| {
        matches!(phase, Some(Phase::Backward | Phase::BackwardInput | Phase::BackwardWeight))
    };
    if !found.iter().any(is_backward) || found.contains(&Some(Phase::Forward)) {
        return;
    }
    let classes = NameTable::shipped().classes(&trace.names);
    let computes = |at: &usize| {
        gpu.get(*at).is_some_and(|row| {
            row.kind == GpuKind::Kernel && row.collective.is_none() && classes.get(row.name).is_none()
        })
    };
    let rows: Vec<usize> = (0..gpu.len()).filter(computes).collect();
    let time = |rows: &mut dyn Iterator<Item = usize>| -> i64 {
        rows.filter_map(|at| gpu.get(at)).map(|row| row.end - row.start).sum()
    };
    let all = time(&mut rows.iter().copied()) as f64;
    let backward = time(&mut rows.iter().copied().filter(|&at| is_backward(&found[at]))) as f64;
    if backward < SHARE * all || backward > (1.0 - SHARE) * all {
        return;
    }
    for run in rows
        .chunk_by(|&one, &next| is_backward(&found[one]) == is_backward(&found[next]))
        .map(<[usize]>::to_vec)
        .collect::<Vec<_>>()
    {
        if run.len() > NEAR && !is_backward(&found[run[0]]) {
            for at in run {
                if found[at].is_none() {
                    found[at] = Some(Phase::Forward);
                    by.apart += 1;
                }
            }
        }
    }
}
