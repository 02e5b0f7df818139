//! Kernels too small for the device.
//!
//! Responsible for: regions of short kernels with launches as long as themselves. Excludes queued kernels: no
//! launch delays them, and trial runs of algorithms: later steps do not have them.

use super::launching::launch_bound;
use super::remedies::{RESIDENT, copies_with_launches, of_xla};
use super::words::time;
use super::{Context, Inference, Rule};
use crate::causes::{Idle, Stacks, Trials};
use crate::profile::{Explained, Finding, Subject};
use crate::trace::NONE;
use crate::view::Role;
use crate::waterfall::Piece;

pub(super) struct SmallKernels;

/// Maximum duration of a small kernel, in nanoseconds: a launch costs the host about as much.
const SMALL: i64 = 8_000;
/// Maximum gap within a region, in nanoseconds.
const GAP: i64 = 50_000;

impl Rule for SmallKernels {
    fn id(&self) -> &'static str {
        "small-kernels"
    }

    fn title(&self) -> &'static str {
        "Launch-bound small kernels"
    }

    fn text(&self) -> &'static str {
        "Kernels of at most 8 us that were launched on an idle device, at most 50 us after the previous kernel: launches \
         take longer than the work. Reported if the launch-bound gaps before such kernels take 2% of the step. Cost: \
         these gaps, without allocations, copies and synchronization in them. Trial runs of convolution algorithms are not counted.\n\n\
         Remedies: CUDA graphs, compilation that fuses element-wise kernels, multi-tensor optimizers, larger \
         micro-batches."
    }

    fn inference(&self) -> Inference {
        Inference::Advice(
            "capture these steps in CUDA graphs (capture sizes up to the batch that runs), or fuse kernels with a compiler",
        )
    }

    fn find(&self, context: &Context<'_>) -> Vec<Finding> {
        // Host operators are not launched: CUDA graphs do not help them.
        if context.from_host() {
            return Vec::new();
        }
        let (from, to) = context.windows.span();
        let (mut lost, mut count, mut names, mut zeroed) = (0i64, 0u64, Vec::new(), 0i64);
        for view in context.views {
            let (stacks, trials, mut idle) = (Stacks::new(view.trace), Trials::new(view), Idle::new(view));
            let mut busy_until: Option<i64> = None;
            // Launched after the previous work: a queued kernel, or one without a recorded launch, did not
            // wait for its launch.
            let is_late = |at: usize, until: i64| view.launched(at).is_some_and(|call| call >= until);
            for (at, row) in view.gpu.iter().enumerate() {
                if view.role[at] == Role::None || row.start < from || row.start >= to {
                    continue;
                }
                if let Some(until) = busy_until {
                    let gap = row.start - until;
                    let name = view.trace.names.get(row.name);
                    if gap > 0
                        && gap <= GAP
                        && row.duration() <= SMALL
                        && view.role[at] == Role::Compute
                        && !is_of_runtime(name)
                        && is_late(at, until)
                        && !trials.has(view.launch[at])
                    {
                        let piece = Piece { start: until, end: row.start, role: Role::None, row: at as u32 };
                        let gap = launch_bound(&mut idle, view, piece);
                        lost += gap;
                        count += u64::from(gap > 0);
                        names.push((name, gap));
                        let launch = view.launch.get(at).copied().unwrap_or(NONE);
                        if launch != NONE && stacks.any(launch, |name| name.contains("zero_grad")) {
                            zeroed += gap;
                        }
                    }
                }
                busy_until = Some(busy_until.map_or(row.end, |until| until.max(row.end)));
            }
        }
        let all = lost;
        let lost = lost as f64 / context.samples();
        if context.share(lost) < 0.02 {
            return Vec::new();
        }
        vec![Finding {
            id: self.id().to_owned(),
            message: format!("launch gaps precede small {}", context.work()),
            cost: Some(lost),
            explained: Explained::Whole,
            subject: Subject::of_kernels(Context::leading(names.iter().copied())),
            evidence: [format!(
                "gaps of this kind: {} per step, {} in total",
                context.per_step(count),
                time(lost)
            )]
            .into_iter()
            .chain(context.costliest(names, 3))
            .collect(),
            advice: if 2 * zeroed > all {
                "these kernels clear gradients: `zero_grad(set_to_none=True)` launches none of them"
            } else if copies_with_launches(context.views) {
                RESIDENT
            } else if of_xla(context.views) {
                "run more work per dispatch: larger functions under `jax.jit`, which fuse these kernels"
            } else {
                "capture small kernels in a CUDA graph, or fuse them with a compiler"
            }
            .to_owned(),
            ..Finding::default()
        }]
    }
}

/// Tests whether a kernel is a copy or fill of ROCm's runtime, which no graph or compiler fuses.
fn is_of_runtime(name: &str) -> bool {
    name.starts_with("__amd_rocclr_")
}
