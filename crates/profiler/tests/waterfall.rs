//! The waterfall on real traces, against what is known of them (`fixtures/traces/reference`).

use railwright_profiler::compare::compare;
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::measured::step;
use railwright_profiler::profile::{OneByOne, Options, Profile, profile};
use railwright_profiler::readers::{Keep, Recording, detect, open};
use railwright_profiler::waterfall::{Label, Share};
use railwright_profiler::windows::CutBy;
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
    let told = compare(&current.report, &hook.report);
    for (name, first, second) in [
        ("window", 306.19, 303.00),
        ("compute", 281.91, 280.13),
        ("communication", 23.86, 23.75),
        ("overlap of both", 6.67, 8.02),
        ("exposed communication", 17.19, 15.73),
    ] {
        let row = told.recorded.iter().find(|row| row.name == name).unwrap();
        near(row.first / 1e6, first, 0.05);
        near(row.second / 1e6, second, 0.05);
    }
    // Four steps of some 61 ms, cut on the device.
    assert_eq!((current.windows.cut_by, current.windows.steps.len()), (CutBy::Launches, 4));
    near(current.report.step_time / 1e6, 60.9, 0.2);
    // Which part waits cannot be known from one of eight ranks.
    let total = &current.waterfall.total;
    assert!(total.sum(|label| matches!(label, Label::Exposed(_, Share::Undivided))) > 0);
    assert_eq!(total.sum(|label| matches!(label, Label::Exposed(_, Share::Wait | Share::Transfer))), 0);
    assert_eq!(current.report.missing, 7);
}

#[test]
fn a_rank_that_communicates_all_the_time_waits_for_another() {
    let found = profiled(folder("megatron_tp2_v100", "rank"), &Options::default());
    let [first, second] = found.waterfall.ranks.as_slice() else { panic!("two ranks") };
    let shares = |rank: &railwright_profiler::waterfall::RankWaterfall, share: Share| {
        ms(rank.total.sum(|label| matches!(label, Label::Exposed(_, s) if s == share)))
    };
    // 48.2 ms of the 48.4 ms are waiting; some of the transfer is hidden.
    near(shares(second, Share::Wait), 48.2, 0.5);
    assert!(shares(second, Share::Transfer) < 0.27 && shares(second, Share::Undivided) == 0.0);
    assert!(shares(first, Share::Wait) < 0.3);
    let host = first.total.sum(|label| matches!(label, Label::Host | Label::Sync | Label::DataLoading));
    assert!(host as f64 > 0.9 * first.total.total() as f64, "{:?}", first.total);
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

/// The same step, through the sweep and through the analyses of steps, to the nanosecond.
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
            let told = breakdown(&step);
            for (rank, waterfall) in told.ranks.iter().zip(&found.waterfall.ranks) {
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
                // A message that waits leaves the step empty, and what communicates beside it is seen.
                let exposed = sum(|l| matches!(l, StepLabel::Exposed(_)));
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
    assert_eq!(total, found.windows.steps.iter().map(|s| s.duration()).sum::<i64>() * 8);
}

#[test]
fn a_trace_without_a_device_is_cut_and_summed() {
    let found = profiled(folder("generated_torch215_gloo_pp2dp2", "rank"), &Options::default());
    assert_eq!(found.windows.cut_by, CutBy::HostAnnotations);
    assert_eq!(found.windows.steps.iter().map(|s| s.number).collect::<Vec<_>>(), [Some(2), Some(3), Some(4)]);
    // Rank 2 sleeps 4 x 50 ms in step 3, in part while its messages wait: its own time is the host's, and nobody else's grows like it.
    let growth = |rank: usize| {
        let steps = &found.waterfall.ranks[rank].steps;
        ms(steps[1].get(Label::Host) - steps[0].get(Label::Host))
    };
    assert!(growth(2) > 100.0 && [0, 1, 3].into_iter().all(|rank| growth(rank) < 20.0));
}
