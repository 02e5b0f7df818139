//! Steps of small hand-made jobs.

use super::*;
use crate::RankTrace;
use crate::trace::{GpuActivity, GpuKind, HostActivity, HostKind, NONE};
use crate::view::Tables;

/// A rank whose host runs 1000 ns ahead of a device with three kernels of 100 ns per step; the device lags by
/// `lag` nanoseconds.
fn rank(lag: i64, steps: i64, annotated: bool) -> RankTrace {
    let mut trace = RankTrace::default();
    let kernel = trace.names.intern("volta_sgemm");
    let launch = trace.names.intern("cudaLaunchKernel");
    for step in 0..steps {
        let begin = step * 300;
        if annotated {
            let name = trace.names.intern(&format!("ProfilerStep#{}", step + 5));
            let kind = HostKind::Annotation;
            trace.host.push(HostActivity {
                start: begin,
                end: begin + 290,
                name,
                kind,
                ..HostActivity::default()
            });
        }
        for n in 0..3 {
            let correlation = Some((step * 3 + n) as u32);
            let start = begin + 10 + n * 20;
            let call =
                HostActivity { start, end: start + 5, name: launch, correlation, ..HostActivity::default() };
            trace.host.push(HostActivity { kind: HostKind::Runtime, ..call });
            let start = begin + 1000 + lag + n * 100;
            trace.gpu.push(GpuActivity {
                start,
                end: start + 100,
                name: kernel,
                correlation,
                ..GpuActivity::default()
            });
        }
    }
    trace
}

fn steps(traces: &[RankTrace]) -> Windows {
    let table = Tables::shipped();
    let views: Vec<View<'_>> = traces.iter().map(|trace| View::new(trace, &table)).collect();
    windows(&views, &Joined::default())
}

#[test]
fn steps_are_cut_where_the_device_begins_them() {
    let found = steps(&[rank(0, 3, true), rank(6, 3, true), rank(4, 3, true)]);
    assert_eq!(found.cut_by, CutBy::Launches);
    assert_eq!(found.common, (1006, 1900));
    assert_eq!(found.spread, 6);
    let edges: Vec<(Option<u64>, i64, i64)> =
        found.steps.iter().map(|s| (s.number, s.start, s.end)).collect();
    assert_eq!(edges, [(Some(5), 1004, 1304), (Some(6), 1304, 1604), (Some(7), 1604, 1904)]);
    assert_eq!(found.only(6).unwrap().span(), (1304, 1604));
    assert!(found.only(9).is_none());
}

#[test]
fn a_rank_that_was_recorded_for_less_shortens_the_job() {
    let found = steps(&[rank(0, 3, true), rank(0, 2, true)]);
    assert_eq!(
        found.steps.iter().map(|s| (s.number, s.end)).collect::<Vec<_>>(),
        [(Some(5), 1300), (Some(6), 1600)]
    );
    assert_eq!(found.common, (1000, 1600));
}

#[test]
fn one_short_file_costs_its_own_steps_alone() {
    let mut short = rank(0, 1, true);
    (short.identity.rank, short.identity.label) = (Some(3), "rank3.json".to_owned());
    let found = steps(&[rank(0, 4, true), rank(0, 4, true), rank(0, 4, true), short]);
    let without: Vec<&[usize]> = found.steps.iter().map(|step| step.without.as_slice()).collect();
    assert_eq!(without, [&[] as &[usize], &[3], &[3], &[3]]);
    assert_eq!(found.span(), (1000, 2200));
    let warning = &found.warnings[0];
    assert_eq!(warning.id, "steps-partly-recorded");
    assert!(warning.message.contains("rank 3 (rank3.json) in steps 6-8"), "{}", warning.message);
    // Half of the ranks are not a majority: their steps are reported instead.
    let found = steps(&[rank(0, 4, true), rank(0, 1, true)]);
    assert_eq!((found.steps.len(), found.warnings[0].id.as_str()), (1, "steps-left-out"));
    assert!(found.warnings[0].message.contains("steps 6-8"), "{}", found.warnings[0].message);
}

#[test]
fn without_annotations_the_recording_is_one_window() {
    let found = steps(&[rank(0, 3, false)]);
    assert_eq!((found.cut_by, found.span(), found.steps.len()), (CutBy::Nothing, (1000, 1900), 1));
    assert_eq!(found.warnings[0].id, "steps-not-found");
    assert_eq!(found.only(0).unwrap().steps.len(), 1);
}

#[test]
fn the_devices_own_annotations_serve_where_launches_are_missing() {
    let mut trace = rank(0, 1, false);
    trace.host = crate::trace::HostActivities::default();
    for (number, start) in [(1, 1000), (2, 1150)] {
        let name = trace.names.intern(&format!("ProfilerStep#{number}"));
        let kind = GpuKind::Annotation;
        trace.gpu.push(GpuActivity { start, end: start + 150, name, kind, ..GpuActivity::default() });
    }
    trace.gpu.sort();
    let found = steps(&[trace]);
    assert_eq!(found.cut_by, CutBy::DeviceAnnotations);
    assert_eq!(found.steps.iter().map(StepWindow::duration).collect::<Vec<_>>(), [150, 150]);
}

#[test]
fn steps_are_counted_on_the_rank_with_most_of_them() {
    let recorded = |traces: Vec<RankTrace>| {
        let job = crate::Job::new(traces);
        recorded(&job, &crate::matching::Matching::default(), &OneByOne)
    };
    assert_eq!(recorded(vec![rank(0, 1, true), rank(0, 3, true)]), 3);
    assert_eq!(recorded(vec![rank(0, 3, false)]), 1);
    // Without annotations, a collective of all ranks marks it, since it separates the steps.
    let mut job = crate::testing::Synthetic { tensor: 1, data: 4, ..Default::default() }.job();
    for call in job.members.iter_mut().flat_map(|member| &mut member.trace.collectives) {
        // One repeated size.
        (call.elements_in, call.elements_out) = (Some(1 << 20), Some(1 << 20));
    }
    let joined = crate::joined::join(&mut job, &crate::joined::JoinOptions::default());
    assert_eq!(super::recorded(&job, &joined.matching, &OneByOne), 4);
    for member in &mut job.members {
        let mut kept = crate::trace::HostActivities::default();
        member
            .trace
            .host
            .iter()
            .filter(|row| row.kind != HostKind::Annotation)
            .for_each(|row| kept.push(row));
        member.trace.host = kept;
    }
    assert_eq!(super::recorded(&job, &joined.matching, &OneByOne), 4);
}

#[test]
fn ranks_of_different_times_are_reported() {
    let found = steps(&[rank(0, 1, true), rank(1_000_000, 1, true)]);
    assert_eq!(found.warnings[0].id, "ranks-do-not-overlap");
}

/// Ranks without step marks that reduce together at the end of each step: two large collectives in every
/// layer, one small one at the end.
#[test]
fn a_collective_that_comes_back_marks_steps() {
    let make = |late: i64| {
        let mut trace = RankTrace::default();
        let kernel = trace.names.intern("volta_sgemm");
        let reduce = trace.names.intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
        for size in [1 << 20, 4] {
            let call = crate::trace::CollectiveCall {
                kind: Some(railwright_step::CollectiveKind::AllReduce),
                label: "allreduce".to_owned(),
                elements_in: Some(size),
                elements_out: Some(size),
                element_bytes: Some(4),
                ..Default::default()
            };
            trace.collectives.push(call);
        }
        for step in 0..4 {
            for layer in 0..3 {
                let start = 1_000_000 * step + 300_000 * layer;
                let work = GpuActivity {
                    start: start + late,
                    end: start + 200_000,
                    name: kernel,
                    ..GpuActivity::default()
                };
                trace.gpu.push(work);
                let begin = start + 200_000 + late / 2;
                let row = GpuActivity {
                    start: begin,
                    end: start + 260_000,
                    name: reduce,
                    stream: 9,
                    ..GpuActivity::default()
                };
                trace.gpu.push(GpuActivity { collective: Some(0), ..row });
            }
            let start = 1_000_000 * step + 950_000 + late;
            let end = 1_000_000 * step + 980_000;
            let row = GpuActivity {
                start,
                end,
                name: reduce,
                stream: 9,
                collective: Some(1),
                ..GpuActivity::default()
            };
            trace.gpu.push(row);
        }
        trace.gpu.sort();
        trace
    };
    let mut traces = vec![make(0), make(4_000)];
    for (rank, trace) in traces.iter_mut().enumerate() {
        (trace.identity.rank, trace.identity.world_size) = (Some(rank as u32), Some(2));
    }
    let mut job = crate::Job::new(traces);
    let joined = crate::joined::join(&mut job, &crate::joined::JoinOptions::default());
    let tables = Tables::shipped();
    let views: Vec<View<'_>> = job.members.iter().map(|member| View::new(&member.trace, &tables)).collect();
    let found = windows(&views, &joined);
    assert_eq!((found.cut_by, found.at_collective), (CutBy::Collectives, true));
    let edges: Vec<(i64, i64)> = found.steps.iter().map(|step| (step.start, step.end)).collect();
    assert_eq!(edges, [(980_000, 1_980_000), (1_980_000, 2_980_000), (2_980_000, 3_980_000)]);
}

/// A rank of a model with layers: kernels that occur once per step, then every layer forward and backward,
/// then the update. `cut` rows are missing at the start.
fn layered(steps: i64, layers: i64, cut: usize) -> RankTrace {
    let mut trace = RankTrace::default();
    let mut now = 0;
    let mut rows: Vec<(String, i64)> = Vec::new();
    for _ in 0..steps {
        for once in ["embedding", "dropout"] {
            rows.push((once.to_owned(), 50));
        }
        for kernel in (0..layers).flat_map(|_| ["norm", "gemm", "attention", "gemm", "gelu"]) {
            rows.push((kernel.to_owned(), 100));
        }
        rows.push(("loss".to_owned(), 80));
        for kernel in (0..layers).flat_map(|_| ["gelu_bw", "gemm", "gemm", "attention_bw", "norm_bw"]) {
            rows.push((kernel.to_owned(), 200));
        }
        for once in ["embedding_bw", "norm_of_gradients"] {
            rows.push((once.to_owned(), 60));
        }
        rows.push(("adam".to_owned(), 300));
    }
    for (name, time) in rows.into_iter().skip(cut) {
        let name_id = trace.names.intern(&name);
        trace.gpu.push(GpuActivity {
            start: now,
            end: now + time,
            name: name_id,
            stream: 7,
            ..GpuActivity::default()
        });
        // The host reads the loss between steps.
        now += time + if name == "adam" { 400 } else { 5 };
    }
    trace
}

#[test]
fn steps_without_marks_are_found_by_what_comes_once_a_step() {
    for (steps_recorded, cut) in [(2, 0), (3, 0), (5, 0), (4, 40), (6, 3)] {
        let traces = [layered(steps_recorded, 6, cut), layered(steps_recorded, 6, cut)];
        let found = steps(&traces);
        let label = format!("{steps_recorded} steps, {cut} rows cut");
        assert_eq!(found.cut_by, CutBy::Repetition, "{label}");
        let whole = if cut == 0 { steps_recorded } else { steps_recorded - 1 };
        assert!((whole - 1..=whole).contains(&(found.steps.len() as i64)), "{label}: {:?}", found.steps);
        // Each begins with the embedding.
        let trace = &traces[0];
        for step in &found.steps {
            let at = trace.gpu.starts().partition_point(|start| *start < step.start);
            assert_eq!(trace.names.get(trace.gpu.names()[at]), "embedding", "{label}");
        }
        assert_eq!(found.warnings[0].id, "steps-guessed");
    }
}

#[test]
fn layers_of_one_step_are_no_steps() {
    let found = steps(&[layered(1, 24, 0)]);
    assert_eq!((found.cut_by, found.steps.len()), (CutBy::Nothing, 1));
}

#[test]
fn a_compiled_step_is_a_step_and_measuring_kernels_is_none() {
    let mut trace = RankTrace::default();
    let mut now = 0;
    let mut run = |trace: &mut RankTrace, module: &str, kernels: i64, each: i64| {
        let name = trace.names.intern(&format!("TSL:XlaModule:#hlo_module={module},program_id=4#"));
        let kind = GpuKind::Annotation;
        let end = now + kernels * each;
        trace.gpu.push(GpuActivity { start: now, end, name, kind, stream: NONE, ..GpuActivity::default() });
        for _ in 0..kernels {
            let name = trace.names.intern("fusion.12");
            trace.gpu.push(GpuActivity {
                start: now,
                end: now + each,
                name,
                stream: NONE,
                ..GpuActivity::default()
            });
            now += each;
        }
        now += 50;
    };
    (0..9).for_each(|_| run(&mut trace, "gemm_fusion_dot.411", 2, 5_000));
    (0..3).for_each(|_| run(&mut trace, "pjit__wrapped_step_fn", 40, 100));
    trace.gpu.sort();
    let found = steps(&[trace]);
    assert_eq!(found.cut_by, CutBy::Modules);
    let lengths: Vec<i64> = found.steps.iter().map(StepWindow::duration).collect();
    assert_eq!(lengths, [4_050, 4_050, 4_000]);
}

/// The host loads data for 500 ns of a step of 1,000 ns, and waits for its kernels at the end.
fn loading(end: i64) -> RankTrace {
    let mut trace = RankTrace::default();
    let names = ["ProfilerStep#5", "cudaLaunchKernel", "volta_sgemm"].map(|name| trace.names.intern(name));
    let step =
        HostActivity { start: 0, end, name: names[0], kind: HostKind::Annotation, ..HostActivity::default() };
    trace.host.push(step);
    let (start, end, correlation, kind) = (500, 505, Some(1), HostKind::Runtime);
    trace.host.push(HostActivity {
        start,
        end,
        name: names[1],
        correlation,
        kind,
        ..HostActivity::default()
    });
    trace.gpu.push(GpuActivity {
        start: 510,
        end: 990,
        name: names[2],
        correlation,
        ..GpuActivity::default()
    });
    trace
}

#[test]
fn the_only_step_of_a_synchronous_job_begins_with_its_host() {
    let spans = |end: i64| {
        steps(&[loading(end), loading(end)]).steps.iter().map(|s| (s.start, s.end)).collect::<Vec<_>>()
    };
    assert_eq!(spans(1_000), [(0, 990)], "the device is idle when the host's step ends");
    assert_eq!(spans(700), [(510, 990)], "the device still works then, and may have worked at the start");
}
