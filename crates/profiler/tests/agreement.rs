//! Reports of the same traces agree: steps, mean step, and costs as shares of it.
//!
//! Responsible for: every bundled job of several ranks. Reports are those of `profile`, `stragglers`, `pipeline` and `comm`.

mod jobs;

use railwright_profiler::attribution::joined_straggler_report;
use railwright_profiler::collectives::joined_communication_report;
use railwright_profiler::joined::{JoinOptions, join};
use railwright_profiler::pipeline::{self, Question};
use railwright_profiler::profile::{OneByOne, Options, profile};
use railwright_profiler::steps::of_job;
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

#[test]
fn all_reports_have_the_same_steps() {
    let mut pipelines = 0;
    for (folder, part) in JOBS {
        let mut job = jobs::job(folder, part);
        assert!(job.members.len() > 1, "{folder}");
        let joined = join(&mut job, &JoinOptions::default());
        let profiled = profile(&job, &joined, &Options::default(), &OneByOne).expect("a profile");
        let (windows, report) = (&profiled.windows, &profiled.report);
        let judged = joined_straggler_report(&job, &joined, None, &OneByOne);
        let communication = joined_communication_report(&job, &joined, None, &OneByOne).in_steps;
        println!(
            "{folder}: {} profile {} stragglers {} (error {}) comm {}",
            report.steps_covered,
            report.step_time,
            judged.step_time,
            judged.replay_error,
            communication.step_time
        );
        assert_eq!(windows, &of_job(&job, &joined, &Tables::shipped(), &OneByOne), "{folder}");
        assert_eq!(judged.steps_covered, report.steps_covered, "{folder}");
        assert_eq!(communication.covered, report.steps_covered, "{folder}");
        assert!(are_equal(communication.step_time, windows.mean_step()), "{folder}");
        // Ranks that lack steps have other means.
        if windows.steps.iter().all(|step| step.without.is_empty()) {
            assert!(are_equal(report.step_time, windows.mean_step()), "{folder}");
        }
        let replayed = judged.step_time / (1.0 + judged.replay_error);
        println!("   {}", replayed / windows.mean_step() - 1.0);
        if let Ok(page) = pipeline::of_job(&job, &joined, &Question::default(), &OneByOne) {
            pipelines += 1;
            println!(
                "   pipeline {} {}: {:?} {:?}",
                page.mean_step,
                page.median_step,
                page.steps.iter().map(|s| s.measured).collect::<Vec<_>>(),
                windows.steps.iter().map(|s| s.duration()).collect::<Vec<_>>()
            );
        }
        // Waiting and transfer are parts of the communication, each counted once.
        let mean = |of: fn(&railwright_profiler::collectives::RankCommunication) -> i64| {
            communication.ranks.iter().map(of).sum::<i64>() as f64
                / (communication.ranks.len() * windows.steps.len()) as f64
        };
        let exposed =
            profiled.waterfall.total.sum(|label| matches!(label, Label::Exposed(..) | Label::Bubble(_)))
                as f64
                / profiled.waterfall.samples() as f64;
        println!(
            "   comm: communication {} exposed {} (profile {}) waiting {} transfer {}",
            mean(|r| r.communication),
            mean(|r| r.exposed),
            exposed,
            mean(|r| r.waiting_once),
            mean(|r| r.transfer_once)
        );
    }
    assert!(pipelines >= 3, "{pipelines} jobs with a pipeline");
}
