//! Passes without annotations, cut by messages on the device's clock, on synthetic jobs: the lead of hosts
//! must not matter.

use crate::schedule;
use railwright_profiler::joined::Joined;
use railwright_profiler::passes::{Pass, PassKind, Passes};
use railwright_profiler::pipeline::{PipelinePage, Question, from_job, page};
use railwright_profiler::trace::{CollectiveCall, GpuActivity, GpuKind, HostActivity, HostKind, RankTrace};
use railwright_profiler::{Job, NameId};
use railwright_step::CollectiveKind;
use schedule::Made;

const KERNELS: i64 = 8;
const HOP: i64 = 50_000;

/// Adds rows to a rank.
struct Recorder {
    trace: RankTrace,
    correlation: u32,
}

impl Recorder {
    fn host(
        &mut self,
        start: i64,
        end: i64,
        name: &str,
        kind: HostKind,
        thread: u32,
        correlation: Option<u32>,
    ) {
        let name: NameId = self.trace.names.intern(name);
        self.trace.host.push(HostActivity {
            start,
            end,
            name,
            kind,
            thread,
            correlation,
            ..HostActivity::default()
        });
    }

    /// A device row, launched at some time within an operator.
    fn kernel(
        &mut self,
        called: i64,
        (start, end): (i64, i64),
        name: &str,
        stream: u32,
        operator: (&str, u32),
        collective: Option<u32>,
    ) {
        self.correlation += 1;
        let correlation = Some(self.correlation);
        self.host(called - 10, called + 20, operator.0, HostKind::Operator, operator.1, None);
        self.host(called, called + 10, "cudaLaunchKernel", HostKind::Runtime, operator.1, correlation);
        let name = self.trace.names.intern(name);
        let row = GpuActivity {
            start,
            end,
            name,
            kind: GpuKind::Kernel,
            stream,
            correlation,
            collective,
            ..GpuActivity::default()
        };
        self.trace.gpu.push(row);
    }
}

/// Traces of a pipeline with known passes. With `ahead`, hosts launch a whole step at its beginning, and
/// receives begin long before they are needed. Otherwise hosts launch in step with the device.
fn record(passes: &Passes, stages: u32, ahead: bool) -> Job {
    let of = |rank: u32| passes.passes.iter().filter(move |p| p.rank == rank);
    let partner = |p: &Pass, stage: u32| {
        of(stage).find(|q| (q.step, q.kind, q.micro_batch) == (p.step, p.kind, p.micro_batch)).copied()
    };
    let mut traces = Vec::new();
    for rank in 0..stages {
        let mut to = Recorder { trace: RankTrace::default(), correlation: 0 };
        (to.trace.identity.rank, to.trace.identity.world_size) = (Some(rank), Some(stages));
        let mut steps: Vec<u32> = of(rank).map(|p| p.step).collect();
        steps.dedup();
        for step in steps {
            let all = passes.passes.iter().filter(|p| p.step == step);
            let (origin, last) = all.fold((i64::MAX, 0), |(a, b), p| (a.min(p.start), b.max(p.end)));
            let mut called = origin - 400_000;
            to.host(
                called - 100,
                if ahead { called + 350_000 } else { last },
                &format!("ProfilerStep#{step}"),
                HostKind::Annotation,
                0,
                None,
            );
            // Times at which the stream of each direction of receives is free.
            let mut free = [origin, origin];
            let mut before = origin;
            for pass in of(rank).filter(|p| p.step == step) {
                let back = pass.kind != PassKind::Forward;
                let operator = if back {
                    ("autograd::engine::evaluate_function: MmBackward0", 1)
                } else {
                    ("aten::mm", 0)
                };
                let mut call = |start: i64| {
                    called = if ahead { called + 100 } else { (called + 50).max(start - 1_000) };
                    called
                };
                let message = |to: &mut Recorder, kind, peer: u32, at: i64, start: i64, end: i64| {
                    to.trace.collectives.push(CollectiveCall {
                        kind: Some(kind),
                        label: "p2p".to_owned(),
                        peer: Some(peer),
                        ..CollectiveCall::default()
                    });
                    let row = to.trace.collectives.len() as u32 - 1;
                    let stream = if matches!(kind, CollectiveKind::Send) { 30 } else { 20 } + u32::from(back);
                    to.kernel(
                        at,
                        (start, end),
                        "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
                        stream,
                        ("nccl:p2p", 0),
                        Some(row),
                    );
                };
                let from = if back { Some(rank + 1).filter(|s| *s < stages) } else { rank.checked_sub(1) };
                if let Some(sent) = from.and_then(|from| partner(pass, from)) {
                    let arrives = sent.end + HOP;
                    let posted = if ahead { free[usize::from(back)] } else { before };
                    free[usize::from(back)] = arrives;
                    let at = call(posted);
                    message(
                        &mut to,
                        CollectiveKind::Receive,
                        sent.rank,
                        at,
                        posted.min(arrives - 10),
                        arrives,
                    );
                }
                let each = pass.duration() / KERNELS;
                for n in 0..KERNELS {
                    let start = pass.start + n * each;
                    let at = call(start);
                    to.kernel(at, (start, start + each - 500), "sm90_gemm_bf16", 7, operator, None);
                }
                let next = if back { rank.checked_sub(1) } else { Some(rank + 1).filter(|s| *s < stages) };
                if let Some(next) = next {
                    let at = call(pass.end);
                    message(&mut to, CollectiveKind::Send, next, at, pass.end + 2_000, pass.end + HOP);
                }
                before = pass.end;
            }
        }
        to.trace.gpu.sort();
        to.trace.host.sort();
        traces.push(to.trace);
    }
    Job::new(traces)
}

fn shown(made: &Made, ahead: bool) -> (PipelinePage, Passes, Passes) {
    let (mut truth, _) = made.record(|_, _, _, back, _| if back { 20_000_000 } else { 10_000_000 });
    // Steps are consecutive.
    let length = truth.passes.iter().filter(|p| p.step == 0).map(|p| p.end).max().unwrap_or(0) + 3_000_000;
    for p in &mut truth.passes {
        let by = i64::from(p.step) * (length - 1_000_000_000_000) + 1_000_000_000;
        (p.start, p.end) = (p.start + by, p.end + by);
    }
    let job = record(&truth, made.stages, ahead);
    let cut = from_job::passes(&job, &Joined::default()).expect("passes");
    (page(cut.clone(), &Question::default()).expect("a page"), cut, truth)
}

#[test]
fn hosts_that_run_ahead_change_nothing() {
    let made = Made { stages: 4, chunks: 1, micro_batches: 8, steps: 4, hop: HOP };
    for ahead in [false, true] {
        let (page, cut, truth) = shown(&made, ahead);
        let list = |passes: &Passes| {
            let mut all: Vec<_> =
                passes.passes.iter().map(|p| (p.step, p.rank, p.kind, p.micro_batch)).collect();
            all.sort_unstable();
            all
        };
        let off = page.replay_error as f64 / page.median_step as f64;
        assert_eq!(list(&cut).len(), list(&truth).len(), "ahead {ahead}: replay off by {off}");
        assert_eq!(list(&cut), list(&truth), "ahead {ahead}: replay off by {off}");
        assert!(off < 0.01, "ahead {ahead}: replay off by {off}");
        for (cut, truth) in cut.passes.iter().zip(&truth.passes) {
            assert!(
                (cut.start - truth.start).abs() < 200_000 && (cut.end - truth.end).abs() < 200_000,
                "{cut:?} {truth:?}"
            );
        }
    }
}
