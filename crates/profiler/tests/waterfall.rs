//! The waterfall on real traces, compared with the reference answers (`fixtures/traces/reference`).

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

#[allow(dead_code, reason = "other tests use the rest")]
use crate::jobs;
use railwright_profiler::compare::compare;
use railwright_profiler::joined::{JoinOptions, Joined, join};
use railwright_profiler::measured::step;
use railwright_profiler::profile::{OneByOne, Options, Profile, profile};
use railwright_profiler::readers::{Keep, Recording, detect, open};
use railwright_profiler::testing::Synthetic;
use railwright_profiler::view::{Role, Tables, View};
use railwright_profiler::waterfall::{Label, Share, sweep};
use railwright_profiler::windows::{CutBy, StepWindow};
use railwright_profiler::{Job, RankTrace};
use railwright_step::Dimension;
use std::io::Read;

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces");

fn read(path: &str) -> RankTrace {
    let file = std::fs::File::open(format!("{TRACES}/{path}")).unwrap();
    let mut bytes = Vec::new();
    open(file).unwrap().read_to_end(&mut bytes).unwrap();
    let recordings = detect(&bytes).unwrap().read(path, &bytes, Keep::default()).unwrap();
    let rank = recordings.into_iter().find_map(|recording| match recording {
        Recording::Rank(trace) => Some(*trace),
        _ => None,
    });
    rank.unwrap()
}

/// All traces of a folder, in the order of their names, that start with a prefix.
fn folder(path: &str, prefix: &str) -> Vec<RankTrace> {
    let mut files: Vec<String> = std::fs::read_dir(format!("{TRACES}/{path}"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(prefix))
        .collect();
    files.sort();
    files.iter().map(|file| read(&format!("{path}/{file}"))).collect()
}

fn profiled(traces: Vec<RankTrace>, options: &Options) -> Profile {
    let mut job = Job::new(traces);
    let joined = join(&mut job, &JoinOptions::default());
    profile(&job, &joined, options, &OneByOne).unwrap()
}

fn ms(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e6
}

#[track_caller]
fn near(value: f64, wanted: f64, tolerance: f64) {
    assert!((value - wanted).abs() <= tolerance, "{value} is not {wanted} +- {tolerance}");
}

#[test]
fn a_change_of_a_training_loop_is_measured() {
    let of = |file: &str| {
        profiled(vec![read(&format!("modded_nanogpt_h100/ab/{file}-rank0.json.gz"))], &Options::default())
    };
    let (current, hook) = (of("current"), of("hook"));
    let reported = compare(&current.report, &hook.report);
    for (name, first, second) in [
        ("window", 306.19, 303.00),
        ("compute", 281.91, 280.13),
        ("communication", 23.86, 23.75),
        ("overlap of both", 6.67, 8.02),
        ("exposed communication", 17.19, 15.73),
    ] {
        let row = reported.recorded.iter().find(|row| row.name == name).unwrap();
        near(row.first / 1e6, first, 0.05);
        near(row.second / 1e6, second, 0.05);
    }
    // Four steps of about 61 ms, cut on the device.
    assert_eq!((current.windows.cut_by, current.windows.steps.len()), (CutBy::Launches, 4));
    near(current.report.step_time / 1e6, 60.9, 0.2);
    // From one of eight ranks, waits can only be estimated, and only if sizes are recorded.
    let total = &current.waterfall.total;
    let of = |share| total.sum(|label| matches!(label, Label::Exposed(_, s) if s == share));
    assert!(of(Share::Undivided) > 0 && of(Share::Transfer) > 0);
    near(current.report.estimated_wait * 4.0, of(Share::Wait) as f64, 1.0);
    assert_eq!(current.report.missing, 7);
}

#[test]
fn a_rank_that_communicates_all_the_time_waits_for_another() {
    let found = profiled(folder("megatron_tp2_v100", "rank"), &Options::default());
    let [first, second] = found.waterfall.ranks.as_slice() else { panic!("two ranks") };
    let shares = |rank: &railwright_profiler::waterfall::RankWaterfall, share: Share| {
        ms(rank.total.sum(|label| matches!(label, Label::Exposed(_, s) if s == share)))
    };
    // 48.2 ms of the 48.4 ms are waits; part of the transfer is overlapped.
    near(shares(second, Share::Wait), 48.2, 0.5);
    assert!(shares(second, Share::Transfer) < 0.27 && shares(second, Share::Undivided) == 0.0);
    assert!(shares(first, Share::Wait) < 0.3);
    let host = first.total.sum(|label| matches!(label, Label::Host | Label::Sync | Label::DataLoading));
    // Its recording begins 11.3 ms after that of the other: its earlier activity is unknown.
    let before = first.total.get(Label::Unexplained);
    near(ms(before), 11.3, 0.1);
    assert!(host as f64 > 0.97 * (first.total.total() - before) as f64, "{:?}", first.total);
    assert!(first.totals.idle as f64 > 0.97 * first.totals.window as f64);
    let tensor = second.total.get(Label::Exposed(Dimension::Tensor, Share::Wait));
    assert_eq!(ms(tensor), shares(second, Share::Wait), "groups of two neighbours are tensor parallel");
}

#[test]
fn an_idle_job_is_bound_by_its_host() {
    let found = profiled(folder("torchrec_v100_4r/resnet18", "ip-"), &Options::default());
    for rank in &found.waterfall.ranks {
        let idle = rank.totals.idle as f64 / rank.totals.window as f64;
        assert!((0.93..=0.995).contains(&idle), "{idle}");
    }
    let first = &found.report.lines[0];
    assert_eq!(found.report.tree[0].name, "host-bound");
    assert!(
        found.report.lines.iter().any(|line| line.part.name == "host" && line.part.share > 0.9),
        "{first:?}"
    );
    let waits = found.waterfall.ranks[0].total.sum(|label| matches!(label, Label::Exposed(_, Share::Wait)));
    near(ms(waits), 7.16, 0.08);
}

/// The same step through the sweep and through the analyses of steps, equal to the nanosecond.
#[test]
fn a_measured_step_breaks_down_as_the_waterfall_does() {
    use railwright_profiler::waterfall::Group;
    use railwright_step::breakdown::{Label as StepLabel, breakdown};
    for (traces, steps) in [
        (vec![read("modded_nanogpt_h100/ab/hook-rank0.json.gz")], 4),
        (folder("param_dlrm_8r", "worker"), 1),
        (folder("torchrec_v100_4r/sst_long_a2a_optimizer_4", "ip-"), 2),
        (folder("generated_torch215_gloo_pp2dp2", "rank"), 3),
    ] {
        let mut job = Job::new(traces);
        let joined = join(&mut job, &JoinOptions::default());
        let options = Options::default();
        let found = profile(&job, &joined, &options, &OneByOne).unwrap();
        assert!(found.windows.steps.len() >= steps, "{:?}", found.windows);
        for at in 0..found.windows.steps.len() {
            let step = step(&job, &joined, &options.tables, &found.windows, at).unwrap();
            let problems = step.validate();
            assert!(problems.is_empty(), "{problems:?}");
            let reported = breakdown(&step);
            for (rank, waterfall) in reported.ranks.iter().zip(&found.waterfall.ranks) {
                let parts = &waterfall.steps[at];
                let sum = |fits: fn(&StepLabel) -> bool| {
                    rank.parts
                        .iter()
                        .filter(|(label, _)| fits(label))
                        .map(|(_, time)| time.0 / 1000)
                        .sum::<i64>()
                };
                assert_eq!(sum(|l| matches!(l, StepLabel::Compute(_))), parts.sum(Label::is_compute));
                assert_eq!(sum(|l| matches!(l, StepLabel::Copy)), parts.group(Group::Copy));
                assert_eq!(sum(|l| matches!(l, StepLabel::Host)), parts.group(Group::Host));
                // A message that waits leaves the step empty, and concurrent communication is visible.
                let exposed = sum(|l| matches!(l, StepLabel::Exposed(_) | StepLabel::Waiting));
                // Waits are separate, except during concurrent transfers on another stream.
                let waiting = sum(|l| matches!(l, StepLabel::Waiting));
                assert!((0..=parts.sum(|l| l.is_exposed(Share::Wait))).contains(&waiting), "{waiting}");
                let beside = exposed - parts.group(Group::Communication);
                assert!((0..=parts.group(Group::Bubble)).contains(&beside), "{beside}");
                let rest = parts.group(Group::Bubble) + parts.group(Group::Other) - beside;
                assert_eq!(sum(|l| matches!(l, StepLabel::Idle | StepLabel::Bubble)), rest);
            }
        }
    }
}

#[test]
fn waits_of_eight_ranks() {
    let found = profiled(folder("param_dlrm_8r", "worker"), &Options::default());
    assert_eq!(found.waterfall.ranks.len(), 8);
    let total = found.report.lines.iter().map(|line| line.part.time).sum::<i64>();
    assert_eq!(total, found.waterfall.time());
    assert_eq!(total, found.windows.steps.iter().map(StepWindow::duration).sum::<i64>() * 8);
}

#[test]
fn a_trace_without_a_device_is_cut_and_summed() {
    let found = profiled(folder("generated_torch215_gloo_pp2dp2", "rank"), &Options::default());
    assert_eq!(found.windows.cut_by, CutBy::HostAnnotations);
    assert_eq!(found.windows.steps.iter().map(|s| s.number).collect::<Vec<_>>(), [Some(2), Some(3), Some(4)]);
    // Rank 2 sleeps 4 x 50 ms in step 3, partly during waits of its messages: the time is its own host time,
    // and no other time grows as much.
    let growth = |rank: usize| {
        let steps = &found.waterfall.ranks[rank].steps;
        ms(steps[1].get(Label::Host) - steps[0].get(Label::Host))
    };
    assert!(growth(2) > 100.0 && [0, 1, 3].into_iter().all(|rank| growth(rank) < 20.0));
}

/// Unions of busy and of compute time, compared with the tables of another tool on traces of whole
/// microseconds that it does not cut.
#[test]
fn unions_of_time_are_those_of_another_tool() {
    let reference = |set: &str| -> Vec<(u32, f64, f64, f64)> {
        let path = format!("{TRACES}/reference/hta/{set}/temporal_breakdown.csv");
        let text = std::fs::read_to_string(path).unwrap();
        let row = |line: &str| {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            (cells[0] as u32, cells[1], cells[2], cells[4])
        };
        text.lines().skip(1).map(row).collect()
    };
    for (set, traces) in [
        ("param_dlrm_8r", folder("param_dlrm_8r", "worker")),
        // Other sets are excluded: in that tool, waits on the device (`cuda_sync`) begin and end the window.
    ] {
        let tables = Tables::shipped();
        let rows = reference(set);
        assert_eq!(rows.len(), traces.len());
        for (rank, idle, compute, window) in rows {
            let trace = &traces[traces.iter().position(|t| t.identity.rank == Some(rank)).unwrap_or(0)];
            let view = View::new(trace, &tables);
            let busy = view.role.iter().zip(view.gpu.starts().iter().zip(view.gpu.ends()));
            let busy = busy.filter(|(role, _)| **role != Role::None).map(|(_, (start, end))| (*start, *end));
            let all = busy.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap();
            let sum = |role: Role| {
                let pieces = sweep(&view, all);
                pieces.iter().filter(|p| p.role == role).map(|p| p.end - p.start).sum::<i64>() as f64 / 1e3
            };
            assert_eq!((all.1 - all.0) as f64 / 1e3, window, "{set} {rank}");
            assert_eq!(sum(Role::None), idle, "{set} {rank}");
            assert_eq!(sum(Role::Compute), compute, "{set} {rank}");
        }
    }
}

/// One rank of a traced job as every rank of a larger one.
fn replicated(trace: &RankTrace, ranks: u32) -> Vec<RankTrace> {
    let of = |rank| {
        let mut trace = trace.clone();
        (trace.identity.rank, trace.identity.world_size) = (Some(rank), Some(ranks));
        trace
    };
    (0..ranks).map(of).collect()
}

#[test]
fn many_ranks_are_shown_as_distributions() {
    let trace = read("megatron_tp2_v100/rank1.9c44bd29b3f0_1376.1724066820237002797.pt.trace.json.gz");
    let few = profile(&Job::new(replicated(&trace, 64)), &Joined::default(), &Options::default(), &OneByOne)
        .unwrap();
    assert_eq!(few.report.rows.len(), 64);
    let many = profile(&Job::new(replicated(&trace, 65)), &Joined::default(), &Options::default(), &OneByOne)
        .unwrap();
    assert!(many.report.rows.is_empty());
    let first = &many.report.spreads[0];
    assert_eq!((first.least, first.worst.len()), (first.most, 3));
    let shares =
        |profile: &Profile| profile.report.lines.iter().map(|line| line.part.share).collect::<Vec<f64>>();
    assert!(shares(&few).iter().zip(shares(&many)).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn a_chip_that_is_a_tenth_slower_is_found() {
    let trace = read("modded_nanogpt_h100/ab/current-rank0.json.gz");
    let mut traces = replicated(&trace, 4);
    let mut slow = railwright_profiler::trace::GpuActivities::default();
    for row in trace.gpu.iter() {
        let compute = !trace.names.get(row.name).starts_with("nccl");
        let end = if compute { row.start + row.duration() * 11 / 10 } else { row.end };
        slow.push(railwright_profiler::trace::GpuActivity { end, ..row });
    }
    traces[2].gpu = slow;
    let found = profile(&Job::new(traces), &Joined::default(), &Options::default(), &OneByOne).unwrap();
    let [(rank, factor)] = found.report.slower_chips.as_slice() else {
        panic!("{:?}", found.report.slower_chips)
    };
    assert_eq!(*rank, 2);
    near(*factor, 1.1, 0.002);
    let rank = &found.waterfall.ranks[2].total;
    let compute = rank.sum(Label::is_compute);
    near(rank.get(Label::SlowerChip) as f64 / compute as f64, 1.0 - 1.0 / 1.1, 0.002);
}

/// Slack of a pipeline hides a part of a slow chip: the finding has the cost to the step, not the time of the
/// longer kernels.
#[test]
fn a_slow_chip_costs_what_a_replay_without_it_saves() {
    let found = profiled(folder("simulated/lone_chip", "node"), &Options::default()).report.findings;
    let chip = found.iter().find(|finding| finding.id == "slow-chip").expect("a slow chip");
    let cost = chip.cost.expect("a cost");
    // 1.125 ms is the difference to the job without the fault (fixtures/traces/SOURCES.md).
    assert!((cost / 1.125e6 - 1.0).abs() < 0.15 && chip.certainty.is_none(), "{chip:#?}");
    assert_eq!(chip.subject.ranks, [2]);
}

#[test]
fn one_step_and_one_rank_alone() {
    let traces = folder("torchrec_v100_4r/resnet18", "ip-");
    let all = profiled(traces.clone(), &Options::default());
    let one = profiled(traces.clone(), &Options { step: Some(2), rank: Some(1), ..Options::default() });
    assert_eq!((one.report.ranks, one.report.steps.len()), (1, 1));
    assert_eq!(one.waterfall.total, all.waterfall.ranks[1].steps[1]);
    let mut job = Job::new(traces);
    let joined = join(&mut job, &JoinOptions::default());
    let problem = |options: Options| profile(&job, &joined, &options, &OneByOne).unwrap_err();
    assert_eq!(
        problem(Options { step: Some(9), ..Options::default() }).hint.unwrap(),
        "use one of the recorded steps: 1, 2, 3"
    );
    assert!(problem(Options { rank: Some(7), ..Options::default() }).hint.unwrap().contains("0, 1"));
}

/// A range of steps is the sum of its steps, in the recorder's numbers, with those of the warm-up if it
/// contains them.
#[test]
fn a_range_of_steps_is_the_sum_of_its_steps() {
    let traces = folder("torchrec_v100_4r/resnet18", "ip-");
    let range = |text: &str| Some(text.parse().expect("a range"));
    let of = |options: Options| profiled(traces.clone(), &options);
    let two = of(Options { steps: range("2..3"), ..Options::default() });
    let [second, third] = [2, 3].map(|step| of(Options { step: Some(step), ..Options::default() }));
    let names: Vec<&str> = two.report.steps.iter().map(|step| step.step.as_str()).collect();
    assert_eq!(names, ["2", "3"]);
    assert_eq!(two.waterfall.time(), second.waterfall.time() + third.waterfall.time());
    assert_eq!(of(Options { steps: range("..2"), ..Options::default() }).report.steps.len(), 2);
    assert_eq!(
        of(Options { steps: range("..2"), step: Some(2), ..Options::default() }).report,
        second.report
    );
    let mut job = Job::new(traces);
    let joined = join(&mut job, &JoinOptions::default());
    let none = Options { steps: range("7..9"), ..Options::default() };
    let problem = profile(&job, &joined, &none, &OneByOne).unwrap_err();
    assert_eq!(problem.message, "there are no steps 7..9");
    assert_eq!(problem.hint.unwrap(), "use one of the recorded steps: 1, 2, 3");
    for text in ["3..2", "2", "a..b", "-1..2"] {
        assert!(text.parse::<railwright_profiler::windows::StepRange>().is_err(), "{text}");
    }
}

#[test]
fn the_parts_are_points_of_utilisation_when_operations_are_known() {
    let trace = read("modded_nanogpt_h100/ab/current-rank0.json.gz");
    let flop = railwright_spec::quantity::Flop::new(1.6e14);
    let found = profiled(vec![trace], &Options { flop_per_step: Some(flop), ..Options::default() });
    // F / (N P T): 1.6e14 / (8 x 989.4e12 x 0.061) = 33%.
    let peak = found.report.peak.as_ref().unwrap();
    let expected = 1.6e14 / (8.0 * peak.rate.get() * found.report.step_time * 1e-9);
    near(found.report.utilisation.unwrap(), expected, 1e-4);
    near(found.report.lines.iter().map(|line| line.part.share).sum(), 1.0, 1e-12);
    let has_doubt = |found: &Profile| found.report.warnings.iter().any(|w| w.id == "trace-other-run");
    assert!(!has_doubt(&found));
    // A run of sixteen ranks divides its operations by sixteen; a job of eight is a different one.
    let trace = read("modded_nanogpt_h100/ab/current-rank0.json.gz");
    let options = Options { flop_per_step: Some(flop), sharers: Some(16), ..Options::default() };
    let other = profiled(vec![trace], &options);
    near(other.report.utilisation.unwrap(), 0.5 * expected, 1e-4);
    assert!(has_doubt(&other), "{:?}", other.report.warnings);
}

#[test]
fn a_rank_alone_has_bounds_of_transfer_and_waiting() {
    let plan = Synthetic { stalls: vec![(1, 0, 3_000_000), (1, 2, 2_000_000)], ..Synthetic::default() };
    let shares = |profile: &Profile| {
        let sum =
            |share| profile.waterfall.ranks[0].total.sum(|l| matches!(l, Label::Exposed(_, s) if s == share));
        [sum(Share::Transfer), sum(Share::Wait), sum(Share::Undivided)].map(ms)
    };
    let whole: Vec<RankTrace> = plan.job().members.into_iter().map(|m| m.trace).collect();
    let [transfer, wait, none] = shares(&profiled(whole.clone(), &Options::default()));
    assert!(none == 0.0 && wait > 4.9, "{wait} {none}");
    let mut first = whole[0].clone();
    let [unknown, ..] = shares(&profiled(vec![first.clone()], &Options::default()));
    assert_eq!(unknown, 0.0, "without the accelerator's name the link is not known");
    let name = "NVIDIA H100 80GB HBM3".to_owned();
    first.identity.devices = vec![railwright_profiler::trace::Device { name, ..Default::default() }];
    let alone = profiled(vec![first], &Options::default());
    let [least, waited, undivided] = shares(&alone);
    // No wait is reported; the true value is between the bounds.
    assert_eq!((waited, alone.report.estimated_wait), (0.0, 0.0));
    assert!(
        least > 0.0 && least <= transfer + 1e-6 && undivided >= wait,
        "{least} {transfer} {undivided} {wait}"
    );
    near(least + undivided, transfer + wait, 1e-3);
    assert!(alone.report.warnings.iter().any(|w| w.id == "communication-bounds"));
    let of_bound = |finding: &&railwright_profiler::profile::Finding| finding.id.starts_with("exposed-");
    for finding in alone.report.findings.iter().filter(of_bound) {
        assert_eq!(finding.certainty, Some(railwright_profiler::certainty::Certainty::AtMost));
    }
    // Rank 0 of eight: collectives last 60 times as long as NVLink needs for their bytes.
    let hook = profiled(vec![read("modded_nanogpt_h100/ab/hook-rank0.json.gz")], &Options::default());
    let [_, waited, undivided] = shares(&hook);
    assert!(waited == 0.0 && undivided > 3.0, "{waited} {undivided}");
}

#[test]
fn a_rank_without_device_data_is_no_host_of_its_own() {
    let whole = profiled(folder("param_dlrm_8r", "worker"), &Options::default());
    let mut traces = folder("param_dlrm_8r", "worker");
    traces[3].gpu = railwright_profiler::trace::GpuActivities::default();
    let mut job = Job::new(traces);
    job.drop_ranks_without_device_activity();
    let joined = join(&mut job, &JoinOptions::default());
    let seven = profile(&job, &joined, &Options::default(), &OneByOne).unwrap().report;
    assert_eq!((seven.ranks, seven.missing_ranks.as_slice()), (7, &[3][..]));
    assert!(seven.warnings.iter().any(|w| w.id == "trace-no-device"));
    // The others' compute is unchanged, and their kernels include no host operators.
    near(seven.recorded.compute / 1e6, whole.report.recorded.compute / 1e6, 0.05);
    assert!(seven.kernels.iter().all(|kernel| !kernel.name.starts_with("aten::")), "{:?}", seven.kernels[0]);
    // The entry of rank 3 is unknown: the last of the others is a bound, the rest is not divided.
    let transfer = seven.lines.iter().flat_map(|l| &l.parts).find(|p| p.name.ends_with("transfer"));
    assert!(transfer.is_none(), "{transfer:?}");
}

/// A rank's waits for others are part of its exposed communication, in every set of several ranks.
#[test]
fn waiting_never_exceeds_communication() {
    use railwright_profiler::waterfall::Group;
    for (folder, of) in [
        ("generated_torch215_gloo_pp2dp2", "pt.trace"),
        ("megatron_tp2_v100", "pt.trace"),
        ("param_dlrm_8r", "pt.trace"),
        ("torchrec_v100_4r/sst_long_a2a_optimizer_3", "pt.trace"),
    ] {
        let mut job = jobs::job(folder, of);
        let joined = join(&mut job, &JoinOptions::default());
        let report = profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile").report;
        let place = Group::ALL.iter().position(|group| *group == Group::Communication).expect("a place");
        assert!(report.rows.iter().any(|row| row.waiting > 0.0), "{folder}");
        for row in &report.rows {
            assert!(row.waiting <= row.shares[place] + 1e-12, "{folder}: rank {}", row.rank);
        }
    }
}
