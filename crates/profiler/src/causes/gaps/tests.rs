//! Parts of an idle interval, by the frames around it.

use super::*;
use crate::RankTrace;
use crate::trace::{Frame, GpuActivity, Source};
use crate::view::Tables;

/// The causes of an interval that ends after 10 ms with a kernel launched on thread 0 by a call.
fn causes(call: (i64, i64), around: &[Frame<'_>]) -> Vec<(Cause, String, i64)> {
    let mut trace = RankTrace::default();
    for &frame in around {
        trace.push_host(frame, None);
    }
    trace.push_host((call.0, call.1, HostKind::Runtime, "cudaLaunchKernel", 0), Some(1));
    trace.host.sort();
    let name = trace.names.intern("gemm");
    let (start, end) = (10_000_000, 10_000_100);
    trace.gpu.push(GpuActivity { start, end, name, correlation: Some(1), ..GpuActivity::default() });
    let view = View::new(&trace, &Tables::shipped());
    let mut idle = Idle::new(&view);
    let piece = Piece { start: 0, end: start, role: Role::None, row: 0 };
    let name = |frame: u32| {
        trace.host.get(frame as usize).map_or(String::new(), |row| trace.names.get(row.name).to_owned())
    };
    idle.stretches(&view, piece).iter().map(|part| (part.cause, name(part.frame), part.end)).collect()
}

fn of(cause: Cause, frame: &str, end: i64) -> (Cause, String, i64) {
    (cause, frame.to_owned(), end)
}

#[test]
fn the_launch_decides() {
    // Launched before: the device is the cause.
    assert_eq!(causes((-9, -1), &[]), [of(Cause::Device, "", 10_000_000)]);
    // Nothing was recorded for 9.9 ms: unknown; the launch itself is a launch.
    let late = (9_900_000, 9_950_000);
    let earlier = (-20, -10, HostKind::Runtime, "cudaEventQuery", 0);
    assert_eq!(
        causes(late, &[earlier]),
        [
            of(Cause::Unknown, "", 9_900_000),
            of(Cause::LaunchBound, "cudaLaunchKernel", 9_950_000),
            of(Cause::LaunchBound, "", 10_000_000)
        ]
    );
    // An early launch and a kernel that started late.
    assert_eq!(
        causes((-9, 3), &[]),
        [
            of(Cause::LaunchBound, "cudaLaunchKernel", 3),
            of(Cause::LaunchLatency, "cudaLaunchKernel", 10_000_000)
        ]
    );
}

/// Ranks of a job may begin and end their recordings at times other than the steps.
#[test]
fn nothing_is_known_outside_of_the_recording() {
    let mut trace = RankTrace::default();
    for (start, end, correlation) in [(3_000_000, 3_010_000, 1), (8_000_000, 8_010_000, 2)] {
        let name = trace.names.intern("cudaLaunchKernel");
        let (kind, correlation) = (HostKind::Runtime, Some(correlation));
        trace.host.push(HostActivity { start, end, name, kind, correlation, ..HostActivity::default() });
        let name = trace.names.intern("gemm");
        let (start, end) = (start + 10_000, end + 90_000);
        trace.gpu.push(GpuActivity { start, end, name, correlation, ..GpuActivity::default() });
    }
    let view = View::new(&trace, &Tables::shipped());
    let mut idle = Idle::new(&view);
    let mut causes = |start: i64, end: i64, row: u32| {
        let parts = idle.stretches(&view, Piece { start, end, role: Role::None, row });
        parts.iter().map(|part| (part.cause, part.end)).collect::<Vec<_>>()
    };
    assert_eq!(causes(0, 2_000_000, 0), [(Cause::NotRecorded, 2_000_000)]);
    assert_eq!(causes(0, 3_010_000, 0), [(Cause::NotRecorded, 3_000_000), (Cause::LaunchBound, 3_010_000)]);
    assert_eq!(causes(8_100_000, 12_000_000, u32::MAX), [(Cause::NotRecorded, 12_000_000)]);
    assert_eq!(causes(9_000_000, 12_000_000, u32::MAX), [(Cause::NotRecorded, 12_000_000)]);
    // A launch without its device row: the device was busy until its first row, which is not recorded.
    let name = trace.names.intern("cudaLaunchKernel");
    let (start, end, kind) = (1_000_000, 1_010_000, HostKind::Runtime);
    let lost = HostActivity { start, end, name, kind, correlation: Some(9), ..HostActivity::default() };
    trace.host.push(lost);
    trace.host.sort();
    let view = View::new(&trace, &Tables::shipped());
    let parts =
        Idle::new(&view).stretches(&view, Piece { start: 0, end: 3_010_000, role: Role::None, row: 0 });
    let causes: Vec<_> = parts.iter().map(|part| (part.cause, part.end)).collect();
    assert_eq!(causes, [(Cause::NotRecorded, 3_010_000)]);
}

#[test]
fn innermost_frames_decide_and_contexts_before_them() {
    use HostKind::{Annotation, Operator, Python, Runtime};
    let late = (9_990_000, 9_995_000);
    let step = (-9, 11_000_000, Annotation, "ProfilerStep#3", 0);
    let found = causes(
        late,
        &[
            step,
            (0, 4_000_000, Operator, "aten::cat", 0),
            (1_000_000, 3_000_000, Runtime, "cudaMalloc", 0),
            (
                5_000_000,
                7_000_000,
                Operator,
                "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                0,
            ),
            (5_100_000, 6_900_000, Operator, "aten::stack", 0),
            (7_000_000, 9_000_000, Python, "train.py(7): log", 0),
        ],
    );
    let loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    assert_eq!(
        found[..8],
        [
            of(Cause::HostWork, "aten::cat", 1_000_000),
            of(Cause::Allocation, "cudaMalloc", 3_000_000),
            of(Cause::HostWork, "aten::cat", 4_000_000),
            of(Cause::Unknown, "", 5_000_000),
            of(Cause::DataLoading, loader, 5_100_000),
            of(Cause::DataLoading, "aten::stack", 6_900_000),
            of(Cause::DataLoading, loader, 7_000_000),
            of(Cause::HostWork, "train.py(7): log", 9_000_000),
        ]
    );
}

/// Stacks cut a long call into short parts; short calls one after another are launch overhead.
#[test]
fn a_long_call_is_long_whatever_it_calls() {
    use HostKind::Python;
    let late = (9_999_000, 9_999_500);
    let parts: Vec<_> = (0..12)
        .map(|at| (at * 700_000 + 10_000, (at + 1) * 700_000, Python, "part.py(3): part", 0))
        .collect();
    let whole: Vec<_> =
        [(5_000, 9_000_000, Python, "train.py(7): log", 0)].into_iter().chain(parts.clone()).collect();
    let of = |rows: &[(i64, i64, HostKind, &'static str, u32)], cause: Cause| {
        let found = causes(late, rows);
        found.iter().filter(|part| part.0 == cause && part.1 == "part.py(3): part").count()
    };
    assert_eq!((of(&whole, Cause::HostWork), of(&whole, Cause::LaunchBound)), (12, 0));
    assert_eq!((of(&parts, Cause::HostWork), of(&parts, Cause::LaunchBound)), (0, 12));
}

#[test]
fn other_threads_are_looked_at_where_the_launching_one_has_no_frame() {
    use HostKind::{Annotation, Operator, Overhead, Runtime};
    let late = (9_999_000, 9_999_500);
    // Thread 1 has no launches: its waits do not cause the idle time, its operators may.
    let found = causes(
        late,
        &[
            (0, 4_000_000, Runtime, "cudaEventQuery", 1),
            (5_000_000, 9_000_000, Operator, "aten::copy_", 1),
            (2_000_000, 9_999_000, Annotation, "Optimizer.step#Adam.step", 0),
        ],
    );
    assert_eq!(
        found[..2],
        [of(Cause::Unknown, "", 2_000_000), of(Cause::Unknown, "Optimizer.step#Adam.step", 9_999_000)]
    );
    let found = causes(late, &[(0, 9_000_000, Operator, "aten::copy_", 1)]);
    assert_eq!(found[0], of(Cause::OtherThread, "aten::copy_", 9_999_000));
    // Freeing memory synchronizes the device, whichever thread does it.
    let found = causes(late, &[(0, 9_000_000, Runtime, "cudaFree", 1)]);
    assert_eq!(found[0], of(Cause::Allocation, "cudaFree", 9_999_000));
    // Kernels launched during the capture of a graph do not run.
    let capture = [
        (0, 5_000, Runtime, "cudaStreamBeginCapture", 0),
        (10_000, 8_000_000, Operator, "aten::mm", 0),
        (9_000_000, 9_005_000, Runtime, "cudaStreamEndCapture", 0),
    ];
    let found = causes(late, &capture);
    assert!(
        found.iter().filter(|part| part.2 <= 9_000_000).all(|part| part.0 == Cause::Compilation),
        "{found:?}"
    );
    assert_ne!(found.last().map(|part| part.0), Some(Cause::Compilation));
    // Profiler flushes and lazy loading of the driver are recorded outside threads.
    let found = causes(late, &[(0, 9_000_000, Overhead, "Buffer Flush", 1)]);
    assert_eq!(found[0].0, Cause::Profiler);
    let found = causes(late, &[(0, 9_000_000, Overhead, "Command Buffer Full", 1)]);
    assert_eq!(found[0].0, Cause::Unknown);
}

/// The thread that calls `backward` launches the next kernel, and one of the engine's threads frees memory
/// meanwhile.
#[test]
fn a_thread_that_waits_for_the_backward_pass_is_no_cause() {
    use HostKind::{Python, Runtime};
    let mut trace = RankTrace::default();
    trace.push_host((-90, -80, Runtime, "cudaLaunchKernel", 1), Some(1));
    let wait = "<built-in method run_backward of torch._C._EngineBase object at 0x7f>";
    trace.push_host((-100, 9_900_000, Python, wait, 0), None);
    trace.push_host((0, 9_800_000, Runtime, "cudaFree", 1), None);
    trace.push_host((9_950_000, 9_955_000, Runtime, "cudaLaunchKernel", 0), Some(2));
    trace.host.sort();
    let name = trace.names.intern("gemm");
    for (start, end, correlation) in [(-70, 0, 1), (10_000_000, 10_000_100, 2)] {
        trace.gpu.push(GpuActivity {
            start,
            end,
            name,
            correlation: Some(correlation),
            ..GpuActivity::default()
        });
    }
    let view = View::new(&trace, &Tables::shipped());
    let piece = Piece { start: 0, end: 10_000_000, role: Role::None, row: 1 };
    let parts = Idle::new(&view).stretches(&view, piece);
    assert_eq!((parts[0].cause, parts[0].end), (Cause::Allocation, 9_800_000), "{parts:?}");
}

/// Threads of XLA's runtime hand work over to the one that launches.
#[test]
fn threads_of_xla_do_not_compete_with_the_launching_one() {
    use HostKind::{Operator, Runtime};
    let cause = |source: Source, until: i64| {
        let mut trace = RankTrace::default();
        trace.identity.source = source;
        trace.push_host((0, until - 10_000, Operator, "EnqueueExecution", 1), None);
        trace.push_host((until - 1_000, until - 500, Runtime, "cuLaunchKernel", 0), Some(1));
        trace.host.sort();
        let name = trace.names.intern("fusion");
        let (start, end) = (until, until + 100);
        trace.gpu.push(GpuActivity { start, end, name, correlation: Some(1), ..GpuActivity::default() });
        let view = View::new(&trace, &Tables::shipped());
        let piece = Piece { start: 0, end: until, role: Role::None, row: 0 };
        Idle::new(&view).stretches(&view, piece)[0].cause
    };
    assert_eq!(cause(Source::XPlane, 200_000), Cause::LaunchBound);
    assert_eq!(cause(Source::XPlane, 9_000_000), Cause::Unknown);
    assert_eq!(cause(Source::default(), 200_000), Cause::OtherThread);
}
