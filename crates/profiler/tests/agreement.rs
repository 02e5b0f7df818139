//! Reports of the same traces agree: steps, mean step, and costs as shares of it.
//!
//! Responsible for: every bundled job of several ranks. Reports are those of `profile`, `stragglers`,
//! `pipeline` and `comm`.

use crate::jobs;
use railwright_profiler::attribution::joined_straggler_report;
use railwright_profiler::collectives::{InSteps, RankCommunication, joined_communication_report};
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::pipeline::{self, Question};
use railwright_profiler::profile::{OneByOne, Options, profile};
use railwright_profiler::steps_of_job;
use railwright_profiler::testing::Synthetic;
use railwright_profiler::view::Tables;
use railwright_profiler::waterfall::Label;

/// Bundled jobs of several ranks: folder, and a part of the names of their traces.
const JOBS: [(&str, &str); 16] = [
    ("generated_torch215_gloo_pp2dp2", "pt.trace"),
    ("megatron_tp2_v100", "pt.trace"),
    ("param_dlrm_8r", "pt.trace"),
    ("simulated/absent_partner", ".json"),
    ("simulated/absent_rank", ".json"),
    ("simulated/drifting_clocks", ".json"),
    ("simulated/hot_expert", ".json"),
    ("simulated/lone_chip", ".json"),
    ("simulated/lone_host", ".json"),
    ("simulated/lone_pipeline", ".json"),
    ("simulated/lone_stage", ".json"),
    ("simulated/slow_host_pipeline", ".json"),
    ("simulated/two_stages", ".json"),
    ("torchrec_v100_4r/resnet18", "pt.trace"),
    ("torchrec_v100_4r/sst_long_a2a_optimizer_3", "pt.trace"),
    ("torchrec_v100_4r/sst_long_a2a_optimizer_4", "pt.trace"),
];

/// Tests whether two times in nanoseconds are equal but for rounding.
fn are_equal(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1.0 + 1e-6 * a.abs()
}

/// Communication of ranks per step and rank, in nanoseconds.
fn per_step(of: &InSteps, part: fn(&RankCommunication) -> i64) -> f64 {
    of.ranks.iter().map(part).sum::<i64>() as f64 / (of.ranks.len() as f64 * f64::from(of.steps))
}

#[test]
fn all_reports_have_the_same_steps() {
    let mut pipelines = 0;
    for (folder, part) in JOBS {
        let mut job = jobs::job(folder, part);
        assert!(job.members.len() > 1, "{folder}");
        let joined = join(&mut job, &JoinOptions::default());
        let profiled = profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile");
        let (windows, report) = (&profiled.windows, &profiled.report);
        assert_eq!(windows, &steps_of_job(&job, &joined, &Tables::shipped(), &OneByOne), "{folder}");
        let mean = windows.mean_step();
        assert!(are_equal(report.step_time, mean), "{folder}: {}, {mean}", report.step_time);
        assert_eq!(report.steps_covered, windows.covered(), "{folder}");

        let judged = joined_straggler_report(&job, &joined, None, &OneByOne);
        let replayed = judged.step_time / (1.0 + judged.replay_error);
        assert!(are_equal(replayed, mean), "{folder}: {replayed}, {mean}");
        assert_eq!(judged.steps_covered, windows.covered(), "{folder}");

        let communication = joined_communication_report(&job, &joined, None, &OneByOne).in_steps;
        assert!(are_equal(communication.step_time, mean), "{folder}: {}, {mean}", communication.step_time);
        assert_eq!(communication.covered, windows.covered(), "{folder}");
        let is_communication = |label| matches!(label, Label::Exposed(..) | Label::Bubble(_));
        let waterfall = &profiled.waterfall;
        let exposed = waterfall.total.sum(is_communication) as f64 / waterfall.samples() as f64;
        let of_ranks = per_step(&communication, |rank| rank.exposed);
        assert!(are_equal(of_ranks, exposed), "{folder}: exposed {of_ranks}, {exposed}");
        let (waiting, transfer) = (
            per_step(&communication, |rank| rank.waiting_once),
            per_step(&communication, |rank| rank.transfer_once),
        );
        let all = per_step(&communication, |rank| rank.communication);
        assert!(are_equal(waiting + transfer, all) && all <= mean, "{folder}: {waiting} {transfer} {all}");

        let Ok(page) = pipeline::of_job(&job, &joined, &Question::default(), &OneByOne) else { continue };
        pipelines += 1;
        assert!(are_equal(page.mean_step, mean), "{folder}: {}, {mean}", page.mean_step);
        assert!(are_equal(page.median_step as f64, report.median_step_ns), "{folder}: {}", page.median_step);
        let durations: Vec<i64> = report.steps.iter().map(|step| step.duration).collect();
        assert_eq!(page.steps.iter().map(|step| step.step_time).collect::<Vec<_>>(), durations, "{folder}");
        // A named rank costs the same share of the step in all reports.
        for (own, named) in page.judgement.iter().flat_map(|own| &own.culprits).zip(&judged.culprits) {
            assert_eq!(own, named, "{folder}");
        }
    }
    assert!(pipelines >= 7, "{pipelines} jobs with a pipeline");
}

/// A delay of one rank in the first step is an exception: no mean includes that step.
#[test]
fn a_delay_of_the_first_step_alone_is_warm_up_in_all_reports() {
    let plan = Synthetic { data: 4, steps: 6, stalls: vec![(1, 0, 60_000_000)], ..Synthetic::default() };
    let mut job = plan.job();
    let joined = join(&mut job, &JoinOptions::default());
    let profiled = profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile");
    let judged = joined_straggler_report(&job, &joined, None, &OneByOne);
    let report = joined_communication_report(&job, &joined, None, &OneByOne);
    assert_eq!((profiled.windows.warm_up.len(), profiled.report.steps.len(), judged.steps), (1, 5, 5));
    assert_eq!(
        (&judged.steps_covered, &report.in_steps.covered),
        (&profiled.report.steps_covered, &judged.steps_covered)
    );
    assert!(report.in_steps.warm_up.is_some() && profiled.report.warm_up.is_some());
    let sum = |ranks: &[RankCommunication]| ranks.iter().map(|rank| rank.wait).sum::<i64>();
    assert!(
        sum(&report.ranks) - sum(&report.in_steps.ranks) > 7 * 50_000_000,
        "{}",
        sum(&report.in_steps.ranks)
    );
}

/// A rank sends and receives at once: it cannot wait for longer than it was recorded.
#[test]
fn concurrent_messages_count_once() {
    let mut job = jobs::job("simulated/slow_host_pipeline", ".json");
    let joined = join(&mut job, &JoinOptions::default());
    let report = joined_communication_report(&job, &joined, None, &OneByOne);
    assert!(report.ranks[0].wait > report.ranks[0].window, "the sum counts both");
    for rank in report.ranks.iter().chain(&report.in_steps.ranks) {
        assert_eq!(rank.waiting_once + rank.transfer_once, rank.communication);
        assert!(rank.waiting_once <= rank.wait + rank.estimated_wait, "rank {}", rank.rank);
    }
    let page = pipeline::of_job(&job, &joined, &Question::default(), &OneByOne).expect("a page");
    let headline = page.headline().expect("a verdict");
    assert!(page.is_inconclusive() && headline.id == "pipeline-inconclusive", "{headline:?}");
    assert!(page.verdicts.iter().any(|verdict| verdict.id == "pipeline-slow-worker"), "{:?}", page.verdicts);
}
