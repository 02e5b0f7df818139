//! The forward pass of recordings that name the backward pass alone.
//!
//! Responsible for: recordings of kernels without launches or ranges, where libraries write the backward pass into the names of their kernels (`flash_bwd_...`) but no
//! name says the forward pass: a longer row of arithmetic without a backward kernel is forward work, a shorter one beside backward kernels is backward work. Refuses recordings in which anything else tells of a forward pass, and those with
//! too little of either.

use super::FoundBy;
use crate::RankTrace;
use crate::communication::{NameTable, Operation};
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
    let is_kernel = |at: &usize| gpu.kinds().get(*at) == Some(&GpuKind::Kernel);
    let communicates = |at: usize| {
        gpu.get(at).is_some_and(|row| row.collective.is_some() || classes.get(row.name).is_some())
    };
    let kernels: Vec<usize> = (0..gpu.len()).filter(is_kernel).collect();
    let time = |wanted: &dyn Fn(usize) -> bool| -> f64 {
        let rows = kernels.iter().copied().filter(|&at| !communicates(at) && wanted(at));
        rows.filter_map(|at| gpu.get(at)).map(|row| row.end - row.start).sum::<i64>() as f64
    };
    let (all, backward) = (time(&|_| true), time(&|at| is_backward(&found[at])));
    if backward < SHARE * all || backward > (1.0 - SHARE) * all {
        return;
    }
    // Passes of a pipeline end where messages begin.
    let message = |at: &usize| {
        gpu.get(*at).and_then(|row| classes.get(row.name)?.operation).is_some_and(|operation| {
            matches!(operation, Operation::SendReceive | Operation::Send | Operation::Receive)
        })
    };
    for stretch in kernels.split(message) {
        let rows: Vec<usize> = stretch.iter().copied().filter(|&at| !communicates(at)).collect();
        let marks: Vec<bool> = rows.iter().map(|&at| is_backward(&found[at])).collect();
        let holds = marks.contains(&true);
        let mut from = 0;
        for run in marks.chunk_by(|a, b| a == b) {
            let within = from..from + run.len();
            from = within.end;
            if run[0] {
                continue;
            }
            let phase = match (run.len() > NEAR, holds) {
                (true, _) => Phase::Forward,
                (false, true) => Phase::Backward,
                (false, false) => continue,
            };
            for &at in &rows[within] {
                if found[at].is_none() {
                    found[at] = Some(phase);
                    by.apart += 1;
                }
            }
        }
    }
}
