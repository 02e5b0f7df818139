//! Migration of unified memory.
//!
//! Responsible for: pages that move between host and device while kernels run, from exports of Nsight
//! Systems. Excludes prefetched pages: they move before the kernels.

use super::words::time;
use super::{Context, Rule};
use crate::certainty::Certainty;
use crate::occupancy::Intervals;
use crate::profile::{Explained, Finding, Subject};
use crate::trace::GpuKind;
use crate::view::Role;
use railwright_spec::human;
use railwright_step::columns::Class;

pub(super) struct Migrations;

/// Minimum share of moving pages in the time of kernels that may do nothing but wait for them.
const MOVING: f64 = 0.25;

/// Part of the names of migrations.
const UNIFIED: &str = "(unified memory)";

impl Rule for Migrations {
    fn id(&self) -> &'static str {
        "page-migration"
    }

    fn title(&self) -> &'static str {
        "Unified memory moves pages during kernels"
    }

    fn text(&self) -> &'static str {
        "Kernels that touch pages of unified memory (`cudaMallocManaged`) on the host wait until the pages have \
         moved. Reported if pages move during kernels for 2% of the step. Cost: that time. The handling \
         of the faults is not recorded, so the loss is larger: if pages move for a quarter of the kernels that touch them, the \
         cost is at most the time of these kernels.\n\n\
         Remedies: `cudaMemPrefetchAsync` before the kernels, or memory of the device (`cudaMalloc`) with \
         copies from pinned memory."
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        let span = context.windows.span();
        let (mut during, mut held, mut count, mut bytes) = (0, 0, 0_u64, 0_u64);
        for view in context.views {
            let is_within = |start: i64, end: i64| end > span.0 && start < span.1;
            let rows = || view.gpu.iter().zip(&view.role).filter(|(row, _)| is_within(row.start, row.end));
            let moved: Vec<_> = rows()
                .filter(|(row, _)| row.kind == GpuKind::Copy)
                .filter(|(row, _)| view.trace.names.get(row.name).contains(UNIFIED))
                .collect();
            let kernels: Vec<(i64, i64)> = rows()
                .filter(|(_, role)| **role == Role::Compute)
                .map(|(row, _)| (row.start, row.end))
                .collect();
            let pages = Intervals::union(moved.iter().map(|(row, _)| (row.start, row.end)).collect());
            let touched = kernels.iter().filter(|kernel| pages.within(kernel.0, kernel.1) > 0);
            held += Intervals::union(touched.copied().collect()).clipped(span).total();
            during += pages.clipped(span).overlap(&Intervals::union(kernels));
            count += moved.len() as u64;
            bytes += moved.iter().map(|(row, _)| row.bytes).sum::<u64>();
        }
        let moving = during as f64 / context.samples();
        if context.share(moving) < 0.02 {
            return Vec::new();
        }
        let mostly = during as f64 >= MOVING * held as f64;
        vec![Finding {
            id: self.id().to_owned(),
            message: "unified memory moves pages while kernels run".to_owned(),
            // Kernels also wait while faults are handled, which is not recorded.
            cost: Some(if mostly { held } else { during } as f64 / context.samples()),
            certainty: mostly.then_some(Certainty::AtMost),
            explained: Explained::Whole,
            subject: Subject::of_spans([Class::Copy]),
            evidence: vec![
                format!(
                    "{} migrations of {:.1} MB per step, {} of them during kernels",
                    context.per_step(count),
                    bytes as f64 / context.samples() / 1e6,
                    time(moving)
                ),
                format!("mean size of a migration: {} bytes", human::whole(bytes / count.max(1))),
            ],
            advice: "prefetch the pages before the kernels (`cudaMemPrefetchAsync`), or use device memory (`cudaMalloc`) with copies \
                     from pinned memory"
                .to_owned(),
            ..Finding::default()
        }]
    }
}
