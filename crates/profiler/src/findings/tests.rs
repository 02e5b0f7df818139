//! Each rule on a small job with its fault, and on a job without fault.

mod claims;
mod contrasts;
mod evidence;
mod idle;
mod order;
mod programs;
mod reasons;
mod remedies;

use super::*;
use crate::joined::{JoinOptions, join};
use crate::profile::{OneByOne, Options, Subject, profile};
use crate::testing::Synthetic;
use crate::trace::{
    CollectiveCall, GpuActivity, GpuKind, HostActivity, HostKind, RankGroup, RankTrace, Source,
};
use railwright_step::CollectiveKind;
use std::collections::BTreeSet;

const MICROSECOND: i64 = 1_000;
const GEMM: &str = "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT";

/// A simulated recording of one rank: a host that launches and a device that follows.
struct Recorder {
    trace: RankTrace,
    host: i64,
    device: i64,
    correlation: u32,
    sequence: u64,
    /// Name of the call that launches kernels.
    call: &'static str,
}

impl Recorder {
    fn new(rank: u32, world: u32, groups: &[&str]) -> Self {
        let mut trace = RankTrace::default();
        trace.identity.rank = Some(rank);
        trace.identity.world_size = Some(world);
        for (at, description) in groups.iter().enumerate() {
            trace.groups.push(RankGroup {
                name: at.to_string(),
                description: Some((*description).to_owned()),
                ranks: Some((0..world).collect()),
                size: Some(world),
            });
        }
        Self {
            trace,
            host: 1_000_000_000,
            device: 1_000_000_000,
            correlation: 0,
            sequence: 0,
            call: "cudaLaunchKernel",
        }
    }

    fn host_row(&mut self, kind: HostKind, name: &str, start: i64, end: i64, shapes: Option<&str>) {
        let name = self.trace.names.intern(name);
        let shapes = shapes.map(|s| self.trace.names.intern(s));
        let correlation = (kind == HostKind::Runtime).then_some(self.correlation);
        self.trace.host.push(HostActivity {
            start,
            end,
            name,
            kind,
            correlation,
            shapes,
            ..HostActivity::default()
        });
    }

    /// Launches a kernel; the host runs ahead of the device.
    fn kernel(&mut self, name: &str, duration: i64) {
        self.row(name, duration, GpuKind::Kernel, 7, None);
    }

    fn row(&mut self, name: &str, duration: i64, kind: GpuKind, stream: u32, collective: Option<u32>) {
        self.correlation += 1;
        let call = if kind == GpuKind::Kernel { self.call } else { "cudaMemcpyAsync" };
        self.host_row(HostKind::Runtime, call, self.host, self.host + MICROSECOND, None);
        self.host += MICROSECOND;
        let start = self.device.max(self.host);
        self.device = start + duration;
        let name = self.trace.names.intern(name);
        self.trace.gpu.push(GpuActivity {
            start,
            end: self.device,
            name,
            kind,
            stream,
            correlation: Some(self.correlation),
            collective,
            ..GpuActivity::default()
        });
    }

    /// A collective of a group, which ends for all ranks at the same moment.
    fn collective(
        &mut self,
        kind: CollectiveKind,
        kernel: &str,
        group: u32,
        bytes: u64,
        enter: i64,
        end: i64,
    ) {
        self.sequence += 1;
        self.trace.collectives.push(CollectiveCall {
            kind: Some(kind),
            label: kind.name().to_owned(),
            elements_in: Some(bytes / 2),
            elements_out: Some(bytes / 2),
            element: Some("BFloat16".to_owned()),
            element_bytes: Some(2),
            group: Some(group),
            sequence: Some(self.sequence),
            peer: None,
        });
        let at = self.trace.collectives.len() as u32 - 1;
        self.device = self.device.max(enter);
        self.row(kernel, end - self.device, GpuKind::Kernel, 20, Some(at));
    }

    /// Host work without launches; the device becomes idle.
    fn host_busy(&mut self, kind: HostKind, name: &str, duration: i64) {
        let from = self.host.max(self.device);
        self.host_row(kind, name, from, from + duration, None);
        self.host = from + duration;
    }

    /// One step, as PyTorch's profiler marks it.
    fn step(&mut self, number: u32, body: impl FnOnce(&mut Self)) {
        // The host starts a step near the end of the device's work: the launches of a step do not belong to
        // the next one.
        self.host = self.host.max(self.device - 20 * MICROSECOND);
        let start = self.host;
        body(self);
        self.host_row(HostKind::Annotation, &format!("ProfilerStep#{number}"), start, self.host, None);
    }

    fn done(mut self) -> RankTrace {
        self.trace.host.sort();
        self.trace.gpu.sort();
        self.trace
    }
}

fn context_of(traces: Vec<RankTrace>) -> Vec<Finding> {
    let mut job = crate::Job::new(traces);
    let joined = join(&mut job, &JoinOptions::default());
    let report = profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile").report;
    // The joint cost of findings never exceeds the step or their sum.
    let sum: f64 = report.findings.iter().filter_map(|finding| finding.cost).sum();
    if let Some(joint) = report.joint {
        assert!(joint.cost <= report.step_time * (1.0 + 1e-9), "{joint:?} of {}", report.step_time);
        assert!((joint.cost + joint.shared - sum).abs() <= 1e-6 * sum, "{joint:?} of {sum}");
    }
    report.findings
}

/// Four steps of ten milliseconds of GEMMs, with the additions of `body` in each.
fn one_rank(body: impl Fn(u32, &mut Recorder)) -> Vec<Finding> {
    let mut recorder = Recorder::new(0, 1, &[]);
    for number in 1..=4 {
        recorder.step(number, |r| {
            (0..20).for_each(|_| r.kernel(GEMM, 500 * MICROSECOND));
            body(number, r);
            // Idle time at the end of the last step would be outside it.
            r.kernel(GEMM, MICROSECOND);
        });
    }
    context_of(vec![recorder.done()])
}

fn ids(findings: &[Finding]) -> BTreeSet<&str> {
    findings.iter().map(|f| f.id.as_str()).collect()
}

fn the<'f>(findings: &'f [Finding], id: &str) -> &'f Finding {
    findings.iter().find(|f| f.id == id).unwrap_or_else(|| panic!("no `{id}` among {:?}", ids(findings)))
}

/// The cost of a finding, in microseconds.
fn cost(findings: &[Finding], id: &str) -> f64 {
    the(findings, id).cost.expect("a cost") / 1e3
}

#[test]
fn a_sound_job_has_no_findings() {
    assert_eq!(one_rank(|_, _| {}), []);
    let sound = Synthetic { data: 2, tensor: 1, transfer: 10_000, ..Synthetic::default() };
    let traces = sound.job().members.into_iter().map(|m| m.trace).collect();
    let found = context_of(traces);
    let faults: Vec<&Finding> = found.iter().filter(|f| f.id == "straggler" || f.id == "slow-chip").collect();
    assert_eq!(faults, Vec::<&Finding>::new());
}

#[test]
fn rules_are_distinguished_and_explained() {
    let all: BTreeSet<&str> = rules().iter().map(|rule| rule.id()).collect();
    assert_eq!(all.len(), rules().len());
    assert!(all.len() >= 25, "{}", all.len());
    for rule in rules() {
        assert!(rule.text().len() > 80 && !rule.title().is_empty(), "{}", rule.id());
    }
}

/// One pause has one cost in all rules: straggler, host pauses, waits, varying steps.
#[test]
fn what_rules_find_of_one_cause_is_counted_once() {
    let plan = Synthetic { stalls: vec![(1, 1, 6_000_000)], ..Synthetic::default() };
    let mut job = plan.job();
    let joined = join(&mut job, &JoinOptions::default());
    let report = profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile").report;
    let of =
        |id: &str| report.findings.iter().filter(|one| one.id == id).filter_map(|one| one.cost).sum::<f64>();
    let (straggler, pauses, varying) = (of("straggler"), of("host-pauses"), of("varying-steps"));
    assert!(straggler > 1e6 && pauses > 1e6 && varying > 1e6, "{:#?}", report.findings);
    // 6 ms in one of four steps: the joint cost of all rules is little more than the replay's.
    let own = ["straggler", "host-pauses", "varying-steps", "waiting"];
    let found = report.findings.iter().filter(|one| own.contains(&one.id.as_str()));
    let together: f64 = found.map(|one| one.cost.unwrap_or(0.0) - one.shared).sum();
    assert!(together < 1.25 * straggler, "{together} of {straggler}: {:#?}", report.findings);
    assert!(report.joint.expect("several findings").cost <= report.step_time);
}

#[test]
fn every_rule_has_a_test() {
    let text =
        concat!(include_str!("tests.rs"), include_str!("tests/idle.rs"), include_str!("tests/reasons.rs"));
    for rule in rules() {
        assert!(text.contains(&format!("\"{}\"", rule.id())), "nothing tests `{}`", rule.id());
    }
}

#[test]
fn copies_in_the_step() {
    let found =
        one_rank(|_, r| r.row("Memcpy HtoD (Pageable -> Device)", 400 * MICROSECOND, GpuKind::Copy, 7, None));
    assert!((390.0..410.0).contains(&cost(&found, "memory-copies")), "{found:#?}");
    assert!(the(&found, "memory-copies").advice.contains("pinned"));
}

#[test]
fn kernels_by_their_names() {
    let found = one_rank(|_, r| {
        r.kernel(
            "void softmax_warp_forward<float, float, float, 11, false, true>(float*)",
            600 * MICROSECOND,
        );
    });
    assert!((590.0..610.0).contains(&cost(&found, "unfused-attention")), "{found:#?}");
    let found = one_rank(|_, r| r.kernel("ampere_sgemm_128x64_nn", 1_000 * MICROSECOND));
    assert!((490.0..510.0).contains(&cost(&found, "float32-products")), "{found:#?}");
    let found = one_rank(|_, r| {
        r.kernel(
            "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>(int)",
            800 * MICROSECOND,
        );
    });
    assert!((790.0..810.0).contains(&cost(&found, "layout-copies")), "{found:#?}");
    let found = one_rank(|_, r| {
        r.kernel("void at::native::vectorized_elementwise_kernel<4, gelu>(int)", 5_000 * MICROSECOND);
    });
    assert!((1_900.0..2_100.0).contains(&cost(&found, "memory-bound")), "{found:#?}");
}

#[test]
fn updates_and_recomputing_by_their_launch() {
    // Separate kernels: a kernel without phase in its launch has the phase of the same kernel elsewhere.
    let within = |r: &mut Recorder, name: &str, kind: HostKind, duration: i64| {
        let from = r.host;
        r.host += MICROSECOND;
        r.kernel("nvjet_hsh_64x64_64x8_2x1_v_bz_NNT", duration);
        r.host_row(kind, name, from, r.host, None);
    };
    let found =
        one_rank(|_, r| within(r, "Optimizer.step#AdamW.step", HostKind::Annotation, 2_000 * MICROSECOND));
    // 2 of 12 ms, minus the usual 4%.
    assert!((1_450.0..1_550.0).contains(&cost(&found, "optimizer")), "{found:#?}");
    let name = "autograd::engine::evaluate_function: CheckpointFunctionBackward";
    let found = one_rank(|_, r| within(r, name, HostKind::Operator, 2_000 * MICROSECOND));
    assert!((1_900.0..2_100.0).contains(&cost(&found, "recompute")), "{found:#?}");
}

#[test]
fn small_kernels_far_apart() {
    let found = one_rank(|_, r| {
        for _ in 0..50 {
            r.host = r.host.max(r.device + 10 * MICROSECOND);
            r.kernel("void at::native::vectorized_elementwise_kernel<4, add>(int)", 4 * MICROSECOND);
        }
    });
    assert!((500.0..700.0).contains(&cost(&found, "small-kernels")), "{found:#?}");
    // Queued kernels do not wait for their launches.
    let found = one_rank(|_, r| {
        for _ in 0..50 {
            r.device += 10 * MICROSECOND;
            r.kernel("void at::native::vectorized_elementwise_kernel<4, add>(int)", 4 * MICROSECOND);
        }
    });
    assert!(!ids(&found).contains("small-kernels"), "{found:#?}");
}

#[test]
fn products_of_awkward_shapes() {
    let found = one_rank(|_, r| {
        let from = r.host;
        r.host += MICROSECOND;
        r.kernel(GEMM, 1_000 * MICROSECOND);
        r.host_row(HostKind::Operator, "aten::mm", from, r.host, Some("[[4096, 5120], [5120, 1001]]"));
    });
    assert!((190.0..210.0).contains(&cost(&found, "matrix-shapes")), "{found:#?}");
}

#[test]
fn idle_time_without_a_launch() {
    let found = one_rank(|_, r| {
        r.device += 1_500 * MICROSECOND;
        r.host = r.device;
        r.kernel(GEMM, MICROSECOND);
        let last = r.trace.host.len() - 1;
        // The launch of that kernel was not recorded.
        let kept: Vec<HostActivity> = r.trace.host.iter().take(last).collect();
        r.trace.host = crate::trace::HostActivities::default();
        for row in kept {
            r.trace.host.push(row);
        }
    });
    assert!((1_450.0..1_550.0).contains(&cost(&found, "unexplained")), "{found:#?}");
}

#[test]
fn steps_that_differ_and_steps_that_grow() {
    let lengths = |lengths: &[i64]| {
        let mut recorder = Recorder::new(0, 1, &[]);
        for (number, length) in lengths.iter().enumerate() {
            recorder.step(number as u32, |r| r.kernel(GEMM, length * MICROSECOND));
        }
        context_of(vec![recorder.done()])
    };
    let found = lengths(&[10_000, 10_000, 10_000, 15_000]);
    assert!((1_200.0..1_300.0).contains(&cost(&found, "varying-steps")), "{found:#?}");
    let found = lengths(&[10_000, 10_200, 10_400, 10_600, 10_800, 11_000]);
    assert!((450.0..550.0).contains(&cost(&found, "step-time-drift")), "{found:#?}");
    // Longer from the fourth step on: half of the steps take 5 ms more.
    let found = lengths(&[10_000, 10_010, 10_020, 15_000, 15_010, 15_020]);
    assert!((2_400.0..2_600.0).contains(&cost(&found, "step-time-drift")), "{found:#?}");
    assert!(the(&lengths(&[14_000, 10_000, 10_000, 10_000]), "varying-steps").one_off);
}

#[test]
fn a_device_that_grows_hot() {
    let found = {
        let mut recorder = Recorder::new(0, 1, &[]);
        for number in 1..=6 {
            let slower = i64::from(number > 3) * 50;
            recorder.step(number, |r| (0..20).for_each(|_| r.kernel(GEMM, (500 + slower) * MICROSECOND)));
        }
        context_of(vec![recorder.done()])
    };
    let hot = the(&found, "clock-throttling");
    assert!(hot.evidence[0].contains("10.0%"), "{found:#?}");
    assert!(hot.message.ends_with("on rank 0"), "{}", hot.message);
}

#[test]
fn a_host_that_pauses_once() {
    let found = one_rank(|number, r| {
        if number == 3 {
            r.host_busy(HostKind::Operator, "python", 4_000 * MICROSECOND);
        }
        r.kernel(GEMM, 10 * MICROSECOND);
    });
    assert!((950.0..1_050.0).contains(&cost(&found, "host-pauses")), "{found:#?}");
}

/// Two ranks with equal timing except for `body`. Its arguments are the rank, the recorder and the time at
/// which a step's GEMMs have ended on both.
fn two_ranks(groups: &[&str], body: impl Fn(u32, &mut Recorder, i64)) -> Vec<Finding> {
    context_of(two_traces(groups, body))
}

fn two_traces(groups: &[&str], body: impl Fn(u32, &mut Recorder, i64)) -> Vec<RankTrace> {
    let traces = (0..2).map(|rank| {
        let mut recorder = Recorder::new(rank, 2, groups);
        for number in 1..=4 {
            let begin = 1_000_000_000 + i64::from(number) * 30_000 * MICROSECOND;
            recorder.step(number, |r| {
                r.device = begin;
                r.host = begin - 20 * MICROSECOND;
                (0..20).for_each(|_| r.kernel(GEMM, 500 * MICROSECOND));
                body(rank, r, begin + 10_000 * MICROSECOND);
                // The rest of the step: its duration does not depend on the body.
                let rest = begin + 30_000 * MICROSECOND - r.device;
                r.kernel(GEMM, rest);
            });
        }
        recorder.done()
    });
    traces.collect()
}

#[test]
fn one_rank_of_two_has_upper_bounds_and_an_implausible_bandwidth() {
    let kernel = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
    let alone = |elements: u64| {
        let mut traces = two_traces(&["DATA_PARALLEL_GROUP"], |_, r, at| {
            r.collective(CollectiveKind::AllReduce, kernel, 0, elements, at, at + 6_000 * MICROSECOND);
        });
        traces.truncate(1);
        let name = "NVIDIA H100 80GB HBM3".to_owned();
        traces[0].identity.devices = vec![crate::trace::Device { name, ..Default::default() }];
        context_of(traces)
    };
    let found = alone(1 << 24);
    assert!(the(&found, "implausible-bandwidth").message.contains("other ranks are late"), "{found:#?}");
    assert!((5_800.0..6_000.0).contains(&cost(&found, "implausible-bandwidth")), "{found:#?}");
    assert_eq!(the(&found, "exposed-data").certainty, Some(crate::certainty::Certainty::AtMost));
    // Bytes counted by two findings count once in the joint cost.
    assert!(the(&found, "exposed-data").shared > 0.0, "{found:#?}");
    // NVLink can transfer 2 GB in 6 ms.
    assert!(!ids(&alone(1 << 30)).contains("implausible-bandwidth"));
}

#[test]
fn transfers_that_nothing_hides_by_dimension() {
    for (description, id) in [
        ("TENSOR_MODEL_PARALLEL_GROUP", "exposed-tensor"),
        ("CONTEXT_PARALLEL_GROUP", "exposed-context"),
        ("EXPERT_MODEL_PARALLEL_GROUP", "exposed-expert"),
        ("PIPELINE_MODEL_PARALLEL_GROUP", "exposed-pipeline"),
        ("DATA_PARALLEL_GROUP", "exposed-data"),
    ] {
        let kernel = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
        let found = two_ranks(&[description], |_, r, at| {
            r.collective(CollectiveKind::AllReduce, kernel, 0, 1 << 28, at, at + 6_000 * MICROSECOND);
        });
        assert!((5_900.0..6_100.0).contains(&cost(&found, id)), "{description}: {found:#?}");
        assert_eq!(ids(&found).contains("unused-overlap"), id == "exposed-data", "{description}");
    }
    // Two ranks without a description: the inferred dimension is reported.
    let found = two_ranks(&["undefined"], |_, r, at| {
        r.collective(
            CollectiveKind::Broadcast,
            "ncclDevKernel_Broadcast_RING_LL(int)",
            0,
            1 << 28,
            at,
            at + 6_000 * MICROSECOND,
        );
    });
    assert!(ids(&found).iter().any(|id| id.starts_with("exposed-")), "{found:#?}");
    assert_eq!(EXPOSED_IDS.len(), exposed::EXPOSED.len());
    for rule in &exposed::EXPOSED {
        assert!(EXPOSED_IDS.contains(&rule.id()));
    }
}

const EXPOSED_IDS: [&str; 6] = [
    "exposed-tensor",
    "exposed-context",
    "exposed-expert",
    "exposed-pipeline",
    "exposed-data",
    "exposed-other",
];

#[test]
fn ranks_that_are_late_by_turns() {
    let kernel = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)";
    // Each rank is equally late for every second one of sixteen collectives in a step.
    let found = two_ranks(&["DATA_PARALLEL_GROUP"], |rank, r, at| {
        for n in 0..16 {
            let begin = at + n * 500 * MICROSECOND;
            let late = if n as u32 % 2 == rank { 400 * MICROSECOND } else { 0 };
            if late > 0 {
                r.device = begin;
                r.kernel(GEMM, late);
            }
            r.collective(
                CollectiveKind::AllReduce,
                kernel,
                0,
                1 << 20,
                begin + late,
                begin + 420 * MICROSECOND,
            );
        }
    });
    let reported = ids(&found);
    assert!(reported.contains("waiting") || reported.contains("straggler"), "{found:#?}");
    if reported.contains("waiting") {
        assert!((2_500.0..4_000.0).contains(&cost(&found, "waiting")), "{found:#?}");
    }
}

#[test]
fn stages_that_wait() {
    let kernel = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
    let found = two_ranks(&["PIPELINE_MODEL_PARALLEL_GROUP"], |rank, r, at| {
        let enter = if rank == 0 { at + 8_000 * MICROSECOND } else { at };
        if rank == 0 {
            r.kernel(GEMM, 8_000 * MICROSECOND);
        }
        r.collective(CollectiveKind::AllToAll, kernel, 0, 1 << 20, enter, at + 8_100 * MICROSECOND);
    });
    assert!(cost(&found, "pipeline-bubble") > 3_000.0, "{found:#?}");
}

#[test]
fn experts_of_different_load() {
    let found = two_ranks(&["EXPERT_MODEL_PARALLEL_GROUP"], |rank, r, _| {
        r.kernel("void deep_gemm::m_grouped_gemm_fp8(int)", (2_000 + i64::from(rank) * 2_000) * MICROSECOND);
    });
    assert!((950.0..1_050.0).contains(&cost(&found, "unbalanced-experts")), "{found:#?}");
}

#[test]
fn ranks_that_were_not_recorded() {
    let mut recorder = Recorder::new(1, 4, &[]);
    for n in 1..4 {
        recorder.step(n, |r| r.kernel(GEMM, 500 * MICROSECOND));
    }
    let found = context_of(vec![recorder.done()]);
    let reported = the(&found, "missing-ranks");
    assert_eq!((reported.cost, reported.evidence[0].as_str()), (None, "ranks 0, 2, 3"));
}

#[test]
fn a_straggler_and_a_slow_chip() {
    let job = Synthetic { slow_chip: vec![(1, 1.2)], steps: 6, ..Synthetic::default() }.job();
    let found = context_of(job.members.into_iter().map(|m| m.trace).collect());
    assert!(the(&found, "straggler").message.starts_with("rank 1 is a straggler (slow chip)"), "{found:#?}");
    for id in ["straggler", "slow-chip"] {
        let subject = &the(&found, id).subject;
        assert_eq!((subject.ranks.as_slice(), subject.spans.as_slice()), (&[1][..], &Subject::COMPUTE[..]));
    }
    assert!(the(&found, "slow-chip").message.contains("on rank 1 than"), "{found:#?}");
}

#[test]
fn a_slow_link_and_a_cause_counted_twice() {
    let plan = Synthetic {
        tensor: 4,
        data: 4,
        overlapped: true,
        slow_links: vec![(1, 20.0)],
        ..Synthetic::default()
    };
    let found = context_of(plan.job().members.into_iter().map(|m| m.trace).collect());
    let slow = the(&found, "slow-group");
    assert!(slow.message.starts_with("transfers between ranks 1-13 (every 4th) are slow"), "{slow:#?}");
    assert_eq!(slow.subject.ranks, [1, 5, 9, 13]);
    assert!(!ids(&found).contains("straggler"), "{found:#?}");
    // A rank with an idle host is a straggler and a pause: both findings cover the same time.
    let plan = Synthetic { stalls: vec![(1, 2, 40_000_000)], ..Synthetic::default() };
    let found = context_of(plan.job().members.into_iter().map(|m| m.trace).collect());
    let pause = the(&found, "host-pauses").cost.expect("a cost");
    let straggler = the(&found, "straggler").cost.expect("a cost");
    let shared: f64 = found.iter().map(|finding| finding.shared).sum();
    assert!(shared >= 0.9 * pause.min(straggler), "{shared} of {pause} and {straggler}: {found:#?}");
}

#[test]
fn links_that_carry_less_than_they_could() {
    let on = |device: &str, transfer: i64| {
        let job = Synthetic { tensor: 1, data: 4, transfer, ..Synthetic::default() }.job();
        let mut traces: Vec<RankTrace> = job.members.into_iter().map(|m| m.trace).collect();
        for trace in &mut traces {
            let device = crate::trace::Device { name: device.to_owned(), ..crate::trace::Device::default() };
            trace.identity.devices.push(device);
        }
        context_of(traces)
    };
    // 128 MiB among four ranks: 201 MB per link in 1 ms; NVLink can transfer 450 GB/s.
    let found = on("NVIDIA H100 80GB HBM3", 100_000);
    let reported = the(&found, "low-bandwidth");
    assert!(reported.message.contains("201 GB/s of 450 GB/s per link (44.7%, NVLink"), "{reported:#?}");
    // At 0.8 of the ceiling it would take 559 us.
    assert!((435.0..445.0).contains(&cost(&found, "low-bandwidth")), "{reported:#?}");
    // A rate near the ceiling is not a finding.
    assert!(!ids(&on("NVIDIA H100 80GB HBM3", 50_000)).contains("low-bandwidth"));
    // An accelerator outside the catalogue has no ceiling, so no rate is low.
    let found = on("abacus", 100_000);
    let reported = the(&found, "low-bandwidth");
    assert!(reported.cost.is_none() && reported.message.contains("unknown"), "{reported:#?}");
}

#[test]
fn the_costliest_comes_first() {
    let found = one_rank(|_, r| {
        r.kernel("ampere_sgemm_128x64_nn", 2_000 * MICROSECOND);
        r.host_busy(HostKind::Operator, "python", 3_000 * MICROSECOND);
    });
    let costs: Vec<f64> = found.iter().filter_map(|f| f.cost).collect();
    assert!(costs.len() >= 2 && costs.windows(2).all(|pair| pair[0] >= pair[1]), "{found:#?}");
}
